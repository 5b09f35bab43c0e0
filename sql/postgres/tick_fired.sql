-- tick_fired: which of these boundaries have fired before. LATERAL and LIMIT make it one look into the index for each: a
-- join might be planned the other way round, over the whole ledger.
-- parameters: schedule_ids int[], fire_ats time[]
-- columns: schedule_id int, fire_at time
SELECT u.schedule_id, u.fire_at
FROM ROWS FROM (pg_catalog.unnest($1::bigint[]), pg_catalog.unnest($2::pg_catalog.timestamptz[])) AS u (schedule_id, fire_at)
CROSS JOIN LATERAL (SELECT e.id
                    FROM alk.schedule_event e
                    WHERE e.schedule_id = u.schedule_id AND e.fire_at = u.fire_at AND e.outcome = 'fired'
                    LIMIT 1) e
