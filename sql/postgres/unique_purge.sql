-- unique_purge: deletes the unique keys of jobs whose time is over. Waits for nobody.
-- parameters: job_id int[]
-- columns: number int (ids)
WITH old AS MATERIALIZED (
    SELECT k.queue, k.key
    FROM pg_catalog.unnest($1::bigint[]) AS u (job_id)
    JOIN alk.unique_key k ON k.job_id = u.job_id
    WHERE k.until <= pg_catalog.statement_timestamp()
    ORDER BY k.queue COLLATE pg_catalog."C", k.key COLLATE pg_catalog."C"
    FOR UPDATE OF k SKIP LOCKED
)
DELETE FROM alk.unique_key k
USING old o
WHERE k.queue = o.queue
  AND k.key = o.key
RETURNING k.job_id AS number
