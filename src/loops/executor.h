/* loops/executor.h: the threads that run handlers. They know no database. */
#ifndef ALK_LOOPS_EXECUTOR_H
#define ALK_LOOPS_EXECUTOR_H

#include "loops/attempt.h"

/* A list of attempts, first come first served. */
struct alk__attempts {
    struct alk_attempt *first;
    struct alk_attempt *last;
    size_t count;
};

void alk__attempts_add(struct alk__attempts *list, struct alk_attempt *attempt);
struct alk_attempt *alk__attempts_take(struct alk__attempts *list);

struct alk__executors;

struct alk__executors_options {
    int count;
    alk_handler handler;
    void *context;
    int64_t timeout_us; /* of a handler, 0: none */
    const struct alk__clock *clock;
};

/* Starts the threads: all or none. ALK_AGAIN when the process may not have more. */
alk_status alk__executors_start(const struct alk__executors_options *options,
                                struct alk__executors **ret_executors, alk_error *error);

/* Hands an attempt over: it runs when a thread is free, in the order given. */
void alk__executors_give(struct alk__executors *executors, struct alk_attempt *attempt);

/* Moves what is finished into list. */
void alk__executors_take_finished(struct alk__executors *executors, struct alk__attempts *list);

/* Takes back what no thread has begun. */
void alk__executors_take_waiting(struct alk__executors *executors, struct alk__attempts *list);

/* Readable while something is finished and not taken. */
int alk__executors_fd(const struct alk__executors *executors);

/* When the attempt's handler began, on the monotonic clock; 0 = not yet. */
int64_t alk__executors_began_us(struct alk__executors *executors,
                                const struct alk_attempt *attempt);

/* Waits for the handlers that run and ends the threads; what they finished can still be taken.
 * Nothing may be waiting. */
void alk__executors_join(struct alk__executors *executors);

/* Joins and frees. NULL is allowed. */
void alk__executors_free(struct alk__executors *executors);

#endif
