-- lease_renew: extends a lease that is still the caller's and has not lapsed; no row otherwise.
-- parameters: name str, owner str, fence int
-- columns: expires_at time, high_water time, now time
UPDATE alk_lease
SET expires_at = :now + ttl,
    high_water = max(high_water, :now)
WHERE name = ?1
  AND owner = ?2
  AND fence = ?3
  AND expires_at > :now
RETURNING expires_at, high_water, :now AS now
