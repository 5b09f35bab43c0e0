-- schedule_repair: schedules whose next_fire_at is nothing that ever becomes due (S145) are quarantined and due at once: the
-- tick finds their spec good and goes on at the next boundary, or says what else is wrong. The order and the limit
-- (what is beyond it is found a minute later) make any plan two probes of the index.
-- parameters: end time
-- columns: id int, name str
UPDATE alk.schedule
SET next_fire_at = pg_catalog.clock_timestamp(),
    quarantined_at = coalesce(quarantined_at, pg_catalog.clock_timestamp()),
    quarantine_from = coalesce(quarantine_from, last_fire_at + interval '1 s', created_at),
    quarantine_count = quarantine_count + 1, quarantined_total = quarantined_total + 1,
    last_error = 'next_fire_at was not a time before 2200', version = version + 1
WHERE id = ANY (ARRAY(SELECT s.id
                      FROM alk.schedule s
                      WHERE s.paused_at IS NULL AND s.done_at IS NULL AND s.next_fire_at IS NULL
                      UNION ALL
                      (SELECT s.id
                       FROM alk.schedule s
                       WHERE s.paused_at IS NULL AND s.done_at IS NULL AND s.next_fire_at >= $1
                       ORDER BY s.next_fire_at DESC
                       LIMIT 10000)))
RETURNING id, name
