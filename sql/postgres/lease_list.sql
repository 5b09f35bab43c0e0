-- lease_list: every lease that has an owner, by name.
-- columns: name str, owner str, fence int, ttl span, acquired_at time, expires_at time, now time
SELECT l.name, l.owner, l.fence, l.ttl, l.acquired_at, l.expires_at, pg_catalog.clock_timestamp() AS now
FROM alk.lease l
WHERE l.owner IS NOT NULL
ORDER BY l.name
