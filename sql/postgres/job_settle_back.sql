-- job_settle_back: gives claimed jobs back to their queues: failed ones (error not null) while
-- attempts are left, released ones always. Waits for nobody. delay: until they are due again;
-- refund: taken off attempt.
-- parameters: id int[], stamp int[], worker str[], delay span[], error str[], refund int[]
-- columns: id int, stamp int, is_cancelled bool
WITH held AS MATERIALIZED (
    SELECT j.id, u.delay, u.error, u.refund
    FROM ROWS FROM (pg_catalog.unnest($1::bigint[]), pg_catalog.unnest($2::bigint[]), pg_catalog.unnest($3::pg_catalog.text[]),
                    pg_catalog.unnest($4::interval[]), pg_catalog.unnest($5::pg_catalog.text[]), pg_catalog.unnest($6::bigint[]))
         AS u (id, stamp, worker, delay, error, refund)
    JOIN alk.job j ON j.id = u.id
    WHERE j.stamp = u.stamp
      AND j.worker = u.worker
      AND j.lease_until > pg_catalog.statement_timestamp()
      AND j.cancel_requested_at IS NULL
      AND (u.error IS NULL
           OR j.attempt < coalesce(j.max_attempts, (SELECT q.max_attempts FROM alk.queue q WHERE q.name = j.queue), 20))
    ORDER BY j.id
    FOR UPDATE OF j SKIP LOCKED
)
UPDATE alk.job j
SET lease_until = NULL,
    worker = NULL,
    attempt = greatest(j.attempt - h.refund, 0),
    run_at = greatest(j.run_at, pg_catalog.clock_timestamp() + h.delay),
    errors = CASE WHEN h.error IS NULL THEN j.errors ELSE (
        '[' || coalesce((SELECT pg_catalog.string_agg(e.line::pg_catalog.text, ',' ORDER BY e.place)
                         FROM (SELECT e.line, e.place
                               FROM pg_catalog.json_array_elements(CASE WHEN pg_catalog.json_typeof(j.errors) = 'array'
                                                                        THEN j.errors ELSE '[]' END)
                                    WITH ORDINALITY AS e (line, place)
                               ORDER BY e.place DESC
                               LIMIT 9) e) || ',', '')
        || '{"attempt":' || j.attempt || ',"at":"'
        || pg_catalog.to_char(pg_catalog.timezone('UTC', pg_catalog.clock_timestamp()), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
        || '","error":' || pg_catalog.to_json(h.error) || '}]')::pg_catalog.json END
FROM held h
WHERE j.id = h.id
RETURNING j.id, j.stamp, false AS is_cancelled
