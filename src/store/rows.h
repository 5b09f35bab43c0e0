/* store/rows.h: the structs that rows become. row_types.c has their column tables, name by name.
 * Null integers and times are ALK__NULL, null texts have bytes NULL. Each starts with struct
 * alk__row. */
#ifndef ALK_STORE_ROWS_H
#define ALK_STORE_ROWS_H

#include "store/statement.h"

/* One number: a clock, a count, an id. */
struct alk__row_number {
    struct alk__row row;
    int64_t number;
};

/* meta: versions and epoch. */
struct alk__row_meta {
    struct alk__row row;
    int64_t version;
    int64_t oldest;
    int64_t epoch;
};

struct alk__row_lease {
    struct alk__row row;
    struct alk__text name;
    struct alk__text owner;
    int64_t fence;
    int64_t ttl;
    int64_t acquired_at;
    int64_t expires_at;
    int64_t now; /* of the statement */
};

/* A lease that was renewed. */
struct alk__row_renewed {
    struct alk__row row;
    int64_t expires_at;
    int64_t high_water; /* the latest that the database's clock has been */
    int64_t now;
};

/* A schedule, as every statement about schedules reads it. */
struct alk__row_schedule {
    struct alk__row row;
    int64_t id;
    struct alk__text name;
    struct alk__text spec;
    /* spec with each H replaced by its numbers, for the spec in spec_resolved_from */
    struct alk__text spec_resolved;
    struct alk__text spec_resolved_from;
    struct alk__text zone;
    struct alk__text zone_fingerprint; /* of the zone file that next_fire_at was worked out with;
                                          null: not known */
    struct alk__text queue;
    struct alk__text payload;
    int64_t priority;
    int64_t max_attempts;
    int64_t expires;
    struct alk__text catchup;
    int64_t catchup_max;
    int64_t catchup_window;
    int64_t max_lateness;
    int64_t grace;
    struct alk__text overlap;
    struct alk__text dst_gap;
    struct alk__text dst_fold;
    int64_t jitter;
    int64_t not_before;
    int64_t not_after;
    int64_t max_fires;
    struct alk__text owner_set;
    int64_t anchor_at;
    int64_t next_fire_at;
    int64_t last_fire_at;
    int64_t version;
    int64_t created_at;
    int64_t paused_at;
    int64_t pause_until;
    int64_t done_at;
    int64_t quarantined_at;
    int64_t quarantine_from; /* the next_fire_at that it had when it went into quarantine */
    int64_t quarantine_count;
    struct alk__text last_error;
    int64_t fired_total;
    int64_t missed_total;
    int64_t skipped_total;
    int64_t quarantined_total;
    int64_t last_missed_at;
    int64_t now; /* of the statement */
};

/* A schedule that was mended: enough to say which. */
struct alk__row_schedule_name {
    struct alk__row row;
    int64_t id;
    struct alk__text name;
};

/* A boundary of a schedule. */
struct alk__row_fire {
    struct alk__row row;
    int64_t schedule_id;
    int64_t fire_at;
};

/* What a schedule's jobs do. */
struct alk__row_unfinished {
    struct alk__row row;
    int64_t schedule_id;
    int64_t is_waiting;
    int64_t is_started;
};

/* A job that waited and that a newer one has replaced. */
struct alk__row_replaced {
    struct alk__row row;
    int64_t schedule_id;
    int64_t fire_at;
    int64_t job_id;
};

/* A line of the ledger. */
struct alk__row_schedule_event {
    struct alk__row row;
    int64_t id;
    struct alk__text outcome;
    int64_t fire_at;
    int64_t to_at;
    int64_t count;
    int64_t job_id;
    int64_t lateness;
    struct alk__text owner;
    int64_t fence;
    struct alk__text detail;
    int64_t at;
    int64_t is_catchup;
    int64_t is_at_least;
};

/* A job as read from any of its tables, or as claimed: a claim fills what its statement returns and
 * leaves the rest 0. */
struct alk__row_job {
    struct alk__row row;
    int64_t id;
    int64_t stamp;
    struct alk__text queue;
    struct alk__text key;
    int64_t priority;
    struct alk__text state;   /* as people see it */
    struct alk__text verdict; /* of a claim: run, or why it may not run */
    int64_t attempt;
    int64_t max_attempts;
    struct alk__text payload;
    struct alk__text headers;
    struct alk__text errors;
    struct alk__text worker;
    struct alk__text reason;
    struct alk__text result;
    int64_t enqueued_at;
    int64_t run_at;
    int64_t claimed_at;
    int64_t lease_until;
    int64_t finished_at;
    int64_t expires_at;
    int64_t cancel_requested_at;
    int64_t schedule_id;
    int64_t fire_at;
    int64_t now; /* of the statement */
};

/* When something is due next. */
struct alk__row_due {
    struct alk__row row;
    int64_t is_due; /* of a queue only */
    int64_t next_due;
    int64_t now;
};

/* Who has the unique key that was asked for at place. */
struct alk__row_unique {
    struct alk__row row;
    int64_t place;
    int64_t job_id;
};

/* A claim that was settled or extended. */
struct alk__row_settled {
    struct alk__row row;
    int64_t id;
    int64_t stamp;
    int64_t is_cancelled;
};

/* Why a claim was not. */
struct alk__row_why {
    struct alk__row row;
    int64_t id;
    struct alk__text answer;
};

/* What the back-off of a failed job is worked out from. */
struct alk__row_attempt {
    struct alk__row row;
    int64_t id;
    int64_t attempt;
    int64_t backoff_base;
    int64_t backoff_cap;
};

struct alk__row_health {
    struct alk__row row;
    int64_t version;
    int64_t oldest;
    int64_t now;
    int64_t oldest_job;
    int64_t oldest_schedule;
    struct alk__text leader;
    int64_t leader_fence;
    int64_t leader_expires;
    int64_t quarantined;
    int64_t newer;
};

struct alk__row_name {
    struct alk__row row;
    struct alk__text name;
};

extern const struct alk__row_type alk__row_none;
extern const struct alk__row_type alk__row_number;
extern const struct alk__row_type alk__row_meta;
extern const struct alk__row_type alk__row_lease;
extern const struct alk__row_type alk__row_renewed;
extern const struct alk__row_type alk__row_schedule;
extern const struct alk__row_type alk__row_schedule_name;
extern const struct alk__row_type alk__row_fire;
extern const struct alk__row_type alk__row_unfinished;
extern const struct alk__row_type alk__row_replaced;
extern const struct alk__row_type alk__row_schedule_event;
extern const struct alk__row_type alk__row_job;
extern const struct alk__row_type alk__row_claimed; /* a struct alk__row_job */
extern const struct alk__row_type alk__row_due;
extern const struct alk__row_type alk__row_soonest; /* a struct alk__row_due */
extern const struct alk__row_type alk__row_unique;
extern const struct alk__row_type alk__row_settled;
extern const struct alk__row_type alk__row_why;
extern const struct alk__row_type alk__row_attempt;
extern const struct alk__row_type alk__row_health;
extern const struct alk__row_type alk__row_name;

#endif
