/* What a command finds in its environment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "program/job_environment.h"

static struct alk__arena memory;
static char **environment;

static int free_memory(void **state) {
    (void)state;
    alk__arena_free(&memory);
    return 0;
}

static void make(const char *headers) {
    const alk_job job = {.id = 42, .queue = "mail", .attempt = 3, .headers = headers};

    assert_int_equal(alk__job_environment(&memory, &job, &environment, NULL), ALK_OK);
}

/* The one value of a variable, NULL when it is not there. */
static const char *value_of(const char *name) {
    const char *value = NULL;
    size_t length = strlen(name);

    for (char **item = environment; *item != NULL; item++) {
        if (strncmp(*item, name, length) != 0 || (*item)[length] != '=')
            continue;
        assert_null(value);
        value = *item + length + 1;
    }
    return value;
}

static void a_job_is_named(void **state) {
    (void)state;
    make("{}");
    assert_string_equal(value_of("ALK_JOB_ID"), "42");
    assert_string_equal(value_of("ALK_JOB_QUEUE"), "mail");
    assert_string_equal(value_of("ALK_JOB_ATTEMPT"), "3");
    assert_null(value_of("ALK_SCHEDULE"));
}

/* S118: a fired job carries schedule name and boundary. */
static void a_fired_job_says_by_whom_and_for_when(void **state) {
    (void)state;
    make("{\"schedule\":\"nightly\",\"fire_at\":\"2026-12-01T03:00:00Z\","
         "\"previous_fire_at\":\"2026-11-30T03:00:00Z\",\"catchup\":true}");
    assert_string_equal(value_of("ALK_SCHEDULE"), "nightly");
    assert_string_equal(value_of("ALK_FIRE_AT"), "2026-12-01T03:00:00Z");
    assert_string_equal(value_of("ALK_PREVIOUS_FIRE_AT"), "2026-11-30T03:00:00Z");
    assert_string_equal(value_of("ALK_CATCHUP"), "true");
    assert_null(value_of("ALK_HEADER_SCHEDULE"));
}

static void other_headers_have_their_names_in_upper_case(void **state) {
    (void)state;
    make("{\"trace-id\":\"ab c\",\"n\":7,\"o\":{\"x\":[1, null]},\"gr\xC3\xBC n\":\"\"}");
    assert_string_equal(value_of("ALK_HEADER_TRACE_ID"), "ab c");
    assert_string_equal(value_of("ALK_HEADER_N"), "7");
    assert_string_equal(value_of("ALK_HEADER_O"), "{\"x\":[1,null]}");
    assert_string_equal(value_of("ALK_HEADER_GR___N"), "");
}

static void the_programs_own_environment_is_there(void **state) {
    (void)state;
    setenv("ALK_TEST_MARK", "1", 1);
    make("{}");
    assert_string_equal(value_of("ALK_TEST_MARK"), "1");
    assert_non_null(value_of("PATH"));
}

/* A worker that itself runs as the command of a job. */
static void nothing_of_another_job_is_there(void **state) {
    (void)state;
    setenv("ALK_JOB_ID", "1", 1);
    setenv("ALK_SCHEDULE", "other", 1);
    setenv("ALK_HEADER_X", "other", 1);
    make("{}");
    assert_string_equal(value_of("ALK_JOB_ID"), "42");
    assert_null(value_of("ALK_SCHEDULE"));
    assert_null(value_of("ALK_HEADER_X"));
}

static void headers_that_are_no_object_are_no_headers(void **state) {
    (void)state;
    make("");
    assert_string_equal(value_of("ALK_JOB_ID"), "42");
}

int main(void) {
#define TEST(body) cmocka_unit_test_teardown(body, free_memory)
    const struct CMUnitTest tests[] = {
        TEST(a_job_is_named),
        TEST(a_fired_job_says_by_whom_and_for_when),
        TEST(other_headers_have_their_names_in_upper_case),
        TEST(the_programs_own_environment_is_there),
        TEST(nothing_of_another_job_is_there),
        TEST(headers_that_are_no_object_are_no_headers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
