-- schedule_pause: pauses a schedule that is neither paused nor done.
-- parameters: name str
-- columns: number int
UPDATE alk.schedule
SET paused_at = pg_catalog.statement_timestamp(), version = version + 1
WHERE name = $1 AND paused_at IS NULL AND done_at IS NULL
RETURNING id AS number
