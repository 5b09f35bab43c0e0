-- job_done_purge: deletes finished jobs. Waits for nobody.
-- parameters: id int[]
-- columns: number int (ids)
WITH old AS MATERIALIZED (
    SELECT d.id
    FROM pg_catalog.unnest($1::bigint[]) AS u (id)
    JOIN alk.job_done d ON d.id = u.id
    ORDER BY d.id
    FOR UPDATE OF d SKIP LOCKED
)
DELETE FROM alk.job_done d
USING old o
WHERE d.id = o.id
RETURNING d.id AS number
