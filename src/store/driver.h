/* store/driver.h: the seam to an engine: the only code that knows libpq (postgres*.c) or sqlite3
 * (sqlite*.c) stands behind it. A driver abstracts the connection, not the operations. A session is
 * used by one thread at a time. */
#ifndef ALK_STORE_DRIVER_H
#define ALK_STORE_DRIVER_H

#include "store/run.h"

/* What a URL and the options came to (url.c). */
struct alk__settings {
    alk_engine engine;
    /* SQLite: the file's path or ":memory:"; PostgreSQL: the conninfo URL for libpq, own parameters
     * cut off */
    const char *target;
    const char *masked; /* the URL for people, its password masked */
    const char *schema; /* PostgreSQL */
    bool is_memory;     /* SQLite: one shared database of the store */
    bool must_exist;
    bool skip_migrate;
    bool may_listen;  /* listen=off: false */
    bool may_prepare; /* prepare=off: false */
    int pool_max;
    int pool_min;
    int64_t acquire_timeout_us;
    int64_t busy_timeout_us;
    int64_t connect_timeout_us;
    alk_durability durability;
    struct alk__clock clock;
    struct alk__random random;
    /* by enum alk__statement: the text for this engine and schema, NULL = the other engine's
     * only */
    const char *const *statements;
};

/* An engine's connection; each driver has its own struct behind it. */
struct alk__session;

enum alk__driver_feature {
    /* run takes several calls and every mode; without it only one call in RUN_PLAIN */
    ALK__CAN_PIPELINE = 1 << 0
};

enum alk__run_mode {
    ALK__RUN_PLAIN, /* inside the open transaction, or a single READ without one */
    ALK__RUN_OWN,   /* begin, run, commit: all or nothing */
    ALK__RUN_COMMIT /* inside the open transaction, which is committed behind the last call */
};

struct alk__driver {
    const char *name; /* "sqlite", "postgres": the prefix of the engine's own words in messages */
    alk_engine engine;
    unsigned features;

    const struct alk__wake_driver *wake; /* store/wake.h */

    /* Connects. ALK_AGAIN when it may go better later; ALK_NO_STORE, ALK_FAILED, ALK_INVALID
     * otherwise. */
    alk_status (*open)(const struct alk__settings *settings, struct alk__session **ret_session,
                       alk_error *error);

    /* Takes the host's handle after the checks of S31b. close then gives it back as it was. */
    alk_status (*join)(const struct alk__settings *settings, void *handle,
                       struct alk__session **ret_session, alk_error *error);

    /* Never called in a forked child: there everything is left as it is (S27). */
    void (*close)(struct alk__session *session);

    alk_status (*begin)(struct alk__session *session, const struct alk__tx_limits *limits,
                        alk_error *error);
    alk_status (*commit)(struct alk__session *session, alk_error *error);
    alk_status (*rollback)(struct alk__session *session, alk_error *error);
    /* what: "SAVEPOINT alk_N", "RELEASE alk_N", "ROLLBACK TO alk_N" */
    alk_status (*control)(struct alk__session *session, const char *sql, alk_error *error);

    /* Runs calls in order; *ret_failed = the first that failed, call_count = the COMMIT. On failure
     * rows are empty. In RUN_OWN and RUN_COMMIT no transaction is open afterwards. */
    alk_status (*run)(struct alk__session *session, const struct alk__call *calls,
                      size_t call_count, enum alk__run_mode mode, size_t *ret_failed,
                      alk_error *error);

    /* Runs SQL text of several statements without parameters, for migrations; inside the open
     * transaction. */
    alk_status (*script)(struct alk__session *session, const char *sql, alk_error *error);

    /* asked of the engine: a host may have begun or ended one */
    bool (*is_in_tx)(struct alk__session *session);
    bool (*is_broken)(struct alk__session *session);
    /* cheap look without a round trip, at check-out (S23) */
    bool (*is_alive)(struct alk__session *session);
    void (*set_deadline)(struct alk__session *session, int64_t monotonic_us);
    /* "SQLite 3.40.1"; lives as long as the session */
    const char *(*version)(struct alk__session *session);
};

extern const struct alk__driver alk__driver_sqlite;
extern const struct alk__driver alk__driver_postgres;

/* One row of statement_table.h, with its text in the engine's dialect as embedded. */
struct alk__statement_def {
    const char *name;
    const char *parameters; /* letters of enum alk__type */
    const struct alk__row_type *row;
    unsigned flags;
};
extern const struct alk__statement_def alk__statements[ALK__STATEMENT_COUNT];

/* The texts of every statement for the engine, indexed by statement, in arena; NULL when there is
 * no memory. Comments in front are cut off. PostgreSQL: "alk." becomes the quoted schema. SQLite: a
 * text may hold several statements separated by ';': they run one after the other with the same
 * parameters ?1..?N and :now (the store's clock, read once a call after the write lock is held; a
 * ?N+1 in the loaded text); rows come from all of them. */
const char *const *alk__statements_load(struct alk__arena *arena, alk_engine engine,
                                        const char *schema);

/* sql with "alk." replaced by the quoted schema, and a name as SQL quotes it; in arena, NULL when
 * there is no memory. */
const char *alk__sql_in_schema(struct alk__arena *arena, const char *sql, const char *schema);
const char *alk__sql_quoted(struct alk__arena *arena, const char *name);

/* A number for a schema: the key of the advisory lock of migrations and the name of the channel for
 * wakes. */
uint64_t alk__schema_hash(const char *schema);

/* Decoding, shared by the drivers: rows.c. A driver hands over each column's value; see rows.c for
 * how a wrong type marks the row. */
struct alk__cell {
    enum alk__cell_kind { ALK__CELL_NULL, ALK__CELL_INT, ALK__CELL_TEXT, ALK__CELL_OTHER } kind;
    int64_t integer;
    struct alk__text text;
    const char *what; /* for CELL_OTHER: "a blob", "a real number" */
};
/* expected: how many rows there is room for at once, so that reading them cannot fail for memory
 * when a COMMIT is on its way behind them. */
alk_status alk__rows_start(struct alk__rows *rows, const struct alk__row_type *type,
                           size_t expected, alk_error *error);
alk_status alk__rows_add(struct alk__rows *rows, const struct alk__row_type *type,
                         const struct alk__cell *cells, size_t cell_count, alk_error *error);

/* Classifies an engine's code (codes.c, a table with a test a row, S35, S168): the status for
 * it. */
alk_status alk__code_status_sqlite(int extended_code);
alk_status alk__code_status_postgres(const char *sqlstate);

#endif
