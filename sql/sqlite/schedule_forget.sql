-- schedule_forget: the whole history of a schedule that is gone.
-- parameters: id int
DELETE FROM alk_schedule_event
WHERE schedule_id = ?1
