/* support/session.c: see session.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "support/session.h"

static void open_at(struct session *session, const char *url) {
    server_settings_init(&session->own, url);
    if (alk__driver_postgres.open(&session->own.settings, &session->session, &session->error) !=
        ALK_OK)
        fail_msg("%s", session->error.message);
}

static void make_table(struct session *session) {
    static int number;

    snprintf(session->table, sizeof(session->table), "public.note_%d_%d", (int)getpid(), number++);
    snprintf(session->insert_1, sizeof(session->insert_1), "INSERT INTO %s VALUES (1)",
             session->table);
    snprintf(session->insert_2, sizeof(session->insert_2), "INSERT INTO %s VALUES (2)",
             session->table);
    snprintf(session->count, sizeof(session->count), "SELECT count(*) FROM %s", session->table);
    server_do(session->beside, "CREATE TABLE %s (id bigint UNIQUE DEFERRABLE INITIALLY DEFERRED)",
              session->table);
}

void session_open(struct session *session) {
    const char *url = server_needed();

    memset(session, 0, sizeof(*session));
    session->beside = server_connect(url);
    make_table(session);
    open_at(session, url);
}

void session_open_behind_relay(struct session *session) {
    const char *url = server_needed();

    memset(session, 0, sizeof(*session));
    session->beside = server_connect(url);
    make_table(session);
    session->relay = relay_start(url);
    assert_non_null(session->relay);
    open_at(session, relay_url(session->relay));
}

void session_close(struct session *session) {
    alk__driver_postgres.close(session->session);
    server_do(session->beside, "DROP TABLE %s", session->table);
    PQfinish(session->beside);
    relay_stop(session->relay);
    server_settings_free(&session->own);
}

static alk_status run(struct session *session, enum alk__statement statement, const char *sql,
                      struct alk__rows *rows, enum alk__run_mode mode) {
    struct alk__value values[64] = {{0}};
    const char *letters = alk__statements[statement].parameters;
    struct alk__call call = {statement, values, strlen(letters), rows};

    for (size_t i = 0; letters[i] != '\0'; i++)
        values[i] = (struct alk__value){.type = letters[i], .integer = ALK__NULL};
    session->own.texts[statement] = sql;
    alk__error_clear(&session->error);
    return alk__driver_postgres.run(session->session, &call, 1, mode, &session->failed,
                                    &session->error);
}

alk_status session_run(struct session *session, const char *sql, enum alk__run_mode mode) {
    session->own.settings.may_prepare = false; /* the text of one statement changes */
    return run(session, ALK__CLOCK_GET, sql, NULL, mode);
}

int64_t session_number(struct session *session, const char *sql) {
    struct alk__rows rows = {0};

    session->own.settings.may_prepare = false;
    if (run(session, ALK__CLOCK_GET, sql, &rows, ALK__RUN_PLAIN) != ALK_OK)
        fail_msg("%s: %s", sql, session->error.message);
    assert_int_equal(rows.count, 1);
    int64_t number = ALK__ROW(&rows, alk__row_number, 0)->number;
    alk__rows_free(&rows);
    return number;
}

alk_status session_run_flagged(struct session *session, unsigned with, unsigned without,
                               const char *sql, enum alk__run_mode mode) {
    for (size_t i = 0; i < ALK__STATEMENT_COUNT; i++) {
        unsigned flags = alk__statements[i].flags;
        if ((flags & with) == with && (flags & (without | ALK__SQLITE_ONLY)) == 0)
            return run(session, (enum alk__statement)i, sql, NULL, mode);
    }
    fail_msg("no statement has the flags %x", with);
    return ALK_FAILED;
}

alk_status session_run_three(struct session *session, const char *middle, enum alk__run_mode mode,
                             struct alk__rows *rows) {
    const struct alk__value values[] = {ALK__Z("channel"), ALK__Z("topic")};
    const struct alk__call calls[] = {
        {ALK__META_GET, NULL, 0, NULL},
        {ALK__CLOCK_GET, NULL, 0, rows},
        {ALK__WAKE_OTHERS, values, 2, NULL},
    };

    session->own.settings.may_prepare = false;
    session->own.texts[ALK__META_GET] = session->insert_1;
    session->own.texts[ALK__CLOCK_GET] = middle;
    session->own.texts[ALK__WAKE_OTHERS] = session->insert_2;
    alk__error_clear(&session->error);
    return alk__driver_postgres.run(session->session, calls, 3, mode, &session->failed,
                                    &session->error);
}

int64_t session_notes(struct session *session) {
    return server_number(session->beside, "%s", session->count);
}

int64_t session_backend(struct session *session) {
    return session_number(session, "SELECT pg_backend_pid()::bigint");
}

alk_status session_begin(struct session *session) {
    return alk__driver_postgres.begin(session->session, NULL, &session->error);
}

alk_status session_commit(struct session *session) {
    return alk__driver_postgres.commit(session->session, &session->error);
}

alk_status session_rollback(struct session *session) {
    return alk__driver_postgres.rollback(session->session, &session->error);
}

bool session_is_broken(struct session *session) {
    return alk__driver_postgres.is_broken(session->session);
}
