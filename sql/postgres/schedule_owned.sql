-- schedule_owned: the schedules of a declarative set, held in order of id.
-- parameters: owner_set str
-- columns: id int, name str
SELECT s.id, s.name
FROM alk.schedule s
WHERE s.owner_set = $1
ORDER BY s.id
FOR UPDATE OF s
