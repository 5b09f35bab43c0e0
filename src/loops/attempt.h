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

/* Why a handler should end; there may be several reasons. */
enum alk__end {
    ALK__END_OVERDUE = 1, /* its time is over (S84) */
    ALK__END_LOST = 2,    /* the claim lapsed or another has it (S83) */
    ALK__END_CANCEL = 4,  /* somebody asked to cancel the job (S55) */
    ALK__END_STOP = 8     /* the worker stops and its deadline passed (S79) */
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
    bool is_over;     /* the coordinator has it back from the executors */
    bool is_in_doubt; /* a call that should have settled it failed: it may have settled it */
    int64_t started_monotonic_us; /* 0: not yet */
    int64_t deadline_us;          /* by the process's clock, ALK_NO_TIME: none */
    pthread_mutex_t lock;
    unsigned ends;      /* of enum alk__end, or-ed */
    alk_outcome inside; /* by alk_attempt_settle, in the handler's own transaction; 0: none */
    int end_fd;
    /* what the handler said; the coordinator reads it once the attempt is finished */
    alk_outcome outcome;
    int64_t delay_us;
    const char *error;  /* in the arena, NULL: none */
    const char *result; /* in the arena, NULL: none */
};

/* Copies the job. NULL when out of memory. */
struct alk_attempt *alk__attempt_new(const alk_job *job, const char *worker,
                                     const struct alk__clock *clock);
void alk__attempt_free(struct alk_attempt *attempt);

/* Tells the handler to end: its descriptor becomes readable. false: it was told for that reason
 * before. */
bool alk__attempt_end(struct alk_attempt *attempt, enum alk__end reason);
unsigned alk__attempt_ends(const struct alk_attempt *attempt);

/* What settling the attempt with that outcome is, made of what its handler said. */
alk_settlement alk__attempt_settlement(const struct alk_attempt *attempt, alk_outcome outcome);

/* The outcome that alk_attempt_settle wrote; 0: none. */
alk_outcome alk__attempt_inside(const struct alk_attempt *attempt);

#endif
