-- job_attempts: what the back-off of failed jobs is worked out from.
-- parameters: id int[]
-- columns: id int, attempt int, backoff_base span, backoff_cap span
SELECT j.id, j.attempt, q.backoff_base, q.backoff_cap
FROM alk_job j
LEFT JOIN alk_queue q ON q.name = j.queue
WHERE j.id = ?1
