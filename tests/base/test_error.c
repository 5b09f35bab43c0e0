/* base/error: the message is built where the fault is found and every layer that knows more goes
 * before it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"

/* S220 */
static void a_failure_carries_its_status_its_class_and_its_words(void **state) {
    alk_error error = ALK_ERROR_INIT;

    (void)state;
    assert_int_equal(alk__fail(&error, ALK_LOST, "fence %d is over", 7), ALK_LOST);
    assert_int_equal(error.status, ALK_LOST);
    assert_int_equal(error.error_class, ALK_CLASS_LOST);
    assert_string_equal(error.message, "fence 7 is over");
    assert_string_equal(error.engine_code, "");
    assert_string_equal(error.subject, "");
    assert_int_equal(error.phase, ALK_PHASE_NONE);
    assert_false(error.is_unknown);
}

/* S220 */
static void each_layer_that_knows_more_stands_before_the_engines_words(void **state) {
    alk_error error = ALK_ERROR_INIT;

    (void)state;
    alk__fail(&error, ALK_AGAIN, "postgres: could not serialize access (40001)");
    alk__error_set_code(&error, "40001");
    alk__error_set_subject(&error, "nightly");
    alk__error_set_phase(&error, ALK_PHASE_ENQUEUE);
    assert_int_equal(alk__wrap(&error, ALK_AGAIN, "enqueue '%s'", "nightly"), ALK_AGAIN);
    assert_int_equal(alk__wrap(&error, ALK_AGAIN, "tick"), ALK_AGAIN);

    assert_string_equal(error.message,
                        "tick: enqueue 'nightly': postgres: could not serialize access (40001)");
    assert_string_equal(error.engine_code, "40001");
    assert_string_equal(error.subject, "nightly");
    assert_int_equal(error.phase, ALK_PHASE_ENQUEUE);
    assert_int_equal(error.error_class, ALK_CLASS_TRANSIENT);
}

static void a_new_failure_keeps_nothing_of_the_one_before(void **state) {
    alk_error error = ALK_ERROR_INIT;

    (void)state;
    alk__fail(&error, ALK_AGAIN, "first");
    alk__error_set_code(&error, "40001");
    alk__error_set_subject(&error, "nightly");
    alk__error_set_phase(&error, ALK_PHASE_COMMIT);
    error.is_unknown = true;
    alk__fail(&error, ALK_USAGE, "second");

    assert_string_equal(error.message, "second");
    assert_string_equal(error.engine_code, "");
    assert_string_equal(error.subject, "");
    assert_int_equal(error.phase, ALK_PHASE_NONE);
    assert_false(error.is_unknown);

    alk__error_clear(&error);
    assert_int_equal(error.status, ALK_OK);
    assert_string_equal(error.message, "");
}

static void a_message_may_quote_the_error_it_goes_into(void **state) {
    alk_error error = ALK_ERROR_INIT;

    (void)state;
    alk__fail(&error, ALK_FAILED, "inner");
    alk__fail(&error, ALK_DATA, "outer (%s)", error.message);
    assert_string_equal(error.message, "outer (inner)");
    alk__wrap(&error, ALK_DATA, "about '%s'", error.message);
    assert_string_equal(error.message, "about 'outer (inner)': outer (inner)");
}

static void wrapping_where_nobody_built_a_message_gives_the_text_of_the_status(void **state) {
    alk_error error = ALK_ERROR_INIT;

    (void)state;
    assert_int_equal(alk__wrap(&error, ALK_TOO_NEW, "open 'app.db'"), ALK_TOO_NEW);
    assert_int_equal(error.status, ALK_TOO_NEW);
    assert_int_equal(error.error_class, ALK_CLASS_PERMANENT);
    assert_string_equal(error.message, "open 'app.db': schema too new");
}

static void wrapping_returns_the_status_that_the_error_has(void **state) {
    alk_error error = ALK_ERROR_INIT;

    (void)state;
    alk__fail(&error, ALK_LOST, "gone");
    assert_int_equal(alk__wrap(&error, ALK_FAILED, "renew"), ALK_LOST);
}

static void nobody_has_to_pass_an_error(void **state) {
    (void)state;
    assert_int_equal(alk__fail(NULL, ALK_LOST, "x"), ALK_LOST);
    assert_int_equal(alk__wrap(NULL, ALK_DATA, "x"), ALK_DATA);
    assert_int_equal(alk__nomem(NULL), ALK_NOMEM);
    alk__error_set_subject(NULL, "x");
    alk__error_set_phase(NULL, ALK_PHASE_CLAIM);
    alk__error_set_code(NULL, "x");
    alk__error_clear(NULL);
}

static void a_message_is_one_line(void **state) {
    alk_error error = ALK_ERROR_INIT;

    (void)state;
    alk__fail(&error, ALK_FAILED, "ERROR: a\nCONTEXT:\tb\x7F");
    assert_string_equal(error.message, "ERROR: a CONTEXT: b ");
}

static void a_message_that_is_too_long_is_cut_between_two_characters(void **state) {
    alk_error error = ALK_ERROR_INIT;
    char text[ALK_ERROR_MESSAGE_BYTES * 3];

    (void)state;
    for (size_t shift = 0; shift < 4; shift++) {
        memset(text, 'x', sizeof(text));
        for (size_t at = shift; at + 3 < sizeof(text); at += 3)
            memcpy(text + at, "\xE2\x82\xAC", 3);
        text[sizeof(text) - 1] = '\0';
        alk__fail(&error, ALK_FAILED, "%s", text);

        size_t length = strlen(error.message);
        assert_true(length < sizeof(error.message) && length > sizeof(error.message) - 8);
        assert_string_equal(error.message + length - 3, "...");
        assert_int_equal((length - 3 - shift) % 3, 0);
    }
}

static void a_message_that_just_fits_is_whole(void **state) {
    alk_error error = ALK_ERROR_INIT;
    char text[ALK_ERROR_MESSAGE_BYTES];

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    alk__fail(&error, ALK_FAILED, "%s", text);
    assert_string_equal(error.message, text);

    alk__wrap(&error, ALK_FAILED, "p");
    assert_memory_equal(error.message, "p: xxx", 6);
    assert_string_equal(error.message + sizeof(error.message) - 5, "x...");
}

static void a_subject_and_a_code_stay_within_their_fields(void **state) {
    alk_error error = ALK_ERROR_INIT;
    char name[300];

    (void)state;
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    alk__error_set_subject(&error, name);
    alk__error_set_code(&error, name);
    assert_int_equal(strlen(error.subject), sizeof(error.subject) - 1);
    assert_int_equal(strlen(error.engine_code), sizeof(error.engine_code) - 1);

    alk__error_set_subject(&error, NULL);
    alk__error_set_code(&error, NULL);
    assert_string_equal(error.subject, "");
    assert_string_equal(error.engine_code, "");
}

static void an_errno_has_words(void **state) {
    (void)state;
    assert_string_equal(alk__reason_of(ENOENT).text, "No such file or directory");
    assert_true(strlen(alk__reason_of(99999).text) > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_carries_its_status_its_class_and_its_words),
        cmocka_unit_test(each_layer_that_knows_more_stands_before_the_engines_words),
        cmocka_unit_test(a_new_failure_keeps_nothing_of_the_one_before),
        cmocka_unit_test(a_message_may_quote_the_error_it_goes_into),
        cmocka_unit_test(wrapping_where_nobody_built_a_message_gives_the_text_of_the_status),
        cmocka_unit_test(wrapping_returns_the_status_that_the_error_has),
        cmocka_unit_test(nobody_has_to_pass_an_error),
        cmocka_unit_test(a_message_is_one_line),
        cmocka_unit_test(a_message_that_is_too_long_is_cut_between_two_characters),
        cmocka_unit_test(a_message_that_just_fits_is_whole),
        cmocka_unit_test(a_subject_and_a_code_stay_within_their_fields),
        cmocka_unit_test(an_errno_has_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
