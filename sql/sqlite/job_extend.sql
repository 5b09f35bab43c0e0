-- job_extend: extends a claim that is still valid.
-- parameters: id int[], stamp int[], worker str, lease span
-- columns: id int, stamp int, is_cancelled bool
UPDATE alk_job
SET lease_until = :now + ?4
WHERE id = ?1
  AND stamp = ?2
  AND worker = ?3
  AND lease_until > :now
RETURNING id, stamp, cancel_requested_at IS NOT NULL AS is_cancelled
