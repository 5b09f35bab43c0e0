-- waiter_purge: deletes waiters whose backend is gone.
-- columns: number int
DELETE FROM alk.waiter w
WHERE NOT EXISTS (SELECT 1
                  FROM pg_catalog.pg_stat_activity a
                  WHERE a.pid = w.pid
                    AND coalesce(a.backend_start = w.backend_start, true))
RETURNING 1 AS number
