-- job_due: whether a job of a queue can be claimed now, and when the next one becomes due.
-- parameters: queue str
-- columns: is_due bool, next_due time, now time
WITH lanes AS MATERIALIZED (
    SELECT DISTINCT l.priority
    FROM alk.lane l
    WHERE l.queue = $1
      AND NOT EXISTS (SELECT 1
                      FROM alk.queue q
                      WHERE q.name = $1
                        AND q.paused_at IS NOT NULL)
)
SELECT EXISTS (SELECT 1
               FROM lanes l
               CROSS JOIN LATERAL (SELECT 1
                                   FROM alk.job j
                                   WHERE j.queue = $1
                                     AND j.priority = l.priority
                                     AND j.head
                                     AND j.run_at <= pg_catalog.statement_timestamp()
                                     AND (j.lease_until IS NULL OR j.lease_until <= pg_catalog.statement_timestamp())
                                   ORDER BY j.run_at, j.id
                                   LIMIT 1) j) AS is_due,
       (SELECT pg_catalog.min(j.run_at)
        FROM lanes l
        CROSS JOIN LATERAL (SELECT j.run_at
                            FROM alk.job j
                            WHERE j.queue = $1
                              AND j.priority = l.priority
                              AND j.head
                              AND j.run_at > pg_catalog.statement_timestamp()
                            ORDER BY j.run_at, j.id
                            LIMIT 1) j) AS next_due,
       pg_catalog.statement_timestamp() AS now
