-- schedule_repair: schedules whose next_fire_at is nothing that ever becomes due (S145) are quarantined and due at once: the
-- tick finds their spec good and goes on at the next boundary, or says what else is wrong. Text and blobs, which a table
-- rebuilt without STRICT may hold, compare as later than every integer. Two probes of the index: an OR would read all of it.
-- parameters: end time
-- columns: id int, name str
UPDATE alk_schedule
SET next_fire_at = :now, quarantined_at = coalesce(quarantined_at, :now),
    quarantine_from = coalesce(quarantine_from, last_fire_at + 1000000, created_at),
    quarantine_count = quarantine_count + 1, quarantined_total = quarantined_total + 1,
    last_error = 'next_fire_at was not a time before 2200', version = version + 1
WHERE id IN (SELECT s.id
             FROM alk_schedule s
             WHERE s.paused_at IS NULL AND s.done_at IS NULL AND s.next_fire_at IS NULL
             UNION ALL
             SELECT s.id
             FROM alk_schedule s
             WHERE s.paused_at IS NULL AND s.done_at IS NULL AND s.next_fire_at >= ?1)
RETURNING id, name
