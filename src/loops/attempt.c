/* loops/attempt.c: one run of one job: what the handler asks and says. Stands in loops, below
 * executor.c and worker.c. */
#include "loops/attempt.h"
#include "base/error.h"
#include "base/json.h"
#include <stdarg.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define DELAY_MAX_US (3650 * ALK__DAY) /* what settle takes */

static const char *copy_text(struct alk__arena *arena, const char *text, bool *is_failed) {
    if (!text)
        return NULL;
    const char *copy = alk__arena_text(arena, text);
    *is_failed = *is_failed || !copy;
    return copy;
}

static bool copy_job(struct alk_attempt *attempt, const alk_job *job) {
    bool is_failed = false;
    struct alk__arena *arena = &attempt->arena;
    attempt->job = *job;
    attempt->job.queue = copy_text(arena, job->queue, &is_failed);
    attempt->job.key = copy_text(arena, job->key, &is_failed);
    attempt->job.payload = alk__arena_copy(arena, job->payload, job->payload_length);
    attempt->job.headers = copy_text(arena, job->headers, &is_failed);
    attempt->job.errors = copy_text(arena, job->errors, &is_failed);
    attempt->job.worker = copy_text(arena, job->worker, &is_failed);
    attempt->job.reason = "";
    attempt->job.result = "";
    return !is_failed && attempt->job.payload;
}

struct alk_attempt *alk__attempt_new(const alk_job *job, const char *worker,
                                     const struct alk__clock *clock) {
    struct alk_attempt *attempt = alk__alloc(sizeof *attempt);
    if (!attempt)
        return NULL;
    *attempt = (struct alk_attempt){.worker = worker,
                                    .clock = clock,
                                    .deadline_us = ALK_NO_TIME,
                                    .delay_us = ALK_NO_TIME,
                                    .end_fd = -1};
    pthread_mutex_init(&attempt->lock, NULL);
    if (!copy_job(attempt, job)) {
        alk__attempt_free(attempt);
        return NULL;
    }
    return attempt;
}

void alk__attempt_free(struct alk_attempt *attempt) {
    if (!attempt)
        return;
    if (attempt->end_fd >= 0)
        close(attempt->end_fd);
    pthread_mutex_destroy(&attempt->lock);
    alk__arena_free(&attempt->arena);
    alk__free(attempt);
}

static void signal_end(const struct alk_attempt *attempt) {
    if (attempt->end_fd >= 0)
        (void)eventfd_write(attempt->end_fd, 1);
}

bool alk__attempt_end(struct alk_attempt *attempt, enum alk__end reason) {
    pthread_mutex_lock(&attempt->lock);
    bool is_new = (attempt->ends & reason) == 0;
    attempt->ends |= reason;
    if (is_new)
        signal_end(attempt);
    pthread_mutex_unlock(&attempt->lock);
    return is_new;
}

/* The handler sees its attempt as const; lock and descriptor behind it change all the same. */
static struct alk_attempt *unconst(const struct alk_attempt *attempt) {
    return (struct alk_attempt *)(uintptr_t)attempt;
}

unsigned alk__attempt_ends(const struct alk_attempt *attempt) {
    struct alk_attempt *own = unconst(attempt);
    pthread_mutex_lock(&own->lock);
    unsigned ends = own->ends;
    pthread_mutex_unlock(&own->lock);
    return ends;
}

alk_outcome alk__attempt_inside(const struct alk_attempt *attempt) {
    struct alk_attempt *own = unconst(attempt);
    pthread_mutex_lock(&own->lock);
    alk_outcome inside = own->inside;
    pthread_mutex_unlock(&own->lock);
    return inside;
}

static void set_inside(struct alk_attempt *attempt, alk_outcome outcome) {
    pthread_mutex_lock(&attempt->lock);
    attempt->inside = outcome;
    pthread_mutex_unlock(&attempt->lock);
}

const alk_job *alk_attempt_job(const alk_attempt *attempt) {
    return &attempt->job;
}

int64_t alk_attempt_deadline_us(const alk_attempt *attempt) {
    return attempt->deadline_us;
}

bool alk_attempt_is_lost(const alk_attempt *attempt) {
    return (alk__attempt_ends(attempt) & (ALK__END_LOST | ALK__END_CANCEL)) != 0;
}

bool alk_attempt_is_overdue(const alk_attempt *attempt) {
    return (alk__attempt_ends(attempt) & ALK__END_OVERDUE) != 0;
}

int alk_attempt_end_fd(const alk_attempt *attempt) {
    struct alk_attempt *own = unconst(attempt);
    pthread_mutex_lock(&own->lock);
    if (own->end_fd < 0) {
        own->end_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (own->ends != 0)
            signal_end(own);
    }
    int fd = own->end_fd;
    pthread_mutex_unlock(&own->lock);
    return fd;
}

void alk_attempt_set_error(alk_attempt *attempt, const char *format, ...) {
    char text[ALK__ERROR_TEXT_MAX + 1];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    attempt->error = alk__arena_text(&attempt->arena, text);
}

void alk_attempt_set_delay_us(alk_attempt *attempt, int64_t delay_us) {
    if (delay_us != ALK_NO_TIME && delay_us < 0)
        delay_us = 0;
    attempt->delay_us = delay_us < DELAY_MAX_US ? delay_us : DELAY_MAX_US;
}

alk_status alk_attempt_set_result(alk_attempt *attempt, const char *json, size_t length,
                                  alk_error *error) {
    alk_status status =
        alk__json_check("result", (struct alk__text){json, length}, ALK__PAYLOAD_MAX, error);
    if (status < 0)
        return status;
    const char *copy = alk__arena_copy(&attempt->arena, json, length);
    if (!copy)
        return alk__nomem(error);
    attempt->result = copy;
    return ALK_OK;
}

alk_settlement alk__attempt_settlement(const struct alk_attempt *attempt, alk_outcome outcome) {
    return (alk_settlement){.id = attempt->job.id,
                            .stamp = attempt->job.stamp,
                            .worker = attempt->worker,
                            .outcome = outcome,
                            .delay_us = attempt->delay_us,
                            .error = attempt->error,
                            .result = outcome == ALK_DONE ? attempt->result : NULL};
}

static alk_status fail_settle(const struct alk_attempt *attempt, alk_settle_answer answer,
                              alk_error *error) {
    long long id = attempt->job.id;
    if (answer == ALK_SETTLE_LOCKED)
        return alk__fail(error, ALK_AGAIN, "settle job %lld: another transaction holds its row",
                         id);
    if (answer == ALK_SETTLE_REFUSED)
        return alk__fail(error, ALK_DATA, "settle job %lld: the database refuses its values", id);
    return alk__fail(error, ALK_LOST, "settle job %lld: the claim is no longer valid", id);
}

alk_status alk_attempt_settle(alk_attempt *attempt, alk_conn *conn, alk_outcome outcome,
                              alk_error *error) {
    alk_settlement settlement = alk__attempt_settlement(attempt, outcome);
    alk_settle_answer answer = ALK_SETTLE_LOST;
    alk_status status = alk_settle(conn, &settlement, 1, &answer, error);
    if (status < 0)
        return status;
    if (answer != ALK_SETTLED && answer != ALK_SETTLE_CANCELLED)
        return fail_settle(attempt, answer, error);
    set_inside(attempt, outcome);
    return ALK_OK;
}
