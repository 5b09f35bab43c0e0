/* store/store.c: opens and closes a store: settings, pool, schema. */
#include "store/store.h"

#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/event.h"

#define SKEW_LIMIT_US (2 * ALK__SECOND)

#if ALK_WITH_SQLITE
#define SQLITE_DRIVER &alk__driver_sqlite
#else
#define SQLITE_DRIVER NULL
#endif
#if ALK_WITH_POSTGRES
#define POSTGRES_DRIVER &alk__driver_postgres
#else
#define POSTGRES_DRIVER NULL
#endif

static alk_status find_driver(alk_store *store, alk_error *error) {
    bool is_postgres = store->settings.engine == ALK_ENGINE_POSTGRES;

    store->driver = is_postgres ? POSTGRES_DRIVER : SQLITE_DRIVER;
    if (store->driver != NULL)
        return ALK_OK;
    return alk__fail(error, ALK_INVALID, "'%s': this build is without %s", store->settings.masked,
                     is_postgres ? "PostgreSQL" : "SQLite");
}

/* The caller may have been built against a header with fewer options: what it does not know has the
 * default. */
static alk_store_options complete(const alk_store_options *options) {
    alk_store_options all = ALK_STORE_OPTIONS_INIT;

    if (options != NULL)
        memcpy(&all, options, options->size < sizeof(all) ? options->size : sizeof(all));
    return all;
}

static alk_status init(alk_store *store, const char *url, const alk_store_options *options,
                       alk_error *error) {
    alk_status status = alk__settings_read(&store->arena, url, options, &store->settings, error);

    if (status < 0)
        return status;
    status = find_driver(store, error);
    if (status < 0)
        return status;
    store->settings.statements =
        alk__statements_load(&store->arena, store->settings.engine, store->settings.schema);
    if (store->settings.statements == NULL)
        return alk__nomem(error);
    store->reporter = (struct alk__reporter){options->event, options->event_context, "store"};
    store->process = getpid();
    return ALK_OK;
}

/* Told once a start (S16). On SQLite the two are one clock. */
static void report_skew(alk_conn *conn) {
    alk_store *store = conn->store;
    int64_t database_us;

    if (store->settings.engine != ALK_ENGINE_POSTGRES || store->reporter.report == NULL ||
        alk__db_now(conn, &database_us, NULL) < 0)
        return;
    int64_t skew_us = alk__now_us(&store->settings.clock) - database_us;
    if (skew_us >= -SKEW_LIMIT_US && skew_us <= SKEW_LIMIT_US)
        return;
    alk_event event = alk__event(ALK_LEVEL_WARNING, "clock skew");
    event.duration_us = skew_us;
    event.detail = skew_us < 0 ? "this machine's clock is behind the database's"
                               : "this machine's clock is ahead of the database's";
    alk__report(&store->reporter, &event);
}

static alk_status bring_up(alk_store *store, alk_error *error) {
    const struct alk__sql_file *chain = store->settings.engine == ALK_ENGINE_POSTGRES
                                            ? alk__sql_postgres_migrations
                                            : alk__sql_sqlite_migrations;
    alk_conn *conn;
    alk_status status = alk_conn_get(store, &conn, error);

    if (status < 0)
        return status;
    status = alk__migrate(conn, chain, error);
    if (status >= 0)
        report_skew(conn);
    alk_conn_put(conn);
    return status;
}

static void release(alk_store *store) {
    alk__arena_free(&store->arena);
    alk__free(store);
}

static alk_status check_options(const alk_store_options *options, alk_error *error) {
    if (options != NULL && (options->size < sizeof(size_t) || options->size > 4096))
        return alk__fail(error, ALK_USAGE, "options start with ALK_STORE_OPTIONS_INIT");
    return ALK_OK;
}

alk_status alk_url_check(const char *url, const alk_store_options *options, alk_error *error) {
    if (url == NULL)
        return alk__fail(error, ALK_USAGE, "alk_url_check needs a url");
    alk_status status = check_options(options, error);
    if (status < 0)
        return status;

    alk_store_options all = complete(options);
    alk_store store = {0};
    status = alk__settings_read(&store.arena, url, &all, &store.settings, error);
    if (status >= 0)
        status = find_driver(&store, error);
    alk__arena_free(&store.arena);
    return status;
}

alk_status alk_open(const char *url, const alk_store_options *options, alk_store **ret_store,
                    alk_error *error) {
    if (url == NULL || ret_store == NULL)
        return alk__fail(error, ALK_USAGE, "alk_open needs a url and a place for the store");
    if (check_options(options, error) < 0)
        return ALK_USAGE;

    alk_store_options all = complete(options);
    alk_store *store = alk__alloc(sizeof(*store));
    if (store == NULL)
        return alk__nomem(error);
    *store = (alk_store){0};

    alk_status status = init(store, url, &all, error);
    if (status < 0) {
        release(store);
        return status;
    }
    int failed = pthread_mutex_init(&store->lock, NULL);
    status = failed == 0 ? alk__pool_init(&store->pool, store->settings.pool_max, error)
                         : alk__fail(error, ALK_AGAIN, "no lock: %s", alk__reason_of(failed).text);
    if (status < 0) {
        release(store);
        return status;
    }
    status = bring_up(store, error);
    if (status < 0) {
        alk_close(store);
        return status;
    }
    store->settings.must_exist = true; /* a file that is gone is not made anew, without tables */
    *ret_store = store;
    return ALK_OK;
}

alk_status alk__store_check_process(const alk_store *store, alk_error *error) {
    if (store->process == getpid())
        return ALK_OK;
    return alk__fail(error, ALK_USAGE,
                     "the store was opened by process %d: after a fork it cannot be used here",
                     (int)store->process);
}

void alk_shut(alk_store *store) {
    if (store != NULL && alk__store_check_process(store, NULL) == ALK_OK)
        alk__pool_shut(store);
}

/* In a forked child the memory is left as well: the locks in it may be held by threads that are not
 * here. */
void alk_close(alk_store *store) {
    if (store == NULL || alk__store_check_process(store, NULL) < 0)
        return;
    alk__pool_shut(store);
    alk__pool_release(&store->pool);
    pthread_mutex_destroy(&store->lock);
    release(store);
}

alk_engine alk_store_engine(const alk_store *store) {
    return store->settings.engine;
}

const char *alk_store_url(const alk_store *store) {
    return store->settings.masked;
}

const struct alk__clock *alk__store_clock(const alk_store *store) {
    return &store->settings.clock;
}

const struct alk__random *alk__store_random(const alk_store *store) {
    return &store->settings.random;
}

void alk__store_set_fault(alk_store *store, alk__fault_fn fault, void *context) {
    store->fault = fault;
    store->fault_context = context;
}

static alk_status join(alk_store *store, void *handle, alk_engine engine, alk_conn **ret_conn,
                       alk_error *error) {
    struct alk__session *session;
    alk_status status = alk__store_check_process(store, error);

    if (status < 0)
        return status;
    if (handle == NULL || store->settings.engine != engine)
        return alk__fail(error, ALK_USAGE, "the store '%s' is not on the handle's engine",
                         store->settings.masked);
    status = store->driver->join(&store->settings, handle, &session, error);
    if (status < 0)
        return status;
    status = alk__conn_new(store, session, ret_conn, error);
    if (status < 0) {
        store->driver->close(session);
        return status;
    }
    (*ret_conn)->is_joined = true;
    alk__pool_joined(store);
    alk__register_add(*ret_conn);
    return ALK_OK;
}

alk_status alk_conn_join_sqlite(alk_store *store, struct sqlite3 *sqlite, alk_conn **ret_conn,
                                alk_error *error) {
    return join(store, sqlite, ALK_ENGINE_SQLITE, ret_conn, error);
}

alk_status alk_conn_join_postgres(alk_store *store, struct pg_conn *postgres, alk_conn **ret_conn,
                                  alk_error *error) {
    return join(store, postgres, ALK_ENGINE_POSTGRES, ret_conn, error);
}
