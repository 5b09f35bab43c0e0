-- job_settle_done: ends claimed jobs as done, or as cancelled where that was asked for (is_done
-- false: only those), and makes the next job of their key the head. Waits for rows that somebody
-- holds, as long as lock_timeout allows; job_settle_done_free does not. refund: taken off attempt.
-- parameters: id int[], stamp int[], worker str[], result json[], is_done bool[], refund int[]
-- columns: id int, stamp int, is_cancelled bool
WITH gone AS (
    DELETE FROM alk.job j
    USING ROWS FROM (pg_catalog.unnest($1::bigint[]), pg_catalog.unnest($2::bigint[]), pg_catalog.unnest($3::pg_catalog.text[]),
                     pg_catalog.unnest($4::pg_catalog.json[]), pg_catalog.unnest($5::boolean[]), pg_catalog.unnest($6::bigint[]))
          AS u (id, stamp, worker, result, is_done, refund)
    WHERE j.id = u.id
      AND j.stamp = u.stamp
      AND j.worker = u.worker
      AND j.lease_until > pg_catalog.statement_timestamp()
      AND (u.is_done OR j.cancel_requested_at IS NOT NULL)
    RETURNING j.*, u.result, u.refund
), kept AS (
    INSERT INTO alk.job_done (id, queue, priority, run_at, key, payload, headers, attempt, max_attempts, stamp, worker,
                              expires_at, cancel_requested_at, schedule_id, fire_at, errors, enqueued_at, claimed_at, outcome,
                              result, finished_at)
    SELECT g.id, g.queue, g.priority, g.run_at, g.key, g.payload, g.headers, greatest(g.attempt - g.refund, 0),
           g.max_attempts, g.stamp, g.worker, g.expires_at, g.cancel_requested_at, g.schedule_id, g.fire_at, g.errors,
           g.enqueued_at, g.claimed_at,
           CASE WHEN g.cancel_requested_at IS NULL THEN 'done' ELSE 'cancelled' END,
           CASE WHEN g.cancel_requested_at IS NULL THEN g.result END,
           pg_catalog.clock_timestamp()
    FROM gone g
    WHERE coalesce((SELECT q.keep_done FROM alk.queue q WHERE q.name = g.queue), interval '24 h') > interval '0'
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
SELECT g.id, g.stamp, g.cancel_requested_at IS NOT NULL AS is_cancelled
FROM gone g
