-- clock_get: the database's clock in microseconds since 1970.
-- columns: number int
SELECT (pg_catalog.date_part('epoch', pg_catalog.clock_timestamp()) * 1000000)::bigint AS number
