-- lease_break: ends a lease whoever has it and gives what it was.
-- parameters: name str
-- columns: name str, owner str, fence int, ttl span, acquired_at time, expires_at time, now time
WITH held AS MATERIALIZED (
    SELECT l.*
    FROM alk.lease l
    WHERE l.name = $1
      AND l.owner IS NOT NULL
    FOR UPDATE
), broken AS (
    UPDATE alk.lease l
    SET owner = NULL,
        expires_at = NULL
    FROM held h
    WHERE l.name = h.name
)
SELECT h.name, h.owner, h.fence, h.ttl, h.acquired_at, h.expires_at, pg_catalog.clock_timestamp() AS now
FROM held h
