-- lease_list: every lease that has an owner, by name.
-- columns: name str, owner str, fence int, ttl span, acquired_at time, expires_at time, now time
SELECT l.name, l.owner, l.fence, l.ttl, l.acquired_at, l.expires_at, :now AS now
FROM alk_lease l
WHERE l.owner IS NOT NULL
ORDER BY l.name
