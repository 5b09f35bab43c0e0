-- tick_advance: moves schedules on if they are as the tick read them; a null next_fire_at means done. What was in quarantine
-- is out of it; how often in a row counts on until something fires, so that a schedule whose jobs are refused at every
-- boundary is tried less and less often (S142).
-- parameters: ids int[], versions int[], was time[], next_fire_ats time[], last_fire_ats time[], fired int[], missed int[],
--   skipped int[], last_missed_ats time[], now time
UPDATE alk_schedule
SET next_fire_at = ?4, done_at = CASE WHEN ?4 IS NULL THEN ?10 END, last_fire_at = coalesce(?5, last_fire_at),
    fired_total = fired_total + ?6, missed_total = missed_total + ?7,
    skipped_total = skipped_total + ?8, last_missed_at = coalesce(?9, last_missed_at), quarantined_at = NULL,
    quarantine_from = NULL, last_error = NULL,
    quarantine_count = CASE WHEN ?6 > 0 THEN 0 ELSE quarantine_count END
WHERE id = ?1 AND version = ?2 AND next_fire_at = ?3
