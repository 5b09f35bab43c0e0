-- event_purge: deletes lines of the ledger.
-- parameters: id int[]
-- columns: number int (ids)
DELETE FROM alk_schedule_event
WHERE id = ?1
RETURNING id AS number
