-- job_settle_dead: ends claimed jobs as dead; is_retry: only those whose attempts are used up.
-- Copies without looking, so that a row that cannot be read goes too. Waits for nobody. error: its
-- last line, null = none; refund: taken off attempt.
-- parameters: id int[], stamp int[], worker str[], reason str[], error str[], refund int[], is_retry bool[]
-- columns: id int, stamp int, is_cancelled bool
WITH held AS MATERIALIZED (
    SELECT j.id, u.reason, u.error, u.refund
    FROM ROWS FROM (pg_catalog.unnest($1::bigint[]), pg_catalog.unnest($2::bigint[]), pg_catalog.unnest($3::pg_catalog.text[]),
                    pg_catalog.unnest($4::pg_catalog.text[]), pg_catalog.unnest($5::pg_catalog.text[]),
                    pg_catalog.unnest($6::bigint[]),
                    pg_catalog.unnest($7::boolean[]))
         AS u (id, stamp, worker, reason, error, refund, is_retry)
    JOIN alk.job j ON j.id = u.id
    WHERE j.stamp = u.stamp
      AND j.worker = u.worker
      AND j.lease_until > pg_catalog.statement_timestamp()
      AND (j.cancel_requested_at IS NULL OR u.reason = 'undecodable')
      AND (NOT u.is_retry
           OR j.attempt >= coalesce(j.max_attempts, (SELECT q.max_attempts FROM alk.queue q WHERE q.name = j.queue), 20))
    ORDER BY j.id
    FOR UPDATE OF j SKIP LOCKED
), gone AS (
    DELETE FROM alk.job j
    USING held h
    WHERE j.id = h.id
    RETURNING j.*, h.reason, h.error, h.refund
), kept AS (
    INSERT INTO alk.job_dead (id, queue, priority, run_at, key, payload, headers, attempt, max_attempts, stamp, worker,
                              expires_at, cancel_requested_at, schedule_id, fire_at, errors, enqueued_at, claimed_at, reason,
                              finished_at)
    SELECT g.id, coalesce(g.queue, ''), coalesce(g.priority, 0), coalesce(g.run_at, pg_catalog.clock_timestamp()), g.key,
           coalesce(g.payload, 'null'), g.headers, greatest(g.attempt - g.refund, 0), g.max_attempts, coalesce(g.stamp, 0),
           g.worker, g.expires_at, g.cancel_requested_at, g.schedule_id, g.fire_at,
           CASE WHEN g.error IS NULL THEN g.errors ELSE (
               '[' || coalesce((SELECT pg_catalog.string_agg(e.line::pg_catalog.text, ',' ORDER BY e.place)
                                FROM (SELECT e.line, e.place
                                      FROM pg_catalog.json_array_elements(CASE WHEN pg_catalog.json_typeof(g.errors) = 'array'
                                                                               THEN g.errors ELSE '[]' END)
                                           WITH ORDINALITY AS e (line, place)
                                      ORDER BY e.place DESC
                                      LIMIT 9) e) || ',', '')
               || '{"attempt":' || coalesce(g.attempt, 0) || ',"at":"'
               || pg_catalog.to_char(pg_catalog.timezone('UTC', pg_catalog.clock_timestamp()),
                                     'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
               || '","error":' || pg_catalog.to_json(g.error) || '}]')::pg_catalog.json END,
           coalesce(g.enqueued_at, pg_catalog.clock_timestamp()), g.claimed_at, g.reason, pg_catalog.clock_timestamp()
    FROM gone g
), freed AS (
    DELETE FROM alk.unique_key k
    USING gone g
    WHERE g.has_unique
      AND k.job_id = g.id
      AND k.scope <> 'window'
), next AS MATERIALIZED (
    SELECT y.id
    FROM gone g
    CROSS JOIN LATERAL (SELECT x.id
                        FROM alk.job x
                        WHERE x.queue = g.queue
                          AND x.key = g.key
                          AND NOT x.head
                        ORDER BY x.id
                        LIMIT 1) x
    CROSS JOIN LATERAL (SELECT y.id
                        FROM alk.job y
                        WHERE y.id = x.id
                          AND NOT y.head
                        FOR UPDATE SKIP LOCKED) y
    WHERE g.key IS NOT NULL
      AND g.head
), promoted AS (
    UPDATE alk.job j
    SET head = true,
        run_at = greatest(j.run_at, pg_catalog.statement_timestamp())
    FROM next n
    WHERE j.id = n.id
)
SELECT g.id, g.stamp, false AS is_cancelled
FROM gone g
