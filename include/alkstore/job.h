/* alkstore/job.h: queues of jobs. Specified in docs/spec/jobs.md.
 *
 *   enqueue(run_at <= now) --> ready --claim(stamp, attempt + 1)--> running --DONE--> done
 *   enqueue(run_at > now) --> delayed --due--> ready                   |
 *   ready|delayed --expires--> dead (expired)                          |
 *   any call with an old stamp --> refused, nothing changes            |
 *                                                                      |
 *      +---------------------------------------------------------------+
 *      |--RETRY, attempts left--> delayed(now + back-off)
 *      |--RETRY, none left--> dead
 *      |--DEAD--> dead
 *      |--RELEASE--> ready (attempt given back)
 *      |--lease lapses--> ready again, or dead
 */
#ifndef ALKSTORE_JOB_H
#define ALKSTORE_JOB_H

#include <alkstore/store.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ALK_MAX_ATTEMPTS_DEFAULT 20
#define ALK_JOB_LEASE_DEFAULT_US INT64_C(30000000)
#define ALK_PAYLOAD_BYTES_MAX 1048576
#define ALK_ENQUEUE_BATCH_MAX 10000
#define ALK_CLAIM_BATCH_MAX 1000

/* How long a unique key is taken (S58). */
typedef enum alk_unique_scope {
    ALK_UNIQUE_UNTIL_FINISHED = 0, /* until its job is done, dead or cancelled */
    ALK_UNIQUE_UNTIL_STARTED = 1,  /* until its job is claimed first */
    ALK_UNIQUE_WINDOW = 2          /* for a time from the enqueue, whatever becomes of its job */
} alk_unique_scope;

/* How a job is enqueued. Start with ALK_ENQUEUE_OPTIONS_INIT; NULL means that.
 *
 * delay_us      >= 0 from now by the database's clock; ALK_NO_TIME = none
 * run_at_us     not before this time; ALK_NO_TIME = none. Both delay and run_at: ALK_INVALID (S39)
 * expires_us    > 0: never run later than this after now; ALK_NO_TIME = never expires (S54)
 * priority      -32768..32767, higher runs first (S41)
 * max_attempts  >= 1; 0 = the queue's, at the time of use
 * headers       a JSON object of at most 16 KiB, NULL = {} (S65)
 * unique_key    1-200 bytes, NULL = none. While a job of the queue has it, no other job with it is
 *               enqueued (S58). A retry or a requeue never takes it back
 * unique_scope  how long it is taken
 * unique_for_us > 0 with ALK_UNIQUE_WINDOW, by the database's clock; else ALK_NO_TIME */
typedef struct alk_enqueue_options {
    size_t size;
    int64_t delay_us;
    int64_t run_at_us;
    int64_t expires_us;
    int priority;
    int max_attempts;
    const char *headers;
    const char *unique_key;
    alk_unique_scope unique_scope;
    int64_t unique_for_us;
} alk_enqueue_options;

#define ALK_ENQUEUE_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(alk_enqueue_options), ALK_NO_TIME, ALK_NO_TIME, ALK_NO_TIME, 0, 0, NULL, NULL,      \
            ALK_UNIQUE_UNTIL_FINISHED, ALK_NO_TIME                                                 \
    }

/* Puts one job into a queue, in the caller's transaction if there is one (S31, S38).
 *
 * queue           1-200 bytes (S212); it exists from the first enqueue on
 * payload         JSON text, at most 1 MiB, kept byte for byte; NULL or length 0 = "null" (S17)
 * payload_length  its bytes
 * ret_id          receives the id, never reused; may be NULL
 * Returns ALK_OK; ALK_DUPLICATE when another job has the unique key: nothing was enqueued, ret_id
 * is that job's, which may be running or, with a window, gone (S58); ALK_INVALID, refused before
 * the database is touched (S33).
 *
 * Unique keys on PostgreSQL: a key that another transaction is just taking, or giving up by a claim
 * or a settle, is waited for until that is over; so a transaction that takes keys in several calls
 * should take them in one order, as others do. A duplicate locks nothing. In REPEATABLE READ or
 * SERIALIZABLE such a wait can end with 40001 (ALK_AGAIN). */
ALK_API alk_status alk_enqueue(alk_conn *conn, const char *queue, const char *payload,
                               size_t payload_length, const alk_enqueue_options *options,
                               int64_t *ret_id, alk_error *error);

/* One job of alk_enqueue_many. options NULL = the defaults. */
typedef struct alk_new_job {
    const char *payload;
    size_t payload_length;
    const alk_enqueue_options *options;
} alk_new_job;

/* Puts up to 10,000 jobs into a queue: all or none, one transaction, one wake (S64).
 *
 * ret_ids  receives count ids in the order given; may be NULL
 * Returns ALK_OK; ALK_DUPLICATE when one or more were not enqueued, since another job, earlier in
 * the list or in the queue, has their unique key: their ids are that job's, the others are enqueued
 * (S58); ALK_INVALID, its message naming the job by its place, from 1. */
ALK_API alk_status alk_enqueue_many(alk_conn *conn, const char *queue, const alk_new_job *jobs,
                                    size_t count, int64_t *ret_ids, alk_error *error);

/* The states that people see. */
#define ALK_JOB_STATE_MAP(X)                                                                       \
    X(ALK_JOB_READY, "ready")                                                                      \
    X(ALK_JOB_DELAYED, "delayed")                                                                  \
    X(ALK_JOB_CHAINED, "chained")                                                                  \
    X(ALK_JOB_RUNNING, "running")                                                                  \
    X(ALK_JOB_DONE, "done")                                                                        \
    X(ALK_JOB_DEAD, "dead")                                                                        \
    X(ALK_JOB_CANCELLED, "cancelled")

typedef enum alk_job_state {
#define ALK_JOB_STATE_ITEM(name, text) name,
    ALK_JOB_STATE_MAP(ALK_JOB_STATE_ITEM)
#undef ALK_JOB_STATE_ITEM
} alk_job_state;

ALK_API const char *alk_job_state_text(alk_job_state state);
/* The state of that name; ALK_INVALID for none such. */
ALK_API alk_status alk_job_state_parse(const char *text, alk_job_state *ret_state,
                                       alk_error *error);

/* One job as read. Texts are NUL-terminated and live as long as what they came in; "" where there
 * is none; times ALK_NO_TIME. */
typedef struct alk_job {
    int64_t id;
    int64_t stamp; /* of the claim (S69) */
    const char *queue;
    const char *key; /* NULL: none */
    int priority;
    alk_job_state state;
    int64_t attempt;      /* claims begun (S47) */
    int64_t max_attempts; /* 0: the queue's */
    const char *payload;
    size_t payload_length;
    const char *headers; /* a JSON object */
    const char *errors;  /* a JSON array of {"attempt":n,"at":"...","error":"..."} (S52) */
    const char *worker;
    const char *reason; /* why it is dead: attempts_exhausted, expired, failed, undecodable */
    const char *result; /* JSON, "" = none */
    int64_t enqueued_at_us;
    int64_t run_at_us;
    int64_t claimed_at_us;
    int64_t lease_until_us;
    int64_t finished_at_us;
    int64_t expires_at_us;
    int64_t cancel_requested_at_us;
    int64_t schedule_id; /* 0: none */
    int64_t fire_at_us;
    /* NULL, or why this row cannot be read: then only id and queue count (S9) */
    const char *unreadable;
} alk_job;

typedef struct alk_job_list {
    size_t count;
    alk_job *jobs;
    int64_t now_us; /* the database's clock at the read */
    void *memory;
} alk_job_list;

ALK_API void alk_job_list_free(alk_job_list *list);

/* Options of alk_claim. limit 1-1000; lease_us > 0; worker 1-200 bytes, made once a process by the
 * caller so that no two share one (NULL: made up at each claim). */
typedef struct alk_claim_options {
    size_t size;
    int limit;
    int64_t lease_us;
    const char *worker;
} alk_claim_options;

#define ALK_CLAIM_OPTIONS_INIT                                                                     \
    { sizeof(alk_claim_options), 1, ALK_JOB_LEASE_DEFAULT_US, NULL }

/* Claims due jobs: higher priority first, then earlier run_at, then lower id, and returned in that
 * order (S41). Jobs that may not run (attempts used up, expired, cancel requested, unreadable) are
 * settled as dead or cancelled on the way and not returned (S48, S54, S81).
 * Returns ALK_OK with at least one job; ALK_EMPTY with none (where none was due nothing was
 * written, S46). Freed with alk_job_list_free either way. */
ALK_API alk_status alk_claim(alk_conn *conn, const char *queue, const alk_claim_options *options,
                             alk_job_list *ret_list, alk_error *error);

typedef enum alk_outcome {
    ALK_DONE = 1,        /* finished */
    ALK_RETRY = 2,       /* failed, try again after back-off while attempts are left (S71) */
    ALK_DEAD = 3,        /* failed for good (S53) */
    ALK_UNAVAILABLE = 4, /* what the handler needs is down: as RETRY */
    ALK_RELEASE = 5,     /* not run: given back with its attempt, no back-off (S75) */
    /* the payload means nothing to the handler: dead, reason undecodable (S81) */
    ALK_UNDECODABLE = 6
} alk_outcome;

/* One outcome of one claimed job.
 *
 * id, stamp, worker  as claimed; all three must match (S69)
 * delay_us           for RETRY and UNAVAILABLE: wait this long instead of the back-off, 0..10
 *                    years; ALK_NO_TIME = back-off (S74)
 * error              for RETRY, DEAD, UNAVAILABLE: text, cut to 4 KiB and made valid UTF-8; NULL =
 *                    none (S52)
 * result             for DONE: JSON of at most 1 MiB, NULL = none (S66) */
typedef struct alk_settlement {
    int64_t id;
    int64_t stamp;
    const char *worker;
    alk_outcome outcome;
    int64_t delay_us;
    const char *error;
    const char *result;
} alk_settlement;

/* What settle or extend answers for each job (S51). */
typedef enum alk_settle_answer {
    ALK_SETTLED = 0, /* done as asked (for extend: extended) */
    /* the claim's lease is over; nobody took it yet; nothing changed (S50) */
    ALK_SETTLE_LAPSED = 1,
    ALK_SETTLE_LOST = 2,   /* another claim, or the job is gone; nothing changed */
    ALK_SETTLE_LOCKED = 3, /* somebody's open transaction holds the row; try again (S51) */
    /* settle: it ended as cancelled; extend: extended, and cancel was asked for (S55) */
    ALK_SETTLE_CANCELLED = 4,
    ALK_SETTLE_REFUSED = 5 /* the database refused this row's values; nothing changed */
} alk_settle_answer;

/* Settles up to 1,000 claimed jobs, each acting only for its current claim (S49, S76).
 *
 * ret_answers  count answers
 * Returns ALK_OK when each has its answer; < 0 when none was settled. */
ALK_API alk_status alk_settle(alk_conn *conn, const alk_settlement *settlements, size_t count,
                              alk_settle_answer *ret_answers, alk_error *error);

/* One claim to extend. */
typedef struct alk_claim_id {
    int64_t id;
    int64_t stamp;
} alk_claim_id;

/* Extends the leases of up to 1,000 claims of one worker to now + lease_us; a lapsed one is never
 * taken back (S50). */
ALK_API alk_status alk_extend(alk_conn *conn, const char *worker, int64_t lease_us,
                              const alk_claim_id *claims, size_t count,
                              alk_settle_answer *ret_answers, alk_error *error);

/* Reads one job wherever it is (S56). ret_list gets one job. ALK_OK; ALK_ABSENT; ALK_UNREADABLE
 * naming table and id (S9). */
ALK_API alk_status alk_job_get(alk_conn *conn, int64_t id, alk_job_list *ret_list,
                               alk_error *error);

/* Options of alk_job_list_get. queue NULL = all; state: one, or any when has_state is false; limit
 * 1-10,000. */
typedef struct alk_job_filter {
    size_t size;
    const char *queue;
    bool has_state;
    alk_job_state state;
    int limit;
} alk_job_filter;

#define ALK_JOB_FILTER_INIT                                                                        \
    { sizeof(alk_job_filter), NULL, false, ALK_JOB_READY, 100 }

/* Lists jobs: the live ones in claim order, finished ones newest first. Unreadable rows are shown
 * as such (S9). */
ALK_API alk_status alk_job_list_get(alk_conn *conn, const alk_job_filter *filter,
                                    alk_job_list *ret_list, alk_error *error);

#ifdef __cplusplus
}
#endif
#endif
