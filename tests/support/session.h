/* support/session.h: a session of the PostgreSQL driver, without a store, and a plain connection
 * beside it. */
#ifndef ALK_TEST_SESSION_H
#define ALK_TEST_SESSION_H

#include "support/relay.h"
#include "support/server.h"

struct session {
    struct server_settings own;
    struct alk__session *session;
    struct relay *relay; /* NULL: none in between */
    PGconn *beside;
    alk_error error;
    size_t failed;
    char table[64]; /* of its own: (id bigint), unique, which is looked at by COMMIT */
    char insert_1[128];
    char insert_2[128];
    char count[128];
};

/* Skips the test where there is no server. */
void session_open(struct session *session);
void session_open_behind_relay(struct session *session);
void session_close(struct session *session);

/* Runs one statement with another text, parameters null, rows not looked at. */
alk_status session_run(struct session *session, const char *sql, enum alk__run_mode mode);

/* The number that SQL gives inside the session; a failure fails the test. */
int64_t session_number(struct session *session, const char *sql);

/* Gives SQL to the first statement with (and without) these flags, and runs it with null
 * parameters. */
alk_status session_run_flagged(struct session *session, unsigned with, unsigned without,
                               const char *sql, enum alk__run_mode mode);

/* The backend of the session, asked for once. */
int64_t session_backend(struct session *session);

/* insert_1, a middle statement and insert_2 in one call. */
alk_status session_run_three(struct session *session, const char *middle, enum alk__run_mode mode,
                             struct alk__rows *rows);

/* How many rows are committed in its table. */
int64_t session_notes(struct session *session);

alk_status session_begin(struct session *session);
alk_status session_commit(struct session *session);
alk_status session_rollback(struct session *session);
bool session_is_broken(struct session *session);

#endif
