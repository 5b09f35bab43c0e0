-- lease_release: gives back a lease that is still the caller's, its fence remembered; no row
-- otherwise.
-- parameters: name str, owner str, fence int
-- columns: number int
UPDATE alk_lease
SET owner = NULL,
    expires_at = NULL
WHERE name = ?1
  AND owner = ?2
  AND fence = ?3
  AND expires_at > :now
RETURNING fence AS number
