/* store/postgres: connecting, statements, transactions and what the server refuses. Lost
 * connections: test_postgres_loss. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "support/session.h"

static const struct alk__driver *const driver = &alk__driver_postgres;

/* ---- connecting ---- */

static void a_session_names_its_server_and_itself(void **state) {
    struct session s;

    (void)state;
    session_open(&s);
    assert_int_equal(strncmp(driver->version(s.session), "PostgreSQL ", 11), 0);
    assert_null(strchr(driver->version(s.session), '('));
    assert_int_equal(
        session_number(&s,
                       "SELECT (current_setting('application_name') = 'alkstore')::int::bigint"),
        1);
    assert_false(driver->is_in_tx(s.session));
    assert_true(driver->is_alive(s.session));
    session_close(&s);
}

static alk_status open_url(const char *url, int64_t timeout_us, alk_error *ret_error) {
    struct server_settings own;
    struct alk__session *session = NULL;

    *ret_error = (alk_error)ALK_ERROR_INIT;
    server_settings_init(&own, url);
    own.settings.connect_timeout_us = timeout_us;
    alk_status status = driver->open(&own.settings, &session, ret_error);
    if (status >= 0)
        driver->close(session);
    server_settings_free(&own);
    return status;
}

/* The server's URL with another user part and database; its folder is the last word of it. */
static void make_url(char *ret_url, size_t size, const char *user, const char *database,
                     const char *rest) {
    const char *host = strstr(server_needed(), "?host=");

    assert_non_null(host);
    snprintf(ret_url, size, "postgresql://%s@/%s%s%s", user, database, host, rest);
}

/* S17: the store's texts are UTF-8, a database of another encoding is refused at once. */
static void a_database_that_is_not_utf8_is_refused(void **state) {
    static const char *const encodings[] = {"SQL_ASCII", "LATIN1"};
    PGconn *beside = server_connect(server_needed());
    char url[512];
    alk_error error;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char name[32];
        snprintf(name, sizeof(name), "not_utf8_%d_%zu", (int)getpid(), i);
        server_do(beside,
                  "CREATE DATABASE %s ENCODING '%s' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'",
                  name, encodings[i]);
        make_url(url, sizeof(url), "alk", name, "");
        assert_int_equal(open_url(url, 30 * ALK__SECOND, &error), ALK_FAILED);
        assert_int_equal(error.error_class, ALK_CLASS_PERMANENT);
        assert_non_null(strstr(error.message, encodings[i]));
        assert_non_null(strstr(error.message, "UTF8"));
        server_do(beside, "DROP DATABASE %s", name);
    }
    PQfinish(beside);
}

/* S168: what may go better by itself is transient, what nobody mends but a person is not. S220:
 * with its SQLSTATE. */
static void failures_to_connect_are_told_apart(void **state) {
    static const struct {
        const char *user;
        const char *database;
        alk_status status;
        const char *code;
    } cases[] = {{"alk", "none_such", ALK_NO_STORE, "3D000"},
                 {"nobody_such", "postgres", ALK_FAILED, "28000"}};
    char url[512];
    alk_error error;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        make_url(url, sizeof(url), cases[i].user, cases[i].database, "");
        assert_int_equal(open_url(url, 30 * ALK__SECOND, &error), cases[i].status);
        assert_string_equal(error.engine_code, cases[i].code);
        assert_non_null(strstr(error.message, cases[i].code));
        assert_null(strstr(error.message, ".c:"));
    }
    assert_int_equal(open_url("postgresql:///postgres?host=/nonexistent", 30 * ALK__SECOND, &error),
                     ALK_AGAIN);
    assert_int_equal(error.error_class, ALK_CLASS_TRANSIENT);
}

static void no_message_holds_the_password(void **state) {
    char url[512];
    alk_error error;

    (void)state;
    make_url(url, sizeof(url), "alk:sekrit", "none_such", "");
    assert_int_equal(open_url(url, 30 * ALK__SECOND, &error), ALK_NO_STORE);
    assert_null(strstr(error.message, "sekrit"));
    make_url(url, sizeof(url), "alk:sekrit", "postgres", "&port=sekrit");
    assert_true(open_url(url, 30 * ALK__SECOND, &error) < 0);
    assert_int_equal(
        open_url("postgresql://alk:sekrit@/postgres?host=/nonexistent", 30 * ALK__SECOND, &error),
        ALK_AGAIN);
    assert_null(strstr(error.message, "sekrit"));
}

/* S35: no waiting mends a URL. libpq's own words would quote it. */
static void a_url_that_is_none_is_invalid_and_not_quoted(void **state) {
    static const char *const urls[] = {"postgresql://alk:sekrit@[/postgres",
                                       "postgresql://alk:sekr%zzit@/postgres",
                                       "postgresql://alk:sekrit@/postgres?sekrit=sekrit"};
    struct server_settings own;
    struct alk__session *session = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        alk_error error = ALK_ERROR_INIT;
        server_settings_init(&own, urls[i]);
        own.settings.masked = "postgresql://masked";
        assert_int_equal(driver->open(&own.settings, &session, &error), ALK_INVALID);
        assert_string_equal(error.message,
                            "postgres: 'postgresql://masked' is no URL that libpq understands");
        server_settings_free(&own);
    }
}

static void the_url_sets_the_name_but_not_the_encoding(void **state) {
    struct session s;
    char url[512];

    (void)state;
    session_open(&s);
    driver->close(s.session);
    make_url(url, sizeof(url), "alk", "postgres", "&application_name=mine&client_encoding=LATIN1");
    s.own.settings.target = url;
    assert_int_equal(driver->open(&s.own.settings, &s.session, &s.error), ALK_OK);
    assert_int_equal(
        session_number(&s, "SELECT (current_setting('application_name') = 'mine')::int::bigint"),
        1);
    assert_int_equal(
        session_number(&s, "SELECT (current_setting('client_encoding') = 'UTF8')::int::bigint"), 1);
    session_close(&s);
}

/* ---- statements ---- */

#define PREPARED "SELECT count(*) FROM pg_catalog.pg_prepared_statements"

static int64_t run_number(struct session *s) {
    struct alk__rows rows = {0};
    struct alk__call call = {ALK__CLOCK_GET, NULL, 0, &rows};

    assert_int_equal(driver->run(s->session, &call, 1, ALK__RUN_PLAIN, &s->failed, &s->error),
                     ALK_OK);
    assert_int_equal(rows.count, 1);
    int64_t number = ALK__ROW(&rows, alk__row_number, 0)->number;
    alk__rows_free(&rows);
    return number;
}

static void a_statement_is_prepared_once(void **state) {
    struct session s;

    (void)state;
    session_open(&s);
    s.own.texts[ALK__CLOCK_GET] = PREPARED;
    assert_int_equal(run_number(&s), 1);
    assert_int_equal(run_number(&s), 1);
    assert_int_equal(server_number(s.beside, "SELECT 1"), 1);
    session_close(&s);
}

/* S28: behind a transaction pooler the next transaction may be on another server process. */
static void nothing_is_prepared_with_prepare_off(void **state) {
    struct session s;

    (void)state;
    session_open(&s);
    s.own.settings.may_prepare = false;
    s.own.texts[ALK__CLOCK_GET] = PREPARED;
    assert_int_equal(run_number(&s), 0);
    assert_int_equal(run_number(&s), 0);
    session_close(&s);
}

static void
a_statement_outdated_by_a_change_of_its_table_is_renewed_with_the_connection(void **state) {
    struct session s;
    struct alk__call call = {ALK__CLOCK_GET, NULL, 0, NULL};

    (void)state;
    session_open(&s);
    server_do(s.beside, "CREATE TABLE public.changing_%d (number int)", (int)getpid());
    char sql[64];
    snprintf(sql, sizeof(sql), "SELECT * FROM public.changing_%d", (int)getpid());
    s.own.texts[ALK__CLOCK_GET] = sql;
    assert_int_equal(driver->run(s.session, &call, 1, ALK__RUN_PLAIN, &s.failed, &s.error), ALK_OK);
    server_do(s.beside, "ALTER TABLE public.changing_%d ALTER number TYPE bigint", (int)getpid());
    assert_int_equal(driver->run(s.session, &call, 1, ALK__RUN_PLAIN, &s.failed, &s.error),
                     ALK_AGAIN);
    assert_int_equal(s.error.error_class, ALK_CLASS_TRANSIENT);
    assert_true(session_is_broken(&s));
    server_do(s.beside, "DROP TABLE public.changing_%d", (int)getpid());
    session_close(&s);
}

/* S32: all or nothing. */
static void several_calls_of_their_own_commit_together(void **state) {
    struct session s;
    struct alk__rows rows = {0};

    (void)state;
    session_open(&s);
    assert_int_equal(session_run_three(&s, s.count, ALK__RUN_OWN, &rows), ALK_OK);
    assert_int_equal(ALK__ROW(&rows, alk__row_number, 0)->number, 1);
    assert_int_equal(session_notes(&s), 2);
    assert_false(driver->is_in_tx(s.session));
    alk__rows_free(&rows);
    session_close(&s);
}

static void one_failure_undoes_all_and_is_named(void **state) {
    struct session s;
    struct alk__rows rows = {0};

    (void)state;
    session_open(&s);
    assert_int_equal(session_run_three(&s, "SELECT 1::bigint / 0", ALK__RUN_OWN, &rows), ALK_DATA);
    assert_int_equal(s.failed, 1);
    assert_int_equal(rows.count, 0);
    assert_int_equal(session_notes(&s), 0);
    assert_false(driver->is_in_tx(s.session));
    assert_int_equal(session_number(&s, "SELECT 7::bigint"), 7);
    session_close(&s);
}

static void a_failing_commit_is_named_and_its_outcome_known(void **state) {
    struct session s;

    (void)state;
    session_open(&s);
    assert_true(session_run_three(&s, s.insert_1, ALK__RUN_OWN, NULL) <
                0); /* unique, looked at by COMMIT */
    assert_int_equal(s.failed, 3);
    assert_string_equal(s.error.engine_code, "23505");
    assert_false(s.error.is_unknown);
    assert_int_equal(session_notes(&s), 0);
    assert_false(driver->is_in_tx(s.session));
    session_close(&s);
}

static void the_last_calls_take_the_commit_with_them(void **state) {
    struct session s;

    (void)state;
    session_open(&s);
    assert_int_equal(session_begin(&s), ALK_OK);
    assert_int_equal(session_run_three(&s, s.count, ALK__RUN_COMMIT, NULL), ALK_OK);
    assert_false(driver->is_in_tx(s.session));
    assert_int_equal(session_notes(&s), 2);

    assert_int_equal(session_begin(&s), ALK_OK);
    assert_int_equal(session_run_three(&s, "SELECT 1::bigint / 0", ALK__RUN_COMMIT, NULL),
                     ALK_DATA);
    assert_int_equal(s.failed, 1);
    assert_false(driver->is_in_tx(s.session));
    assert_int_equal(session_notes(&s), 2);
    session_close(&s);
}

static void calls_that_should_commit_a_failed_transaction_end_it(void **state) {
    struct session s;

    (void)state;
    session_open(&s);
    assert_int_equal(session_begin(&s), ALK_OK);
    assert_int_equal(session_run(&s, "SELECT 1 / 0", ALK__RUN_PLAIN), ALK_DATA);
    assert_int_equal(session_run_three(&s, s.count, ALK__RUN_COMMIT, NULL), ALK_DATA);
    assert_string_equal(s.error.engine_code, "22012");
    assert_false(driver->is_in_tx(s.session));
    assert_int_equal(session_notes(&s), 0);
    session_close(&s);
}

static void begin_calls_and_commit_are_one_round_trip(void **state) {
    struct session s;

    (void)state;
    session_open_behind_relay(&s);
    int said = relay_said(s.relay);
    assert_int_equal(session_run_three(&s, s.count, ALK__RUN_OWN, NULL), ALK_OK);
    assert_int_equal(relay_said(s.relay), said + 1);
    session_close(&s);
}

/* Neither side may wait for the other while both have more to say than the socket holds. */
static void much_goes_both_ways_at_once(void **state) {
    enum { LENGTH = 4 << 20, CALLS = 4 };
    struct session s;
    struct alk__rows rows[CALLS];
    struct alk__call calls[CALLS];
    char *large = alk__alloc(LENGTH + 1);
    struct alk__value values[2];

    (void)state;
    session_open(&s);
    memset(rows, 0, sizeof(rows));
    memset(large, 'x', LENGTH);
    values[0] = values[1] = ALK__Z(large);
    for (int i = 0; i < CALLS; i++)
        calls[i] = (struct alk__call){ALK__WAKE_OTHERS, values, 2, &rows[i]};
    s.own.texts[ALK__WAKE_OTHERS] = "SELECT $1 || $2";
    assert_int_equal(driver->run(s.session, calls, CALLS, ALK__RUN_OWN, &s.failed, &s.error),
                     ALK_OK);
    alk__free(large);
    session_close(&s);
}

/* ---- errors ---- */

static void an_error_is_the_servers_words_with_their_code(void **state) {
    struct session s;

    (void)state;
    session_open(&s);
    assert_int_equal(session_run(&s, "SELECT 1 / 0", ALK__RUN_PLAIN), ALK_DATA);
    assert_string_equal(s.error.message, "postgres: division by zero (22012)");
    assert_string_equal(s.error.engine_code, "22012");
    session_close(&s);
}

/* S205: what a value was is nobody's business. */
static void an_error_does_not_quote_values(void **state) {
    struct session s;

    (void)state;
    session_open(&s);
    assert_true(session_run(&s, "CREATE TEMPORARY TABLE t (c text UNIQUE)", ALK__RUN_PLAIN) >= 0);
    assert_true(session_run(&s, "INSERT INTO t VALUES ('sekrit'), ('sekrit')", ALK__RUN_PLAIN) < 0);
    assert_string_equal(s.error.engine_code, "23505");
    assert_null(strstr(s.error.message, "sekrit"));
    session_close(&s);
}

/* S33: the first failure is what a caller has to know, not that there was one. */
static void after_a_failure_the_transaction_answers_with_it(void **state) {
    struct session s;

    (void)state;
    session_open(&s);
    assert_int_equal(session_begin(&s), ALK_OK);
    assert_true(session_run(&s, s.insert_1, ALK__RUN_PLAIN) >= 0);
    assert_int_equal(session_run(&s, "SELECT 1 / 0", ALK__RUN_PLAIN), ALK_DATA);
    assert_int_equal(session_run(&s, s.insert_2, ALK__RUN_PLAIN), ALK_DATA);
    assert_string_equal(s.error.engine_code, "22012");
    assert_true(driver->is_in_tx(s.session));
    assert_int_equal(session_commit(&s), ALK_DATA);
    assert_false(driver->is_in_tx(s.session));
    assert_int_equal(session_notes(&s), 0);

    assert_int_equal(session_begin(&s), ALK_OK); /* and the next one knows nothing of it */
    assert_true(session_run(&s, s.insert_1, ALK__RUN_PLAIN) >= 0);
    assert_int_equal(session_commit(&s), ALK_OK);
    assert_int_equal(session_notes(&s), 1);
    session_close(&s);
}

static void a_savepoint_takes_a_failure_back(void **state) {
    struct session s;

    (void)state;
    session_open(&s);
    assert_int_equal(session_begin(&s), ALK_OK);
    assert_true(session_run(&s, s.insert_1, ALK__RUN_PLAIN) >= 0);
    assert_int_equal(driver->control(s.session, "SAVEPOINT alk_1", &s.error), ALK_OK);
    assert_true(session_run(&s, "SELECT 1 / 0", ALK__RUN_PLAIN) < 0);
    assert_true(driver->control(s.session, "SAVEPOINT alk_2", &s.error) < 0);
    assert_int_equal(driver->control(s.session, "ROLLBACK TO alk_1", &s.error), ALK_OK);
    assert_int_equal(driver->control(s.session, "RELEASE alk_1", &s.error), ALK_OK);
    assert_true(session_run(&s, s.insert_2, ALK__RUN_PLAIN) >= 0);
    assert_int_equal(session_commit(&s), ALK_OK);
    assert_int_equal(session_notes(&s), 2);
    session_close(&s);
}

static void a_second_begin_is_refused(void **state) {
    struct session s;

    (void)state;
    session_open(&s);
    assert_int_equal(session_begin(&s), ALK_OK);
    assert_int_equal(session_begin(&s), ALK_USAGE);
    assert_int_equal(session_rollback(&s), ALK_OK);
    session_close(&s);
}

static void a_script_runs_whole_or_stops_at_its_first_failure(void **state) {
    struct session s;

    (void)state;
    session_open(&s);
    char script[512];
    assert_int_equal(session_begin(&s), ALK_OK);
    snprintf(script, sizeof(script), "%s; -- one\n%s;\n", s.insert_1, s.insert_2);
    assert_int_equal(driver->script(s.session, script, &s.error), ALK_OK);
    assert_int_equal(session_commit(&s), ALK_OK);
    assert_int_equal(session_notes(&s), 2);

    assert_int_equal(session_begin(&s), ALK_OK);
    assert_true(driver->script(s.session, "DELETE FROM none.such; SELECT 1", &s.error) < 0);
    assert_string_equal(s.error.engine_code, "42P01");
    assert_true(session_commit(&s) < 0);
    assert_int_equal(session_number(&s, "SELECT 7::bigint"), 7);
    session_close(&s);
}

/* S218: whichever allocation fails, nothing is half done without being said. */
static void no_memory_is_an_error_wherever_it_strikes(void **state) {
    struct session s;
    alk_status status = ALK_NOMEM;

    (void)state;
    session_open(&s);
    for (long n = 1; status == ALK_NOMEM; n++) {
        struct alk__rows rows = {0};
        server_do(s.beside, "TRUNCATE %s", s.table);
        alk__error_clear(&s.error);
        alk__alloc_fail_at(n);
        status = session_run_three(&s, s.count, ALK__RUN_OWN, &rows);
        alk__alloc_fail_at(0);
        alk__rows_free(&rows);
        assert_false(session_is_broken(&s));
        assert_true(status == ALK_OK || status == ALK_NOMEM);
        if (status == ALK_NOMEM && !s.error.is_unknown)
            assert_int_equal(session_notes(&s), 0);
    }
    assert_int_equal(session_notes(&s), 2);
    session_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_names_its_server_and_itself),
        cmocka_unit_test(a_database_that_is_not_utf8_is_refused),
        cmocka_unit_test(failures_to_connect_are_told_apart),
        cmocka_unit_test(no_message_holds_the_password),
        cmocka_unit_test(a_url_that_is_none_is_invalid_and_not_quoted),
        cmocka_unit_test(the_url_sets_the_name_but_not_the_encoding),
        cmocka_unit_test(a_statement_is_prepared_once),
        cmocka_unit_test(nothing_is_prepared_with_prepare_off),
        cmocka_unit_test(
            a_statement_outdated_by_a_change_of_its_table_is_renewed_with_the_connection),
        cmocka_unit_test(several_calls_of_their_own_commit_together),
        cmocka_unit_test(one_failure_undoes_all_and_is_named),
        cmocka_unit_test(a_failing_commit_is_named_and_its_outcome_known),
        cmocka_unit_test(the_last_calls_take_the_commit_with_them),
        cmocka_unit_test(calls_that_should_commit_a_failed_transaction_end_it),
        cmocka_unit_test(begin_calls_and_commit_are_one_round_trip),
        cmocka_unit_test(much_goes_both_ways_at_once),
        cmocka_unit_test(an_error_is_the_servers_words_with_their_code),
        cmocka_unit_test(an_error_does_not_quote_values),
        cmocka_unit_test(after_a_failure_the_transaction_answers_with_it),
        cmocka_unit_test(a_savepoint_takes_a_failure_back),
        cmocka_unit_test(a_second_begin_is_refused),
        cmocka_unit_test(a_script_runs_whole_or_stops_at_its_first_failure),
        cmocka_unit_test(no_memory_is_an_error_wherever_it_strikes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
