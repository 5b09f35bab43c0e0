-- maintenance_note: that a step of maintenance went well, for people to look at.
-- parameters: step str, touched int
INSERT INTO alk_maintenance (step, done_at, touched)
VALUES (?1, :now, ?2)
ON CONFLICT (step) DO UPDATE
SET done_at = excluded.done_at,
    touched = touched + excluded.touched
