/* The respawn recipe: what fails is run again, for ever, until it is told to stop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "program/supervise.h"

/* A loop that fails as often as it is told to. */
struct loop {
    int runs;
    int failures;
    alk_status status; /* of a failure */
    alk_status last;   /* of the run after them */
    bool stops_itself;
};

static alk_status run(void *context, alk_stop *stop, alk_error *error) {
    struct loop *loop = context;

    loop->runs++;
    if (loop->stops_itself && loop->runs == loop->failures)
        alk_stop_set(stop);
    if (loop->runs > loop->failures)
        return loop->last;
    return alk__fail(error, loop->status, "failure %d", loop->runs);
}

/* What the supervision of a loop gives, and what it wrote. */
static alk_status supervise(struct loop *loop, char **ret_log) {
    size_t length = 0;
    FILE *stream = open_memstream(ret_log, &length);
    struct alk__log *log = alk__log_new(stream, NULL);
    alk_stop *stop = NULL;
    alk_error error = ALK_ERROR_INIT;
    alk_status st;

    assert_int_equal(alk_stop_new(&stop, NULL), ALK_OK);
    st = alk__supervise("mail", run, loop, stop, log, &error);
    alk_stop_free(stop);
    alk__log_free(log);
    fclose(stream);
    return st;
}

/* S78: after an error the loop runs again. */
static void a_loop_that_failed_is_run_again(void **state) {
    struct loop loop = {.failures = 3, .status = ALK_AGAIN, .last = ALK_OK};
    char *log;

    (void)state;
    assert_int_equal(supervise(&loop, &log), ALK_OK);
    assert_int_equal(loop.runs, 4);
    assert_non_null(
        strstr(log, "level=error event=\"loop failed\" component=program subject=mail"));
    assert_non_null(strstr(log, "error=\"failure 1\""));
    free(log);
}

/* S78: whatever the error: a permanent one may be mended by a person while this runs. */
static void a_permanent_failure_does_not_end_it(void **state) {
    struct loop loop = {.failures = 2, .status = ALK_FAILED, .last = ALK_OK};
    char *log;

    (void)state;
    assert_int_equal(supervise(&loop, &log), ALK_OK);
    assert_int_equal(loop.runs, 3);
    free(log);
}

static void a_lost_leadership_is_no_error(void **state) {
    struct loop loop = {.failures = 1, .status = ALK_LOST, .last = ALK_OK};
    char *log;

    (void)state;
    assert_int_equal(supervise(&loop, &log), ALK_OK);
    assert_int_equal(loop.runs, 2);
    assert_non_null(strstr(log, "level=warning event=\"loop stands by\""));
    assert_null(strstr(log, "level=error"));
    free(log);
}

static void a_loop_that_ends_by_itself_is_not_run_again(void **state) {
    struct loop loop = {.failures = 0, .last = ALK_OK};
    char *log;

    (void)state;
    assert_int_equal(supervise(&loop, &log), ALK_OK);
    assert_int_equal(loop.runs, 1);
    free(log);
}

static void a_closed_store_ends_it(void **state) {
    struct loop loop = {.failures = 5, .status = ALK_CLOSED};
    char *log;

    (void)state;
    assert_int_equal(supervise(&loop, &log), ALK_CLOSED);
    assert_int_equal(loop.runs, 1);
    free(log);
}

static void a_stop_during_a_failure_ends_it(void **state) {
    struct loop loop = {
        .failures = 1, .status = ALK_AGAIN, .last = ALK_FAILED, .stops_itself = true};
    char *log;

    (void)state;
    assert_int_equal(supervise(&loop, &log), ALK_OK);
    assert_int_equal(loop.runs, 1);
    free(log);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_that_failed_is_run_again),
        cmocka_unit_test(a_permanent_failure_does_not_end_it),
        cmocka_unit_test(a_lost_leadership_is_no_error),
        cmocka_unit_test(a_loop_that_ends_by_itself_is_not_run_again),
        cmocka_unit_test(a_closed_store_ends_it),
        cmocka_unit_test(a_stop_during_a_failure_ends_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
