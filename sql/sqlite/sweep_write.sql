-- sweep_write: gives schedules another next fire if they are as they were read and nobody holds them; what came back was changed.
-- fired_untils: the last fire, and where a quarantine began, are not later; null = they stay. fingerprints: null = it stays.
-- parameters: ids int[], versions int[], was time[], next_fire_ats time[], done_ats time[], fired_untils time[],
--   fingerprints str[], missed int[], last_missed_ats time[]
-- columns: number int (ids, in order)
UPDATE alk_schedule
SET next_fire_at = ?4, done_at = ?5, last_fire_at = coalesce(min(last_fire_at, ?6), last_fire_at),
    quarantine_from = coalesce(min(quarantine_from, ?6), quarantine_from),
    zone_fingerprint = coalesce(?7, zone_fingerprint), missed_total = missed_total + ?8,
    last_missed_at = coalesce(?9, last_missed_at), version = version + 1
WHERE id = ?1 AND version = ?2 AND next_fire_at IS ?3
RETURNING id AS number
