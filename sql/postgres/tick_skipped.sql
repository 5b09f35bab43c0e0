-- tick_skipped: one line for each boundary that an unfinished job kept from firing (S122), or whose job, which had not been started, a
-- newer one has replaced.
-- parameters: schedule_ids int[], fire_ats time[], job_ids int[], details str[], owner str, fence int, now time
INSERT INTO alk.schedule_event (schedule_id, fire_at, outcome, job_id, detail, lateness, owner, fence, at)
SELECT u.schedule_id, u.fire_at, 'skipped_overlap', u.job_id, u.detail, $7 - u.fire_at, $5, $6, $7
FROM ROWS FROM (pg_catalog.unnest($1::bigint[]), pg_catalog.unnest($2::pg_catalog.timestamptz[]),
                pg_catalog.unnest($3::bigint[]), pg_catalog.unnest($4::pg_catalog.text[]))
       AS u (schedule_id, fire_at, job_id, detail)
