-- job_done_purge: deletes finished jobs.
-- parameters: id int[]
-- columns: number int (ids)
DELETE FROM alk_job_done
WHERE id = ?1
RETURNING id AS number
