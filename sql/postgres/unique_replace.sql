-- unique_replace: gives keys whose time is over to jobs to come. It follows unique_take: who waits here
-- holds nothing that somebody waits for in the order of the keys. No row is ever updated: who waited for
-- one would lock its new version, though that is another key now, and hold up a claim.
-- parameters: queue str[], key str[], job_id int[], scope str[], span span[]
WITH old AS MATERIALIZED (
    SELECT u.queue, u.key, u.job_id, u.scope, u.span
    FROM (SELECT DISTINCT ON (u.queue, u.key) u.queue, u.key, u.job_id, u.scope, u.span
          FROM ROWS FROM (pg_catalog.unnest($1::pg_catalog.text[]), pg_catalog.unnest($2::pg_catalog.text[]),
                      pg_catalog.unnest($3::bigint[]), pg_catalog.unnest($4::pg_catalog.text[]),
                      pg_catalog.unnest($5::interval[]))
               AS u (queue, key, job_id, scope, span)
          ORDER BY u.queue, u.key, u.job_id) u
    JOIN alk.unique_key k ON k.queue = u.queue AND k.key = u.key
    WHERE k.until <= pg_catalog.statement_timestamp()
    ORDER BY k.queue COLLATE pg_catalog."C", k.key COLLATE pg_catalog."C"
    FOR UPDATE OF k
), gone AS (
    DELETE FROM alk.unique_key k
    USING old o
    WHERE k.queue = o.queue
      AND k.key = o.key
    RETURNING o.queue, o.key, o.job_id, o.scope, o.span
)
INSERT INTO alk.unique_key (queue, key, job_id, scope, until)
SELECT g.queue, g.key, g.job_id, g.scope, pg_catalog.statement_timestamp() + g.span
FROM gone g
ON CONFLICT (queue, key) DO NOTHING
