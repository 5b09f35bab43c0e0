-- schedule_repair: schedules whose next_fire_at is nothing that ever becomes due (S145) are quarantined and due at once: the
-- tick finds their spec good and goes on at the next boundary, or says what else is wrong. Text and blobs, which a table
-- rebuilt without STRICT may hold, compare as later than every integer. Two looks into the index: an OR would scan the table.
-- parameters: end time, spec_version int
-- columns: id int, name str
UPDATE alk_schedule
SET next_fire_at = :now, quarantined_at = coalesce(quarantined_at, :now),
    quarantine_from = coalesce(quarantine_from, min(last_fire_at, ?1) + 1000000, created_at),
    quarantine_count = min(max(quarantine_count, 0), 2147483646) + 1,
    quarantined_total = min(max(quarantined_total, 0), 9223372036854775806) + 1,
    last_error = 'next_fire_at was not a time before 2200', version = version + 1
WHERE id IN (SELECT s.id FROM alk_schedule s WHERE s.paused_at IS NULL AND s.done_at IS NULL AND s.next_fire_at IS NULL
             UNION ALL
             SELECT s.id FROM alk_schedule s WHERE s.paused_at IS NULL AND s.done_at IS NULL AND s.next_fire_at >= ?1)
  AND spec_version <= ?2
RETURNING id, name
