/* store/postgres: lost connections, answers that never come, and what is then known of a COMMIT. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "support/session.h"

static const struct alk__driver *const driver = &alk__driver_postgres;

static void set_deadline(struct session *s, int64_t span_us) {
    driver->set_deadline(s->session, alk__add_us(alk__monotonic_us(), span_us));
}

/* Lost for good: transient, everything after it is refused, and the outcome is what was said. */
static void assert_lost(struct session *s, bool is_unknown) {
    assert_int_equal(s->error.status, ALK_AGAIN);
    assert_int_equal(s->error.error_class, ALK_CLASS_TRANSIENT);
    assert_int_equal(s->error.is_unknown, is_unknown);
    assert_int_equal(strstr(s->error.message, "unknown") != NULL, is_unknown);
    assert_true(session_is_broken(s));
    assert_false(driver->is_in_tx(s->session));
    assert_false(driver->is_alive(s->session));
    assert_int_equal(session_run(s, "SELECT 1", ALK__RUN_PLAIN), ALK_AGAIN);
    assert_false(s->error.is_unknown);
    assert_int_equal(session_begin(s), ALK_AGAIN);
}

/* ---- COMMIT ---- */

typedef void lose_fn(struct relay *relay, const char *words);

/* A transaction whose COMMIT meets the loss. */
static void lose_commit(struct session *s, lose_fn *lose) {
    session_open_behind_relay(s);
    assert_int_equal(session_begin(s), ALK_OK);
    assert_true(session_run(s, s->insert_1, ALK__RUN_PLAIN) >= 0);
    lose(s->relay, "COMMIT");
    set_deadline(s, lose == relay_hold_behind ? 300 * ALK__MS : WAIT_US);
    assert_int_equal(session_commit(s), ALK_AGAIN);
}

/* S36: the COMMIT never arrived, but who commits cannot know that. */
static void a_commit_cut_off_on_its_way_is_unknown(void **state) {
    struct session s;

    (void)state;
    lose_commit(&s, relay_cut_before);
    assert_lost(&s, true);
    server_wait(
        s.beside, 0,
        "SELECT count(*) FROM pg_locks WHERE relation = '%s'::regclass AND pid <> pg_backend_pid()",
        s.table);
    assert_int_equal(session_notes(&s), 0);
    session_close(&s);
}

/* S36: it happened, and only its answer was lost. */
static void a_commit_whose_answer_is_lost_is_unknown(void **state) {
    struct session s;

    (void)state;
    lose_commit(&s, relay_cut_behind);
    assert_lost(&s, true);
    server_wait(s.beside, 1, "%s", s.count);
    session_close(&s);
}

/* S36, S170: nor does anybody know when the answer takes too long. */
static void a_commit_that_is_not_answered_in_time_is_unknown(void **state) {
    struct session s;

    (void)state;
    lose_commit(&s, relay_hold_behind);
    assert_lost(&s, true);
    server_wait(s.beside, 1, "%s", s.count);
    session_close(&s);
}

/* S36: the same for calls that carry their own COMMIT. */
static void calls_that_commit_are_unknown_too(void **state) {
    static lose_fn *const losses[] = {relay_cut_before, relay_cut_behind};
    static const enum alk__run_mode modes[] = {ALK__RUN_OWN, ALK__RUN_COMMIT};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct session s;
        session_open_behind_relay(&s);
        if (modes[i / 2] == ALK__RUN_COMMIT)
            assert_int_equal(session_begin(&s), ALK_OK);
        losses[i % 2](s.relay, "COMMIT");
        assert_int_equal(session_run_three(&s, s.count, modes[i / 2], NULL), ALK_AGAIN);
        assert_int_equal(s.failed, 3);
        assert_lost(&s, true);
        session_close(&s);
    }
}

/* S36: once the answer to COMMIT was read, what is lost behind it changes nothing. */
static void a_commit_that_was_answered_is_done(void **state) {
    static const enum alk__run_mode modes[] = {ALK__RUN_OWN, ALK__RUN_COMMIT};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct session s;
        session_open_behind_relay(&s);
        if (modes[i] == ALK__RUN_COMMIT)
            assert_int_equal(session_begin(&s), ALK_OK);
        relay_cut_inside(s.relay, "COMMIT");
        assert_int_equal(session_run_three(&s, s.count, modes[i], NULL), ALK_OK);
        assert_int_equal(session_notes(&s), 2);
        assert_true(session_is_broken(&s));
        session_close(&s);
    }
}

/* S36: the server was ended in the middle of a COMMIT, and said so: still nobody knows. */
static void a_server_ended_during_a_commit_leaves_it_unknown(void **state) {
    struct session s;

    (void)state;
    session_open(&s);
    server_do(
        s.beside,
        "CREATE FUNCTION %s_end() RETURNS trigger LANGUAGE plpgsql AS "
        "'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()), pg_sleep(60); RETURN NULL; END'",
        s.table);
    server_do(s.beside,
              "CREATE CONSTRAINT TRIGGER ending AFTER INSERT ON %s INITIALLY DEFERRED FOR EACH ROW "
              "EXECUTE FUNCTION %s_end()",
              s.table, s.table);
    assert_int_equal(session_run_three(&s, s.count, ALK__RUN_OWN, NULL), ALK_AGAIN);
    assert_string_equal(s.error.engine_code, "57P01");
    assert_int_equal(s.failed, 3);
    assert_lost(&s, true);
    server_do(s.beside, "DROP FUNCTION %s_end CASCADE", s.table);
    session_close(&s);
}

/* S36: what broke before the COMMIT was sent is known not to have happened. */
static void a_loss_before_the_commit_is_known(void **state) {
    struct session s;

    (void)state;
    session_open_behind_relay(&s);
    assert_int_equal(session_begin(&s), ALK_OK);
    assert_true(session_run(&s, s.insert_1, ALK__RUN_PLAIN) >= 0);
    relay_cut_behind(s.relay, "INSERT");
    assert_int_equal(session_run(&s, s.insert_2, ALK__RUN_PLAIN), ALK_AGAIN);
    assert_lost(&s, false);
    assert_int_equal(session_commit(&s), ALK_AGAIN);
    assert_false(s.error.is_unknown);
    session_close(&s);
}

/* ---- ROLLBACK ---- */

/* S37: the first failure is what the caller hears of. */
static void a_failing_rollback_breaks_the_session_and_hides_nothing(void **state) {
    struct session s;

    (void)state;
    session_open_behind_relay(&s);
    relay_cut_before(s.relay, "ROLLBACK");
    assert_int_equal(session_run_three(&s, "SELECT 1::bigint / 0", ALK__RUN_OWN, NULL), ALK_DATA);
    assert_int_equal(s.failed, 1);
    assert_string_equal(s.error.engine_code, "22012");
    assert_true(session_is_broken(&s));
    session_close(&s);
}

/* S37 */
static void a_rollback_that_is_not_heard_breaks_the_session(void **state) {
    struct session s;

    (void)state;
    session_open_behind_relay(&s);
    assert_int_equal(session_begin(&s), ALK_OK);
    relay_cut_behind(s.relay, "ROLLBACK");
    assert_int_equal(session_rollback(&s), ALK_AGAIN);
    assert_lost(&s, false);
    session_close(&s);
}

/* S37: nor is one that could not even be sent. */
static void a_rollback_without_memory_breaks_the_session(void **state) {
    struct session s;

    (void)state;
    session_open(&s);
    assert_int_equal(session_begin(&s), ALK_OK);
    alk__alloc_fail_at(1);
    assert_int_equal(session_rollback(&s), ALK_NOMEM);
    alk__alloc_fail_at(0);
    assert_true(session_is_broken(&s));
    session_close(&s);
}

/* ---- deadlines ---- */

/* S170: on a Unix socket, which has no time-out of its own. S168: a lost socket is transient. */
static void a_server_that_does_not_answer_is_left_at_the_deadline(void **state) {
    struct session s;

    (void)state;
    session_open_behind_relay(&s);
    relay_hold(s.relay, true);
    set_deadline(&s, 100 * ALK__MS);
    assert_int_equal(session_run(&s, "SELECT 1", ALK__RUN_PLAIN), ALK_AGAIN);
    assert_non_null(strstr(s.error.message, "deadline"));
    assert_lost(&s, false);
    session_close(&s);
}

/* S170 */
static void a_statement_that_waits_for_a_lock_is_left_at_the_deadline(void **state) {
    struct session s;

    (void)state;
    session_open(&s);
    server_do(s.beside, "BEGIN; LOCK TABLE %s", s.table);
    set_deadline(&s, 100 * ALK__MS);
    assert_int_equal(session_run_three(&s, s.count, ALK__RUN_OWN, NULL), ALK_AGAIN);
    assert_true(session_is_broken(&s));
    server_do(s.beside, "COMMIT");
    session_close(&s);
}

static void a_deadline_that_has_passed_lets_nothing_through(void **state) {
    struct session s;

    (void)state;
    session_open(&s);
    set_deadline(&s, -1);
    server_do(s.beside, "BEGIN; LOCK TABLE %s", s.table);
    assert_int_equal(session_run(&s, s.insert_1, ALK__RUN_PLAIN), ALK_AGAIN);
    server_do(s.beside, "COMMIT");
    session_close(&s);
}

static void a_server_that_does_not_take_a_connection_is_left_in_time(void **state) {
    struct session s;
    struct alk__session *second = NULL;

    (void)state;
    session_open_behind_relay(&s);
    relay_hold(s.relay, true);
    s.own.settings.connect_timeout_us = 100 * ALK__MS;
    assert_int_equal(driver->open(&s.own.settings, &second, &s.error), ALK_AGAIN);
    assert_null(second);
    assert_int_equal(relay_taken(s.relay), 2);
    session_close(&s);
}

/* S2: several hosts in the URL; one that is dead without a word must not take all the time. */
static void a_silent_host_leaves_time_for_the_next_one(void **state) {
    struct session s;
    struct alk__session *second = NULL;
    char url[512];
    const char *folder;

    (void)state;
    session_open_behind_relay(&s);
    relay_hold(s.relay, true);
    folder = strstr(server_needed(), "?host=") + strlen("?host=");
    snprintf(url, sizeof(url), "%s,%s", relay_url(s.relay), folder);
    s.own.settings.target = url;
    s.own.settings.connect_timeout_us = 4 * ALK__SECOND;
    assert_int_equal(driver->open(&s.own.settings, &second, &s.error), ALK_OK);
    assert_int_equal(relay_taken(s.relay), 2);
    driver->close(second);
    session_close(&s);
}

/* S2: a host that refuses is passed by libpq itself. */
static void a_host_that_is_not_there_is_passed_over(void **state) {
    struct session s;
    struct alk__session *second = NULL;
    char url[512];

    (void)state;
    session_open(&s);
    snprintf(url, sizeof(url), "postgresql://alk@/postgres?host=/nonexistent,%s",
             strstr(server_needed(), "?host=") + strlen("?host="));
    s.own.settings.target = url;
    assert_int_equal(driver->open(&s.own.settings, &second, &s.error), ALK_OK);
    driver->close(second);
    session_close(&s);
}

/* ---- servers that end ---- */

/* S23: seen at check-out, without a round trip. */
static void an_idle_session_ended_by_the_server_is_seen(void **state) {
    struct session s;

    (void)state;
    session_open(&s);
    assert_true(driver->is_alive(s.session));
    server_do(s.beside, "SELECT pg_terminate_backend(%lld)", (long long)session_backend(&s));
    for (int64_t until_us = alk__monotonic_us() + WAIT_US; driver->is_alive(s.session);)
        assert_true(alk__monotonic_us() < until_us);
    assert_true(session_is_broken(&s));
    session_close(&s);
}

/* S168: an administrator's shutdown is transient. */
static void a_session_ended_in_its_transaction_says_so(void **state) {
    struct session s;

    (void)state;
    session_open(&s);
    int64_t backend = session_backend(&s);
    assert_int_equal(session_begin(&s), ALK_OK);
    server_do(s.beside, "SELECT pg_terminate_backend(%lld)", (long long)backend);
    server_wait(s.beside, 0, "SELECT count(*) FROM pg_stat_activity WHERE pid = %lld",
                (long long)backend);
    assert_int_equal(session_run(&s, s.insert_1, ALK__RUN_PLAIN), ALK_AGAIN);
    assert_lost(&s, false);
    session_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_commit_cut_off_on_its_way_is_unknown),
        cmocka_unit_test(a_commit_whose_answer_is_lost_is_unknown),
        cmocka_unit_test(a_commit_that_is_not_answered_in_time_is_unknown),
        cmocka_unit_test(calls_that_commit_are_unknown_too),
        cmocka_unit_test(a_commit_that_was_answered_is_done),
        cmocka_unit_test(a_server_ended_during_a_commit_leaves_it_unknown),
        cmocka_unit_test(a_loss_before_the_commit_is_known),
        cmocka_unit_test(a_failing_rollback_breaks_the_session_and_hides_nothing),
        cmocka_unit_test(a_rollback_that_is_not_heard_breaks_the_session),
        cmocka_unit_test(a_rollback_without_memory_breaks_the_session),
        cmocka_unit_test(a_server_that_does_not_answer_is_left_at_the_deadline),
        cmocka_unit_test(a_statement_that_waits_for_a_lock_is_left_at_the_deadline),
        cmocka_unit_test(a_deadline_that_has_passed_lets_nothing_through),
        cmocka_unit_test(a_server_that_does_not_take_a_connection_is_left_in_time),
        cmocka_unit_test(a_silent_host_leaves_time_for_the_next_one),
        cmocka_unit_test(a_host_that_is_not_there_is_passed_over),
        cmocka_unit_test(an_idle_session_ended_by_the_server_is_seen),
        cmocka_unit_test(a_session_ended_in_its_transaction_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
