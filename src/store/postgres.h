/* store/postgres.h: what the files of the PostgreSQL driver share. Nothing outside postgres*.c
 * includes it.
 *
 *   postgres.c         the driver's table: sessions, transactions, looks at the connection
 *   postgres_connect.c making a connection
 *   postgres_join.c    the rules for a host's connection
 *   postgres_run.c     statements: one pipeline up to one Sync
 *   postgres_io.c      waiting under a deadline, the engine's errors
 *   postgres_values.c  parameters and columns in the binary format
 *   postgres_wake.c    LISTEN and NOTIFY */
#ifndef ALK_STORE_POSTGRES_H
#define ALK_STORE_POSTGRES_H

#include <libpq-fe.h>

#include "store/driver.h"

/* How the planner is set in the open transaction: statements that join job by id want index
 * scans (ALK__BY_ID). */
enum alk__plan { ALK__PLAN_NORMAL, ALK__PLAN_BY_ID, ALK__PLAN_UNSURE };

struct alk__postgres {
    const struct alk__settings *settings;
    PGconn *connection;
    int64_t deadline_us;
    enum alk__plan plan;
    bool is_joined;
    bool is_broken;
    /* A COMMIT was sent and not answered: if the connection breaks now, nobody knows (S36). */
    bool has_commit_in_air;
    alk_error failure; /* what made the open transaction fail */
    char version[32];
    bool is_prepared[ALK__STATEMENT_COUNT];
};

static inline struct alk__postgres *alk__postgres_of(struct alk__session *session) {
    return (struct alk__postgres *)session;
}

/* ---- postgres_connect.c ---- */

/* How many hosts a URL names; each gets its share of the time. */
size_t alk__postgres_host_count(const char *url);

/* Begins to connect, first to the host number turn (from 0, around); the caller goes on with
 * PQconnectPoll and ends with PQfinish. */
alk_status alk__postgres_connect_start(const struct alk__settings *settings, size_t turn,
                                       PGconn **ret_connection, alk_error *error);

/* Connects, to whichever host answers, within the connect time-out. */
alk_status alk__postgres_connect(const struct alk__settings *settings, PGconn **ret_connection,
                                 alk_error *error);

/* The failure of an attempt to connect, by the SQLSTATE in libpq's message. */
alk_status alk__postgres_connect_failure(PGconn *connection, alk_error *error);

/* Whether the server is one that we can use: version, encodings (S17). */
alk_status alk__postgres_check_server(PGconn *connection, alk_error *error);

/* ---- postgres_join.c ---- */

/* Whether the host's connection may be used right now (S31b). */
alk_status alk__postgres_check_joined(PGconn *connection, alk_error *error);

/* ---- postgres_io.c ---- */

/* Waits for events on a descriptor: what poll() found, 0 past the deadline (CLOCK_MONOTONIC;
 * INT64_MAX = none). */
short alk__postgres_poll(int fd, short events, int64_t deadline_us);

/* Sends all that is queued, reading meanwhile, so that neither side waits for the other. */
alk_status alk__postgres_flush(struct alk__postgres *session, alk_error *error);

/* The next result, as PQgetResult gives it (NULL included); cleared by the caller. */
alk_status alk__postgres_result(struct alk__postgres *session, PGresult **ret_result,
                                alk_error *error);

/* Shuts the connection for good and says why. */
alk_status alk__postgres_lost(struct alk__postgres *session, const char *why, alk_error *error);

/* The failure that the server answered with, to a COMMIT or to something else. */
alk_status alk__postgres_failure(struct alk__postgres *session, const PGresult *result,
                                 bool is_commit, alk_error *error);

/* ---- postgres_run.c ---- */

/* Our statements were tried under this level, whatever the role's or the database's default is. */
#define ALK__POSTGRES_BEGIN "BEGIN ISOLATION LEVEL READ COMMITTED"

/* Sends SQL without parameters in one round trip, in order: begin, limits, commit, rollback,
 * savepoints. */
alk_status alk__postgres_control(struct alk__postgres *session, const char *const *sql,
                                 size_t count, alk_error *error);
alk_status alk__postgres_commit(struct alk__postgres *session, alk_error *error);
alk_status alk__postgres_rollback(struct alk__postgres *session, alk_error *error);
alk_status alk__postgres_run(struct alk__session *session, const struct alk__call *calls,
                             size_t call_count, enum alk__run_mode mode, size_t *ret_failed,
                             alk_error *error);

/* Whether a statement may be sent: not broken, transaction not failed (then with the failure
 * that was first), joined one in order. */
alk_status alk__postgres_ready(struct alk__postgres *session, alk_error *error);

/* ---- postgres_values.c ---- */

/* Parameters as libpq takes them, all binary. */
struct alk__parameters {
    int count;
    Oid *types;
    const char **values;
    int *lengths;
    int *formats;
};

/* Encodes a call's values in arena; ALK_USAGE when they are not those of the statement. */
alk_status alk__postgres_encode(struct alk__arena *arena,
                                const struct alk__statement_def *statement,
                                const struct alk__call *call,
                                struct alk__parameters *ret_parameters, alk_error *error);

/* Decodes one value of a binary result; texts point into the result. */
struct alk__cell alk__postgres_cell(const PGresult *result, int row, int column);

#endif
