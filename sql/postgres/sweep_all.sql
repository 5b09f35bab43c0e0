-- sweep_all: schedules by id, from the one after an id; not held.
-- parameters: after_id int, limit int, spec_version int
-- columns: those of alk__row_schedule
SELECT s.id, s.name, s.spec, s.spec_resolved, s.spec_resolved_from, s.zone, s.zone_fingerprint, s.queue, s.payload,
       s.priority, s.max_attempts, s.expires, s.catchup, s.catchup_max, s.catchup_window, s.max_lateness, s.grace,
       s.overlap, s.dst_gap, s.dst_fold, s.jitter, s.not_before, s.not_after, s.max_fires, s.owner_set, s.anchor_at,
       s.next_fire_at, s.last_fire_at, s.version, s.created_at, s.paused_at, s.pause_until, s.done_at,
       s.quarantined_at, s.quarantine_from, s.quarantine_count, s.last_error, s.fired_total, s.missed_total,
       s.skipped_total, s.quarantined_total, s.last_missed_at, pg_catalog.statement_timestamp() AS now
FROM alk.schedule s
WHERE s.id > $1 AND s.spec_version <= $3
ORDER BY s.id
LIMIT $2
