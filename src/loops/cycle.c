/* loops/cycle.c: one cycle of a worker: settle what is finished and claim what there is room for, in one round trip (S79, S82, S86,
 * S87). */
#include "base/error.h"
#include "core/job.h"
#include "loops/worker.h"

#define LOCKED_LOOK_US (20 * ALK__MS)

void alk__worker_forget(struct alk__worker *worker, struct alk_attempt *attempt) {
    struct alk_attempt *last = worker->outstanding[--worker->outstanding_count];
    worker->outstanding[attempt->place] = last;
    last->place = attempt->place;
    alk__attempt_free(attempt);
}

static const char *const outcome_names[] = {
    [0] = "job finished without an outcome",
    [ALK_DONE] = "job done",
    [ALK_RETRY] = "job failed, to be tried again",
    [ALK_DEAD] = "job dead",
    [ALK_UNAVAILABLE] = "job's sink unavailable, to be tried again",
    [ALK_RELEASE] = "job released",
    [ALK_UNDECODABLE] = "job dead, undecodable",
};

static void report_settled(const struct alk__worker *worker, const struct alk_attempt *attempt) {
    alk_level level = attempt->outcome == ALK_DONE || attempt->outcome == ALK_RELEASE
                          ? ALK_LEVEL_INFO
                          : ALK_LEVEL_WARNING;
    alk_event event = alk__event(level, outcome_names[attempt->outcome]);
    event.subject = attempt->job.queue;
    event.job_id = attempt->job.id;
    event.attempt = attempt->job.attempt;
    event.detail = attempt->error ? attempt->error : "";
    if (attempt->started_monotonic_us != 0)
        event.duration_us = alk__monotonic_us() - attempt->started_monotonic_us;
    alk__report(&worker->reporter, &event);
}

static void report_refused(const struct alk__worker *worker, const struct alk_attempt *attempt,
                           const char *why) {
    alk_event event = alk__event(ALK_LEVEL_WARNING, "outcome refused, the job may run again");
    event.subject = attempt->job.queue;
    event.job_id = attempt->job.id;
    event.attempt = attempt->job.attempt;
    event.detail = why;
    alk__report(&worker->reporter, &event);
}

/* What settle answered for one attempt. A locked one goes into the next cycle. */
static void note_answer(struct alk__worker *worker, struct alk_attempt *attempt,
                        alk_settle_answer answer) {
    switch (answer) {
    case ALK_SETTLE_LOCKED:
        worker->is_locked = true;
        alk__attempts_add(&worker->finished, attempt);
        return;
    case ALK_SETTLED:
    case ALK_SETTLE_CANCELLED:
        report_settled(worker, attempt);
        break;
    case ALK_SETTLE_LAPSED:
    case ALK_SETTLE_LOST:
        if (attempt->is_settled_inside)
            report_settled(worker, attempt);
        else
            report_refused(worker, attempt,
                           answer == ALK_SETTLE_LAPSED ? "the lease lapsed" : "the claim is lost");
        break;
    case ALK_SETTLE_REFUSED:
        report_refused(worker, attempt, "the database refused it");
        break;
    }
    alk__worker_forget(worker, attempt);
}

static alk_outcome valid_outcome(alk_outcome outcome) {
    return outcome >= ALK_DONE && outcome <= ALK_UNDECODABLE ? outcome : ALK_RETRY;
}

/* Takes up to a batch of what is finished. A handler that was ended because the worker stops gave its job up: an attempt that says RETRY
 * then stays an attempt, one that says RELEASE does not. */
static size_t collect_settlements(struct alk__worker *worker, alk_settlement *settlements,
                                  struct alk_attempt **attempts) {
    size_t count = 0;
    while (count < ALK_CLAIM_BATCH_MAX && worker->finished.count > 0) {
        struct alk_attempt *attempt = alk__attempts_take(&worker->finished);
        attempt->outcome = valid_outcome(attempt->outcome);
        settlements[count] = (alk_settlement){.id = attempt->job.id,
                                              .stamp = attempt->job.stamp,
                                              .worker = worker->id,
                                              .outcome = attempt->outcome,
                                              .delay_us = attempt->delay_us,
                                              .error = attempt->error,
                                              .result = attempt->result};
        attempts[count++] = attempt;
    }
    return count;
}

/* A failed cycle leaves everything to the next one (S82). */
static void give_back(struct alk__worker *worker, struct alk_attempt **attempts, size_t count) {
    struct alk__attempts rest = worker->finished;
    worker->finished = (struct alk__attempts){0};
    for (size_t n = 0; n < count; n++)
        alk__attempts_add(&worker->finished, attempts[n]);
    struct alk_attempt *attempt;
    while ((attempt = alk__attempts_take(&rest)))
        alk__attempts_add(&worker->finished, attempt);
}

static void report_verdict(const struct alk__worker *worker, const alk_settlement *verdict,
                           const char *queue) {
    static const char *const names[] = {"job dead, expired", "job dead, attempts exhausted",
                                        "job cancelled", "job dead, its row cannot be read"};
    alk_event event = alk__event(ALK_LEVEL_WARNING, names[(int)verdict->outcome - ALK__EXPIRED]);
    event.subject = queue;
    event.job_id = verdict->id;
    event.detail = verdict->error ? verdict->error : "";
    alk__report(&worker->reporter, &event);
}

/* Jobs that may not run are settled at once: there are few. What is not settled here comes back when its lease lapses. */
static alk_status settle_verdicts(struct alk__worker *worker, const char *queue,
                                  const struct alk__claimed *claimed, alk_error *error) {
    alk_settle_answer answers[ALK_CLAIM_BATCH_MAX];
    if (claimed->verdict_count == 0)
        return ALK_OK;
    alk_status status = alk__settle_and_claim(worker->conn, claimed->verdicts,
                                              claimed->verdict_count, answers, NULL, NULL, error);
    if (status < 0)
        return alk__wrap(error, status, "settle %zu jobs that may not run", claimed->verdict_count);
    for (size_t n = 0; n < claimed->verdict_count; n++)
        if (answers[n] == ALK_SETTLED || answers[n] == ALK_SETTLE_CANCELLED)
            report_verdict(worker, &claimed->verdicts[n], queue);
    return ALK_OK;
}

/* Hands the claimed jobs to the executors. What finds no memory is left to its lease. */
static alk_status start_jobs(struct alk__worker *worker, const struct alk__claimed *claimed,
                             int64_t before_us, alk_error *error) {
    for (size_t n = 0; n < claimed->jobs.count; n++) {
        struct alk_attempt *attempt =
            alk__attempt_new(&claimed->jobs.jobs[n], worker->id, alk__store_clock(worker->store));
        if (!attempt)
            return alk__nomem(error);
        attempt->claimed_monotonic_us = before_us;
        attempt->place = worker->outstanding_count;
        if (worker->outstanding_count == 0)
            worker->extend_at_us = before_us + worker->options.lease_us / 3;
        worker->outstanding[worker->outstanding_count++] = attempt;
        alk__executors_give(worker->executors, attempt);
    }
    return ALK_OK;
}

/* How many more jobs may be claimed once `settling` of the outstanding ones are settled (S87). */
static size_t room(const struct alk__worker *worker, size_t settling) {
    size_t taken = worker->outstanding_count - settling;
    size_t rest = taken < worker->outstanding_max ? worker->outstanding_max - taken : 0;
    return rest < ALK_CLAIM_BATCH_MAX ? rest : ALK_CLAIM_BATCH_MAX;
}

/* One settle with the claim from one queue behind it. */
static alk_status settle_and_claim(struct alk__worker *worker, const char *queue,
                                   alk_error *error) {
    alk_settlement settlements[ALK_CLAIM_BATCH_MAX];
    struct alk_attempt *attempts[ALK_CLAIM_BATCH_MAX];
    alk_settle_answer answers[ALK_CLAIM_BATCH_MAX];
    struct alk__claimed claimed = {0};
    size_t count = collect_settlements(worker, settlements, attempts);
    struct alk__claim claim = {queue, (int64_t)room(worker, count), worker->options.lease_us,
                               worker->id};
    bool is_claiming = queue && claim.limit > 0;
    int64_t before_us = alk__monotonic_us();
    if (count == 0 && !is_claiming)
        return ALK_OK;
    alk_status status = count > 0 ? alk__settle_and_claim(worker->conn, settlements, count, answers,
                                                          is_claiming ? &claim : NULL,
                                                          is_claiming ? &claimed : NULL, error)
                                  : alk__claim_jobs(worker->conn, &claim, &claimed, error);
    if (status < 0) {
        give_back(worker, attempts, count);
        alk__error_set_phase(error, count > 0 ? ALK_PHASE_SETTLE : ALK_PHASE_CLAIM);
        alk__error_set_subject(error, queue ? queue : "");
        return count > 0 ? alk__wrap(error, status, "settle %zu jobs", count)
                         : alk__wrap(error, status, "claim from '%s'", queue);
    }
    for (size_t n = 0; n < count; n++)
        note_answer(worker, attempts[n], answers[n]);
    size_t got = claimed.jobs.count + claimed.verdict_count;
    worker->has_more = worker->has_more || (is_claiming && got >= (size_t)claim.limit);
    worker->is_empty = worker->is_empty && got == 0;
    status = start_jobs(worker, &claimed, before_us, error);
    if (status >= 0)
        status = settle_verdicts(worker, queue, &claimed, error);
    alk__claimed_free(&claimed);
    return status;
}

/* When the next job of the queue is due, so that the wait ends then (S40). One that is due and was not claimed is in somebody's open
 * transaction, or has just come. */
static alk_status look_ahead(struct alk__worker *worker, const char *queue, alk_error *error) {
    bool is_due = false;
    int64_t due_us = ALK_NO_TIME;
    int64_t now_us = 0;
    alk_status status = alk__queue_next_due(worker->conn, queue, &is_due, &due_us, &now_us, error);
    if (status < 0)
        return alk__wrap(error, status, "look into '%s'", queue);
    if (is_due)
        worker->is_empty = false;
    int64_t wait_us = is_due ? LOCKED_LOOK_US : due_us == ALK_NO_TIME ? ALK__HOUR : due_us - now_us;
    int64_t at_us = alk__monotonic_us() + wait_us;
    if (at_us < worker->next_due_us)
        worker->next_due_us = at_us;
    return ALK_OK;
}

alk_status alk__worker_cycle(struct alk__worker *worker, alk_error *error) {
    alk_status status = ALK_OK;
    worker->has_more = false;
    worker->is_locked = false;
    worker->is_empty = true;
    worker->next_due_us = INT64_MAX;
    for (size_t n = 0; n < worker->options.queue_count && !worker->is_stopping && status >= 0;
         n++) {
        if (worker->has_more || room(worker, worker->finished.count) == 0)
            break;
        status = settle_and_claim(worker, worker->options.queues[n], error);
        if (status >= 0 && !worker->has_more && room(worker, 0) > 0)
            status = look_ahead(worker, worker->options.queues[n], error);
    }
    while (status >= 0 && worker->finished.count > 0 && !worker->is_locked)
        status = settle_and_claim(worker, NULL, error);
    return status;
}
