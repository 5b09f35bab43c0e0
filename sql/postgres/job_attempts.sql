-- job_attempts: what the back-off of failed jobs is worked out from, in the order of their ids.
-- parameters: id int[]
-- columns: id int, attempt int, backoff_base span, backoff_cap span
SELECT j.id, j.attempt, q.backoff_base, q.backoff_cap
FROM pg_catalog.unnest($1::bigint[]) AS u (id)
JOIN alk.job j ON j.id = u.id
LEFT JOIN alk.queue q ON q.name = j.queue
ORDER BY j.id
