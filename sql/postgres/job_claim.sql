-- job_claim: claims due jobs of a queue, its lanes from the highest down. No order. verdict: run,
-- or why the job may not run. A unique key that lasts until the job is started goes.
-- parameters: queue str, limit int, worker str, lease span
-- columns: id int, stamp int, priority int, run_at time, key str, attempt int, max_attempts int, payload json, headers json,
--   errors json, enqueued_at time, claimed_at time, lease_until time, expires_at time, schedule_id int, fire_at time, verdict str
WITH picked AS MATERIALIZED (
    SELECT j.id, j.has_unique
    FROM (SELECT DISTINCT l.priority
          FROM alk.lane l
          WHERE l.queue = $1
            AND NOT EXISTS (SELECT 1
                            FROM alk.queue q
                            WHERE q.name = $1
                              AND q.paused_at IS NOT NULL)
          ORDER BY l.priority DESC) l
    CROSS JOIN LATERAL (SELECT j.id, j.has_unique
                        FROM alk.job j
                        WHERE j.queue = $1
                          AND j.priority = l.priority
                          AND j.head
                          AND j.run_at <= pg_catalog.statement_timestamp()
                          AND (j.lease_until IS NULL OR j.lease_until <= pg_catalog.statement_timestamp())
                        ORDER BY j.run_at, j.id
                        LIMIT $2
                        FOR UPDATE SKIP LOCKED) j
    LIMIT $2
), freed AS (
    DELETE FROM alk.unique_key k
    USING picked p
    WHERE p.has_unique
      AND k.job_id = p.id
      AND k.scope = 'started'
)
UPDATE alk.job j
SET lease_until = pg_catalog.clock_timestamp() + $4,
    worker = $3,
    claimed_at = pg_catalog.clock_timestamp(),
    attempt = greatest(0, least(j.attempt, 2147483646)) + 1,
    stamp = greatest(least(j.stamp, 9223372036854775806) + 1,
                     (pg_catalog.date_part('epoch', pg_catalog.clock_timestamp()) * 1000000)::bigint)
FROM picked p
WHERE j.id = p.id
RETURNING j.id, j.stamp, j.priority, j.run_at, j.key, j.attempt, j.max_attempts, j.payload, j.headers, j.errors,
          j.enqueued_at, j.claimed_at, j.lease_until, j.expires_at, j.schedule_id, j.fire_at,
          CASE WHEN j.cancel_requested_at IS NOT NULL THEN 'cancelled'
               WHEN j.expires_at <= pg_catalog.statement_timestamp() THEN 'expired'
               WHEN j.attempt > coalesce(j.max_attempts, (SELECT q.max_attempts FROM alk.queue q WHERE q.name = j.queue), 20)
               THEN 'exhausted'
               ELSE 'run' END AS verdict
