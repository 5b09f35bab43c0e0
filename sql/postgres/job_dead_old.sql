-- job_dead_old: rows of job_dead past what their queue keeps (30 days unless it says otherwise),
-- queue by queue.
-- parameters: limit int
-- columns: number int (ids)
WITH RECURSIVE queues (name) AS (
    SELECT pg_catalog.min(d.queue)
    FROM alk.job_dead d
    UNION ALL
    SELECT (SELECT pg_catalog.min(d.queue) FROM alk.job_dead d WHERE d.queue > n.name)
    FROM queues n
    WHERE n.name IS NOT NULL
)
SELECT d.id AS number
FROM queues n
LEFT JOIN alk.queue q ON q.name = n.name
CROSS JOIN LATERAL (SELECT d.id
                    FROM alk.job_dead d
                    WHERE d.queue = n.name
                      AND d.finished_at < pg_catalog.statement_timestamp() - coalesce(q.keep_dead, interval '30 days')
                    ORDER BY d.finished_at
                    LIMIT $1) d
LIMIT $1
