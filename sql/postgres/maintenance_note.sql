-- maintenance_note: that a step of maintenance went well, for people to look at.
-- parameters: step str, touched int
INSERT INTO alk.maintenance AS m (step, done_at, touched)
VALUES ($1, pg_catalog.clock_timestamp(), $2)
ON CONFLICT (step) DO UPDATE
SET done_at = excluded.done_at,
    touched = m.touched + excluded.touched
