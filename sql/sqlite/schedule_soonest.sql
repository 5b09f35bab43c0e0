-- schedule_soonest: when the first schedule that may fire is due; a quarantined one is due when it
-- is tried again. Text and blobs, which are later than every number, never are (schedule_repair).
-- parameters: spec_version int
-- columns: next_due time, now time
SELECT (SELECT CAST(s.next_fire_at AS INTEGER)
        FROM alk_schedule s
        WHERE s.paused_at IS NULL
          AND s.done_at IS NULL
          AND s.next_fire_at IS NOT NULL
          AND s.next_fire_at < ''
          AND s.spec_version <= ?1
        ORDER BY s.next_fire_at, s.id
        LIMIT 1) AS next_due,
       :now AS now
