-- schedule_soonest: when the first schedule that may fire is due, or the first pause ends by itself;
-- a quarantined one is due when it is tried again. Text and blobs, which are later than every
-- number, never are (schedule_repair).
-- parameters: spec_version int
-- columns: next_due time, now time
SELECT min(coalesce(f.at, p.at), coalesce(p.at, f.at)) AS next_due, :now AS now
FROM (SELECT (SELECT CAST(s.next_fire_at AS INTEGER)
              FROM alk_schedule s
              WHERE s.paused_at IS NULL
                AND s.done_at IS NULL
                AND s.next_fire_at IS NOT NULL
                AND s.next_fire_at < ''
                AND s.spec_version <= ?1
              ORDER BY s.next_fire_at, s.id
              LIMIT 1) AS at) f
CROSS JOIN (SELECT (SELECT CAST(s.pause_until AS INTEGER)
                    FROM alk_schedule s
                    WHERE s.paused_at IS NOT NULL
                      AND s.done_at IS NULL
                      AND s.pause_until IS NOT NULL
                      AND s.pause_until < ''
                      AND s.spec_version <= ?1
                    ORDER BY s.pause_until, s.id
                    LIMIT 1) AS at) p
