/* store/postgres: what a transaction is set to, and that it is set to nothing else afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "support/session.h"

static const struct alk__driver *const driver = &alk__driver_postgres;

/* S160: a transaction that hangs ends by itself. */
static void limits_hold_for_one_transaction(void **state) {
    const struct alk__tx_limits limits = {.idle_us = 60 * ALK__SECOND, .lock_us = 1500};
    struct session s;

    (void)state;
    session_open(&s);
    assert_int_equal(driver->begin(s.session, &limits, &s.error), ALK_OK);
    assert_int_equal(
        session_number(&s, "SELECT (current_setting('lock_timeout') = '1ms')::int::bigint"), 1);
    assert_int_equal(
        session_number(&s, "SELECT (current_setting('idle_in_transaction_session_timeout') = "
                           "'1min')::int::bigint"),
        1);
    assert_int_equal(session_commit(&s), ALK_OK);
    assert_int_equal(
        session_number(&s, "SELECT (current_setting('lock_timeout') = '0')::int::bigint"), 1);
    session_close(&s);
}

static void a_transaction_left_idle_is_ended_by_the_server(void **state) {
    const struct alk__tx_limits limits = {.idle_us = 20 * ALK__MS};
    struct session s;

    (void)state;
    session_open(&s);
    int64_t backend = session_backend(&s);
    assert_int_equal(driver->begin(s.session, &limits, &s.error), ALK_OK);
    server_wait(s.beside, 0, "SELECT count(*) FROM pg_stat_activity WHERE pid = %lld",
                (long long)backend);
    assert_int_equal(session_run(&s, "SELECT 1", ALK__RUN_PLAIN), ALK_AGAIN);
    assert_true(session_is_broken(&s));
    assert_false(s.error.is_unknown);
    session_close(&s);
}

static void our_transactions_are_read_committed_whatever_the_default(void **state) {
    struct session s;
    char url[512];

    (void)state;
    session_open(&s);
    driver->close(s.session);
    snprintf(url, sizeof(url), "%s&options=-c%%20default_transaction_isolation%%3Dserializable",
             server_needed());
    s.own.settings.target = url;
    assert_int_equal(driver->open(&s.own.settings, &s.session, &s.error), ALK_OK);
    assert_int_equal(session_begin(&s), ALK_OK);
    assert_int_equal(
        session_number(
            &s,
            "SELECT (current_setting('transaction_isolation') = 'read committed')::int::bigint"),
        1);
    session_close(&s);
}

/* The four scans and jit as one number: 5 = as the server has it. */
#define PLAN                                                                                       \
    "(SELECT count(*) FROM pg_catalog.pg_settings WHERE setting = 'on' AND name IN "               \
    "('enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'enable_bitmapscan', 'jit'))"
#define SEE_PLAN "INSERT INTO pg_temp.seen SELECT " PLAN
#define LAST_SEEN "SELECT n FROM pg_temp.seen ORDER BY ctid DESC LIMIT 1"

static void a_statement_by_id_is_planned_for_indexes_and_others_are_not(void **state) {
    struct session s;

    (void)state;
    session_open(&s);
    assert_true(session_run(&s, "CREATE TEMPORARY TABLE seen (n bigint)", ALK__RUN_PLAIN) >= 0);
    for (int i = 0; i < 2; i++) /* each transaction anew */
        assert_true(session_run_flagged(&s, ALK__BY_ID, 0, SEE_PLAN, ALK__RUN_OWN) >= 0);
    assert_int_equal(session_number(&s, "SELECT sum(n)::bigint FROM pg_temp.seen"), 0);
    assert_int_equal(session_number(&s, "SELECT " PLAN), 5);

    assert_int_equal(session_begin(&s), ALK_OK);
    assert_true(session_run_flagged(&s, ALK__BY_ID, 0, SEE_PLAN, ALK__RUN_PLAIN) >= 0);
    assert_int_equal(session_number(&s, "SELECT " PLAN), 5);
    assert_int_equal(session_number(&s, LAST_SEEN), 0);
    assert_int_equal(driver->control(s.session, "SAVEPOINT alk_1", &s.error), ALK_OK);
    assert_true(session_run_flagged(&s, ALK__BY_ID, 0, SEE_PLAN, ALK__RUN_PLAIN) >= 0);
    assert_int_equal(driver->control(s.session, "ROLLBACK TO alk_1", &s.error), ALK_OK);
    assert_true(session_run_flagged(&s, ALK__BY_ID, 0, SEE_PLAN, ALK__RUN_PLAIN) >= 0);
    assert_int_equal(session_number(&s, LAST_SEEN), 0);
    assert_int_equal(session_commit(&s), ALK_OK);
    assert_int_equal(session_number(&s, "SELECT " PLAN), 5);
    session_close(&s);
}

#define SEE_SYNC                                                                                   \
    "INSERT INTO pg_temp.seen SELECT (current_setting('synchronous_commit') = 'on')::int"

/* S12: only what the library began for itself, and may lose, does not wait for the disk. */
static void only_a_claim_of_our_own_commits_without_the_disk(void **state) {
    struct session s;

    (void)state;
    session_open(&s);
    assert_true(session_run(&s, "CREATE TEMPORARY TABLE seen (n bigint)", ALK__RUN_PLAIN) >= 0);
    assert_true(session_run_flagged(&s, ALK__ASYNC | ALK__WRITE, 0, SEE_SYNC, ALK__RUN_OWN) >= 0);
    assert_int_equal(session_number(&s, LAST_SEEN), 0);
    assert_true(session_run_flagged(&s, ALK__WRITE, ALK__ASYNC, SEE_SYNC, ALK__RUN_OWN) >= 0);
    assert_int_equal(session_number(&s, LAST_SEEN), 1);
    assert_int_equal(session_begin(&s), ALK_OK);
    assert_true(session_run_flagged(&s, ALK__ASYNC | ALK__WRITE, 0, SEE_SYNC, ALK__RUN_PLAIN) >= 0);
    assert_int_equal(session_number(&s, LAST_SEEN), 1);
    session_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_hold_for_one_transaction),
        cmocka_unit_test(a_transaction_left_idle_is_ended_by_the_server),
        cmocka_unit_test(our_transactions_are_read_committed_whatever_the_default),
        cmocka_unit_test(a_statement_by_id_is_planned_for_indexes_and_others_are_not),
        cmocka_unit_test(only_a_claim_of_our_own_commits_without_the_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
