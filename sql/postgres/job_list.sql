-- job_list: jobs by queue and state (null: any): the live ones in claim order, then the finished
-- ones, newest first.
-- parameters: queue str, state str, limit int
-- columns: id int, queue str, key str, priority int, state str, attempt int, max_attempts int, stamp int, payload json,
--   headers json, errors json, worker str, reason str, result json, enqueued_at time, run_at time, claimed_at time,
--   lease_until time, finished_at time, expires_at time, cancel_requested_at time, schedule_id int, fire_at time, now time
SELECT x.id, x.queue, x.key, x.priority, x.state, x.attempt, x.max_attempts, x.stamp, x.payload, x.headers, x.errors, x.worker,
       x.reason, x.result, x.enqueued_at, x.run_at, x.claimed_at, x.lease_until, x.finished_at, x.expires_at,
       x.cancel_requested_at, x.schedule_id, x.fire_at, pg_catalog.statement_timestamp() AS now
FROM (SELECT *
      FROM (SELECT j.id, j.queue, j.key, j.priority, j.state, j.attempt, j.max_attempts, j.stamp, j.payload, j.headers,
                   j.errors, j.worker, NULL::pg_catalog.text AS reason, NULL::pg_catalog.json AS result,
                   j.enqueued_at, j.run_at, j.claimed_at,
                   j.lease_until, NULL::pg_catalog.timestamptz AS finished_at, j.expires_at,
                   j.cancel_requested_at, j.schedule_id, j.fire_at
            FROM (SELECT j.*,
                         CASE WHEN j.dead_at IS NOT NULL THEN 'dead'
                              WHEN NOT j.head THEN 'chained'
                              WHEN j.lease_until > pg_catalog.statement_timestamp() THEN 'running'
                              WHEN j.run_at > pg_catalog.statement_timestamp() THEN 'delayed'
                              ELSE 'ready' END AS state
                  FROM alk.job j) j
            WHERE ($1::pg_catalog.text IS NULL OR j.queue = $1)
              AND ($2::pg_catalog.text IS NULL OR j.state = $2)
            ORDER BY j.queue, j.priority DESC, j.run_at, j.id
            LIMIT $3) live
      UNION ALL
      SELECT *
      FROM (SELECT d.id, d.queue, d.key, d.priority, d.outcome, d.attempt, d.max_attempts, d.stamp, d.payload, d.headers,
                   d.errors, d.worker, NULL::pg_catalog.text, d.result, d.enqueued_at, d.run_at, d.claimed_at,
                   NULL::pg_catalog.timestamptz, d.finished_at,
                   d.expires_at, d.cancel_requested_at, d.schedule_id, d.fire_at
            FROM alk.job_done d
            WHERE ($1::pg_catalog.text IS NULL OR d.queue = $1)
              AND ($2::pg_catalog.text IS NULL OR d.outcome = $2)
            ORDER BY d.finished_at DESC
            LIMIT $3) done
      UNION ALL
      SELECT *
      FROM (SELECT d.id, d.queue, d.key, d.priority, 'dead', d.attempt, d.max_attempts, d.stamp, d.payload, d.headers,
                   d.errors, d.worker, d.reason, NULL::pg_catalog.json, d.enqueued_at, d.run_at, d.claimed_at,
                   NULL::pg_catalog.timestamptz, d.finished_at,
                   d.expires_at, d.cancel_requested_at, d.schedule_id, d.fire_at
            FROM alk.job_dead d
            WHERE ($1::pg_catalog.text IS NULL OR d.queue = $1)
              AND ($2::pg_catalog.text IS NULL OR $2 = 'dead')
            ORDER BY d.finished_at DESC
            LIMIT $3) dead) x
ORDER BY x.finished_at IS NOT NULL, x.finished_at DESC, x.queue, x.priority DESC, x.run_at, x.id
LIMIT $3
