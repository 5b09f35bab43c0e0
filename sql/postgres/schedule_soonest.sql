-- schedule_soonest: when the first schedule that may fire is due, or the first pause ends by itself;
-- a quarantined one is due when it is tried again.
-- parameters: spec_version int
-- columns: next_due time, now time
SELECT least((SELECT s.next_fire_at
              FROM alk.schedule s
              WHERE s.paused_at IS NULL
                AND s.done_at IS NULL
                AND s.next_fire_at IS NOT NULL
                AND s.spec_version <= $1
              ORDER BY s.next_fire_at, s.id
              LIMIT 1),
             (SELECT s.pause_until
              FROM alk.schedule s
              WHERE s.paused_at IS NOT NULL
                AND s.done_at IS NULL
                AND s.pause_until IS NOT NULL
                AND s.spec_version <= $1
              ORDER BY s.pause_until, s.id
              LIMIT 1)) AS next_due,
       pg_catalog.clock_timestamp() AS now
