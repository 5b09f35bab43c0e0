-- schedule_pause: pauses a schedule that is neither paused nor done.
-- parameters: name str
-- columns: number int
UPDATE alk_schedule
SET paused_at = :now, version = version + 1
WHERE name = ?1 AND paused_at IS NULL AND done_at IS NULL
RETURNING id AS number
