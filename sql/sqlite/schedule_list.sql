-- schedule_list: schedules by name, from the one after a name.
-- parameters: after str, limit int
-- columns: those of alk__row_schedule
SELECT s.id, s.name, s.spec, s.spec_resolved, s.spec_resolved_from, s.zone, s.zone_fingerprint, s.queue, s.payload,
       s.priority, s.max_attempts, s.expires, s.catchup, s.catchup_max, s.catchup_window, s.max_lateness, s.grace,
       s.overlap, s.dst_gap, s.dst_fold, s.jitter, s.not_before, s.not_after, s.max_fires, s.owner_set, s.anchor_at,
       s.next_fire_at, s.last_fire_at, s.version, s.created_at, s.paused_at, s.pause_until, s.done_at,
       s.quarantined_at, s.quarantine_from, s.quarantine_count, s.last_error, s.fired_total, s.missed_total,
       s.skipped_total, s.quarantined_total, s.last_missed_at, :now AS now
FROM alk_schedule s
WHERE s.name > ?1
ORDER BY s.name
LIMIT ?2
