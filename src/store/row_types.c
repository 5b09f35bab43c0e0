/* store/row_types.c: the column tables of the row structs, in the order in which their statements
 * return them. */
#include <stddef.h>

#include "store/rows.h"

#define COLUMN(type_, row_type, field)                                                             \
    { #field, (type_), false, offsetof(struct row_type, field) }
#define MAYBE(type_, row_type, field)                                                              \
    { #field, (type_), true, offsetof(struct row_type, field) }
#define END                                                                                        \
    { NULL, 0, false, 0 }
#define ROW_TYPE(row_type)                                                                         \
    const struct alk__row_type row_type = {#row_type, sizeof(struct row_type), row_type##_columns}

const struct alk__row_type alk__row_none = {"alk__row_none", sizeof(struct alk__row), NULL};

static const struct alk__column alk__row_number_columns[] = {
    COLUMN(ALK__INT, alk__row_number, number),
    END,
};
ROW_TYPE(alk__row_number);

static const struct alk__column alk__row_meta_columns[] = {
    COLUMN(ALK__INT, alk__row_meta, version),
    COLUMN(ALK__INT, alk__row_meta, oldest),
    COLUMN(ALK__INT, alk__row_meta, epoch),
    END,
};
ROW_TYPE(alk__row_meta);

static const struct alk__column alk__row_lease_columns[] = {
    COLUMN(ALK__STR, alk__row_lease, name),         MAYBE(ALK__STR, alk__row_lease, owner),
    COLUMN(ALK__INT, alk__row_lease, fence),        COLUMN(ALK__SPAN, alk__row_lease, ttl),
    COLUMN(ALK__TIME, alk__row_lease, acquired_at), MAYBE(ALK__TIME, alk__row_lease, expires_at),
    COLUMN(ALK__TIME, alk__row_lease, now),         END,
};
ROW_TYPE(alk__row_lease);

static const struct alk__column alk__row_renewed_columns[] = {
    COLUMN(ALK__TIME, alk__row_renewed, expires_at),
    COLUMN(ALK__TIME, alk__row_renewed, high_water),
    COLUMN(ALK__TIME, alk__row_renewed, now),
    END,
};
ROW_TYPE(alk__row_renewed);

static const struct alk__column alk__row_schedule_columns[] = {
    COLUMN(ALK__INT, alk__row_schedule, id),
    COLUMN(ALK__STR, alk__row_schedule, name),
    COLUMN(ALK__STR, alk__row_schedule, spec),
    MAYBE(ALK__STR, alk__row_schedule, spec_resolved),
    MAYBE(ALK__STR, alk__row_schedule, spec_resolved_from),
    MAYBE(ALK__STR, alk__row_schedule, zone),
    MAYBE(ALK__STR, alk__row_schedule, zone_fingerprint),
    COLUMN(ALK__STR, alk__row_schedule, queue),
    COLUMN(ALK__JSON, alk__row_schedule, payload),
    COLUMN(ALK__INT, alk__row_schedule, priority),
    MAYBE(ALK__INT, alk__row_schedule, max_attempts),
    MAYBE(ALK__SPAN, alk__row_schedule, expires),
    COLUMN(ALK__STR, alk__row_schedule, catchup),
    COLUMN(ALK__INT, alk__row_schedule, catchup_max),
    MAYBE(ALK__SPAN, alk__row_schedule, catchup_window),
    MAYBE(ALK__SPAN, alk__row_schedule, max_lateness),
    COLUMN(ALK__SPAN, alk__row_schedule, grace),
    COLUMN(ALK__STR, alk__row_schedule, overlap),
    COLUMN(ALK__STR, alk__row_schedule, dst_gap),
    COLUMN(ALK__STR, alk__row_schedule, dst_fold),
    MAYBE(ALK__SPAN, alk__row_schedule, jitter),
    MAYBE(ALK__TIME, alk__row_schedule, not_before),
    MAYBE(ALK__TIME, alk__row_schedule, not_after),
    MAYBE(ALK__INT, alk__row_schedule, max_fires),
    MAYBE(ALK__STR, alk__row_schedule, owner_set),
    COLUMN(ALK__TIME, alk__row_schedule, anchor_at),
    MAYBE(ALK__TIME, alk__row_schedule, next_fire_at),
    MAYBE(ALK__TIME, alk__row_schedule, last_fire_at),
    COLUMN(ALK__INT, alk__row_schedule, version),
    COLUMN(ALK__TIME, alk__row_schedule, created_at),
    MAYBE(ALK__TIME, alk__row_schedule, paused_at),
    MAYBE(ALK__TIME, alk__row_schedule, pause_until),
    MAYBE(ALK__TIME, alk__row_schedule, done_at),
    MAYBE(ALK__TIME, alk__row_schedule, quarantined_at),
    MAYBE(ALK__TIME, alk__row_schedule, quarantine_from),
    COLUMN(ALK__INT, alk__row_schedule, quarantine_count),
    MAYBE(ALK__STR, alk__row_schedule, last_error),
    COLUMN(ALK__INT, alk__row_schedule, fired_total),
    COLUMN(ALK__INT, alk__row_schedule, missed_total),
    COLUMN(ALK__INT, alk__row_schedule, skipped_total),
    COLUMN(ALK__INT, alk__row_schedule, quarantined_total),
    MAYBE(ALK__TIME, alk__row_schedule, last_missed_at),
    COLUMN(ALK__TIME, alk__row_schedule, now),
    END,
};
ROW_TYPE(alk__row_schedule);

static const struct alk__column alk__row_schedule_name_columns[] = {
    COLUMN(ALK__INT, alk__row_schedule_name, id),
    COLUMN(ALK__STR, alk__row_schedule_name, name),
    END,
};
ROW_TYPE(alk__row_schedule_name);

static const struct alk__column alk__row_fire_columns[] = {
    COLUMN(ALK__INT, alk__row_fire, schedule_id),
    COLUMN(ALK__TIME, alk__row_fire, fire_at),
    END,
};
ROW_TYPE(alk__row_fire);

static const struct alk__column alk__row_unfinished_columns[] = {
    COLUMN(ALK__INT, alk__row_unfinished, schedule_id),
    COLUMN(ALK__BOOL, alk__row_unfinished, is_waiting),
    COLUMN(ALK__BOOL, alk__row_unfinished, is_started),
    END,
};
ROW_TYPE(alk__row_unfinished);

static const struct alk__column alk__row_replaced_columns[] = {
    COLUMN(ALK__INT, alk__row_replaced, schedule_id),
    COLUMN(ALK__TIME, alk__row_replaced, fire_at),
    COLUMN(ALK__INT, alk__row_replaced, job_id),
    END,
};
ROW_TYPE(alk__row_replaced);

static const struct alk__column alk__row_schedule_event_columns[] = {
    COLUMN(ALK__INT, alk__row_schedule_event, id),
    COLUMN(ALK__STR, alk__row_schedule_event, outcome),
    MAYBE(ALK__TIME, alk__row_schedule_event, fire_at),
    MAYBE(ALK__TIME, alk__row_schedule_event, to_at),
    COLUMN(ALK__INT, alk__row_schedule_event, count),
    MAYBE(ALK__INT, alk__row_schedule_event, job_id),
    MAYBE(ALK__SPAN, alk__row_schedule_event, lateness),
    MAYBE(ALK__STR, alk__row_schedule_event, owner),
    MAYBE(ALK__INT, alk__row_schedule_event, fence),
    MAYBE(ALK__STR, alk__row_schedule_event, detail),
    COLUMN(ALK__TIME, alk__row_schedule_event, at),
    COLUMN(ALK__BOOL, alk__row_schedule_event, is_catchup),
    COLUMN(ALK__BOOL, alk__row_schedule_event, is_at_least),
    END,
};
ROW_TYPE(alk__row_schedule_event);

static const struct alk__column alk__row_job_columns[] = {
    COLUMN(ALK__INT, alk__row_job, id),
    COLUMN(ALK__STR, alk__row_job, queue),
    MAYBE(ALK__STR, alk__row_job, key),
    COLUMN(ALK__INT, alk__row_job, priority),
    COLUMN(ALK__STR, alk__row_job, state),
    COLUMN(ALK__INT, alk__row_job, attempt),
    MAYBE(ALK__INT, alk__row_job, max_attempts),
    COLUMN(ALK__INT, alk__row_job, stamp),
    COLUMN(ALK__JSON, alk__row_job, payload),
    MAYBE(ALK__JSON, alk__row_job, headers),
    MAYBE(ALK__JSON, alk__row_job, errors),
    MAYBE(ALK__STR, alk__row_job, worker),
    MAYBE(ALK__STR, alk__row_job, reason),
    MAYBE(ALK__JSON, alk__row_job, result),
    COLUMN(ALK__TIME, alk__row_job, enqueued_at),
    COLUMN(ALK__TIME, alk__row_job, run_at),
    MAYBE(ALK__TIME, alk__row_job, claimed_at),
    MAYBE(ALK__TIME, alk__row_job, lease_until),
    MAYBE(ALK__TIME, alk__row_job, finished_at),
    MAYBE(ALK__TIME, alk__row_job, expires_at),
    MAYBE(ALK__TIME, alk__row_job, cancel_requested_at),
    MAYBE(ALK__INT, alk__row_job, schedule_id),
    MAYBE(ALK__TIME, alk__row_job, fire_at),
    COLUMN(ALK__TIME, alk__row_job, now),
    END,
};
ROW_TYPE(alk__row_job);

static const struct alk__column alk__row_claimed_columns[] = {
    COLUMN(ALK__INT, alk__row_job, id),           COLUMN(ALK__INT, alk__row_job, stamp),
    COLUMN(ALK__INT, alk__row_job, priority),     COLUMN(ALK__TIME, alk__row_job, run_at),
    MAYBE(ALK__STR, alk__row_job, key),           COLUMN(ALK__INT, alk__row_job, attempt),
    MAYBE(ALK__INT, alk__row_job, max_attempts),  COLUMN(ALK__JSON, alk__row_job, payload),
    MAYBE(ALK__JSON, alk__row_job, headers),      MAYBE(ALK__JSON, alk__row_job, errors),
    COLUMN(ALK__TIME, alk__row_job, enqueued_at), COLUMN(ALK__TIME, alk__row_job, claimed_at),
    COLUMN(ALK__TIME, alk__row_job, lease_until), MAYBE(ALK__TIME, alk__row_job, expires_at),
    MAYBE(ALK__INT, alk__row_job, schedule_id),   MAYBE(ALK__TIME, alk__row_job, fire_at),
    COLUMN(ALK__STR, alk__row_job, verdict),      END,
};
const struct alk__row_type alk__row_claimed = {"alk__row_claimed", sizeof(struct alk__row_job),
                                               alk__row_claimed_columns};

static const struct alk__column alk__row_due_columns[] = {
    COLUMN(ALK__BOOL, alk__row_due, is_due),
    MAYBE(ALK__TIME, alk__row_due, next_due),
    COLUMN(ALK__TIME, alk__row_due, now),
    END,
};
ROW_TYPE(alk__row_due);

static const struct alk__column alk__row_soonest_columns[] = {
    MAYBE(ALK__TIME, alk__row_due, next_due),
    COLUMN(ALK__TIME, alk__row_due, now),
    END,
};
const struct alk__row_type alk__row_soonest = {"alk__row_soonest", sizeof(struct alk__row_due),
                                               alk__row_soonest_columns};

static const struct alk__column alk__row_unique_columns[] = {
    COLUMN(ALK__INT, alk__row_unique, place),
    COLUMN(ALK__INT, alk__row_unique, job_id),
    END,
};
ROW_TYPE(alk__row_unique);

static const struct alk__column alk__row_settled_columns[] = {
    COLUMN(ALK__INT, alk__row_settled, id),
    COLUMN(ALK__INT, alk__row_settled, stamp),
    COLUMN(ALK__BOOL, alk__row_settled, is_cancelled),
    END,
};
ROW_TYPE(alk__row_settled);

static const struct alk__column alk__row_why_columns[] = {
    COLUMN(ALK__INT, alk__row_why, id),
    COLUMN(ALK__STR, alk__row_why, answer),
    END,
};
ROW_TYPE(alk__row_why);

static const struct alk__column alk__row_attempt_columns[] = {
    COLUMN(ALK__INT, alk__row_attempt, id),
    COLUMN(ALK__INT, alk__row_attempt, attempt),
    MAYBE(ALK__SPAN, alk__row_attempt, backoff_base),
    MAYBE(ALK__SPAN, alk__row_attempt, backoff_cap),
    END,
};
ROW_TYPE(alk__row_attempt);

static const struct alk__column alk__row_health_columns[] = {
    COLUMN(ALK__INT, alk__row_health, version),
    COLUMN(ALK__INT, alk__row_health, oldest),
    COLUMN(ALK__TIME, alk__row_health, now),
    MAYBE(ALK__TIME, alk__row_health, oldest_job),
    MAYBE(ALK__TIME, alk__row_health, oldest_schedule),
    MAYBE(ALK__STR, alk__row_health, leader),
    MAYBE(ALK__INT, alk__row_health, leader_fence),
    MAYBE(ALK__TIME, alk__row_health, leader_expires),
    COLUMN(ALK__INT, alk__row_health, quarantined),
    COLUMN(ALK__INT, alk__row_health, newer),
    END,
};
ROW_TYPE(alk__row_health);

static const struct alk__column alk__row_name_columns[] = {
    COLUMN(ALK__STR, alk__row_name, name),
    END,
};
ROW_TYPE(alk__row_name);
