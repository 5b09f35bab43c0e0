-- tick_supersede: cancels the jobs of schedules that wait and that a boundary put there; a newer one takes their place. One that
-- somebody holds is just being started. Waits for nobody.
-- parameters: schedule_ids int[]
-- columns: schedule_id int, fire_at time, job_id int
WITH picked AS MATERIALIZED (
    SELECT j.id
    FROM pg_catalog.unnest($1::bigint[]) AS u (id)
    CROSS JOIN LATERAL (SELECT j.id
                        FROM alk.job j
                        WHERE j.schedule_id = u.id
                          AND j.fire_at IS NOT NULL
                          AND (j.lease_until IS NULL AND j.attempt = 0
                               OR j.lease_until <= pg_catalog.statement_timestamp())
                        ORDER BY j.id
                        FOR UPDATE SKIP LOCKED) j
), gone AS (
    DELETE FROM alk.job j
    USING picked p
    WHERE j.id = p.id
    RETURNING j.*
), kept AS (
    INSERT INTO alk.job_done (id, queue, priority, run_at, key, payload, headers, attempt, max_attempts, stamp, worker,
                              expires_at, cancel_requested_at, schedule_id, fire_at, errors, enqueued_at, claimed_at, outcome,
                              finished_at)
    SELECT g.id, g.queue, g.priority, g.run_at, g.key, g.payload, g.headers, g.attempt, g.max_attempts, g.stamp, g.worker,
           g.expires_at, coalesce(g.cancel_requested_at, pg_catalog.statement_timestamp()), g.schedule_id, g.fire_at,
           g.errors, g.enqueued_at, g.claimed_at, 'cancelled', pg_catalog.clock_timestamp()
    FROM gone g
    WHERE coalesce((SELECT q.keep_done FROM alk.queue q WHERE q.name = g.queue), interval '24 h') > interval '0'
)
SELECT g.schedule_id, g.fire_at, g.id AS job_id
FROM gone g
