/* store/pool.c: the connections of a store. Whoever wants one waits for a place in turn (S20), then
 * takes an idle connection or opens a new one; a failed attempt gives its place back (S21). */
#include "base/duration.h"
#include "base/error.h"
#include "store/store.h"

alk_status alk__pool_init(struct alk__pool *pool, int size, alk_error *error) {
    int failed = alk__turns_init(&pool->turns, size);

    if (failed != 0)
        return alk__fail(error, ALK_AGAIN, "no lock for the pool: %s", alk__reason_of(failed).text);
    failed = pthread_mutex_init(&pool->lock, NULL);
    if (failed == 0) {
        failed = pthread_cond_init(&pool->user_left, NULL);
        if (failed == 0)
            return ALK_OK;
        pthread_mutex_destroy(&pool->lock);
    }
    alk__turns_release(&pool->turns);
    return alk__fail(error, ALK_AGAIN, "no lock for the pool: %s", alk__reason_of(failed).text);
}

void alk__pool_release(struct alk__pool *pool) {
    pthread_cond_destroy(&pool->user_left);
    pthread_mutex_destroy(&pool->lock);
    alk__turns_release(&pool->turns);
}

alk_status alk__conn_new(alk_store *store, struct alk__session *session, alk_conn **ret_conn,
                         alk_error *error) {
    alk_conn *conn = alk__alloc(sizeof(*conn));

    if (conn == NULL)
        return alk__nomem(error);
    *conn = (alk_conn){.store = store, .session = session, .deadline_us = INT64_MAX};
    *ret_conn = conn;
    return ALK_OK;
}

static void close_conn(alk_conn *conn) {
    conn->store->driver->close(conn->session);
    alk__free(conn);
}

static bool is_usable(const alk_conn *conn) {
    return !conn->store->driver->is_broken(conn->session) &&
           conn->store->driver->is_alive(conn->session);
}

/* An idle connection, or NULL with one more counted as open: the caller opens it. */
static alk_conn *take_idle(struct alk__pool *pool) {
    pthread_mutex_lock(&pool->lock);
    alk_conn *conn = pool->idle;
    if (conn != NULL) {
        pool->idle = conn->next;
        pool->idle_count--;
    } else {
        pool->open++;
    }
    pthread_mutex_unlock(&pool->lock);
    return conn;
}

/* Counts a thread that waits for a connection or has one: until it leaves, the pool is there. */
static void enter(struct alk__pool *pool) {
    pthread_mutex_lock(&pool->lock);
    pool->users++;
    pthread_mutex_unlock(&pool->lock);
}

/* The lock is held, and given back as the last thing done with the pool. */
static void leave(struct alk__pool *pool) {
    pool->users--;
    pthread_cond_broadcast(&pool->user_left);
    pthread_mutex_unlock(&pool->lock);
}

/* Gives a place back; conn NULL: with the connection gone. */
static void give_back(struct alk__pool *pool, alk_conn *conn) {
    pthread_mutex_lock(&pool->lock);
    if (conn != NULL) {
        conn->next = pool->idle;
        pool->idle = conn;
        pool->idle_count++;
    } else {
        pool->open--;
    }
    alk__turns_give(&pool->turns);
    leave(pool);
}

static alk_status open_conn(alk_store *store, alk_conn **ret_conn, alk_error *error) {
    struct alk__session *session;
    alk_status status = store->driver->open(&store->settings, &session, error);

    if (status < 0)
        return status;
    status = alk__conn_new(store, session, ret_conn, error);
    if (status < 0)
        store->driver->close(session);
    return status;
}

/* After ALK_CLOSED nothing of the store may be touched. */
static alk_status wait_for_place(alk_store *store, alk_error *error) {
    char span[ALK__DURATION_BYTES];

    switch (alk__turns_take(&store->pool.turns, store->settings.acquire_timeout_us)) {
    case ALK__TURN_GOT:
        return ALK_OK;
    case ALK__TURN_CLOSED:
        return alk__fail(error, ALK_CLOSED, "the store is closed");
    case ALK__TURN_TIMEOUT:
    default:
        alk__duration_format(store->settings.acquire_timeout_us, span, sizeof(span));
        return alk__fail(error, ALK_POOL_TIMEOUT,
                         "no connection became free within %s (all %d are in use)", span,
                         store->settings.pool_max);
    }
}

alk_status alk_conn_get(alk_store *store, alk_conn **ret_conn, alk_error *error) {
    struct alk__pool *pool = &store->pool;
    alk_conn *conn;
    alk_status status = alk__store_check_process(store, error);

    if (status < 0)
        return status;
    enter(pool);
    status = wait_for_place(store, error);
    if (status < 0) {
        pthread_mutex_lock(&pool->lock);
        leave(pool);
        return status;
    }

    /* A connection found broken makes room for a new one (S23). */
    conn = take_idle(pool);
    if (conn != NULL && !is_usable(conn)) {
        close_conn(conn);
        conn = NULL;
    }
    if (conn == NULL)
        status = open_conn(store, &conn, error);
    if (status < 0) {
        give_back(pool, NULL);
        return status;
    }
    conn->is_broken = false;
    conn->deadline_us = INT64_MAX;
    conn->call_limit_us = 0;
    *ret_conn = conn;
    return ALK_OK;
}

static void put_joined(alk_conn *conn) {
    struct alk__pool *pool = &conn->store->pool;

    close_conn(conn);
    pthread_mutex_lock(&pool->lock);
    leave(pool);
}

void alk_conn_put(alk_conn *conn) {
    if (conn == NULL || alk__store_check_process(conn->store, NULL) < 0)
        return;
    struct alk__pool *pool = &conn->store->pool;

    alk__conn_reset(conn);
    if (conn->is_joined) {
        put_joined(conn);
        return;
    }
    if (alk__conn_is_broken(conn)) {
        close_conn(conn);
        conn = NULL;
    }
    give_back(pool, conn);
}

alk_status alk__conn_keep(alk_store *store, alk_conn **conn, alk_error *error) {
    if (*conn != NULL && !alk__conn_is_broken(*conn))
        return ALK_OK;
    alk_conn_put(*conn);
    *conn = NULL;
    return alk_conn_get(store, conn, error);
}

void alk__pool_joined(alk_store *store) {
    enter(&store->pool);
}

/* Closed only when nobody has one: a connection given back while others are out stays idle till
 * then. */
void alk__pool_shut(alk_store *store) {
    struct alk__pool *pool = &store->pool;

    alk__turns_close(&pool->turns);
    pthread_mutex_lock(&pool->lock);
    while (pool->users > 0)
        pthread_cond_wait(&pool->user_left, &pool->lock);
    while (pool->idle != NULL) {
        alk_conn *conn = pool->idle;
        pool->idle = conn->next;
        pool->idle_count--;
        pool->open--;
        close_conn(conn);
    }
    pthread_mutex_unlock(&pool->lock);
}

void alk_store_pool(alk_store *store, alk_pool_counts *ret_counts) {
    struct alk__pool *pool = &store->pool;

    *ret_counts = (alk_pool_counts){0};
    if (alk__store_check_process(store, NULL) < 0)
        return;
    pthread_mutex_lock(&pool->lock);
    ret_counts->open = pool->open;
    ret_counts->idle = pool->idle_count;
    pthread_mutex_unlock(&pool->lock);
    ret_counts->waiting = alk__turns_waiting(&pool->turns);
}
