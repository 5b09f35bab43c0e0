/* base/guess: what somebody who mistyped a word probably meant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/guess.h"

static const char *guess(const char *word) {
    static const char *const commands[] = {"init", "enqueue", "work", "schedule", "run",
                                           "job",  "lease",   "help", "health",   "version"};

    return alk__guess(word, commands, sizeof(commands) / sizeof(*commands));
}

static void one_or_two_slips_are_understood(void **state) {
    (void)state;
    assert_string_equal(guess("enqueue"), "enqueue");
    assert_string_equal(guess("enqeue"), "enqueue");
    assert_string_equal(guess("enqueeu"), "enqueue");
    assert_string_equal(guess("enque"), "enqueue");
    assert_string_equal(guess("schedules"), "schedule");
    assert_string_equal(guess("scheduel"), "schedule");
    assert_string_equal(guess("wrok"), "work");
    assert_string_equal(guess("jbo"), "job");
    assert_string_equal(guess("heatlh"), "health");
}

static void what_is_far_from_everything_is_not_guessed(void **state) {
    (void)state;
    assert_null(guess("publish"));
    assert_null(guess("enq"));
    assert_null(guess(""));
    assert_null(guess("x"));
    assert_null(guess("jo"));
    assert_null(guess("sechudlee"));
}

static void half_of_a_short_word_is_too_much(void **state) {
    (void)state;
    assert_null(guess("wa"));
    assert_null(guess("jxx"));
    assert_null(guess("hxxp"));
    assert_string_equal(guess("ruh"), "run");
}

static void the_nearest_wins_and_the_first_of_equals(void **state) {
    static const char *const words[] = {"--delays", "--delay", "--relay"};

    (void)state;
    assert_string_equal(alk__guess("--dela", words, 3), "--delay");
    assert_string_equal(alk__guess("--xelay", words, 3), "--delay");
    assert_null(alk__guess("--dela", words, 0));
}

static void words_of_any_length_are_safe(void **state) {
    static const char *const words[] = {
        "a-candidate-that-is-longer-than-any-word-of-a-command-line-may-be-for-a-guess", "short"};
    char word[300] = {0};

    (void)state;
    memset(word, 'x', sizeof(word) - 1);
    assert_null(alk__guess(word, words, 2));
    word[64] = '\0';
    assert_null(alk__guess(word, words, 2));
    assert_string_equal(alk__guess("shrot", words, 2), "short");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_or_two_slips_are_understood),
        cmocka_unit_test(what_is_far_from_everything_is_not_guessed),
        cmocka_unit_test(half_of_a_short_word_is_too_much),
        cmocka_unit_test(the_nearest_wins_and_the_first_of_equals),
        cmocka_unit_test(words_of_any_length_are_safe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
