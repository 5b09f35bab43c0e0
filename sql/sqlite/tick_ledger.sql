-- tick_ledger: the lines of boundaries that fire. A line that is there already is not written: the count says so.
-- parameters: schedule_ids int[], fire_ats time[], are_catchup bool[], job_ids int[], owner str, fence int, now time
INSERT INTO alk_schedule_event (schedule_id, fire_at, outcome, is_catchup, job_id, lateness, owner, fence, at)
VALUES (?1, ?2, 'fired', ?3, ?4, ?7 - ?2, ?5, ?6, ?7)
ON CONFLICT (schedule_id, fire_at) WHERE outcome = 'fired' DO NOTHING
