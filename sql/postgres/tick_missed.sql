-- tick_missed: one line for each gap of boundaries that are not fired (S130).
-- parameters: schedule_ids int[], firsts time[], lasts time[], counts int[], are_at_least bool[], owner str, fence int,
--   now time
INSERT INTO alk.schedule_event (schedule_id, fire_at, to_at, count, is_at_least, outcome, owner, fence, at)
SELECT u.schedule_id, u.first, u.last, u.count, u.is_at_least, 'missed', $6, $7, $8
FROM ROWS FROM (pg_catalog.unnest($1::bigint[]), pg_catalog.unnest($2::pg_catalog.timestamptz[]),
                pg_catalog.unnest($3::pg_catalog.timestamptz[]), pg_catalog.unnest($4::bigint[]),
                pg_catalog.unnest($5::boolean[]))
       AS u (schedule_id, first, last, count, is_at_least)
