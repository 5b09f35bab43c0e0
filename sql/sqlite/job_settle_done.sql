-- job_settle_done: ends a claimed job as done, or as cancelled where that was asked for (is_done
-- false: only then), and makes the next job of its key the head. refund: taken off attempt.
-- parameters: id int[], stamp int[], worker str[], result json[], is_done bool[], refund int[]
-- columns: id int, stamp int, is_cancelled bool
INSERT INTO alk_job_done (id, queue, priority, run_at, key, payload, headers, attempt, max_attempts, stamp, worker, expires_at,
                          cancel_requested_at, schedule_id, fire_at, errors, enqueued_at, claimed_at, outcome, result, finished_at)
SELECT j.id, j.queue, j.priority, j.run_at, j.key, j.payload, j.headers, max(j.attempt - ?6, 0), j.max_attempts, j.stamp,
       j.worker, j.expires_at, j.cancel_requested_at, j.schedule_id, j.fire_at, j.errors, j.enqueued_at, j.claimed_at,
       CASE WHEN j.cancel_requested_at IS NULL THEN 'done' ELSE 'cancelled' END,
       CASE WHEN j.cancel_requested_at IS NULL THEN ?4 END,
       :now
FROM alk_job j
WHERE j.id = ?1
  AND j.stamp = ?2
  AND j.worker = ?3
  AND j.lease_until > :now
  AND (?5 OR j.cancel_requested_at IS NOT NULL)
  AND coalesce((SELECT q.keep_done FROM alk_queue q WHERE q.name = j.queue), 86400000000) > 0;
UPDATE alk_job
SET head = 0
WHERE id = ?1
  AND stamp = ?2
  AND worker = ?3
  AND lease_until > :now
  AND (?5 OR cancel_requested_at IS NOT NULL)
  AND key IS NOT NULL;
UPDATE alk_job
SET head = 1,
    run_at = max(run_at, :now)
WHERE id = (SELECT n.id
            FROM alk_job j
            CROSS JOIN alk_job n
            WHERE j.id = ?1
              AND j.stamp = ?2
              AND j.worker = ?3
              AND j.lease_until > :now
              AND j.head = 0
              AND n.queue = j.queue
              AND n.key = j.key
              AND n.head = 0
              AND n.id <> j.id
            ORDER BY n.id
            LIMIT 1);
DELETE FROM alk_job
WHERE id = ?1
  AND stamp = ?2
  AND worker = ?3
  AND lease_until > :now
  AND (?5 OR cancel_requested_at IS NOT NULL)
RETURNING id, stamp, cancel_requested_at IS NOT NULL AS is_cancelled
