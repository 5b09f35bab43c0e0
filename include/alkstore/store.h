/* alkstore/store.h: a store, its connections and transactions. Specified in docs/spec/store.md. */
#ifndef ALKSTORE_STORE_H
#define ALKSTORE_STORE_H

#include <alkstore/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A database with the tables of alkstore and a pool of connections to it. Thread-safe: shared by
 * all threads of a process. */
typedef struct alk_store alk_store;

/* One connection, borrowed from the pool or joined from the host. One thread at a time (S217). */
typedef struct alk_conn alk_conn;

/* libpq's and SQLite's own handles, for the joined connections; declared here so that neither
 * header is needed. */
struct pg_conn;
struct sqlite3;

typedef enum alk_engine { ALK_ENGINE_SQLITE = 1, ALK_ENGINE_POSTGRES = 2 } alk_engine;

typedef enum alk_durability {
    /* PostgreSQL: as the server is set up; SQLite: WAL with synchronous=FULL (S12) */
    ALK_DURABILITY_FULL = 0,
    /* the last commits may be lost at a power failure, nothing is corrupted (S12) */
    ALK_DURABILITY_NORMAL = 1
} alk_durability;

/* Options of alk_open. Start with ALK_STORE_OPTIONS_INIT; NULL means that. What the URL says wins
 * over it.
 *
 * size                sizeof(alk_store_options), set by the initialiser
 * schema              PostgreSQL: the schema's name, 1-63 bytes; NULL = "alk" (S7). Not for SQLite.
 * pool_max            the most connections ever open, 1-1000 (S19)
 * pool_min            idle connections kept, 0-pool_max (S24)
 * acquire_timeout_us  how long alk_conn_get waits for a free one, >= 0 (S20)
 * busy_timeout_us     SQLite: how long a call waits for another process's write, >= 0
 * connect_timeout_us  PostgreSQL: how long one attempt to connect may take, > 0
 * durability          see alk_durability (S12)
 * skip_migrate        true: open neither creates nor upgrades the schema (S2)
 * must_exist          true: a store that is not there yet is ALK_NO_STORE; nothing is created (S2)
 * now, now_context    the clock, NULL = the system's (S221)
 * random, random_context  the random source, NULL = the system's (S221)
 * event, event_context    told of skew (S16) and the like, NULL = nobody */
typedef struct alk_store_options {
    size_t size;
    const char *schema;
    int pool_max;
    int pool_min;
    int64_t acquire_timeout_us;
    int64_t busy_timeout_us;
    int64_t connect_timeout_us;
    alk_durability durability;
    bool skip_migrate;
    bool must_exist;
    alk_now_fn now;
    void *now_context;
    alk_random_fn random;
    void *random_context;
    alk_event_fn event;
    void *event_context;
} alk_store_options;

#define ALK_STORE_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(alk_store_options), NULL, 8, 0, INT64_C(10000000), INT64_C(10000000),               \
            INT64_C(10000000), ALK_DURABILITY_FULL, false, false, NULL, NULL, NULL, NULL, NULL,    \
            NULL                                                                                   \
    }

/* Opens a store; creates or upgrades its schema unless told not to (S2).
 *
 * url        "app.db", "sqlite:app.db", "sqlite:app.db?durability=normal", "sqlite::memory:" or
 *            "postgresql://host/database?schema=alk&pool_max=4" (also postgres://). Own parameters:
 *            schema, pool_max, pool_min, acquire_timeout, durability, listen, prepare, migrate,
 *            busy_timeout; the rest of a PostgreSQL URL goes to libpq unchanged. A bare path has no
 *            parameters.
 * options    NULL for the defaults
 * ret_store  receives the store; closed with alk_close
 * Returns ALK_OK; ALK_AGAIN (server not reachable); ALK_NO_STORE (must_exist or skip_migrate, and
 * it is not there; or its directory is not); ALK_TOO_NEW (S4); ALK_INVALID (the URL or an option);
 * ALK_FAILED (not a database, permission, server encoding not UTF8, S17); ALK_USAGE (a forked child
 * of a process that has the SQLite file open, S27). */
ALK_API alk_status alk_open(const char *url, const alk_store_options *options,
                            alk_store **ret_store, alk_error *error);

/* Reads a URL and options as alk_open does and opens nothing: for whoever checks a configuration
 * (S2). Parameters as there; what only libpq can judge is found at alk_open.
 * Returns ALK_OK; ALK_INVALID (the URL or an option); ALK_NOMEM. */
ALK_API alk_status alk_url_check(const char *url, const alk_store_options *options,
                                 alk_error *error);

/* Closes: wakes those who wait for a connection with ALK_CLOSED, waits until every connection is
 * given back, shuts them (S25). NULL is allowed. Frees the store; no thread may use it
 * afterwards. */
ALK_API void alk_close(alk_store *store);

/* As alk_close but leaves the object, so that other threads' calls end with ALK_CLOSED; harmless a
 * second time (S25). */
ALK_API void alk_shut(alk_store *store);

ALK_API alk_engine alk_store_engine(const alk_store *store);

/* The URL as given with its password masked; owned by the store (S2). */
ALK_API const char *alk_store_url(const alk_store *store);

/* What the pool has at this moment (S29). */
typedef struct alk_pool_counts {
    int open;
    int idle;
    int waiting;
} alk_pool_counts;

ALK_API void alk_store_pool(alk_store *store, alk_pool_counts *ret_counts);

/* Borrows a connection, waiting in turn up to the acquire time-out (S20).
 * Returns ALK_OK; ALK_POOL_TIMEOUT; ALK_CLOSED (S25); ALK_USAGE in a forked child (S27); and where
 * a connection has to be made: ALK_AGAIN (the server or file is not to be had now), ALK_NO_STORE,
 * ALK_FAILED (permission and the like). */
ALK_API alk_status alk_conn_get(alk_store *store, alk_conn **ret_conn, alk_error *error);

/* Gives it back; an open transaction is rolled back (S22). NULL is allowed. Also ends a joined
 * connection, whose host handle and transaction stay as they are. */
ALK_API void alk_conn_put(alk_conn *conn);

/* Makes a connection of the host's own, so that what is enqueued commits with the host's rows (S31,
 * S31b).
 *
 * postgres  a PGconn that is idle or in a transaction, client_encoding UTF8, not in pipeline mode,
 *           no query in flight, transaction not failed; nothing is set on it
 * Returns ALK_OK; ALK_USAGE (one of those, or the store is not on PostgreSQL). Given back with
 * alk_conn_put. */
ALK_API alk_status alk_conn_join_postgres(alk_store *store, struct pg_conn *postgres,
                                          alk_conn **ret_conn, alk_error *error);

/* The same with a sqlite3 handle on the store's own file, in WAL mode (S31b). Its pragmas and busy
 * handler stay. */
ALK_API alk_status alk_conn_join_sqlite(alk_store *store, struct sqlite3 *sqlite,
                                        alk_conn **ret_conn, alk_error *error);

/* Begins a transaction that may write; on SQLite IMMEDIATE (S34). Where the engine ended it by
 * itself (S33) every call on the connection is ALK_AGAIN until alk_commit or alk_rollback.
 * Returns ALK_OK; ALK_USAGE when this thread already holds a transaction of this store (S26);
 * ALK_AGAIN (busy, or the connection is lost). */
ALK_API alk_status alk_begin(alk_conn *conn, alk_error *error);

/* Commits. A failure with error->is_unknown means that it may or may not have happened (S36); after
 * any failure the transaction is over. */
ALK_API alk_status alk_commit(alk_conn *conn, alk_error *error);

/* Rolls back; a failure marks the connection unusable and is not reported (S37). Without a
 * transaction nothing happens. */
ALK_API void alk_rollback(alk_conn *conn);

typedef alk_status (*alk_tx_fn)(alk_conn *conn, void *context, alk_error *error);

/* Runs function in a transaction: commits when it returns >= 0, rolls back when < 0 and returns its
 * status and error (S30). */
ALK_API alk_status alk_in_tx(alk_conn *conn, alk_tx_fn function, void *context, alk_error *error);

/* Whether the connection is in a transaction, its own or the host's. */
ALK_API bool alk_conn_in_tx(const alk_conn *conn);

#ifdef __cplusplus
}
#endif
#endif
