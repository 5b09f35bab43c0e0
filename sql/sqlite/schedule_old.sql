-- schedule_old: schedules that have been done for 30 days, as long as their history is kept (S104). Those of a declarative set stay
-- until it no longer names them.
-- parameters: limit int
-- columns: number int (ids)
SELECT s.id AS number
FROM alk_schedule s
WHERE s.done_at < :now - 2592000000000
  AND s.owner_set IS NULL
ORDER BY s.done_at
LIMIT ?1
