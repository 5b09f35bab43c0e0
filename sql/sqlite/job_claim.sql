-- job_claim: claims due jobs of a queue, its lanes from the highest down. No order. verdict: run,
-- or why the job may not run.
-- parameters: queue str, limit int, worker str, lease span
-- columns: id int, stamp int, priority int, run_at time, key str, attempt int, max_attempts int, payload json, headers json,
--   errors json, enqueued_at time, claimed_at time, lease_until time, expires_at time, schedule_id int, fire_at time, verdict str
UPDATE alk_job
SET lease_until = :now + ?4,
    worker = ?3,
    claimed_at = :now,
    attempt = max(0, min(attempt, 2147483646)) + 1,
    stamp = max(min(stamp, 9223372036854775806) + 1, :now)
WHERE id IN (SELECT j.id
             FROM alk_lane l
             CROSS JOIN alk_job j
             WHERE l.queue = ?1
               AND NOT EXISTS (SELECT 1
                               FROM alk_queue q
                               WHERE q.name = ?1
                                 AND q.paused_at IS NOT NULL)
               AND j.queue = ?1
               AND j.priority = l.priority
               AND j.head = 1
               AND j.run_at <= :now
               AND (j.lease_until IS NULL OR j.lease_until <= :now)
             ORDER BY l.priority DESC, j.run_at, j.id
             LIMIT ?2)
RETURNING id, stamp, priority, run_at, key, attempt, max_attempts, payload, headers, errors, enqueued_at, claimed_at,
          lease_until, expires_at, schedule_id, fire_at,
          CASE WHEN cancel_requested_at IS NOT NULL THEN 'cancelled'
               WHEN expires_at <= :now THEN 'expired'
               WHEN attempt > coalesce(max_attempts, (SELECT q.max_attempts FROM alk_queue q WHERE q.name = queue), 20)
               THEN 'exhausted'
               ELSE 'run' END AS verdict
