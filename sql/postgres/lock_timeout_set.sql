-- lock_timeout_set: how long the rest of the transaction waits for a row.
-- parameters: limit span
SELECT pg_catalog.set_config('lock_timeout', (pg_catalog.date_part('epoch', $1::interval) * 1000)::bigint || 'ms', true)
