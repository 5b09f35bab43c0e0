-- job_why: why a claim could not be settled or extended.
-- parameters: id int[], stamp int[], worker str[]
-- columns: id int, answer str (lapsed, lost, locked)
SELECT ?1 AS id,
       coalesce((SELECT CASE WHEN j.lease_until > :now THEN 'locked' ELSE 'lapsed' END
                 FROM alk_job j
                 WHERE j.id = ?1
                   AND j.stamp = ?2
                   AND j.worker = ?3),
                'lost') AS answer
