-- tick_fired: which of these boundaries have fired before.
-- parameters: schedule_ids int[], fire_ats time[]
-- columns: schedule_id int, fire_at time
SELECT e.schedule_id, e.fire_at
FROM ROWS FROM (pg_catalog.unnest($1::bigint[]), pg_catalog.unnest($2::pg_catalog.timestamptz[])) AS u (schedule_id, fire_at)
JOIN alk.schedule_event e ON e.schedule_id = u.schedule_id AND e.fire_at = u.fire_at AND e.outcome = 'fired'
