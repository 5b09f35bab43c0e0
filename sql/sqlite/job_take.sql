-- job_take: claims those of the given jobs that wait and may not run, whatever their queue; what
-- maintenance settles.
-- parameters: id int[], worker str, lease span
-- columns: id int, stamp int, priority int, run_at time, key str, attempt int, max_attempts int, payload json, headers json,
--   errors json, enqueued_at time, claimed_at time, lease_until time, expires_at time, schedule_id int, fire_at time, verdict str
UPDATE alk_job
SET lease_until = :now + ?3,
    worker = ?2,
    claimed_at = :now,
    attempt = max(0, min(attempt, 2147483646)) + 1,
    stamp = max(min(stamp, 9223372036854775806) + 1, :now)
WHERE id = ?1
  AND (lease_until IS NULL OR lease_until <= :now)
  AND (cancel_requested_at IS NOT NULL
       OR expires_at <= :now
       OR typeof(run_at) <> 'integer'
       OR attempt >= coalesce(max_attempts, (SELECT q.max_attempts FROM alk_queue q WHERE q.name = queue), 20))
RETURNING id, stamp, priority, run_at, key, attempt, max_attempts, payload, headers, errors, enqueued_at, claimed_at,
          lease_until, expires_at, schedule_id, fire_at,
          CASE WHEN cancel_requested_at IS NOT NULL THEN 'cancelled'
               WHEN expires_at <= :now THEN 'expired'
               ELSE 'exhausted' END AS verdict
