-- waiter_dead: whether a waiter's backend is gone. Other roles' backend_start reads as null: those
-- count as alive.
-- columns: number int
SELECT 1 AS number
FROM alk.waiter w
WHERE NOT EXISTS (SELECT 1
                  FROM pg_catalog.pg_stat_activity a
                  WHERE a.pid = w.pid
                    AND coalesce(a.backend_start = w.backend_start, true))
LIMIT 1
