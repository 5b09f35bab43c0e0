-- job_ids: draws an id for a job to come.
-- parameters: place int[]
-- columns: number int (the id)
INSERT INTO sqlite_sequence (name, seq)
SELECT 'alk_job', 0
WHERE NOT EXISTS (SELECT 1
                  FROM sqlite_sequence s
                  WHERE s.name = 'alk_job');
UPDATE sqlite_sequence
SET seq = seq + 1
WHERE name = 'alk_job'
  AND ?1 IS NOT NULL
RETURNING seq AS number
