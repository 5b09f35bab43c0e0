-- maintain_lapsed: jobs whose claim lapsed and that may not run again, in whatever queue; what a
-- claim touched lies at the front of its lane, so that only depth jobs of each are looked at. And
-- jobs that no claim can see, because their run_at cannot be read.
-- parameters: limit int, depth int
-- columns: number int (ids)
SELECT j.id AS number
FROM (SELECT DISTINCT l.queue, l.priority FROM alk.lane l) l
CROSS JOIN LATERAL (SELECT j.id, j.lease_until, j.cancel_requested_at, j.attempt, j.max_attempts
                    FROM alk.job j
                    WHERE j.queue = l.queue
                      AND j.priority = l.priority
                      AND j.head
                      AND j.run_at <= pg_catalog.statement_timestamp()
                    ORDER BY j.run_at, j.id
                    LIMIT $2) j
WHERE j.lease_until <= pg_catalog.statement_timestamp()
  AND (j.cancel_requested_at IS NOT NULL
       OR j.attempt >= coalesce(j.max_attempts, (SELECT q.max_attempts FROM alk.queue q WHERE q.name = l.queue), 20))
UNION ALL
SELECT j.id
FROM (SELECT DISTINCT l.queue, l.priority FROM alk.lane l) l
JOIN alk.job j ON j.queue = l.queue AND j.priority = l.priority
WHERE j.head
  AND j.run_at IS NULL
  AND (j.lease_until IS NULL OR j.lease_until <= pg_catalog.statement_timestamp())
LIMIT $1
