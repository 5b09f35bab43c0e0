-- unique_take: gives keys that nobody has to jobs to come, in the order of the keys, so that no two
-- callers wait for each other. Waits for who is just taking or giving up one of them, until that is
-- committed or rolled back; a key that somebody has is not locked.
-- parameters: queue str[], key str[], job_id int[], scope str[], span span[]
INSERT INTO alk.unique_key (queue, key, job_id, scope, until)
SELECT u.queue, u.key, u.job_id, u.scope, pg_catalog.statement_timestamp() + u.span
FROM ROWS FROM (pg_catalog.unnest($1::pg_catalog.text[]), pg_catalog.unnest($2::pg_catalog.text[]),
                pg_catalog.unnest($3::bigint[]), pg_catalog.unnest($4::pg_catalog.text[]),
                pg_catalog.unnest($5::interval[]))
     AS u (queue, key, job_id, scope, span)
ORDER BY u.queue COLLATE pg_catalog."C", u.key COLLATE pg_catalog."C", u.job_id
ON CONFLICT (queue, key) DO NOTHING
