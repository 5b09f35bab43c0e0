/* core/job.h: what the tick and the loops need of jobs beyond <alkstore/job.h>: enqueueing into
 * several queues at once, a claim that leaves its verdicts to the caller, and a settle with the
 * next claim behind it. */
#ifndef ALK_CORE_JOB_H
#define ALK_CORE_JOB_H

#include "base/text.h"
#include <alkstore/job.h>

/* One job to enqueue; texts are borrowed. Nothing is checked here: names, JSON and sizes have been
 * looked at by who calls. Start with ALK__NEW_JOB_INIT. */
struct alk__new_job {
    struct alk__text queue;
    struct alk__text payload; /* null = the JSON null */
    struct alk__text headers; /* null = none */
    int64_t priority;
    int64_t max_attempts;  /* ALK_NO_TIME = the queue's, at the time of use */
    int64_t run_at_us;     /* ALK_NO_TIME = now; raised to the statement's time */
    int64_t delay_us;      /* added to the statement's time; ALK_NO_TIME = none */
    int64_t expires_us;    /* from the statement's time; ALK_NO_TIME = the queue's, if it has one */
    int64_t expires_at_us; /* absolute, wins over expires_us; ALK_NO_TIME = none */
    int64_t schedule_id;   /* ALK_NO_TIME = none */
    int64_t fire_at_us;    /* ALK_NO_TIME = none */
    struct alk__text unique_key; /* null = none; set by alk__unique_set, as the two below */
    struct alk__text unique_scope;
    int64_t unique_for_us;
};

#define ALK__NEW_JOB_INIT                                                                          \
    {                                                                                              \
        .max_attempts = ALK_NO_TIME, .run_at_us = ALK_NO_TIME, .delay_us = ALK_NO_TIME,            \
        .expires_us = ALK_NO_TIME, .expires_at_us = ALK_NO_TIME, .schedule_id = ALK_NO_TIME,       \
        .fire_at_us = ALK_NO_TIME, .unique_for_us = ALK_NO_TIME                                    \
    }

/* Enqueues count jobs, all or none, in the open transaction or one of its own; ret_ids (may be
 * NULL) in the order given. Writes the lanes and calls those who wait for the queues concerned.
 * ALK_OK; ALK_DUPLICATE when another job had the unique key of one or more: their ids are that
 * job's. */
alk_status alk__enqueue_jobs(alk_conn *conn, const struct alk__new_job *jobs, size_t count,
                             int64_t *ret_ids, alk_error *error);

/* Outcomes that no handler gives: a claimed job that may not run. They go into
 * alk_settlement.outcome by a cast. */
enum alk__verdict {
    ALK__EXPIRED = 101,   /* past its expires_at: dead (S54) */
    ALK__EXHAUSTED = 102, /* its attempts are used up: dead (S48) */
    ALK__CANCELLED = 103, /* a cancel was asked for (S55) */
    ALK__UNREADABLE = 104 /* its row cannot be read: dead, error says why (S9, S81) */
};

/* What a claim brought: jobs to run, in claim order, and settlements for those that may not run,
 * ready to be settled with the next batch or at once. Both live until alk__claimed_free. */
struct alk__claimed {
    alk_job_list jobs;
    size_t verdict_count;
    alk_settlement *verdicts; /* their worker points at claim's own copy */
};

void alk__claimed_free(struct alk__claimed *claimed);

/* Which jobs to claim next. */
struct alk__claim {
    const char *queue;
    int64_t limit; /* 1-1000, jobs and verdicts together */
    int64_t lease_us;
    const char *worker;
};

/* Claims. ALK_OK with at least one job or verdict; ALK_EMPTY with none, nothing written (S46). */
alk_status alk__claim_jobs(alk_conn *conn, const struct alk__claim *claim,
                           struct alk__claimed *ret_claimed, alk_error *error);

/* Settles and then claims, in one transaction and, on PostgreSQL, one round trip. settlements may
 * hold verdicts.
 *
 * claim        NULL = settle only
 * ret_answers  count answers
 * ret_claimed  what was claimed, empty when nothing was or when the settling had to be taken apart
 *              (an engine refused a row); NULL
 *              with claim NULL
 * Returns ALK_OK; < 0 when nothing was settled and nothing claimed. */
alk_status alk__settle_and_claim(alk_conn *conn, const alk_settlement *settlements, size_t count,
                                 alk_settle_answer *ret_answers, const struct alk__claim *claim,
                                 struct alk__claimed *ret_claimed, alk_error *error);

/* Whether anything in the queue can be claimed now, and when the next job is due (ALK_NO_TIME = no
 * job waits). A read. */
alk_status alk__queue_next_due(alk_conn *conn, const char *queue, bool *ret_is_due,
                               int64_t *ret_next_due_us, int64_t *ret_now_us, alk_error *error);

#endif
