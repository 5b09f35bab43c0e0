-- job_dead_old: rows of job_dead past what their queue keeps (30 days unless it says otherwise),
-- queue by queue.
-- parameters: limit int
-- columns: number int (ids)
WITH RECURSIVE queues (name) AS (
    SELECT min(d.queue)
    FROM alk_job_dead d
    UNION ALL
    SELECT (SELECT min(d.queue) FROM alk_job_dead d WHERE d.queue > n.name)
    FROM queues n
    WHERE n.name IS NOT NULL
)
SELECT d.id AS number
FROM queues n
CROSS JOIN alk_job_dead d
WHERE d.queue = n.name
  AND d.finished_at < :now - coalesce((SELECT q.keep_dead FROM alk_queue q WHERE q.name = n.name), 2592000000000)
LIMIT ?1
