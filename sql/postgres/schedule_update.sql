-- schedule_update: every field that a schedule states, its timing as worked out; a quarantine is over (S143).
-- parameters: id int, spec str, spec_resolved str, zone str, queue str, payload json, priority int, max_attempts int,
--   expires span, catchup_max int, anchor_at time, next_fire_at time, done_at time, missed int, last_missed_at time
UPDATE alk.schedule
SET spec = $2, spec_resolved = $3, spec_resolved_from = CASE WHEN $3 IS NOT NULL THEN $2 END, zone = $4,
    queue = $5, payload = $6, priority = $7, max_attempts = $8, expires = $9, catchup_max = $10,
    anchor_at = $11, next_fire_at = $12, done_at = $13, missed_total = missed_total + $14,
    last_missed_at = coalesce($15, last_missed_at), quarantined_at = NULL, quarantine_from = NULL,
    quarantine_count = 0, last_error = NULL, version = version + 1
WHERE id = $1
