-- schedule_insert: a new schedule; no row comes back when the name is taken.
-- parameters: name str, spec str, spec_resolved str, zone str, queue str, payload json, priority int, max_attempts int,
--   expires span, catchup_max int, anchor_at time, next_fire_at time, now time
-- columns: number int
INSERT INTO alk_schedule (name, spec, spec_resolved, spec_resolved_from, zone, queue, payload, priority,
                          max_attempts, expires, catchup_max, anchor_at, next_fire_at, created_at)
VALUES (?1, ?2, ?3, CASE WHEN ?3 IS NOT NULL THEN ?2 END, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
ON CONFLICT (name) DO NOTHING
RETURNING id AS number
