-- tick_unfinished: whether a job of each schedule waits for its first run (or for a new one after its claim lapsed), and whether
-- one has been started and is not over. A job that will not run any more counts as neither.
-- parameters: schedule_ids int[]
-- columns: schedule_id int, is_waiting bool, is_started bool
SELECT ?1 AS schedule_id,
       EXISTS (SELECT 1
               FROM alk_job j
               WHERE j.schedule_id = ?1
                 AND (j.lease_until IS NULL AND j.attempt = 0 OR j.lease_until <= :now)
                 AND j.cancel_requested_at IS NULL
                 AND (j.expires_at IS NULL OR j.expires_at > :now)
                 AND j.attempt < coalesce(j.max_attempts,
                                          (SELECT q.max_attempts FROM alk_queue q WHERE q.name = j.queue), 20)) AS is_waiting,
       EXISTS (SELECT 1
               FROM alk_job j
               WHERE j.schedule_id = ?1
                 AND (j.lease_until > :now
                      OR j.lease_until IS NULL
                         AND j.attempt > 0
                         AND j.cancel_requested_at IS NULL
                         AND (j.expires_at IS NULL OR j.expires_at > :now))) AS is_started
