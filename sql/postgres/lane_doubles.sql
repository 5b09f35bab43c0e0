-- lane_doubles: whether a lane is written more than once.
-- columns: number int
SELECT 1 AS number
FROM alk.lane l
WHERE EXISTS (SELECT 1
              FROM alk.lane k
              WHERE k.queue = l.queue
                AND k.priority = l.priority
                AND k.ctid < l.ctid)
LIMIT 1
