-- clock_get: the database's clock in microseconds since 1970.
-- columns: number int
SELECT :now AS number
