-- job_ids: draws ids for jobs to come.
-- parameters: place int[]
-- columns: number int (ids, rising)
SELECT pg_catalog.nextval($name$alk.job_id$name$::pg_catalog.regclass) AS number
FROM pg_catalog.unnest($1::bigint[]) AS u (place)
