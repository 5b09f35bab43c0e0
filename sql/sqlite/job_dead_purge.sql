-- job_dead_purge: deletes dead jobs.
-- parameters: id int[]
-- columns: number int (ids)
DELETE FROM alk_job_dead
WHERE id = ?1
RETURNING id AS number
