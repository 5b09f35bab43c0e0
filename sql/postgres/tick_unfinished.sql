-- tick_unfinished: whether a job of each schedule waits for its first run (or for a new one after its claim lapsed), and whether
-- one has been started and is not over. A job that will not run any more counts as neither.
-- parameters: schedule_ids int[]
-- columns: schedule_id int, is_waiting bool, is_started bool
SELECT u.id AS schedule_id, w.id IS NOT NULL AS is_waiting, r.id IS NOT NULL AS is_started
FROM pg_catalog.unnest($1::bigint[]) AS u (id)
LEFT JOIN LATERAL (SELECT j.id
                   FROM alk.job j
                   WHERE j.schedule_id = u.id
                     AND (j.lease_until IS NULL AND j.attempt = 0 OR j.lease_until <= pg_catalog.statement_timestamp())
                     AND j.cancel_requested_at IS NULL
                     AND (j.expires_at IS NULL OR j.expires_at > pg_catalog.statement_timestamp())
                     AND j.attempt < coalesce(j.max_attempts,
                                              (SELECT q.max_attempts FROM alk.queue q WHERE q.name = j.queue), 20)
                   LIMIT 1) w ON true
LEFT JOIN LATERAL (SELECT j.id
                   FROM alk.job j
                   WHERE j.schedule_id = u.id
                     AND (j.lease_until > pg_catalog.statement_timestamp()
                          OR j.lease_until IS NULL
                             AND j.attempt > 0
                             AND j.cancel_requested_at IS NULL
                             AND (j.expires_at IS NULL OR j.expires_at > pg_catalog.statement_timestamp()))
                   LIMIT 1) r ON true
