-- unique_old: jobs whose unique key's time is over.
-- parameters: limit int
-- columns: number int (ids)
SELECT k.job_id AS number
FROM alk_unique_key k
WHERE k.until <= :now
ORDER BY k.until
LIMIT ?1
