-- tick_missed: one line for each gap of boundaries that are not fired (S130).
-- parameters: schedule_ids int[], firsts time[], lasts time[], counts int[], are_at_least bool[], owner str, fence int,
--   now time
INSERT INTO alk_schedule_event (schedule_id, fire_at, to_at, count, is_at_least, outcome, owner, fence, at)
VALUES (?1, ?2, ?3, ?4, ?5, 'missed', ?6, ?7, ?8)
