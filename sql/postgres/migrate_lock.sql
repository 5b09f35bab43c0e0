-- migrate_lock: one migration at a time in a schema, until the transaction ends.
-- parameters: key int
SELECT pg_catalog.pg_advisory_xact_lock($1)
