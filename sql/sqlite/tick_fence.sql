-- tick_fence: fails with SQLITE_TOOBIG when the lease is not held any more, so that the COMMIT behind it becomes a rollback
-- (S136).
-- parameters: name str, owner str, fence int
-- columns: number int
SELECT CASE count(*) WHEN 0 THEN zeroblob(9223372036854775807) ELSE 1 END AS number
FROM alk_lease l
WHERE l.name = ?1 AND l.owner = ?2 AND l.fence = ?3 AND l.expires_at > :now
