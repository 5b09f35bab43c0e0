/* loops/attempt.h: one run of one job, shared by the coordinator (worker.c), which owns it, and one
 * executor thread (executor.c), which runs its handler. What both touch while the handler runs is
 * under `lock`. */
#ifndef ALK_LOOPS_ATTEMPT_H
#define ALK_LOOPS_ATTEMPT_H

#include "base/arena.h"
#include "base/clock.h"
#include <alkstore/worker.h>
#include <pthread.h>

#define ALK__ERROR_TEXT_MAX 4096

/* Why a handler should end; the first reason stays. */
enum alk__end {
    ALK__END_NONE,
    ALK__END_OVERDUE, /* its time is over (S84) */
    ALK__END_LOST,    /* the claim lapsed or another has it (S83) */
    ALK__END_CANCEL,  /* somebody asked to cancel the job (S55) */
    ALK__END_STOP     /* the worker stops and its deadline passed (S79) */
};

struct alk_attempt {
    struct alk_attempt *next; /* in whichever list has it */
    size_t place;             /* in the coordinator's table of outstanding attempts */
    struct alk__arena arena;  /* the job's texts */
    alk_job job;
    const char *worker;
    const struct alk__clock *clock;
    /* before the claim or the last good extension was sent: the lease lasts at least from there */
    int64_t claimed_monotonic_us;
    int64_t started_monotonic_us; /* 0: not yet */
    int64_t deadline_us;          /* by the process's clock, ALK_NO_TIME: none */
    pthread_mutex_t lock;
    enum alk__end end;
    int end_fd;
    /* what the handler said; the coordinator reads it once the attempt is finished */
    alk_outcome outcome;
    bool is_settled_inside; /* by alk_attempt_settle, in the handler's own transaction */
    int64_t delay_us;
    const char *error;  /* in the arena, NULL: none */
    const char *result; /* in the arena, NULL: none */
};

/* Copies the job. NULL when out of memory. */
struct alk_attempt *alk__attempt_new(const alk_job *job, const char *worker,
                                     const struct alk__clock *clock);
void alk__attempt_free(struct alk_attempt *attempt);

/* Tells the handler to end: its descriptor becomes readable. Only the first reason counts. */
void alk__attempt_end(struct alk_attempt *attempt, enum alk__end reason);
enum alk__end alk__attempt_end_reason(const struct alk_attempt *attempt);

#endif
