-- schedule_history: the ledger of one schedule, newest first.
-- parameters: schedule_id int, limit int
-- columns: those of alk__row_schedule_event
SELECT e.id, e.outcome, e.fire_at, e.to_at, e.count, e.job_id, e.lateness, e.owner, e.fence, e.detail, e.at,
       e.is_catchup, e.is_at_least
FROM alk.schedule_event e
WHERE e.schedule_id = $1
ORDER BY e.id DESC
LIMIT $2
