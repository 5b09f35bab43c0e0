-- lane_purge: leaves one row of each lane.
-- columns: number int
DELETE FROM alk.lane l
WHERE EXISTS (SELECT 1
              FROM alk.lane k
              WHERE k.queue = l.queue
                AND k.priority = l.priority
                AND k.ctid < l.ctid)
RETURNING 1 AS number
