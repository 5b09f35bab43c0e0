-- schedule_insert: a new schedule; no row comes back when the name is taken.
-- parameters: name str, spec str, spec_resolved str, zone str, zone_fingerprint str, queue str, payload json,
--   priority int, max_attempts int, expires span, catchup str, catchup_max int, catchup_window span,
--   max_lateness span, grace span, overlap str, dst_gap str, dst_fold str, jitter span, not_before time,
--   not_after time, max_fires int, owner_set str, anchor_at time, next_fire_at time, paused_at time,
--   pause_until time, now time
-- columns: number int
INSERT INTO alk.schedule (name, spec, spec_resolved, spec_resolved_from, zone, zone_fingerprint, queue,
                          payload, priority, max_attempts, expires, catchup, catchup_max, catchup_window,
                          max_lateness, grace, overlap, dst_gap, dst_fold, jitter, not_before, not_after,
                          max_fires, owner_set, anchor_at, next_fire_at, paused_at, pause_until, created_at)
VALUES ($1, $2, $3, CASE WHEN $3 IS NOT NULL THEN $2 END, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,
        $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28)
ON CONFLICT (name) DO NOTHING
RETURNING id AS number
