/* loops/hold.c: alk_lease_hold: a lease that is kept alive while something runs under it (S180).
 * The renewals have a thread, and a connection that nobody else can exhaust. */
#include "base/error.h"
#include "loops/thread.h"
#include "store/run.h"
#include <alkstore/lease.h>
#include <poll.h>

/* how often a lease that another holds is looked at when no wake comes */
#define HELD_LOOK_US ALK__SECOND

struct holder {
    alk_store *store;
    alk_conn *conn; /* used by one thread after the other; NULL while there is none */
    alk_lease lease;
    int64_t good_until_us; /* monotonic: the lease lasts at least until then */
    alk_stop *lost;
    alk_stop *done;
};

static int64_t min_us(int64_t left, int64_t right) {
    return left < right ? left : right;
}

/* What a call may take where the lease does not run out meanwhile: not for ever, if the server fell
 * silent. */
static alk_status connect_patiently(struct holder *holder, int64_t ttl_us, alk_error *error) {
    alk_status status = alk__conn_keep(holder->store, &holder->conn, error);
    if (status >= 0)
        alk__conn_set_call_limit(holder->conn, ttl_us / 5 < ALK__SECOND ? ALK__SECOND : ttl_us / 5);
    return status;
}

static alk_status try_acquire(struct holder *holder, const char *name, const char *owner,
                              int64_t ttl_us, alk_error *error) {
    alk_status status = connect_patiently(holder, ttl_us, error);
    if (status < 0)
        return status;
    holder->good_until_us = alk__add_us(alk__monotonic_us(), ttl_us);
    return alk_lease_acquire(holder->conn, name, owner, ttl_us, &holder->lease, error);
}

/* Acquires, waiting up to wait_us. ALK_HELD when the time is over, ALK_EMPTY when stopped. */
static alk_status acquire(struct holder *holder, const char *name, const char *owner,
                          int64_t ttl_us, int64_t wait_us, const alk_stop *stop, alk_error *error) {
    struct alk__wake *wake = NULL;
    int64_t give_up_us = alk__add_us(alk__monotonic_us(), wait_us);
    alk_status status = wait_us > 0 ? alk__wake_new(holder->store, &wake, error) : ALK_OK;
    while (status >= 0) {
        status = try_acquire(holder, name, owner, ttl_us, error);
        int64_t rest_us = give_up_us - alk__monotonic_us();
        if (status != ALK_HELD || rest_us <= 0)
            break;
        if (alk__wake_wait(wake, stop, -1, min_us(rest_us, HELD_LOOK_US)) == ALK__WAKE_STOPPED) {
            status = ALK_EMPTY;
            break;
        }
    }
    alk__wake_free(wake);
    if (status == ALK_HELD) {
        alk__fail(error, ALK_HELD, "lease '%s' is held by '%s'", name, holder->lease.owner);
        alk__error_set_subject(error, holder->lease.owner);
    }
    return status;
}

/* Waits; true when the work is done. */
static bool wait_done(const struct holder *holder, int64_t wait_us) {
    struct pollfd fd = {.fd = alk_stop_fd(holder->done), .events = POLLIN};
    (void)poll(&fd, 1, (int)(min_us(wait_us, ALK__HOUR) / ALK__MS) + 1);
    return alk_stop_is_set(holder->done);
}

static alk_status renew(struct holder *holder) {
    alk_status status = alk__conn_keep(holder->store, &holder->conn, NULL);
    if (status < 0)
        return status;
    alk__conn_set_call_limit(holder->conn, holder->lease.ttl_us / 5);
    int64_t before_us = alk__monotonic_us();
    status = alk_lease_renew(holder->conn, &holder->lease, NULL);
    if (status == ALK_OK)
        holder->good_until_us = alk__add_us(before_us, holder->lease.ttl_us);
    return status;
}

/* Renews at a third of the TTL. A failure is tried again until the lease may be over: then it
 * counts as lost. Only opening a connection may take longer than that (connect_timeout): what is
 * done under the lease late is for its fence to refuse. */
static void *run_renewals(void *context) {
    struct holder *holder = context;
    int64_t wait_us = holder->lease.ttl_us / 3;
    while (!wait_done(holder, wait_us)) {
        alk_status status = renew(holder);
        int64_t rest_us = holder->good_until_us - alk__monotonic_us();
        if (status == ALK_LOST || rest_us <= 0) {
            alk_stop_set(holder->lost);
            break;
        }
        wait_us = holder->lease.ttl_us / (status == ALK_OK ? 3 : 20);
        wait_us = min_us(wait_us, rest_us);
    }
    return NULL;
}

/* Without the database the lease lapses by itself. */
static void release(struct holder *holder) {
    alk_status status = connect_patiently(holder, holder->lease.ttl_us, NULL);
    if (status >= 0)
        status = alk_lease_release(holder->conn, &holder->lease, NULL);
    if (status == ALK_ABSENT)
        alk_stop_set(holder->lost);
}

static alk_status run_held(struct holder *holder, alk_lease_fn function, void *context,
                           alk_error *error) {
    const alk_lease lease = holder->lease;
    pthread_t thread;
    alk_status status = alk__thread_start(&thread, run_renewals, holder, error);
    if (status < 0) {
        release(holder);
        return alk__wrap(error, status, "hold lease '%s'", lease.name);
    }
    status = function(&lease, holder->lost, context, error);
    alk_stop_set(holder->done);
    pthread_join(thread, NULL);
    release(holder);
    if (alk_stop_is_set(holder->lost) && status >= 0) {
        status = alk__fail(error, ALK_LOST, "lease '%s' was lost", lease.name);
        alk__error_set_subject(error, lease.name);
    }
    return status;
}

alk_status alk_lease_hold(alk_store *store, const char *name, const char *owner, int64_t ttl_us,
                          int64_t wait_us, alk_stop *stop, alk_lease_fn function, void *context,
                          alk_error *error) {
    struct holder holder = {.store = store};
    if (!function)
        return alk__fail(error, ALK_USAGE, "holding a lease needs a function to run under it");
    alk_status status = alk_stop_new(&holder.lost, error);
    if (status >= 0)
        status = alk_stop_new(&holder.done, error);
    if (status >= 0)
        status = acquire(&holder, name, owner, ttl_us, wait_us, stop, error);
    if (status == ALK_OK)
        status = run_held(&holder, function, context, error);
    alk_conn_put(holder.conn);
    alk_stop_free(holder.lost);
    alk_stop_free(holder.done);
    return status;
}
