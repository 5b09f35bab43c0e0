-- schedule_pause: pauses a schedule that is neither paused for good nor done.
-- parameters: name str
-- columns: number int
UPDATE alk.schedule
SET paused_at = coalesce(paused_at, pg_catalog.statement_timestamp()), pause_until = NULL, version = version + 1
WHERE name = $1 AND (paused_at IS NULL OR pause_until IS NOT NULL) AND done_at IS NULL
RETURNING id AS number
