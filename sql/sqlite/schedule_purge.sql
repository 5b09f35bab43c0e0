-- schedule_purge: deletes schedules that are done, with their history.
-- parameters: id int[]
-- columns: number int (ids)
DELETE FROM alk_schedule_event
WHERE schedule_id = (SELECT s.id FROM alk_schedule s WHERE s.id = ?1 AND s.done_at IS NOT NULL);
DELETE FROM alk_schedule
WHERE id = ?1 AND done_at IS NOT NULL
RETURNING id AS number
