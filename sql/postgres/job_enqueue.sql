-- job_enqueue: puts jobs into queues and writes the lanes that are not there yet. All, or none and
-- no row when one is longer than its queue allows.
-- parameters: queue str[], payload json[], headers json[], priority int[], max_attempts int[], run_at time[], delay span[],
--   expires span[], expires_at time[], schedule_id int[], fire_at time[], id int[] (null = the next one),
--   has_unique bool[]
-- columns: number int (the ids, in the order given)
WITH given AS MATERIALIZED (
    SELECT coalesce(u.drawn, pg_catalog.nextval($name$alk.job_id$name$::pg_catalog.regclass)) AS id, u.*
    FROM (SELECT u.*
          FROM ROWS FROM (pg_catalog.unnest($1::pg_catalog.text[]), pg_catalog.unnest($2::pg_catalog.json[]),
                          pg_catalog.unnest($3::pg_catalog.json[]),
                          pg_catalog.unnest($4::bigint[]), pg_catalog.unnest($5::bigint[]),
                          pg_catalog.unnest($6::pg_catalog.timestamptz[]), pg_catalog.unnest($7::interval[]),
                          pg_catalog.unnest($8::interval[]), pg_catalog.unnest($9::pg_catalog.timestamptz[]),
                          pg_catalog.unnest($10::bigint[]), pg_catalog.unnest($11::pg_catalog.timestamptz[]),
                          pg_catalog.unnest($12::bigint[]), pg_catalog.unnest($13::boolean[]))
               WITH ORDINALITY AS u (queue, payload, headers, priority, max_attempts, run_at, delay, expires, expires_at,
                                     schedule_id, fire_at, drawn, has_unique, place)
          ORDER BY u.place) u
), fitting AS MATERIALIZED (
    SELECT g.*
    FROM given g
    WHERE NOT EXISTS (SELECT 1
                      FROM given o
                      JOIN alk.queue q ON q.name = o.queue
                      WHERE pg_catalog.octet_length(o.payload::pg_catalog.text) > q.payload_bytes)
), lanes AS (
    INSERT INTO alk.lane (queue, priority)
    SELECT DISTINCT f.queue, f.priority
    FROM fitting f
    WHERE NOT EXISTS (SELECT 1
                      FROM alk.lane l
                      WHERE l.queue = f.queue
                        AND l.priority = f.priority)
), jobs AS (
    INSERT INTO alk.job (id, queue, priority, run_at, payload, headers, max_attempts, expires_at, schedule_id, fire_at,
                         has_unique, enqueued_at)
    SELECT f.id, f.queue, f.priority,
           greatest(pg_catalog.statement_timestamp(), f.run_at, pg_catalog.statement_timestamp() + f.delay),
           f.payload, f.headers, f.max_attempts,
           coalesce(f.expires_at,
                    pg_catalog.statement_timestamp()
                    + coalesce(f.expires, (SELECT q.expires FROM alk.queue q WHERE q.name = f.queue))),
           f.schedule_id, f.fire_at, f.has_unique, pg_catalog.statement_timestamp()
    FROM fitting f
    ORDER BY f.id
)
SELECT f.id AS number
FROM fitting f
ORDER BY f.place
