-- tick_skipped: one line for each boundary that an unfinished job kept from firing (S122), or whose job, which had not been started, a
-- newer one has replaced.
-- parameters: schedule_ids int[], fire_ats time[], job_ids int[], details str[], owner str, fence int, now time
INSERT INTO alk_schedule_event (schedule_id, fire_at, outcome, job_id, detail, lateness, owner, fence, at)
VALUES (?1, ?2, 'skipped_overlap', ?3, ?4, ?7 - ?2, ?5, ?6, ?7)
