-- lease_acquire: takes a lease that is free or lapsed; no row when somebody holds it. An end more
-- than two spans ahead was written by a clock that ran ahead: it counts as lapsed.
-- parameters: name str, owner str, ttl span
-- columns: name str, owner str, fence int, ttl span, acquired_at time, expires_at time, now time
INSERT INTO alk.lease AS l (name, owner, fence, ttl, acquired_at, expires_at, high_water)
SELECT $1, $2, (pg_catalog.date_part('epoch', t.now) * 1000000)::bigint, $3, t.now, t.now + $3, t.now
FROM (SELECT pg_catalog.clock_timestamp() AS now) t
ON CONFLICT (name) DO UPDATE
SET owner = excluded.owner,
    fence = greatest(l.fence + 1, excluded.fence),
    ttl = excluded.ttl,
    acquired_at = excluded.acquired_at,
    expires_at = excluded.expires_at,
    high_water = greatest(l.high_water, excluded.high_water)
WHERE l.owner IS NULL
   OR l.expires_at IS NULL
   OR l.expires_at <= excluded.acquired_at
   OR l.expires_at > excluded.acquired_at + 2 * l.ttl
RETURNING l.name, l.owner, l.fence, l.ttl, l.acquired_at, l.expires_at, l.acquired_at AS now
