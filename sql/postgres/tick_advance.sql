-- tick_advance: moves schedules on if they are as the tick read them; a null next_fire_at means done. What was in quarantine
-- is out of it; how often in a row counts on until something fires, so that a schedule whose jobs are refused at every
-- boundary is tried less and less often (S142).
-- parameters: ids int[], versions int[], was time[], next_fire_ats time[], last_fire_ats time[], fired int[], missed int[],
--   skipped int[], last_missed_ats time[], now time
UPDATE alk.schedule s
SET next_fire_at = u.next_fire_at, done_at = CASE WHEN u.next_fire_at IS NULL THEN $10 END,
    last_fire_at = coalesce(u.last_fire_at, s.last_fire_at), fired_total = s.fired_total + u.fired,
    missed_total = s.missed_total + u.missed, skipped_total = s.skipped_total + u.skipped,
    last_missed_at = coalesce(u.last_missed_at, s.last_missed_at),
    quarantined_at = NULL, quarantine_from = NULL, last_error = NULL,
    quarantine_count = CASE WHEN u.fired > 0 THEN 0 ELSE s.quarantine_count END
FROM ROWS FROM (pg_catalog.unnest($1::bigint[]), pg_catalog.unnest($2::bigint[]),
                pg_catalog.unnest($3::pg_catalog.timestamptz[]), pg_catalog.unnest($4::pg_catalog.timestamptz[]),
                pg_catalog.unnest($5::pg_catalog.timestamptz[]), pg_catalog.unnest($6::bigint[]),
                pg_catalog.unnest($7::bigint[]), pg_catalog.unnest($8::bigint[]),
                pg_catalog.unnest($9::pg_catalog.timestamptz[]))
       AS u (id, version, was, next_fire_at, last_fire_at, fired, missed, skipped, last_missed_at)
WHERE s.id = u.id AND s.version = u.version AND s.next_fire_at = u.was
