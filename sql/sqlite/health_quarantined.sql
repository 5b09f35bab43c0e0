-- health_quarantined: the names of quarantined schedules, the oldest quarantine first.
-- parameters: limit int
-- columns: name str
SELECT s.name
FROM alk_schedule s
WHERE s.quarantined_at IS NOT NULL
ORDER BY s.quarantined_at, s.name
LIMIT ?1
