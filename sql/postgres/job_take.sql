-- job_take: claims those of the given jobs that wait and may not run, whatever their queue; what
-- maintenance settles. No order.
-- parameters: id int[], worker str, lease span
-- columns: id int, stamp int, priority int, run_at time, key str, attempt int, max_attempts int, payload json, headers json,
--   errors json, enqueued_at time, claimed_at time, lease_until time, expires_at time, schedule_id int, fire_at time, verdict str
WITH picked AS MATERIALIZED (
    SELECT j.id,
           CASE WHEN j.cancel_requested_at IS NOT NULL THEN 'cancelled'
                WHEN j.expires_at <= pg_catalog.statement_timestamp() THEN 'expired'
                ELSE 'exhausted' END AS verdict
    FROM pg_catalog.unnest($1::bigint[]) AS u (id)
    JOIN alk.job j ON j.id = u.id
    WHERE (j.lease_until IS NULL OR j.lease_until <= pg_catalog.statement_timestamp())
      AND (j.cancel_requested_at IS NOT NULL
           OR j.expires_at <= pg_catalog.statement_timestamp()
           OR j.run_at IS NULL
           OR j.attempt >= coalesce(j.max_attempts, (SELECT q.max_attempts FROM alk.queue q WHERE q.name = j.queue), 20))
    ORDER BY j.id
    FOR UPDATE OF j SKIP LOCKED
)
UPDATE alk.job j
SET lease_until = pg_catalog.clock_timestamp() + $3,
    worker = $2,
    claimed_at = pg_catalog.clock_timestamp(),
    attempt = greatest(0, least(j.attempt, 2147483646)) + 1,
    stamp = greatest(least(j.stamp, 9223372036854775806) + 1,
                     (pg_catalog.date_part('epoch', pg_catalog.clock_timestamp()) * 1000000)::bigint)
FROM picked p
WHERE j.id = p.id
RETURNING j.id, j.stamp, j.priority, j.run_at, j.key, j.attempt, j.max_attempts, j.payload, j.headers, j.errors,
          j.enqueued_at, j.claimed_at, j.lease_until, j.expires_at, j.schedule_id, j.fire_at, p.verdict
