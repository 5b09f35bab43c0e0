-- schedule_update: every field that a schedule states, its timing as worked out; a quarantine is over (S143).
-- parameters: id int, spec str, spec_resolved str, zone str, zone_fingerprint str, queue str, payload json,
--   priority int, max_attempts int, expires span, catchup str, catchup_max int, catchup_window span,
--   max_lateness span, grace span, overlap str, dst_gap str, dst_fold str, jitter span, not_before time,
--   not_after time, max_fires int, owner_set str, anchor_at time, next_fire_at time, paused_at time,
--   pause_until time, done_at time, missed int, last_missed_at time
UPDATE alk_schedule
SET spec = ?2, spec_resolved = ?3, spec_resolved_from = CASE WHEN ?3 IS NOT NULL THEN ?2 END, zone = ?4,
    zone_fingerprint = ?5, queue = ?6, payload = ?7, priority = ?8, max_attempts = ?9, expires = ?10,
    catchup = ?11, catchup_max = ?12, catchup_window = ?13, max_lateness = ?14, grace = ?15, overlap = ?16,
    dst_gap = ?17, dst_fold = ?18, jitter = ?19, not_before = ?20, not_after = ?21, max_fires = ?22,
    owner_set = ?23, anchor_at = ?24, next_fire_at = ?25, paused_at = ?26, pause_until = ?27, done_at = ?28,
    missed_total = missed_total + ?29, last_missed_at = coalesce(?30, last_missed_at), quarantined_at = NULL,
    quarantine_from = NULL, quarantine_count = 0, last_error = NULL, version = version + 1
WHERE id = ?1
