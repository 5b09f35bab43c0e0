-- job_done_old: rows of job_done past what their queue keeps (24 h unless it says otherwise), queue
-- by queue.
-- parameters: limit int
-- columns: number int (ids)
WITH RECURSIVE queues (name) AS (
    SELECT min(d.queue)
    FROM alk_job_done d
    UNION ALL
    SELECT (SELECT min(d.queue) FROM alk_job_done d WHERE d.queue > n.name)
    FROM queues n
    WHERE n.name IS NOT NULL
)
SELECT d.id AS number
FROM queues n
CROSS JOIN alk_job_done d
WHERE d.queue = n.name
  AND d.finished_at < :now - coalesce((SELECT q.keep_done FROM alk_queue q WHERE q.name = n.name), 86400000000)
LIMIT ?1
