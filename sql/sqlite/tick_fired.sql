-- tick_fired: which of these boundaries have fired before.
-- parameters: schedule_ids int[], fire_ats time[]
-- columns: schedule_id int, fire_at time
SELECT e.schedule_id, e.fire_at
FROM alk_schedule_event e
WHERE e.schedule_id = ?1 AND e.fire_at = ?2 AND e.outcome = 'fired'
