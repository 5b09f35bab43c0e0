-- lease_acquire: takes a lease that is free or lapsed; no row when somebody holds it. An end more
-- than two spans ahead was written by a clock that ran ahead: it counts as lapsed.
-- parameters: name str, owner str, ttl span
-- columns: name str, owner str, fence int, ttl span, acquired_at time, expires_at time, now time
INSERT INTO alk_lease (name, owner, fence, ttl, acquired_at, expires_at, high_water)
VALUES (?1, ?2, :now, ?3, :now, :now + ?3, :now)
ON CONFLICT (name) DO UPDATE
SET owner = excluded.owner,
    fence = max(fence + 1, excluded.fence),
    ttl = excluded.ttl,
    acquired_at = excluded.acquired_at,
    expires_at = excluded.expires_at,
    high_water = max(high_water, excluded.high_water)
WHERE owner IS NULL
   OR expires_at IS NULL
   OR expires_at <= :now
   OR expires_at > :now + 2 * ttl
RETURNING name, owner, fence, ttl, acquired_at, expires_at, :now AS now
