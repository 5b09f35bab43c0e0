-- health: versions, what has been due for longest, who leads, schedules set aside.
-- parameters: lease str, spec_version int
-- columns: version int, oldest int, now time, oldest_job time, oldest_schedule time, leader str, leader_fence int,
--   leader_expires time, quarantined int, newer int
SELECT m.version, m.oldest, pg_catalog.clock_timestamp() AS now,
       (SELECT pg_catalog.min(j.run_at)
        FROM (SELECT DISTINCT l.queue, l.priority FROM alk.lane l) l
        CROSS JOIN LATERAL (SELECT j.run_at
                            FROM alk.job j
                            WHERE j.queue = l.queue
                              AND j.priority = l.priority
                              AND j.head
                              AND j.run_at <= pg_catalog.statement_timestamp()
                              AND (j.lease_until IS NULL OR j.lease_until <= pg_catalog.statement_timestamp())
                            ORDER BY j.run_at, j.id
                            LIMIT 1) j) AS oldest_job,
       (SELECT pg_catalog.min(s.next_fire_at)
        FROM alk.schedule s
        WHERE s.paused_at IS NULL
          AND s.done_at IS NULL
          AND s.quarantined_at IS NULL
          AND s.spec_version <= $2
          AND s.next_fire_at <= pg_catalog.statement_timestamp()) AS oldest_schedule,
       h.owner AS leader, h.fence AS leader_fence, h.expires_at AS leader_expires,
       (SELECT pg_catalog.count(*) FROM alk.schedule s WHERE s.quarantined_at IS NOT NULL) AS quarantined,
       (SELECT pg_catalog.count(*) FROM alk.schedule s WHERE s.spec_version > $2) AS newer
FROM alk.meta m
LEFT JOIN alk.lease h
  ON h.name = $1
 AND h.expires_at > pg_catalog.clock_timestamp()
 AND h.expires_at <= pg_catalog.clock_timestamp() + 2 * h.ttl
