-- job_enqueue: puts a job into a queue and writes its lane if that is not there yet. No row when it
-- is longer than its queue allows.
-- parameters: queue str[], payload json[], headers json[], priority int[], max_attempts int[], run_at time[], delay span[],
--   expires span[], expires_at time[], schedule_id int[], fire_at time[], id int[] (null = the next one),
--   has_unique bool[]
-- columns: number int (the id)
INSERT INTO alk_lane (queue, priority)
SELECT ?1, ?4
WHERE NOT EXISTS (SELECT 1
                  FROM alk_lane l
                  WHERE l.queue = ?1
                    AND l.priority = ?4);
INSERT INTO alk_job (id, queue, priority, run_at, payload, headers, max_attempts, expires_at, schedule_id, fire_at, has_unique,
                     enqueued_at)
SELECT ?12, ?1, ?4, max(:now, coalesce(?6, :now), :now + coalesce(?7, 0)), ?2, ?3, ?5,
       coalesce(?9, :now + coalesce(?8, (SELECT q.expires FROM alk_queue q WHERE q.name = ?1))),
       ?10, ?11, ?13, :now
WHERE length(CAST(?2 AS BLOB)) <= coalesce((SELECT q.payload_bytes FROM alk_queue q WHERE q.name = ?1), 1048576)
RETURNING id AS number
