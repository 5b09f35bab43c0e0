-- schedule_repair: schedules whose next_fire_at is nothing that ever becomes due (S145) are quarantined and due at once: the
-- tick finds their spec good and goes on at the next boundary, or says what else is wrong.
-- parameters: end time, spec_version int
-- columns: id int, name str
UPDATE alk.schedule
SET next_fire_at = pg_catalog.clock_timestamp(),
    quarantined_at = coalesce(quarantined_at, pg_catalog.clock_timestamp()),
    quarantine_from = coalesce(quarantine_from, least(last_fire_at, $1) + interval '1 s', created_at),
    quarantine_count = least(greatest(quarantine_count, 0), 2147483646) + 1,
    quarantined_total = least(greatest(quarantined_total, 0), 9223372036854775806) + 1,
    last_error = 'next_fire_at was not a time before 2200', version = version + 1
WHERE paused_at IS NULL AND done_at IS NULL AND (next_fire_at IS NULL OR next_fire_at >= $1) AND spec_version <= $2
RETURNING id, name
