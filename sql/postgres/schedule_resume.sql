-- schedule_resume: ends a pause, and a quarantine with it; a null next_fire_at means that there is no boundary any more.
-- parameters: id int, next_fire_at time, missed int, last_missed_at time, now time
UPDATE alk.schedule
SET paused_at = NULL, pause_until = NULL, next_fire_at = $2, done_at = CASE WHEN $2 IS NULL THEN $5 END,
    missed_total = missed_total + $3, last_missed_at = coalesce($4, last_missed_at), quarantined_at = NULL,
    quarantine_from = NULL, quarantine_count = 0, last_error = NULL, version = version + 1
WHERE id = $1
