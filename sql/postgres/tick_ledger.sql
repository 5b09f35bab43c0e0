-- tick_ledger: the lines of boundaries that fire. A line that is there already is not written: the count says so.
-- parameters: schedule_ids int[], fire_ats time[], are_catchup bool[], job_ids int[], owner str, fence int, now time
INSERT INTO alk.schedule_event (schedule_id, fire_at, outcome, is_catchup, job_id, lateness, owner, fence, at)
SELECT u.schedule_id, u.fire_at, 'fired', u.is_catchup, u.job_id, $7 - u.fire_at, $5, $6, $7
FROM ROWS FROM (pg_catalog.unnest($1::bigint[]), pg_catalog.unnest($2::pg_catalog.timestamptz[]),
                pg_catalog.unnest($3::boolean[]), pg_catalog.unnest($4::bigint[]))
       AS u (schedule_id, fire_at, is_catchup, job_id)
ON CONFLICT (schedule_id, fire_at) WHERE outcome = 'fired' DO NOTHING
