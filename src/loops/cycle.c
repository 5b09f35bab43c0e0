/* loops/cycle.c: one cycle of a worker: settle what is finished and claim what there is room for,
 * in one round trip (S79, S82, S86, S87). */
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
    [ALK_DONE] = "job done",        [ALK_RETRY] = "job failed",
    [ALK_DEAD] = "job dead",        [ALK_UNAVAILABLE] = "job failed, its sink unavailable",
    [ALK_RELEASE] = "job released", [ALK_UNDECODABLE] = "job dead, undecodable",
};

static void report_settled(const struct alk__worker *worker, const struct alk_attempt *attempt,
                           alk_outcome outcome, const char *name) {
    bool is_fine = outcome == ALK_DONE || outcome == ALK_RELEASE;
    alk_event event = alk__event(is_fine ? ALK_LEVEL_INFO : ALK_LEVEL_WARNING, name);
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

/* Somebody ended or took this claim: the handler's own transaction, an earlier call whose answer
 * was lost (S82), or a stranger. */
static void note_lost(const struct alk__worker *worker, const struct alk_attempt *attempt) {
    alk_outcome inside = alk__attempt_inside(attempt);
    if (inside != 0)
        report_settled(worker, attempt, inside, outcome_names[inside]);
    else
        report_refused(worker, attempt,
                       attempt->is_in_doubt
                           ? "the claim is over, perhaps by a settle whose answer was lost"
                           : "the claim is lost");
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
        report_settled(worker, attempt, attempt->outcome, outcome_names[attempt->outcome]);
        break;
    case ALK_SETTLE_CANCELLED:
        report_settled(worker, attempt, attempt->outcome, "job cancelled");
        break;
    case ALK_SETTLE_LAPSED:
        report_refused(worker, attempt, "the lease lapsed");
        break;
    case ALK_SETTLE_LOST:
        note_lost(worker, attempt);
        break;
    case ALK_SETTLE_REFUSED:
        report_refused(worker, attempt, "the database refused it");
        break;
    }
    alk__worker_forget(worker, attempt);
}

/* A number that is no outcome is the handler's fault, and a failed attempt. */
static void check_outcome(struct alk_attempt *attempt) {
    if (attempt->outcome >= ALK_DONE && attempt->outcome <= ALK_UNDECODABLE)
        return;
    alk_attempt_set_error(attempt, "the handler returned %d, which is no outcome",
                          (int)attempt->outcome);
    attempt->outcome = ALK_RETRY;
}

/* Takes up to a batch of what is finished. */
static size_t collect_settlements(struct alk__worker *worker, alk_settlement *settlements,
                                  struct alk_attempt **attempts) {
    size_t count = 0;
    while (count < ALK_CLAIM_BATCH_MAX && worker->finished.count > 0) {
        struct alk_attempt *attempt = alk__attempts_take(&worker->finished);
        check_outcome(attempt);
        settlements[count] = alk__attempt_settlement(attempt, attempt->outcome);
        attempts[count++] = attempt;
    }
    return count;
}

/* A failed settle changes no outcome: the next cycle says the same again (S82). */
static void give_back(struct alk__worker *worker, struct alk_attempt **attempts, size_t count) {
    struct alk__attempts rest = worker->finished;
    worker->finished = (struct alk__attempts){0};
    for (size_t n = 0; n < count; n++) {
        attempts[n]->is_in_doubt = true;
        alk__attempts_add(&worker->finished, attempts[n]);
    }
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

/* Jobs that may not run are settled at once: there are few. What is not settled here comes back
 * when its lease lapses. */
static alk_status settle_verdicts(struct alk__worker *worker, const char *queue,
                                  const struct alk__claimed *claimed, alk_error *error) {
    alk_settle_answer answers[ALK_CLAIM_BATCH_MAX];
    if (claimed->verdict_count == 0)
        return ALK_OK;
    alk_status status = alk__settle_and_claim(worker->conn, claimed->verdicts,
                                              claimed->verdict_count, answers, NULL, NULL, error);
    if (status < 0) {
        alk__error_set_phase(error, ALK_PHASE_SETTLE);
        return alk__wrap(error, status, "settle %zu jobs that may not run", claimed->verdict_count);
    }
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
        return status;
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

/* When the next job of the queue is due, so that the wait ends then (S40). One that is due and was
 * not claimed is in somebody's open transaction, or has just come. */
static alk_status look_ahead(struct alk__worker *worker, const char *queue, alk_error *error) {
    bool is_due = false;
    int64_t due_us = ALK_NO_TIME;
    int64_t now_us = 0;
    alk_status status = alk__queue_next_due(worker->conn, queue, &is_due, &due_us, &now_us, error);
    if (status < 0) {
        alk__error_set_phase(error, ALK_PHASE_CLAIM);
        alk__error_set_subject(error, queue);
        return status;
    }
    if (is_due)
        worker->is_empty = false;
    int64_t wait_us = is_due ? LOCKED_LOOK_US : due_us == ALK_NO_TIME ? ALK__HOUR : due_us - now_us;
    int64_t at_us = alk__add_us(alk__monotonic_us(), wait_us);
    if (at_us < worker->next_due_us)
        worker->next_due_us = at_us;
    return ALK_OK;
}

/* A look that came back full ends the round: the queues named first come first again (S86). */
static bool may_claim(const struct alk__worker *worker) {
    return !worker->is_stopping && !alk_stop_is_set(worker->stop) && !worker->has_more &&
           room(worker, worker->finished.count) > 0;
}

alk_status alk__worker_cycle(struct alk__worker *worker, alk_error *error) {
    alk_status status = ALK_OK;
    worker->has_more = false;
    worker->is_locked = false;
    worker->is_empty = true;
    worker->next_due_us = INT64_MAX;
    for (size_t n = 0; n < worker->options.queue_count && may_claim(worker) && status >= 0; n++) {
        status = settle_and_claim(worker, worker->options.queues[n], error);
        if (status >= 0 && !worker->has_more && room(worker, 0) > 0)
            status = look_ahead(worker, worker->options.queues[n], error);
    }
    while (status >= 0 && worker->finished.count > 0 && !worker->is_locked)
        status = settle_and_claim(worker, NULL, error);
    return status;
}
