/* loops/scheduler_step.c: one step of the scheduler: bid for the lease, or renew it and tick; and
 * what becomes of failures (S147-S174). Correctness does not hang on the lease: the tick's fence
 * and the ledger see to that. */
#include "base/backoff.h"
#include "base/error.h"
#include "core/lease.h"
#include "core/plan.h"
#include "core/tick.h"
#include "loops/scheduler.h"
#include "store/run.h"

#define STANDBY_WAIT_US                                                                            \
    ALK__SECOND /* at most, at least half: a standby takes over within 2 s (S153) */
#define HELD_WAIT_US (20 * ALK__MS) /* doubling: what is due is in somebody's hands */
#define HELD_WAIT_MAX_US ALK__SECOND
#define REPAIR_PERIOD_US ALK__MINUTE

static int64_t min_us(int64_t left, int64_t right) {
    return left < right ? left : right;
}

static const struct alk__random *random_of(const struct alk__scheduler *scheduler) {
    return alk__store_random(scheduler->store);
}

static alk_status at(alk_error *error, alk_status status, alk_phase phase) {
    if (status >= 0)
        return status;
    alk__error_set_phase(error, phase);
    return alk__wrap(error, status, "%s", alk_phase_text(phase));
}

static void report(const struct alk__scheduler *scheduler, alk_level level, const char *name,
                   int64_t count, const alk_error *error) {
    alk_event event = alk__event(level, name);

    event.subject = scheduler->options.lease_name;
    event.owner = scheduler->is_leader ? scheduler->lease.owner : scheduler->owner;
    if (scheduler->is_leader)
        event.fence = scheduler->lease.fence;
    event.count = count;
    event.error = error;
    alk__report(&scheduler->reporter, &event);
}

static alk_status ensure_connection(struct alk__scheduler *scheduler, alk_error *error) {
    alk_status status = alk__conn_keep(scheduler->store, &scheduler->conn, error);
    if (status < 0)
        return at(error, status, ALK_PHASE_CONNECT);
    alk__conn_set_call_limit(scheduler->conn, scheduler->options.ttl_us / ALK__LEASE_CALL_PARTS);
    return ALK_OK;
}

/* ---- bidding ---- */

static alk_status stand_by(struct alk__scheduler *scheduler, const alk_lease *holder,
                           int64_t *ret_wait_us, alk_error *error) {
    if (scheduler->options.is_once) {
        alk__fail(error, ALK_HELD, "lease '%s' is held by '%s'", holder->name, holder->owner);
        alk__error_set_subject(error, holder->owner);
        return ALK_HELD;
    }
    if (!scheduler->is_standing_by) {
        alk_event event = alk__event(ALK_LEVEL_INFO, "standing by");
        event.subject = scheduler->options.lease_name;
        event.owner = holder->owner;
        event.fence = holder->fence;
        alk__report(&scheduler->reporter, &event);
    }
    scheduler->is_standing_by = true;
    scheduler->is_idle = true;
    *ret_wait_us = alk__random_between(random_of(scheduler), STANDBY_WAIT_US / 2, STANDBY_WAIT_US);
    return ALK_OK;
}

static void become_leader(struct alk__scheduler *scheduler, int64_t asked_us) {
    static _Atomic int64_t elections; /* of this process (S163) */

    scheduler->is_leader = true;
    scheduler->is_standing_by = false;
    scheduler->renewed_us = asked_us;
    scheduler->repaired_us = 0;
    scheduler->failures = 0;
    alk__scheduler_sweep_elected(scheduler);
    report(scheduler, ALK_LEVEL_INFO, "leader elected", ++elections, NULL);
}

/* What was due before this scheduler started is to be forgotten: when that was, by the database. */
static alk_status note_start(struct alk__scheduler *scheduler, alk_error *error) {
    if (!scheduler->options.forget_missed || scheduler->started_us != 0)
        return ALK_OK;
    alk_status status = alk__db_now(scheduler->conn, &scheduler->started_us, error);
    scheduler->wants[ALK__SWEEP_FORGET] = status >= 0;
    return at(error, status, ALK_PHASE_CONNECT);
}

static alk_status bid(struct alk__scheduler *scheduler, int64_t *ret_wait_us, alk_error *error) {
    const alk_scheduler_options *options = &scheduler->options;
    int64_t asked_us = alk__monotonic_us();
    alk_lease lease;

    alk_status status = note_start(scheduler, error);
    if (status < 0)
        return status;
    status = alk_lease_acquire(scheduler->conn, options->lease_name, scheduler->owner,
                               options->ttl_us, &lease, error);
    if (status < 0)
        return at(error, status, ALK_PHASE_RENEW);
    if (status == ALK_HELD)
        return stand_by(scheduler, &lease, ret_wait_us, error);
    scheduler->lease = lease;
    become_leader(scheduler, asked_us);
    return ALK_OK;
}

/* ---- leading ---- */

static int64_t renew_rest_us(const struct alk__scheduler *scheduler) {
    return scheduler->renewed_us + scheduler->options.ttl_us / ALK__LEASE_RENEW_PARTS -
           alk__monotonic_us();
}

static bool is_trusted(const struct alk__scheduler *scheduler) {
    return alk__monotonic_us() <
           scheduler->renewed_us + scheduler->options.ttl_us - ALK__LEASE_MARGIN_US;
}

/* When the soonest schedule is due; a read, for waits that were cut short (S161). */
static alk_status read_soonest(struct alk__scheduler *scheduler, int64_t *ret_rest_us,
                               alk_error *error) {
    struct alk__rows rows = {0};

    alk_status status =
        alk__do(scheduler->conn, ALK__SCHEDULE_SOONEST, &rows, error, ALK__I(ALK__SPEC_VERSION));
    if (status >= 0) {
        const struct alk__row_due *row = ALK__ROW(&rows, alk__row_due, 0);
        *ret_rest_us = row->next_due == ALK__NULL ? INT64_MAX : row->next_due - row->now;
    }
    alk__rows_free(&rows);
    return at(error, status, ALK_PHASE_READ_DUE);
}

static alk_status renew(struct alk__scheduler *scheduler, int64_t *ret_rest_us, alk_error *error) {
    int64_t asked_us = alk__monotonic_us();
    int64_t due_us;
    int64_t now_us;
    int64_t behind_us;

    alk_status status = alk__lease_renew_and_due(scheduler->conn, &scheduler->lease, &due_us,
                                                 &now_us, &behind_us, error);
    if (status < 0)
        return at(error, status, ALK_PHASE_RENEW);
    scheduler->renewed_us = asked_us;
    scheduler->renewal_failures = 0;
    alk__scheduler_sweep_clock(scheduler, behind_us, now_us);
    *ret_rest_us = due_us == ALK_NO_TIME ? INT64_MAX : due_us - now_us;
    return ALK_OK;
}

static alk_status repair(struct alk__scheduler *scheduler, int64_t *rest_us, alk_error *error) {
    int64_t now_us = alk__monotonic_us();
    size_t count = 0;

    if (scheduler->repaired_us != 0 && now_us - scheduler->repaired_us < REPAIR_PERIOD_US)
        return ALK_OK;
    alk_status status = alk__tick_repair(scheduler->conn, &scheduler->reporter, &count, error);
    if (status < 0)
        return status;
    scheduler->repaired_us = now_us;
    if (count > 0)
        *rest_us = 0;
    return ALK_OK;
}

/* Nothing is due for rest_us. Maintenance may fail: that ends nothing here. */
static alk_status idle(struct alk__scheduler *scheduler, int64_t rest_us, int64_t *ret_wait_us) {
    scheduler->is_idle = true;
    if (!scheduler->options.is_once &&
        alk__upkeep_offer(scheduler->conn, &scheduler->upkeep, NULL) == ALK_OK)
        rest_us = 0;
    int64_t wait_us = min_us(rest_us, renew_rest_us(scheduler));
    *ret_wait_us = wait_us > 0 ? wait_us : 0;
    return ALK_OK;
}

static alk_status tick(struct alk__scheduler *scheduler, int64_t *ret_wait_us, alk_error *error) {
    const struct alk__tick_options options = {&scheduler->lease, scheduler->specs,
                                              &scheduler->reporter, scheduler->options.batch};
    struct alk__tick_result result;

    if (!is_trusted(scheduler)) {
        alk__fail(error, ALK_LOST, "lease '%s' was renewed too long ago", scheduler->lease.name);
        return at(error, ALK_LOST, ALK_PHASE_RENEW);
    }
    alk_status status = alk__tick(scheduler->conn, &options, &result, error);
    if (status < 0)
        return status;
    scheduler->failures = 0;
    if (result.seen + result.resumed > 0) {
        scheduler->held_ticks = 0;
        return ALK_OK;
    }
    scheduler->is_idle = true;
    *ret_wait_us = alk__backoff_us(HELD_WAIT_US, HELD_WAIT_MAX_US, ++scheduler->held_ticks,
                                   random_of(scheduler));
    return ALK_OK;
}

static alk_status lead(struct alk__scheduler *scheduler, int64_t *ret_wait_us, alk_error *error) {
    int64_t rest_us = 0;
    bool has_swept = false;
    alk_status status;

    if (renew_rest_us(scheduler) > 0 && scheduler->repaired_us != 0) {
        status = read_soonest(scheduler, &rest_us, error);
        if (status < 0)
            return status;
        if (rest_us > 0 && !alk__scheduler_may_sweep(scheduler))
            return idle(scheduler, rest_us, ret_wait_us);
    }
    status = renew(scheduler, &rest_us, error);
    if (status >= 0)
        status = repair(scheduler, &rest_us, error);
    if (status >= 0)
        status = alk__scheduler_sweep(scheduler, &has_swept, error);
    if (status < 0)
        return status;
    /* Times have changed since they were read; what is to be forgotten does not fire before. */
    if (has_swept && (rest_us > 0 || scheduler->sweep.kind == ALK__SWEEP_FORGET))
        return ALK_OK;
    return rest_us > 0 ? idle(scheduler, rest_us, ret_wait_us)
                       : tick(scheduler, ret_wait_us, error);
}

/* ---- failures ---- */

static alk_status lose(struct alk__scheduler *scheduler, const alk_error *error) {
    alk_event event = alk__event(ALK_LEVEL_WARNING, "leadership lost");

    event.subject = scheduler->lease.name;
    event.owner = scheduler->lease.owner;
    event.fence = scheduler->lease.fence;
    event.error = error;
    alk__report(&scheduler->reporter, &event);
    scheduler->is_leader = false;
    return ALK_LOST;
}

static alk_status try_again(struct alk__scheduler *scheduler, const char *name, int64_t attempt,
                            int64_t cap_us, int64_t *ret_wait_us, alk_error *error) {
    report(scheduler, ALK_LEVEL_WARNING, name, attempt, error);
    alk__error_clear(error);
    scheduler->may_wake = false;
    scheduler->is_idle = false;
    *ret_wait_us = alk__backoff_us(ALK__TICK_RETRY_US, cap_us, attempt, random_of(scheduler));
    return ALK_OK;
}

/* The lease could not be renewed: whatever the reason, there is time until it is over, and then it
 * is lost (S173). */
static alk_status judge_renewal(struct alk__scheduler *scheduler, int64_t *ret_wait_us,
                                alk_error *error) {
    if (is_trusted(scheduler))
        return try_again(scheduler, "renewal failed, trying again", ++scheduler->renewal_failures,
                         4 * ALK__TICK_RETRY_US, ret_wait_us, error);
    alk_error reason = *error;
    alk__fail(error, ALK_LOST, "lease '%s' could not be renewed in time: %s", scheduler->lease.name,
              reason.message);
    alk__error_set_phase(error, ALK_PHASE_RENEW);
    alk__error_set_code(error, reason.engine_code);
    return lose(scheduler, error);
}

static alk_status judge(struct alk__scheduler *scheduler, alk_status status, int64_t *ret_wait_us,
                        alk_error *error) {
    bool is_renewal = error->phase == ALK_PHASE_RENEW || error->phase == ALK_PHASE_CONNECT;

    if (status == ALK_LOST)
        return lose(scheduler, error);
    if (status == ALK_CLOSED)
        return status;
    if (scheduler->is_leader && is_renewal)
        return judge_renewal(scheduler, ret_wait_us, error);
    if (alk_status_class(status) != ALK_CLASS_TRANSIENT || scheduler->failures == ALK__TICK_RETRIES)
        return status;
    return try_again(
        scheduler, scheduler->is_leader ? "tick failed, trying again" : "bid failed, trying again",
        ++scheduler->failures, ALK__LEASE_MARGIN_US, ret_wait_us, error);
}

alk_status alk__scheduler_step(struct alk__scheduler *scheduler, int64_t *ret_wait_us,
                               alk_error *error) {
    *ret_wait_us = 0;
    scheduler->is_idle = false;
    scheduler->may_wake = true;
    alk_status status = ensure_connection(scheduler, error);
    if (status >= 0)
        status = scheduler->is_leader ? lead(scheduler, ret_wait_us, error)
                                      : bid(scheduler, ret_wait_us, error);
    return status < 0 ? judge(scheduler, status, ret_wait_us, error) : status;
}

void alk__scheduler_release(struct alk__scheduler *scheduler) {
    alk_error error = ALK_ERROR_INIT;

    if (!scheduler->is_leader)
        return;
    alk_status status = ensure_connection(scheduler, &error);
    if (status >= 0)
        status = alk_lease_release(scheduler->conn, &scheduler->lease, &error);
    if (status < 0)
        report(scheduler, ALK_LEVEL_WARNING, "leadership not released", -1, &error);
    else
        report(scheduler, ALK_LEVEL_INFO, "leadership released", -1, NULL);
    scheduler->is_leader = false;
}
