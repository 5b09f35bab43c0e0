-- job_get: a job wherever it is: live, done or cancelled, dead; in one statement, so that one just
-- moving is never missing.
-- parameters: id int
-- columns: id int, queue str, key str, priority int, state str, attempt int, max_attempts int, stamp int, payload json,
--   headers json, errors json, worker str, reason str, result json, enqueued_at time, run_at time, claimed_at time,
--   lease_until time, finished_at time, expires_at time, cancel_requested_at time, schedule_id int, fire_at time, now time
SELECT j.id, j.queue, j.key, j.priority,
       CASE WHEN j.dead_at IS NOT NULL THEN 'dead'
            WHEN NOT j.head THEN 'chained'
            WHEN j.lease_until > pg_catalog.statement_timestamp() THEN 'running'
            WHEN j.run_at > pg_catalog.statement_timestamp() THEN 'delayed'
            ELSE 'ready' END AS state,
       j.attempt, j.max_attempts, j.stamp, j.payload, j.headers, j.errors, j.worker,
       NULL::pg_catalog.text AS reason, NULL::pg_catalog.json AS result,
       j.enqueued_at, j.run_at, j.claimed_at, j.lease_until, NULL::pg_catalog.timestamptz AS finished_at,
       j.expires_at, j.cancel_requested_at,
       j.schedule_id, j.fire_at, pg_catalog.statement_timestamp() AS now
FROM alk.job j
WHERE j.id = $1
UNION ALL
SELECT d.id, d.queue, d.key, d.priority, d.outcome, d.attempt, d.max_attempts, d.stamp, d.payload, d.headers, d.errors,
       d.worker, NULL, d.result, d.enqueued_at, d.run_at, d.claimed_at, NULL, d.finished_at, d.expires_at,
       d.cancel_requested_at, d.schedule_id, d.fire_at, pg_catalog.statement_timestamp()
FROM alk.job_done d
WHERE d.id = $1
UNION ALL
SELECT d.id, d.queue, d.key, d.priority, 'dead', d.attempt, d.max_attempts, d.stamp, d.payload, d.headers, d.errors,
       d.worker, d.reason, NULL, d.enqueued_at, d.run_at, d.claimed_at, NULL, d.finished_at, d.expires_at,
       d.cancel_requested_at, d.schedule_id, d.fire_at, pg_catalog.statement_timestamp()
FROM alk.job_dead d
WHERE d.id = $1
