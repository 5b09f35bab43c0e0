-- meta_put: the versions after a migration; the epoch is that of the first.
-- parameters: version int, oldest int, epoch int
INSERT INTO alk.meta (only_row, version, oldest, epoch)
VALUES (true, $1, $2, $3)
ON CONFLICT (only_row) DO UPDATE SET version = excluded.version, oldest = excluded.oldest
