-- lease_release: gives back a lease that is still the caller's, its fence remembered; no row
-- otherwise.
-- parameters: name str, owner str, fence int
-- columns: number int
UPDATE alk.lease l
SET owner = NULL,
    expires_at = NULL
WHERE l.name = $1
  AND l.owner = $2
  AND l.fence = $3
  AND l.expires_at > pg_catalog.clock_timestamp()
RETURNING l.fence AS number
