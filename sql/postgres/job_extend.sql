-- job_extend: extends claims of one worker that are still valid. Waits for nobody.
-- parameters: id int[], stamp int[], worker str, lease span
-- columns: id int, stamp int, is_cancelled bool
WITH held AS MATERIALIZED (
    SELECT j.id
    FROM ROWS FROM (pg_catalog.unnest($1::bigint[]), pg_catalog.unnest($2::bigint[])) AS u (id, stamp)
    JOIN alk.job j ON j.id = u.id
    WHERE j.stamp = u.stamp
      AND j.worker = $3
      AND j.lease_until > pg_catalog.statement_timestamp()
    ORDER BY j.id
    FOR UPDATE OF j SKIP LOCKED
)
UPDATE alk.job j
SET lease_until = pg_catalog.clock_timestamp() + $4
FROM held h
WHERE j.id = h.id
RETURNING j.id, j.stamp, j.cancel_requested_at IS NOT NULL AS is_cancelled
