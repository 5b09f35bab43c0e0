-- tick_supersede: cancels the jobs of schedules that wait and that a boundary put there; a newer one takes their place.
-- parameters: schedule_ids int[]
-- columns: schedule_id int, fire_at time, job_id int
INSERT INTO alk_job_done (id, queue, priority, run_at, key, payload, headers, attempt, max_attempts, stamp, worker, expires_at,
                          cancel_requested_at, schedule_id, fire_at, errors, enqueued_at, claimed_at, outcome, finished_at)
SELECT j.id, j.queue, j.priority, j.run_at, j.key, j.payload, j.headers, j.attempt, j.max_attempts, j.stamp, j.worker,
       j.expires_at, coalesce(j.cancel_requested_at, :now), j.schedule_id, j.fire_at, j.errors, j.enqueued_at, j.claimed_at,
       'cancelled', :now
FROM alk_job j
WHERE j.schedule_id = ?1
  AND j.fire_at IS NOT NULL
  AND (j.lease_until IS NULL AND j.attempt = 0 OR j.lease_until <= :now)
  AND coalesce((SELECT q.keep_done FROM alk_queue q WHERE q.name = j.queue), 86400000000) > 0;
DELETE FROM alk_job
WHERE schedule_id = ?1
  AND fire_at IS NOT NULL
  AND (lease_until IS NULL AND attempt = 0 OR lease_until <= :now)
RETURNING schedule_id, fire_at, id AS job_id
