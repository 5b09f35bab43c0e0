-- schedule_purge: deletes schedules that are done, with their history. Waits for nobody.
-- parameters: id int[]
-- columns: number int (ids)
WITH old AS MATERIALIZED (
    SELECT s.id
    FROM pg_catalog.unnest($1::bigint[]) AS u (id)
    JOIN alk.schedule s ON s.id = u.id
    WHERE s.done_at IS NOT NULL
    ORDER BY s.id
    FOR UPDATE OF s SKIP LOCKED
), lines AS (
    DELETE FROM alk.schedule_event e
    USING old o
    WHERE e.schedule_id = o.id
)
DELETE FROM alk.schedule s
USING old o
WHERE s.id = o.id
RETURNING s.id AS number
