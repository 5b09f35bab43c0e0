-- sweep_write: gives schedules another next fire if they are as they were read and nobody holds them; what came back was changed.
-- fired_untils: the last fire, and where a quarantine began, are not later; null = they stay. fingerprints: null = it stays.
-- parameters: ids int[], versions int[], was time[], next_fire_ats time[], done_ats time[], fired_untils time[],
--   fingerprints str[], missed int[], last_missed_ats time[]
-- columns: number int (ids, in order)
WITH held AS MATERIALIZED (
    SELECT s.id, u.next_fire_at, u.done_at, u.fired_until, u.fingerprint, u.missed, u.last_missed_at
    FROM ROWS FROM (pg_catalog.unnest($1::bigint[]), pg_catalog.unnest($2::bigint[]),
                    pg_catalog.unnest($3::pg_catalog.timestamptz[]), pg_catalog.unnest($4::pg_catalog.timestamptz[]),
                    pg_catalog.unnest($5::pg_catalog.timestamptz[]), pg_catalog.unnest($6::pg_catalog.timestamptz[]),
                    pg_catalog.unnest($7::pg_catalog.text[]), pg_catalog.unnest($8::bigint[]),
                    pg_catalog.unnest($9::pg_catalog.timestamptz[]))
         AS u (id, version, was, next_fire_at, done_at, fired_until, fingerprint, missed, last_missed_at)
    CROSS JOIN LATERAL (SELECT s.id
                        FROM alk.schedule s
                        WHERE s.id = u.id AND s.version = u.version AND s.next_fire_at IS NOT DISTINCT FROM u.was
                        FOR NO KEY UPDATE SKIP LOCKED) s
), changed AS (
    UPDATE alk.schedule s
    SET next_fire_at = h.next_fire_at, done_at = h.done_at, last_fire_at = least(s.last_fire_at,
            CASE WHEN s.last_fire_at IS NOT NULL THEN h.fired_until END),
        quarantine_from = least(s.quarantine_from, CASE WHEN s.quarantine_from IS NOT NULL THEN h.fired_until END),
        zone_fingerprint = coalesce(h.fingerprint, s.zone_fingerprint), missed_total = s.missed_total + h.missed,
        last_missed_at = coalesce(h.last_missed_at, s.last_missed_at), version = s.version + 1
    FROM held h
    WHERE s.id = h.id
    RETURNING s.id
)
SELECT c.id AS number
FROM changed c
ORDER BY c.id
