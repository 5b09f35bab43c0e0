/* A command line becomes words by shell quoting, and no shell has a say in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "program/words.h"

/* The words of text with a | between them, or the message of the refusal. */
static const char *split(const char *text, const char *separators) {
    static char joined[2048];
    struct alk__arena memory = {NULL};
    struct alk__words words;
    alk_error error = ALK_ERROR_INIT;
    size_t length = 0;

    joined[0] = '\0';
    if (alk__words_split(&memory, text, separators, &words, &error) != ALK_OK) {
        assert_int_equal(error.status, ALK_INVALID);
        snprintf(joined, sizeof(joined), "%s", error.message);
        alk__arena_free(&memory);
        return joined;
    }
    assert_null(words.items[words.count]);
    for (size_t i = 0; i < words.count; i++)
        length += (size_t)snprintf(joined + length, sizeof(joined) - length, "%s%s",
                                   i == 0 ? "" : "|", words.items[i]);
    alk__arena_free(&memory);
    return joined;
}

static void blanks_separate_words(void **state) {
    (void)state;
    assert_string_equal(split("  a bc\t d ", ""), "a|bc|d");
    assert_string_equal(split("", ""), "");
    assert_string_equal(split(" \t ", ""), "");
}

static void single_quotes_keep_everything(void **state) {
    (void)state;
    assert_string_equal(split("sh -c 'echo \"$X\" \\ | cat'", ""), "sh|-c|echo \"$X\" \\ | cat");
}

static void double_quotes_keep_all_but_what_a_backslash_takes(void **state) {
    (void)state;
    assert_string_equal(split("\"a b\" \"\\\"\\\\\\$\\`\" \"\\n\"", ""), "a b|\"\\$`|\\n");
}

static void a_backslash_outside_keeps_the_next_byte(void **state) {
    (void)state;
    assert_string_equal(split("a\\ b \\'c \\\\", ""), "a b|'c|\\");
}

static void quoted_parts_join_their_neighbours(void **state) {
    (void)state;
    assert_string_equal(split("a'b c'\"d\"e", ""), "ab cde");
    assert_string_equal(split("'' \"\" x", ""), "||x");
}

static void nothing_is_expanded(void **state) {
    (void)state;
    assert_string_equal(split("echo $HOME *.c ~ a;b c|d `id` $(id) #x", ""),
                        "echo|$HOME|*.c|~|a;b|c|d|`id`|$(id)|#x");
}

static void other_separators_stand_outside_quotes_only(void **state) {
    (void)state;
    assert_string_equal(split("mail,bulk, 'a,b' c", ","), "mail|bulk|a,b|c");
}

static void a_quote_without_an_end_is_refused_with_its_column(void **state) {
    (void)state;
    assert_string_equal(split("sh -c 'echo", ""), "the ''' at column 7 has no end");
    assert_string_equal(split("a \"b\\\"", ""), "the '\"' at column 3 has no end");
    assert_string_equal(split("a b\\", ""), "the '\\' at column 4 has no end");
}

static void the_end_of_memory_is_an_error(void **state) {
    struct alk__arena memory = {NULL};
    struct alk__words words;
    alk_error error = ALK_ERROR_INIT;

    (void)state;
    alk__alloc_fail_at(1);
    assert_int_equal(alk__words_split(&memory, "a b", "", &words, &error), ALK_NOMEM);
    alk__alloc_fail_at(0);
    alk__arena_free(&memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blanks_separate_words),
        cmocka_unit_test(single_quotes_keep_everything),
        cmocka_unit_test(double_quotes_keep_all_but_what_a_backslash_takes),
        cmocka_unit_test(a_backslash_outside_keeps_the_next_byte),
        cmocka_unit_test(quoted_parts_join_their_neighbours),
        cmocka_unit_test(nothing_is_expanded),
        cmocka_unit_test(other_separators_stand_outside_quotes_only),
        cmocka_unit_test(a_quote_without_an_end_is_refused_with_its_column),
        cmocka_unit_test(the_end_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
