/* loops/watch.c: what a worker watches while handlers run: leases to extend, deadlines, lost claims
 * (S83, S84, S87). */
#include "base/error.h"
#include "core/job.h"
#include "loops/worker.h"

static int64_t extend_period_us(const struct alk__worker *worker) {
    return worker->options.lease_us / 3;
}

static int64_t lapse_us(const struct alk__worker *worker, const struct alk_attempt *attempt) {
    return alk__add_us(attempt->claimed_monotonic_us, worker->options.lease_us);
}

static void report_end(const struct alk__worker *worker, const struct alk_attempt *attempt,
                       const char *name) {
    alk_event event = alk__event(ALK_LEVEL_WARNING, name);
    event.subject = attempt->job.queue;
    event.job_id = attempt->job.id;
    event.attempt = attempt->job.attempt;
    alk__report(&worker->reporter, &event);
}

static void end_attempt(const struct alk__worker *worker, struct alk_attempt *attempt,
                        enum alk__end reason, const char *name) {
    if (alk__attempt_end(attempt, reason))
        report_end(worker, attempt, name);
}

static void note_answer(const struct alk__worker *worker, struct alk_attempt *attempt,
                        alk_settle_answer answer, int64_t before_us) {
    switch (answer) {
    case ALK_SETTLED:
        attempt->claimed_monotonic_us = before_us;
        break;
    case ALK_SETTLE_CANCELLED:
        attempt->claimed_monotonic_us = before_us;
        end_attempt(worker, attempt, ALK__END_CANCEL, "cancel asked for");
        break;
    case ALK_SETTLE_LOCKED:
        break; /* next time; the lease has two thirds left */
    case ALK_SETTLE_LAPSED:
    case ALK_SETTLE_LOST:
    case ALK_SETTLE_REFUSED:
        if (alk__attempt_inside(attempt) == 0)
            end_attempt(worker, attempt, ALK__END_LOST, "claim lost");
        break;
    }
}

/* Claims known to be lost are not asked for again. */
static size_t collect_claims(const struct alk__worker *worker, size_t *place, alk_claim_id *claims,
                             struct alk_attempt **attempts) {
    size_t count = 0;
    for (; *place < worker->outstanding_count && count < ALK_CLAIM_BATCH_MAX; ++*place) {
        struct alk_attempt *attempt = worker->outstanding[*place];
        if ((alk__attempt_ends(attempt) & ALK__END_LOST) != 0)
            continue;
        claims[count] = (alk_claim_id){attempt->job.id, attempt->job.stamp};
        attempts[count++] = attempt;
    }
    return count;
}

alk_status alk__worker_extend(struct alk__worker *worker, alk_error *error) {
    alk_claim_id claims[ALK_CLAIM_BATCH_MAX];
    struct alk_attempt *attempts[ALK_CLAIM_BATCH_MAX];
    alk_settle_answer answers[ALK_CLAIM_BATCH_MAX];
    size_t place = 0;
    size_t count;
    int64_t before_us = alk__monotonic_us();
    if (before_us < worker->extend_at_us)
        return ALK_OK;
    while ((count = collect_claims(worker, &place, claims, attempts)) > 0) {
        alk_status status = alk_extend(worker->conn, worker->id, worker->options.lease_us, claims,
                                       count, answers, error);
        if (status < 0) {
            alk__error_set_phase(error, ALK_PHASE_EXTEND);
            return status;
        }
        for (size_t n = 0; n < count; n++)
            note_answer(worker, attempts[n], answers[n], before_us);
    }
    worker->extend_at_us = before_us + extend_period_us(worker);
    return ALK_OK;
}

/* When the handler is to be told for that reason, monotonic; INT64_MAX: not. */
static int64_t end_at_us(const struct alk__worker *worker, const struct alk_attempt *attempt,
                         enum alk__end reason) {
    if (attempt->is_over || (alk__attempt_ends(attempt) & reason) != 0)
        return INT64_MAX;
    if (reason == ALK__END_LOST)
        return lapse_us(worker, attempt);
    if (reason == ALK__END_STOP)
        return worker->is_stopping ? worker->stop_deadline_us : INT64_MAX;
    int64_t began_us = alk__executors_began_us(worker->executors, attempt);
    bool has_limit = worker->options.timeout_us > 0 && began_us != 0;
    return has_limit ? alk__add_us(began_us, worker->options.timeout_us) : INT64_MAX;
}

static const struct {
    enum alk__end reason;
    const char *name;
} timed_ends[] = {
    {ALK__END_LOST, "claim lapsed"},
    {ALK__END_OVERDUE, "handler overdue"},
    {ALK__END_STOP, "handler told to end, the worker stops"},
};
#define TIMED_ENDS (sizeof timed_ends / sizeof *timed_ends)

void alk__worker_watch(struct alk__worker *worker) {
    int64_t now_us = alk__monotonic_us();
    for (size_t n = 0; n < worker->outstanding_count; n++)
        for (size_t e = 0; e < TIMED_ENDS; e++)
            if (now_us >= end_at_us(worker, worker->outstanding[n], timed_ends[e].reason))
                end_attempt(worker, worker->outstanding[n], timed_ends[e].reason,
                            timed_ends[e].name);
}

int64_t alk__worker_watch_at(const struct alk__worker *worker) {
    int64_t at_us = worker->outstanding_count > 0 ? worker->extend_at_us : INT64_MAX;
    for (size_t n = 0; n < worker->outstanding_count; n++)
        for (size_t e = 0; e < TIMED_ENDS; e++) {
            int64_t end_us = end_at_us(worker, worker->outstanding[n], timed_ends[e].reason);
            at_us = end_us < at_us ? end_us : at_us;
        }
    return at_us;
}
