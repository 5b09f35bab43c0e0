/* store/run.h: runs statements and transactions on an alk_conn. This is all that core needs of the
 * store. */
#ifndef ALK_STORE_RUN_H
#define ALK_STORE_RUN_H

#include "base/clock.h"
#include "base/event.h"
#include "store/rows.h"
#include "store/statement.h"
#include <alkstore/store.h>

/* One statement to run; rows may be NULL when what comes back does not matter. */
struct alk__call {
    enum alk__statement statement;
    const struct alk__value *values;
    size_t value_count;
    struct alk__rows *rows;
};

/* Runs one statement: in the transaction that is open, else in its own (READ: none needed). rows
 * are {0} or of an earlier call (freed first). On failure the status is by the class of the
 * engine's error (codes.c), and nothing is kept in rows. With array parameters of count 0 nothing
 * is run and rows are empty. */
alk_status alk__run(alk_conn *conn, enum alk__statement statement, const struct alk__value *values,
                    size_t value_count, struct alk__rows *rows, alk_error *error);

/* alk__run for a literal list: alk__do(conn, STMT, &rows, error, ALK__I(id), ALK__Z(name)). Without
 * parameters use alk__run. */
#define alk__do(conn, statement, rows, error, ...)                                                 \
    alk__run((conn), (statement), (const struct alk__value[]){__VA_ARGS__},                        \
             sizeof((const struct alk__value[]){__VA_ARGS__}) / sizeof(struct alk__value), (rows), \
             (error))

/* Runs several in one transaction and, on PostgreSQL, one round trip (a pipeline up to one Sync):
 * in the open transaction, else in one of their own. The first failure ends it: *ret_failed (may be
 * NULL) says which call, call_count = the COMMIT. Where the library began the transaction it is
 * rolled back. */
alk_status alk__run_all(alk_conn *conn, const struct alk__call *calls, size_t call_count,
                        size_t *ret_failed, alk_error *error);

/* Runs the calls and COMMITs the transaction that alk__begin_tx (or alk_begin) opened, in the same
 * round trip; the transaction is over afterwards either way. Not on a joined connection. */
alk_status alk__commit_with(alk_conn *conn, const struct alk__call *calls, size_t call_count,
                            size_t *ret_failed, alk_error *error);

/* Begins a transaction with limits for itself (PostgreSQL: SET LOCAL
 * idle_in_transaction_session_timeout and lock_timeout in the same round trip as BEGIN; 0 = none;
 * SQLite: nothing but BEGIN IMMEDIATE). */
struct alk__tx_limits {
    int64_t idle_us;
    int64_t lock_us;
};
alk_status alk__begin_tx(alk_conn *conn, const struct alk__tx_limits *limits, alk_error *error);

/* Savepoints inside an open transaction, not nested deeper than 64. A failed statement on
 * PostgreSQL leaves the transaction usable only after alk__savepoint_rollback. */
alk_status alk__savepoint(alk_conn *conn, alk_error *error);
alk_status alk__savepoint_release(alk_conn *conn, alk_error *error);
alk_status alk__savepoint_rollback(alk_conn *conn, alk_error *error);

/* Runs function all or nothing (S32, S33): without a transaction in one of its own; in a caller's
 * on SQLite under a savepoint; in a caller's on PostgreSQL as it is (there the engine itself aborts
 * the transaction). function's status < 0 undoes it. */
alk_status alk__atomic(alk_conn *conn, alk_tx_fn function, void *context, alk_error *error);

/* The database's clock, read now (statement_timestamp() / the store's clock). */
alk_status alk__db_now(alk_conn *conn, int64_t *ret_us, alk_error *error);

/* A client-side limit for every following call on the connection: past it the call fails
 * (ALK_AGAIN), the PostgreSQL connection is shut and thrown away. INT64_MAX (the start value) =
 * none. By CLOCK_MONOTONIC; a SQLite call waits for a lock no longer than that. */
void alk__conn_set_deadline(alk_conn *conn, int64_t monotonic_us);
/* The same as a span for each call: a call may take this long; 0 = no limit. */
void alk__conn_set_call_limit(alk_conn *conn, int64_t limit_us);

/* For a loop that keeps a connection: *conn stays where it is whole; else it is given back, which
 * makes room in the pool, and another is borrowed (NULL while there is none). */
alk_status alk__conn_keep(alk_store *store, alk_conn **conn, alk_error *error);

alk_store *alk__conn_store(alk_conn *conn);
const char *alk__conn_version(alk_conn *conn); /* of the engine, "SQLite 3.40.1" */
bool alk__conn_is_joined(const alk_conn *conn);
/* Broken: thrown away at put; every further call fails with ALK_AGAIN. */
bool alk__conn_is_broken(const alk_conn *conn);

const struct alk__clock *alk__store_clock(const alk_store *store);
const struct alk__random *alk__store_random(const alk_store *store);
bool alk__is_postgres(const alk_conn *conn);

/* A seam for tests: called before and after every statement, BEGIN, COMMIT, ROLLBACK and savepoint
 * of the store (name as in the table: "job_claim", "commit"). Returning < 0 (with error filled)
 * makes the call fail: before = without effect, after = with its effect and the answer lost. */
enum alk__fault_moment { ALK__BEFORE, ALK__AFTER };
typedef alk_status (*alk__fault_fn)(alk_conn *conn, const char *name, enum alk__fault_moment moment,
                                    void *context, alk_error *error);
void alk__store_set_fault(alk_store *store, alk__fault_fn fault, void *context);

/* ---- wake ---- */

/* Something that becomes readable when another process or thread committed what a loop may wait
 * for; the simplest that satisfies S150 and S155. SQLite: inotify on the WAL file (never opened,
 * S11) confirmed by PRAGMA data_version; in one process also directly. PostgreSQL: LISTEN on a
 * connection of its own (channel: a hash of the schema). */
struct alk__wake;
alk_status alk__wake_new(alk_store *store, struct alk__wake **ret_wake, alk_error *error);
void alk__wake_free(struct alk__wake *wake);

enum alk__wake_answer { ALK__WAKE_TIME, ALK__WAKE_CALLED, ALK__WAKE_STOPPED };

/* Waits until called, stopped (stop may be NULL), extra_fd (-1 = none) readable (answers CALLED),
 * or timeout_us passed on CLOCK_MONOTONIC. A call that came since the last wait counts: watch
 * before check (S88); several collapse into one (S89). Never fails: a broken watch is mended inside
 * and costs the safety poll only (S93). */
enum alk__wake_answer alk__wake_wait(struct alk__wake *wake, const alk_stop *stop, int extra_fd,
                                     int64_t timeout_us);

/* What enqueue, put, resume and release say in their transaction so that others wake at its commit;
 * a rolled-back one wakes nobody (S92). topic: a queue's name, or ALK__TOPIC_SCHEDULE,
 * ALK__TOPIC_LEASE. */
#define ALK__TOPIC_SCHEDULE "\x01schedule"
#define ALK__TOPIC_LEASE "\x01lease"
alk_status alk__wake_others(alk_conn *conn, const char *topic, alk_error *error);

/* Runs a writing call and says topics behind it: in the transaction that is open, else in one of
 * their own and, on PostgreSQL, in one round trip. */
alk_status alk__run_and_wake(alk_conn *conn, const struct alk__call *call,
                             const struct alk__text *topics, size_t topic_count, alk_error *error);

#endif
