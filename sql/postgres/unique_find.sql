-- unique_find: the jobs that have the keys; no row where one is free, or its time is over.
-- parameters: place int[], queue str[], key str[], job_id int[] (of the asker: counts though its time is over)
-- columns: place int, job_id int
SELECT u.place, k.job_id
FROM ROWS FROM (pg_catalog.unnest($1::bigint[]), pg_catalog.unnest($2::pg_catalog.text[]),
                pg_catalog.unnest($3::pg_catalog.text[]), pg_catalog.unnest($4::bigint[]))
     AS u (place, queue, key, job_id)
JOIN alk.unique_key k ON k.queue = u.queue AND k.key = u.key
WHERE k.until IS NULL
   OR k.until > pg_catalog.statement_timestamp()
   OR k.job_id = u.job_id
