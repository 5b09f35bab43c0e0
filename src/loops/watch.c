/* loops/watch.c: what a worker watches while handlers run: leases to extend, deadlines, lost claims (S83, S84, S87). */
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
    if (alk__attempt_end_reason(attempt) != ALK__END_NONE)
        return;
    alk__attempt_end(attempt, reason);
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
        if (!attempt->is_settled_inside)
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
        if (alk__attempt_end_reason(attempt) == ALK__END_LOST)
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
            return alk__wrap(error, status, "extend %zu claims", count);
        }
        for (size_t n = 0; n < count; n++)
            note_answer(worker, attempts[n], answers[n], before_us);
    }
    worker->extend_at_us = before_us + extend_period_us(worker);
    return ALK_OK;
}

static void watch_attempt(struct alk__worker *worker, struct alk_attempt *attempt, int64_t now_us) {
    int64_t began_us = alk__executors_began_us(worker->executors, attempt);
    int64_t timeout_us = worker->options.timeout_us;
    if (now_us >= lapse_us(worker, attempt))
        end_attempt(worker, attempt, ALK__END_LOST, "claim lapsed");
    else if (timeout_us > 0 && began_us != 0 && now_us >= alk__add_us(began_us, timeout_us))
        end_attempt(worker, attempt, ALK__END_OVERDUE, "handler overdue");
    else if (worker->is_stopping && now_us >= worker->stop_deadline_us)
        end_attempt(worker, attempt, ALK__END_STOP, "handler told to end, the worker stops");
}

void alk__worker_watch(struct alk__worker *worker) {
    int64_t now_us = alk__monotonic_us();
    for (size_t n = 0; n < worker->outstanding_count; n++)
        watch_attempt(worker, worker->outstanding[n], now_us);
}

static int64_t min_us(int64_t left, int64_t right) {
    return left < right ? left : right;
}

int64_t alk__worker_watch_at(const struct alk__worker *worker) {
    int64_t at_us = INT64_MAX;
    if (worker->outstanding_count > 0)
        at_us = worker->extend_at_us;
    for (size_t n = 0; n < worker->outstanding_count; n++) {
        const struct alk_attempt *attempt = worker->outstanding[n];
        if (alk__attempt_end_reason(attempt) != ALK__END_NONE)
            continue;
        int64_t began_us = alk__executors_began_us(worker->executors, attempt);
        at_us = min_us(at_us, lapse_us(worker, attempt));
        if (worker->options.timeout_us > 0 && began_us != 0)
            at_us = min_us(at_us, alk__add_us(began_us, worker->options.timeout_us));
        if (worker->is_stopping)
            at_us = min_us(at_us, worker->stop_deadline_us);
    }
    return at_us;
}
