-- job_why: why claims could not be settled or extended.
-- parameters: id int[], stamp int[], worker str[]
-- columns: id int, answer str (lapsed, lost, locked), in the order given
SELECT u.id,
       CASE WHEN j.stamp = u.stamp AND j.worker = u.worker AND j.lease_until > pg_catalog.statement_timestamp() THEN 'locked'
            WHEN j.stamp = u.stamp AND j.worker = u.worker THEN 'lapsed'
            ELSE 'lost' END AS answer
FROM ROWS FROM (pg_catalog.unnest($1::bigint[]), pg_catalog.unnest($2::bigint[]), pg_catalog.unnest($3::pg_catalog.text[]))
     WITH ORDINALITY AS u (id, stamp, worker, place)
LEFT JOIN alk.job j ON j.id = u.id
ORDER BY u.place
