-- event_old: lines of the ledger that are older than 30 days, and of some schedules those beyond
-- the newest 1,000. Counting a thousand lines costs something: 20 schedules are looked at from a
-- place in a million on, and round the end.
-- Lines of boundaries that are still to come (the clock went back) stay: they say what has fired.
-- parameters: limit int, place int
-- columns: number int (ids)
WITH start (id) AS (
    SELECT CAST(max(s.id) * (?2 / 1000000.0) AS INTEGER)
    FROM alk_schedule s
), looked_at (id) AS (
    SELECT n.id
    FROM (SELECT * FROM (SELECT s.id, 0 AS is_behind FROM alk_schedule s WHERE s.id >= (SELECT b.id FROM start b)
                         ORDER BY s.id LIMIT 20)
          UNION ALL
          SELECT * FROM (SELECT s.id, 1 FROM alk_schedule s WHERE s.id < (SELECT b.id FROM start b)
                         ORDER BY s.id LIMIT 20)) n
    ORDER BY n.is_behind, n.id
    LIMIT 20
)
SELECT e.id AS number
FROM alk_schedule_event e
WHERE e.at < :now - 2592000000000
  AND (e.fire_at IS NULL OR e.fire_at <= :now)
UNION
SELECT e.id
FROM looked_at n
CROSS JOIN alk_schedule_event e
WHERE e.schedule_id = n.id
  AND e.id <= (SELECT x.id
               FROM alk_schedule_event x
               WHERE x.schedule_id = n.id
               ORDER BY x.id DESC
               LIMIT 1 OFFSET 1000)
  AND (e.fire_at IS NULL OR e.fire_at <= :now)
LIMIT ?1
