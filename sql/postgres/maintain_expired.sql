-- maintain_expired: waiting jobs that are past their expires_at.
-- parameters: limit int
-- columns: number int (ids)
SELECT j.id AS number
FROM alk.job j
WHERE j.expires_at <= pg_catalog.statement_timestamp()
  AND (j.lease_until IS NULL OR j.lease_until <= pg_catalog.statement_timestamp())
  AND j.dead_at IS NULL
ORDER BY j.expires_at, j.id
LIMIT $1
