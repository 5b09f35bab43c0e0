-- unique_find: the job that has the key; no row where it is free, or its time is over.
-- parameters: place int[], queue str[], key str[], job_id int[] (of the asker: counts though its time is over)
-- columns: place int, job_id int
SELECT ?1 AS place, k.job_id
FROM alk_unique_key k
WHERE k.queue = ?2
  AND k.key = ?3
  AND (k.until IS NULL
       OR k.until > :now
       OR k.job_id = ?4)
