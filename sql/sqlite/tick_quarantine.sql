-- tick_quarantine: puts a schedule aside for base, twice that with each time in a row, at most cap (S142). Works on a row of
-- which nothing but the id can be read.
-- It ends a pause that was over.
-- parameters: id int, reason str, base span, cap span, now time
UPDATE alk_schedule
SET next_fire_at = ?5 + min(?3 << min(max(CAST(quarantine_count AS INTEGER), 0), 20), ?4),
    quarantined_at = CASE typeof(quarantined_at) WHEN 'integer' THEN quarantined_at ELSE ?5 END,
    quarantine_from = CASE WHEN typeof(quarantine_from) = 'integer' THEN quarantine_from
                           WHEN typeof(next_fire_at) = 'integer' THEN next_fire_at
                           ELSE ?5 END,
    paused_at = NULL, pause_until = NULL,
    quarantine_count = min(max(CAST(quarantine_count AS INTEGER), 0), 2147483646) + 1,
    quarantined_total = min(max(CAST(quarantined_total AS INTEGER), 0), 9223372036854775806) + 1, last_error = ?2
WHERE id = ?1
