/* loops/worker.c: the life and the loop of a worker (S78-S89). One coordinator, the thread that
 * calls alk_worker_run, has the one connection; executor threads run handlers. cycle.c settles and
 * claims, watch.c extends and looks at deadlines. */
#include "loops/worker.h"
#include "base/backoff.h"
#include "base/error.h"
#include <string.h>

#define RETRY_MAX 3                   /* of a transient failure while nothing is at stake (S164) */
#define RETRY_BASE_US (100 * ALK__MS) /* 100, 200, 400 ms */
#define RETRY_CAP_US ALK__SECOND      /* while claims are still good */
#define RESPAWN_BASE_US (200 * ALK__MS) /* S78 */
#define RESPAWN_CAP_US (10 * ALK__SECOND)
#define CALL_LIMIT_MIN_US ALK__SECOND
#define LOCKED_WAIT_US (20 * ALK__MS)
#define QUEUES_MAX 64
#define CONCURRENCY_MAX 1000
#define LEASE_MAX_US (3650 * ALK__DAY)

int64_t alk_respawn_us(int64_t failures) {
    return alk__backoff_us(RESPAWN_BASE_US, RESPAWN_CAP_US, failures, &(struct alk__random){0});
}

static alk_status check_options(const alk_worker_options *options, alk_handler handler,
                                alk_error *error) {
    if (!handler)
        return alk__fail(error, ALK_USAGE, "a worker needs a handler");
    if (!options->queues || options->queue_count < 1 || options->queue_count > QUEUES_MAX)
        return alk__fail(error, ALK_INVALID, "a worker serves 1 to %d queues, not %zu", QUEUES_MAX,
                         options->queue_count);
    for (size_t n = 0; n < options->queue_count; n++)
        if (alk__name_check("queue", options->queues[n], error) < 0)
            return ALK_INVALID;
    if (options->name && alk__name_check("worker", options->name, error) < 0)
        return ALK_INVALID;
    if (options->concurrency < 1 || options->concurrency > CONCURRENCY_MAX)
        return alk__fail(error, ALK_INVALID, "concurrency is 1 to %d, not %d", CONCURRENCY_MAX,
                         options->concurrency);
    if (options->prefetch < 0 || options->prefetch > CONCURRENCY_MAX)
        return alk__fail(error, ALK_INVALID, "prefetch is 0 to %d, not %d", CONCURRENCY_MAX,
                         options->prefetch);
    if (options->lease_us < ALK__SECOND || options->lease_us > LEASE_MAX_US)
        return alk__fail(error, ALK_INVALID, "a job's lease is 1 s to 10 years");
    if (options->timeout_us < 0 || options->shutdown_us < 0 || options->poll_us <= 0)
        return alk__fail(error, ALK_INVALID,
                         "time-out and shutdown are not negative, the poll is above 0");
    return ALK_OK;
}

static void report(const struct alk__worker *worker, alk_level level, const char *name,
                   const alk_error *error) {
    alk_event event = alk__event(level, name);
    event.owner = worker->id;
    event.subject = worker->options.queues[0];
    event.error = error;
    alk__report(&worker->reporter, &event);
}

/* ---- life ---- */

static alk_status set_up(struct alk__worker *worker, alk_handler handler, void *context,
                         alk_error *error) {
    const alk_worker_options *options = &worker->options;
    struct alk__executors_options executors = {options->concurrency, handler, context,
                                               options->timeout_us,
                                               alk__store_clock(worker->store)};
    alk__identity_unique(options->name, alk__store_random(worker->store), worker->id);
    alk__upkeep_init(&worker->upkeep, worker->id, &worker->reporter);
    worker->outstanding_max = (size_t)options->concurrency + (size_t)options->prefetch;
    /* a batch more: what is settled keeps its place until the answer is known */
    worker->outstanding =
        alk__alloc((worker->outstanding_max + ALK_CLAIM_BATCH_MAX) * sizeof(struct alk_attempt *));
    if (!worker->outstanding)
        return alk__nomem(error);
    alk_status status = alk__wake_new(worker->store, &worker->wake, error);
    if (status >= 0)
        status = alk__executors_start(&executors, &worker->executors, error);
    return status;
}

static alk_status ensure_connection(struct alk__worker *worker, alk_error *error) {
    alk_status status = alk__conn_keep(worker->store, &worker->conn, error);
    if (status < 0) {
        alk__error_set_phase(error, ALK_PHASE_CONNECT);
        return alk__wrap(error, status, "connect");
    }
    int64_t limit_us = worker->options.lease_us / 3;
    alk__conn_set_call_limit(worker->conn,
                             limit_us > CALL_LIMIT_MIN_US ? limit_us : CALL_LIMIT_MIN_US);
    return ALK_OK;
}

/* Takes back what no handler has begun, to be released (S75, S79). */
static void release_waiting(struct alk__worker *worker) {
    struct alk__attempts waiting = {0};
    struct alk_attempt *attempt;
    alk__executors_take_waiting(worker->executors, &waiting);
    while ((attempt = alk__attempts_take(&waiting))) {
        attempt->outcome = ALK_RELEASE;
        alk__attempts_add(&worker->finished, attempt);
    }
}

/* The last words of a worker that ends with an error: handlers are told to end and waited for, and
 * what can still be settled is. */
static void abandon(struct alk__worker *worker) {
    release_waiting(worker);
    for (size_t n = 0; n < worker->outstanding_count; n++)
        alk__attempt_end(worker->outstanding[n], ALK__END_STOP);
    alk__executors_join(worker->executors);
    alk__executors_take_finished(worker->executors, &worker->finished);
    worker->is_stopping = true;
    if (worker->finished.count > 0 && ensure_connection(worker, NULL) >= 0)
        (void)alk__worker_cycle(worker, NULL);
}

static void tear_down(struct alk__worker *worker) {
    alk_conn_put(worker->conn);
    alk__executors_free(worker->executors);
    while (worker->outstanding_count > 0)
        alk__worker_forget(worker, worker->outstanding[0]);
    alk__free(worker->outstanding);
    alk__wake_free(worker->wake);
}

/* ---- loop ---- */

static void note_stop(struct alk__worker *worker) {
    if (worker->is_stopping || !alk_stop_is_set(worker->stop))
        return;
    worker->is_stopping = true;
    worker->stop_deadline_us = alk__add_us(alk__monotonic_us(), worker->options.shutdown_us);
    release_waiting(worker);
    report(worker, ALK_LEVEL_INFO, "worker stopping", NULL);
}

static bool is_over(const struct alk__worker *worker) {
    return worker->outstanding_count == 0 &&
           (worker->is_stopping || (worker->options.is_drain && worker->is_empty));
}

/* Offered in a flood of jobs too: a worker that is never idle must not mean that nothing is ever
 * tidied. Its failures are reported there and stop nothing. */
static void offer_upkeep(struct alk__worker *worker) {
    if (!worker->is_stopping)
        (void)alk__upkeep_offer(worker->conn, &worker->upkeep, NULL);
}

static alk_status step(struct alk__worker *worker, alk_error *error) {
    note_stop(worker);
    alk__worker_watch(worker);
    alk__executors_take_finished(worker->executors, &worker->finished);
    if (worker->is_stopping && worker->outstanding_count == 0)
        return ALK_OK;
    alk_status status = ensure_connection(worker, error);
    if (status >= 0)
        status = alk__worker_extend(worker, error);
    if (status >= 0)
        status = alk__worker_cycle(worker, error);
    if (status >= 0)
        offer_upkeep(worker);
    return status;
}

/* Whether something would be lost by giving up now: a claim that is still good. */
static bool has_good_claim(const struct alk__worker *worker) {
    int64_t now_us = alk__monotonic_us();
    for (size_t n = 0; n < worker->outstanding_count; n++)
        if (now_us <
            alk__add_us(worker->outstanding[n]->claimed_monotonic_us, worker->options.lease_us))
            return true;
    return false;
}

/* How long to wait after a step that failed; 0 = give up. */
static int64_t retry_wait_us(struct alk__worker *worker, const alk_error *error) {
    worker->failures++;
    if (error->error_class != ALK_CLASS_TRANSIENT)
        return 0;
    if (worker->failures > RETRY_MAX && !has_good_claim(worker))
        return 0;
    return alk__backoff_us(RETRY_BASE_US, RETRY_CAP_US, worker->failures,
                           alk__store_random(worker->store));
}

static int64_t min_us(int64_t left, int64_t right) {
    return left < right ? left : right;
}

static int64_t idle_wait_us(const struct alk__worker *worker) {
    int64_t poll_us = alk__random_between(alk__store_random(worker->store),
                                          worker->options.poll_us / 2 + 1, worker->options.poll_us);
    int64_t now_us = alk__monotonic_us();
    if (worker->has_more && worker->outstanding_count < worker->outstanding_max)
        return 0;
    if (worker->upkeep.has_more && !worker->is_stopping)
        return 0;
    if (worker->is_locked)
        poll_us = min_us(poll_us, LOCKED_WAIT_US);
    int64_t at_us = min_us(alk__add_us(now_us, poll_us), alk__worker_watch_at(worker));
    at_us = min_us(at_us, worker->next_due_us);
    return at_us > now_us ? at_us - now_us : 0;
}

/* Until there is something to do. */
static void wait_for_work(struct alk__worker *worker, int64_t wait_us) {
    if (wait_us > 0)
        (void)alk__wake_wait(worker->wake, worker->is_stopping ? NULL : worker->stop,
                             alk__executors_fd(worker->executors), wait_us);
}

/* Until the time is over; only a stop is worth more than the wait. */
static void wait_out(struct alk__worker *worker, int64_t wait_us) {
    const alk_stop *stop = worker->is_stopping ? NULL : worker->stop;
    int64_t until_us = alk__monotonic_us() + wait_us;
    while ((wait_us = until_us - alk__monotonic_us()) > 0)
        if (alk__wake_wait(worker->wake, stop, -1, wait_us) == ALK__WAKE_STOPPED)
            return;
}

static alk_status run_loop(struct alk__worker *worker, alk_error *error) {
    for (;;) {
        alk_error own = ALK_ERROR_INIT;
        alk_status status = step(worker, &own);
        if (status >= 0) {
            worker->failures = 0;
            if (is_over(worker))
                return ALK_OK;
            wait_for_work(worker, idle_wait_us(worker));
            continue;
        }
        int64_t wait_us = retry_wait_us(worker, &own);
        if (wait_us == 0) {
            *error = own;
            return status;
        }
        report(worker, ALK_LEVEL_WARNING, "database failed, trying again", &own);
        wait_out(worker, wait_us);
    }
}

/* From its first event to its last: one that dies says so, whatever its caller does with the error
 * (S85). */
static alk_status live(struct alk__worker *worker, alk_error *error) {
    report(worker, ALK_LEVEL_INFO, "worker started", NULL);
    alk_status status = run_loop(worker, error);
    if (status >= 0) {
        report(worker, ALK_LEVEL_INFO, "worker stopped", NULL);
        return ALK_OK;
    }
    report(worker, ALK_LEVEL_ERROR, "worker failed", error);
    abandon(worker);
    return status;
}

/* The caller may have been built against a header with fewer options. */
static alk_worker_options complete(const alk_worker_options *options) {
    alk_worker_options all = ALK_WORKER_OPTIONS_INIT;
    if (options)
        memcpy(&all, options, options->size < sizeof all ? options->size : sizeof all);
    return all;
}

alk_status alk_worker_run(alk_store *store, const alk_worker_options *options, alk_handler handler,
                          void *context, alk_stop *stop, alk_error *error) {
    struct alk__worker worker = {.store = store, .options = complete(options), .stop = stop};
    alk_error own = ALK_ERROR_INIT;
    worker.reporter =
        (struct alk__reporter){worker.options.event, worker.options.event_context, "worker"};
    if (worker.options.prefetch == 0)
        worker.options.prefetch = worker.options.concurrency;
    alk_status status = check_options(&worker.options, handler, error);
    if (status < 0)
        return alk__wrap(error, status, "run worker");
    status = set_up(&worker, handler, context, &own);
    if (status >= 0)
        status = live(&worker, &own);
    tear_down(&worker);
    if (status >= 0)
        return ALK_OK;
    if (error)
        *error = own;
    return alk__wrap(error, status, "run worker");
}
