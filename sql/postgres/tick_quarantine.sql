-- tick_quarantine: puts a schedule aside for base, twice that with each time in a row, at most cap (S142). Works on a row of
-- which nothing but the id can be read; counters stop at their ends.
-- It ends a pause that was over.
-- parameters: id int, reason str, base span, cap span, now time
UPDATE alk.schedule
SET next_fire_at = $5 + least($3 * pg_catalog.power(2, least(greatest(quarantine_count, 0), 20)), $4),
    quarantined_at = coalesce(quarantined_at, $5),
    quarantine_from = coalesce(quarantine_from, greatest(next_fire_at, created_at)),
    paused_at = NULL, pause_until = NULL, quarantine_count = least(greatest(quarantine_count, 0), 2147483646) + 1,
    quarantined_total = least(greatest(quarantined_total, 0), 9223372036854775806) + 1, last_error = $2
WHERE id = $1
