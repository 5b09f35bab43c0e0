-- health: versions, what has been due for longest, who leads, schedules set aside.
-- parameters: lease str, spec_version int
-- columns: version int, oldest int, now time, oldest_job time, oldest_schedule time, leader str, leader_fence int,
--   leader_expires time, quarantined int, newer int
SELECT m.version, m.oldest, :now AS now,
       (SELECT min((SELECT j.run_at
                    FROM alk_job j
                    WHERE j.queue = l.queue
                      AND j.priority = l.priority
                      AND j.head = 1
                      AND j.run_at <= :now
                      AND (j.lease_until IS NULL OR j.lease_until <= :now)
                    ORDER BY j.run_at, j.id
                    LIMIT 1))
        FROM alk_lane l) AS oldest_job,
       (SELECT min(s.next_fire_at)
        FROM alk_schedule s
        WHERE s.paused_at IS NULL
          AND s.done_at IS NULL
          AND s.quarantined_at IS NULL
          AND s.spec_version <= ?2
          AND s.next_fire_at <= :now) AS oldest_schedule,
       h.owner AS leader, h.fence AS leader_fence, h.expires_at AS leader_expires,
       (SELECT count(*) FROM alk_schedule s WHERE s.quarantined_at IS NOT NULL) AS quarantined,
       (SELECT count(*) FROM alk_schedule s WHERE s.spec_version > ?2) AS newer
FROM alk_meta m
LEFT JOIN alk_lease h
  ON h.name = ?1
 AND h.expires_at > :now
 AND h.expires_at <= :now + 2 * h.ttl
