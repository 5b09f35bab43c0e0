-- unique_purge: deletes the unique key of a job whose time is over.
-- parameters: job_id int[]
-- columns: number int (ids)
DELETE FROM alk_unique_key
WHERE job_id = ?1
  AND until <= :now
RETURNING job_id AS number
