-- tick_fence: fails with 22012 when the lease is not held any more, so that the COMMIT behind it becomes a rollback. Takes no
-- lock: a suspended leader must not keep anybody from taking over (S136).
-- parameters: name str, owner str, fence int
-- columns: number int
SELECT 1 / pg_catalog.count(*) AS number
FROM alk.lease l
WHERE l.name = $1 AND l.owner = $2 AND l.fence = $3 AND l.expires_at > pg_catalog.clock_timestamp()
