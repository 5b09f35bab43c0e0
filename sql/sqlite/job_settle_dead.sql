-- job_settle_dead: ends a claimed job as dead; is_retry: only if its attempts are used up. Copies
-- without looking, so that a row that cannot be read goes too. error: its last line, null = none;
-- refund: taken off attempt.
-- parameters: id int[], stamp int[], worker str[], reason str[], error str[], refund int[], is_retry bool[]
-- columns: id int, stamp int, is_cancelled bool
INSERT INTO alk_job_dead (id, queue, priority, run_at, key, payload, headers, attempt, max_attempts, stamp, worker, expires_at,
                          cancel_requested_at, schedule_id, fire_at, errors, enqueued_at, claimed_at, reason, finished_at)
SELECT j.id, coalesce(CAST(j.queue AS TEXT), ''), coalesce(CAST(j.priority AS INTEGER), 0),
       coalesce(CAST(j.run_at AS INTEGER), :now), CAST(j.key AS TEXT), coalesce(CAST(j.payload AS TEXT), 'null'),
       CAST(j.headers AS TEXT), max(coalesce(CAST(j.attempt AS INTEGER), 0) - ?6, 0), CAST(j.max_attempts AS INTEGER),
       j.stamp, j.worker, CAST(j.expires_at AS INTEGER), CAST(j.cancel_requested_at AS INTEGER),
       CAST(j.schedule_id AS INTEGER), CAST(j.fire_at AS INTEGER),
       CASE WHEN ?5 IS NULL THEN CAST(j.errors AS TEXT) ELSE
           '[' || coalesce((SELECT group_concat(e.value, ',')
                            FROM (SELECT e.value
                                  FROM (SELECT e.id, e.value
                                        FROM json_each(CASE WHEN json_valid(j.errors) THEN j.errors ELSE '[]' END) e
                                        WHERE e.type = 'object'
                                        ORDER BY e.id DESC
                                        LIMIT 9) e
                                  ORDER BY e.id) e) || ',', '')
           || '{"attempt":' || coalesce(CAST(j.attempt AS INTEGER), 0) || ',"at":"'
           || strftime('%Y-%m-%dT%H:%M:%S', :now / 1000000, 'unixepoch') || printf('.%06dZ', :now % 1000000)
           || '","error":' || json_quote(?5) || '}]' END,
       coalesce(CAST(j.enqueued_at AS INTEGER), :now), CAST(j.claimed_at AS INTEGER), ?4, :now
FROM alk_job j
WHERE j.id = ?1
  AND j.stamp = ?2
  AND j.worker = ?3
  AND j.lease_until > :now
  AND (j.cancel_requested_at IS NULL OR ?4 = 'undecodable')
  AND (NOT ?7 OR j.attempt >= coalesce(j.max_attempts, (SELECT q.max_attempts FROM alk_queue q WHERE q.name = j.queue), 20));
UPDATE alk_job
SET head = 0
WHERE id = ?1
  AND stamp = ?2
  AND worker = ?3
  AND key IS NOT NULL
  AND id IN (SELECT d.id FROM alk_job_dead d WHERE d.id = ?1 AND d.stamp = ?2);
UPDATE alk_job
SET head = 1,
    run_at = max(run_at, :now)
WHERE id = (SELECT n.id
            FROM alk_job j
            CROSS JOIN alk_job n
            WHERE j.id = ?1
              AND j.stamp = ?2
              AND j.worker = ?3
              AND j.head = 0
              AND j.id IN (SELECT d.id FROM alk_job_dead d WHERE d.id = ?1 AND d.stamp = ?2)
              AND n.queue = j.queue
              AND n.key = j.key
              AND n.head = 0
              AND n.id <> j.id
            ORDER BY n.id
            LIMIT 1);
DELETE FROM alk_job
WHERE id = ?1
  AND stamp = ?2
  AND worker = ?3
  AND id IN (SELECT d.id FROM alk_job_dead d WHERE d.id = ?1 AND d.stamp = ?2)
RETURNING id, stamp, 0 AS is_cancelled
