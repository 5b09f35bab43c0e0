-- meta_get: the versions of the schema.
-- columns: version int, oldest int, epoch int
SELECT m.version, m.oldest, m.epoch
FROM alk.meta m
