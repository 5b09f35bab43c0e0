-- lease_renew: extends a lease that is still the caller's and has not lapsed; no row otherwise.
-- parameters: name str, owner str, fence int
-- columns: expires_at time, high_water time, now time
UPDATE alk.lease l
SET expires_at = pg_catalog.clock_timestamp() + l.ttl,
    high_water = greatest(l.high_water, pg_catalog.clock_timestamp())
WHERE l.name = $1
  AND l.owner = $2
  AND l.fence = $3
  AND l.expires_at > pg_catalog.clock_timestamp()
RETURNING l.expires_at, l.high_water, pg_catalog.clock_timestamp() AS now
