-- schedule_remove: takes a schedule away; its history goes with schedule_forget.
-- parameters: name str
-- columns: number int
DELETE FROM alk_schedule
WHERE name = ?1
RETURNING id AS number
