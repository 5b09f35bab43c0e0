/* loops/hold.c: alk_lease_hold: a lease that is kept alive while something runs under it (S180). */
#include "base/error.h"
#include "store/run.h"
#include <alkstore/lease.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>

/* how often a lease that another holds is looked at when no wake comes */
#define HELD_LOOK_US ALK__SECOND

struct holder {
    alk_store *store;
    alk_lease lease;
    int64_t good_until_us; /* monotonic: the lease lasts at least until then */
    alk_stop *lost;
    alk_stop *done;
};

static int64_t min_us(int64_t left, int64_t right) {
    return left < right ? left : right;
}

static alk_status try_acquire(alk_store *store, const char *name, const char *owner, int64_t ttl_us,
                              alk_lease *ret_lease, alk_error *error) {
    alk_conn *conn = NULL;
    alk_status status = alk_conn_get(store, &conn, error);
    if (status < 0)
        return status;
    status = alk_lease_acquire(conn, name, owner, ttl_us, ret_lease, error);
    alk_conn_put(conn);
    return status;
}

/* Acquires, waiting up to wait_us. ALK_HELD when the time is over, ALK_EMPTY when stopped. */
static alk_status acquire(struct holder *holder, const char *name, const char *owner,
                          int64_t ttl_us, int64_t wait_us, const alk_stop *stop, alk_error *error) {
    struct alk__wake *wake = NULL;
    int64_t give_up_us = alk__add_us(alk__monotonic_us(), wait_us);
    alk_status status = wait_us > 0 ? alk__wake_new(holder->store, &wake, error) : ALK_OK;
    while (status >= 0) {
        int64_t before_us = alk__monotonic_us();
        status = try_acquire(holder->store, name, owner, ttl_us, &holder->lease, error);
        holder->good_until_us = alk__add_us(before_us, ttl_us);
        if (status != ALK_HELD)
            break;
        int64_t rest_us = give_up_us - alk__monotonic_us();
        if (rest_us <= 0)
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
    alk_conn *conn = NULL;
    if (alk_conn_get(holder->store, &conn, NULL) < 0)
        return ALK_AGAIN;
    alk__conn_set_call_limit(conn, holder->lease.ttl_us / 5);
    int64_t before_us = alk__monotonic_us();
    alk_status status = alk_lease_renew(conn, &holder->lease, NULL);
    if (status == ALK_OK)
        holder->good_until_us = alk__add_us(before_us, holder->lease.ttl_us);
    alk__conn_set_call_limit(conn, 0);
    alk_conn_put(conn);
    return status;
}

/* Renews at a third of the TTL. A failure is tried again until the lease may be over: then it
 * counts as lost. */
static void *run_renewals(void *context) {
    struct holder *holder = context;
    int64_t wait_us = holder->lease.ttl_us / 3;
    while (!wait_done(holder, wait_us)) {
        alk_status status = renew(holder);
        if (status == ALK_LOST || alk__monotonic_us() >= holder->good_until_us) {
            alk_stop_set(holder->lost);
            break;
        }
        wait_us = status == ALK_OK ? holder->lease.ttl_us / 3 : holder->lease.ttl_us / 20;
    }
    return NULL;
}

static int start_renewals(struct holder *holder, pthread_t *ret_thread) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(ret_thread, NULL, run_renewals, holder);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

static void release(struct holder *holder) {
    alk_conn *conn = NULL;
    if (alk_conn_get(holder->store, &conn, NULL) < 0)
        return; /* it lapses by itself */
    (void)alk_lease_release(conn, &holder->lease, NULL);
    alk_conn_put(conn);
}

static alk_status run_held(struct holder *holder, alk_lease_fn function, void *context,
                           alk_error *error) {
    const alk_lease lease = holder->lease;
    pthread_t thread;
    int code = start_renewals(holder, &thread);
    if (code != 0) {
        release(holder);
        return alk__fail(error, ALK_AGAIN, "hold lease '%s': no more threads (errno %d)",
                         lease.name, code);
    }
    alk_status status = function(&lease, holder->lost, context, error);
    alk_stop_set(holder->done);
    pthread_join(thread, NULL);
    if (alk_stop_is_set(holder->lost) && status >= 0) {
        status = alk__fail(error, ALK_LOST, "lease '%s' was lost", lease.name);
        alk__error_set_subject(error, lease.name);
    }
    release(holder);
    return status;
}

alk_status alk_lease_hold(alk_store *store, const char *name, const char *owner, int64_t ttl_us,
                          int64_t wait_us, alk_stop *stop, alk_lease_fn function, void *context,
                          alk_error *error) {
    struct holder holder = {.store = store};
    alk_status status = alk_stop_new(&holder.lost, error);
    if (status >= 0)
        status = alk_stop_new(&holder.done, error);
    if (status >= 0)
        status = acquire(&holder, name, owner, ttl_us, wait_us, stop, error);
    if (status == ALK_OK)
        status = run_held(&holder, function, context, error);
    alk_stop_free(holder.lost);
    alk_stop_free(holder.done);
    return status;
}
