-- schedule_share: one schedule by name, held against its removal only: a tick does not wait for it.
-- parameters: name str
-- columns: those of alk__row_schedule
SELECT s.id, s.name, s.spec, s.spec_resolved, s.spec_resolved_from, s.zone, s.queue, s.payload,
       s.priority, s.max_attempts, s.expires, s.catchup_max, s.anchor_at, s.next_fire_at,
       s.last_fire_at, s.version, s.created_at, s.paused_at, s.done_at, s.quarantined_at,
       s.quarantine_from, s.quarantine_count, s.last_error, s.fired_total, s.missed_total,
       s.skipped_total, s.quarantined_total, :now AS now
FROM alk_schedule s
WHERE s.name = ?1
