-- maintain_lapsed: jobs whose claim lapsed and that may not run again, in whatever queue; what a
-- claim touched lies at the front of its lane, so that only depth jobs of each are looked at. And
-- jobs that no claim can see, because their run_at cannot be read.
-- parameters: limit int, depth int
-- columns: number int (ids)
SELECT j.id AS number
FROM alk_lane l
CROSS JOIN alk_job j
WHERE j.id IN (SELECT x.id
               FROM alk_job x
               WHERE x.queue = l.queue
                 AND x.priority = l.priority
                 AND x.head = 1
                 AND x.run_at <= :now
               ORDER BY x.run_at, x.id
               LIMIT ?2)
  AND j.lease_until <= :now
  AND (j.cancel_requested_at IS NOT NULL
       OR j.attempt >= coalesce(j.max_attempts, (SELECT q.max_attempts FROM alk_queue q WHERE q.name = l.queue), 20))
UNION ALL
SELECT j.id
FROM alk_lane l
CROSS JOIN alk_job j
WHERE j.queue = l.queue
  AND j.priority = l.priority
  AND j.head = 1
  AND j.run_at >= ''
  AND (j.lease_until IS NULL OR j.lease_until <= :now)
UNION ALL
SELECT j.id
FROM alk_lane l
CROSS JOIN alk_job j
WHERE j.queue = l.queue
  AND j.priority = l.priority
  AND j.head = 1
  AND j.run_at IS NULL
  AND (j.lease_until IS NULL OR j.lease_until <= :now)
LIMIT ?1
