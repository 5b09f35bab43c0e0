-- job_settle_back: gives a claimed job back to its queue: a failed one (error not null) while
-- attempts are left, a released one always. delay: until it is due again; refund: taken off
-- attempt.
-- parameters: id int[], stamp int[], worker str[], delay span[], error str[], refund int[]
-- columns: id int, stamp int, is_cancelled bool
UPDATE alk_job
SET lease_until = NULL,
    worker = NULL,
    attempt = max(attempt - ?6, 0),
    run_at = max(run_at, :now + ?4),
    errors = CASE WHEN ?5 IS NULL THEN errors ELSE
        '[' || coalesce((SELECT group_concat(e.value, ',')
                         FROM (SELECT e.value
                               FROM (SELECT e.id, e.value
                                     FROM json_each(CASE WHEN json_valid(errors) THEN errors ELSE '[]' END) e
                                     WHERE e.type = 'object'
                                     ORDER BY e.id DESC
                                     LIMIT 9) e
                               ORDER BY e.id) e) || ',', '')
        || '{"attempt":' || attempt || ',"at":"'
        || strftime('%Y-%m-%dT%H:%M:%S', :now / 1000000, 'unixepoch') || printf('.%06dZ', :now % 1000000)
        || '","error":' || json_quote(?5) || '}]' END
WHERE id = ?1
  AND stamp = ?2
  AND worker = ?3
  AND lease_until > :now
  AND cancel_requested_at IS NULL
  AND (?5 IS NULL
       OR attempt < coalesce(max_attempts, (SELECT q.max_attempts FROM alk_queue q WHERE q.name = queue), 20))
RETURNING id, stamp, 0 AS is_cancelled
