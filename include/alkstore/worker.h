/* alkstore/worker.h: the loop that claims jobs and calls a handler. Specified in docs/spec/jobs.md,
 * statements 78-89. */
#ifndef ALKSTORE_WORKER_H
#define ALKSTORE_WORKER_H

#include <alkstore/job.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One run of one job. Valid inside the handler only, used by its thread. */
typedef struct alk_attempt alk_attempt;

ALK_API const alk_job *alk_attempt_job(const alk_attempt *attempt);

/* When the handler must be finished, microseconds since 1970 by the process's clock; ALK_NO_TIME =
 * no limit (S84). */
ALK_API int64_t alk_attempt_deadline_us(const alk_attempt *attempt);

/* Whether the claim was lost (lapsed, cancelled, taken): the handler should end; its outcome will
 * be refused (S83). */
ALK_API bool alk_attempt_is_lost(const alk_attempt *attempt);

/* Becomes readable when the handler should end: claim lost, its time over, or the worker's deadline
 * at a stop passed. */
ALK_API int alk_attempt_end_fd(const alk_attempt *attempt);

/* Whether the handler's time is over (S84). */
ALK_API bool alk_attempt_is_overdue(const alk_attempt *attempt);

/* The error text that goes with RETRY, DEAD, UNAVAILABLE; copied, cut to 4 KiB (S52). */
ALK_API void alk_attempt_set_error(alk_attempt *attempt, const char *format, ...) ALK_PRINTF(2, 3);

/* With RETRY or UNAVAILABLE: waits this long instead of the back-off, brought into 0..10 years; the
 * attempt counts all the same (S74). */
ALK_API void alk_attempt_set_delay_us(alk_attempt *attempt, int64_t delay_us);

/* The result that goes with DONE: JSON, copied. ALK_INVALID when it is not JSON (S66). */
ALK_API alk_status alk_attempt_set_result(alk_attempt *attempt, const char *json, size_t length,
                                          alk_error *error);

/* Settles inside the handler's own transaction on conn, as the last call before its commit. Once
 * that is committed the outcome which the handler returns counts for nothing; if it was rolled
 * back, that is the outcome, so return ALK_RETRY then.
 *
 * conn  a connection of the worker's store or one joined to it, in a transaction
 * Returns ALK_OK; ALK_LOST when the claim is no longer valid and ALK_AGAIN when another transaction
 * holds the job's row: roll back (S76). */
ALK_API alk_status alk_attempt_settle(alk_attempt *attempt, alk_conn *conn, alk_outcome outcome,
                                      alk_error *error);

/* Does the work of one job. Called from an executor thread, at most concurrency at a time. */
typedef alk_outcome (*alk_handler)(alk_attempt *attempt, void *context);

/* Start with ALK_WORKER_OPTIONS_INIT.
 *
 * queues, queue_count   1-64 names, served strictly in this order, priority within each (S86)
 * name                  for people, NULL = "host/pid"; a random token is added
 * concurrency           handlers at once, 1-1000; prefetch the most jobs claimed beyond, 0 =
 *                       concurrency (S87)
 * lease_us              of each claim, >= 1 s; extended at a third of it (S83)
 * timeout_us            of a handler, 0 = none (S84)
 * shutdown_us           how long running handlers get after a stop (S79)
 * poll_us               the safety poll (S98)
 * is_drain              ends with ALK_OK when nothing is due in its queues and no handler of its
 *                       own runs
 * event, event_context  told what happens */
typedef struct alk_worker_options {
    size_t size;
    const char *const *queues;
    size_t queue_count;
    const char *name;
    int concurrency;
    int prefetch;
    int64_t lease_us;
    int64_t timeout_us;
    int64_t shutdown_us;
    int64_t poll_us;
    bool is_drain;
    alk_event_fn event;
    void *event_context;
} alk_worker_options;

#define ALK_WORKER_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(alk_worker_options), NULL, 0, NULL, 1, 0, ALK_JOB_LEASE_DEFAULT_US, 0,              \
            INT64_C(30000000), INT64_C(1000000), false, NULL, NULL                                 \
    }

/* Runs until stop is set, or drained, or an error that retrying did not mend (a transient error of
 * the database is tried again three times, S164, and as long as a claim is good; then it is
 * returned). Starts concurrency executor threads and joins them before it returns: handlers must
 * come to an end when they are told to, for nothing else can end them. On every return no job is
 * left running under this worker as far as the database could be reached: finished or released
 * (S79). After an error run it again with back-off: 0.2 s doubling to 10 s, jittered, for ever
 * (S78, the respawn recipe). One that fails reports "worker failed" too (S85). Holds one connection
 * of the store's pool while it runs.
 *
 * handler  called from the executor threads, in which all signals are blocked
 * Returns ALK_OK after a stop or a drain; < 0 otherwise. */
ALK_API alk_status alk_worker_run(alk_store *store, const alk_worker_options *options,
                                  alk_handler handler, void *context, alk_stop *stop,
                                  alk_error *error);

/* The respawn recipe (S78): how long to wait before running a loop again, after the given number of
 * failures in a row (>= 1):
 * 0.2 s doubling to 10 s, jittered to between half and the whole. */
ALK_API int64_t alk_respawn_us(int64_t failures);

#ifdef __cplusplus
}
#endif
#endif
