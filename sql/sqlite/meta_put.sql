-- meta_put: the versions after a migration; the epoch is that of the first.
-- parameters: version int, oldest int, epoch int
INSERT INTO alk_meta (only_row, version, oldest, epoch)
VALUES (1, ?1, ?2, ?3)
ON CONFLICT (only_row) DO UPDATE SET version = excluded.version, oldest = excluded.oldest
