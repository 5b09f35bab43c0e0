-- job_due: whether a job of a queue can be claimed now, and when the next one becomes due.
-- parameters: queue str
-- columns: is_due bool, next_due time, now time
SELECT EXISTS (SELECT 1
               FROM alk_lane l
               CROSS JOIN alk_job j
               WHERE l.queue = ?1
                 AND NOT EXISTS (SELECT 1
                                 FROM alk_queue q
                                 WHERE q.name = ?1
                                   AND q.paused_at IS NOT NULL)
                 AND j.queue = ?1
                 AND j.priority = l.priority
                 AND j.head = 1
                 AND j.run_at <= :now
                 AND (j.lease_until IS NULL OR j.lease_until <= :now)) AS is_due,
       (SELECT min((SELECT j.run_at
                    FROM alk_job j
                    WHERE j.queue = ?1
                      AND j.priority = l.priority
                      AND j.head = 1
                      AND j.run_at > :now
                      AND j.run_at < ''
                    ORDER BY j.run_at
                    LIMIT 1))
        FROM alk_lane l
        WHERE l.queue = ?1
          AND NOT EXISTS (SELECT 1
                          FROM alk_queue q
                          WHERE q.name = ?1
                            AND q.paused_at IS NOT NULL)) AS next_due,
       :now AS now
