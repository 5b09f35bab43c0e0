-- lease_get: a lease as it stands, held or not.
-- parameters: name str
-- columns: name str, owner str, fence int, ttl span, acquired_at time, expires_at time, now time
SELECT l.name, l.owner, l.fence, l.ttl, l.acquired_at, l.expires_at, :now AS now
FROM alk_lease l
WHERE l.name = ?1
