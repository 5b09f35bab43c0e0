-- schedule_soonest: when the first schedule that may fire is due, or the first pause ends by itself;
-- a quarantined one is due when it is tried again.
-- parameters: spec_version int
-- columns: next_due time, now time
SELECT min(coalesce(f.at, p.at), coalesce(p.at, f.at)) AS next_due, :now AS now
FROM (SELECT (SELECT s.next_fire_at
              FROM alk_schedule s
              WHERE s.paused_at IS NULL
                AND s.done_at IS NULL
                AND s.next_fire_at IS NOT NULL
                AND typeof(s.next_fire_at) = 'integer'
                AND s.spec_version <= ?1
              ORDER BY s.next_fire_at, s.id
              LIMIT 1) AS at) f
CROSS JOIN (SELECT (SELECT s.pause_until
                    FROM alk_schedule s
                    WHERE s.paused_at IS NOT NULL
                      AND s.done_at IS NULL
                      AND typeof(s.pause_until) = 'integer'
                      AND s.spec_version <= ?1
                    ORDER BY s.pause_until, s.id
                    LIMIT 1) AS at) p
