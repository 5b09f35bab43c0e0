-- unique_take: gives a key that nobody has, or whose time is over, to a job to come.
-- parameters: queue str[], key str[], job_id int[], scope str[], span span[]
INSERT INTO alk_unique_key (queue, key, job_id, scope, until)
SELECT ?1, ?2, ?3, ?4, :now + ?5
WHERE true
ON CONFLICT (queue, key) DO UPDATE
SET job_id = excluded.job_id,
    scope = excluded.scope,
    until = excluded.until
WHERE until <= :now
