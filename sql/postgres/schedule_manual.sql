-- schedule_manual: the ledger's line for a run asked for by hand (S120).
-- parameters: schedule_id int, job_id int, now time
INSERT INTO alk.schedule_event (schedule_id, outcome, job_id, at)
VALUES ($1, 'manual', $2, $3)
