-- event_old: lines of the ledger that are older than 30 days, and of some schedules those beyond
-- the newest 1,000. Counting a thousand lines costs something: 20 schedules are looked at from a
-- place in a million on, and round the end.
-- Lines of boundaries that are still to come (the clock went back) stay: they say what has fired.
-- parameters: limit int, place int
-- columns: number int (ids)
(SELECT e.id AS number
 FROM alk.schedule_event e
 WHERE e.at < pg_catalog.statement_timestamp() - interval '30 days'
   AND (e.fire_at IS NULL OR e.fire_at <= pg_catalog.statement_timestamp())
 ORDER BY e.at
 LIMIT $1)
UNION
(SELECT e.id
 FROM (SELECT n.id
       FROM (SELECT s.id, s.id < b.start AS is_behind
             FROM (SELECT (pg_catalog.max(s.id)::numeric * $2 / 1000000)::bigint AS start FROM alk.schedule s) b
             CROSS JOIN LATERAL ((SELECT s.id FROM alk.schedule s WHERE s.id >= b.start ORDER BY s.id LIMIT 20)
                                 UNION ALL
                                 (SELECT s.id FROM alk.schedule s WHERE s.id < b.start ORDER BY s.id LIMIT 20)) s) n
       ORDER BY n.is_behind, n.id
       LIMIT 20) n
 CROSS JOIN LATERAL (SELECT e.id, e.fire_at
                     FROM alk.schedule_event e
                     WHERE e.schedule_id = n.id
                     ORDER BY e.id DESC
                     LIMIT $1 OFFSET 1000) e
 WHERE e.fire_at IS NULL OR e.fire_at <= pg_catalog.statement_timestamp()
 LIMIT $1)
LIMIT $1
