-- lease_break: ends a lease whoever has it and gives what it was.
-- parameters: name str
-- columns: name str, owner str, fence int, ttl span, acquired_at time, expires_at time, now time
SELECT l.name, l.owner, l.fence, l.ttl, l.acquired_at, l.expires_at, :now AS now
FROM alk_lease l
WHERE l.name = ?1
  AND l.owner IS NOT NULL;
UPDATE alk_lease
SET owner = NULL,
    expires_at = NULL
WHERE name = ?1
