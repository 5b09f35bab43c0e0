/* How a crontab is cut: lines, variables, entries, and what stands behind a %. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "program/crontab.h"

/* The line as one text: its kind and its parts with a | between them. */
static const char *shown(const struct alk__crontab_line *line) {
    static char text[1024];

    switch (line->kind) {
    case ALK__CRONTAB_BLANK:
        return "blank";
    case ALK__CRONTAB_COMMENT:
        return "comment";
    case ALK__CRONTAB_BROKEN:
        snprintf(text, sizeof(text), "broken: %s", line->reason);
        return text;
    case ALK__CRONTAB_VARIABLE:
        snprintf(text, sizeof(text), "%s|%s", line->name, line->value);
        return text;
    case ALK__CRONTAB_ENTRY:
        break;
    }
    snprintf(text, sizeof(text), "%s|%s%s%s%s%s", line->spec, line->user != NULL ? line->user : "",
             line->user != NULL ? "|" : "", line->command, line->input != NULL ? "|" : "",
             line->input != NULL ? line->input : "");
    return text;
}

/* The only line of a crontab; it may lie in memory that ends with it. */
static const char *read_line(const char *text, bool is_system) {
    struct alk__arena memory = {NULL};
    struct alk__crontab crontab = {
        .text = alk__text_of(text), .is_system = is_system, .memory = &memory};
    struct alk__crontab_line line;
    const char *said;

    assert_int_equal(alk__crontab_next(&crontab, &line, NULL), ALK_OK);
    assert_int_equal(line.number, 1);
    said = shown(&line);
    assert_int_equal(alk__crontab_next(&crontab, &line, NULL), ALK_EMPTY);
    alk__arena_free(&memory);
    return said;
}

#define user_line(text) read_line((text), false)

static void lines_are_blank_comments_variables_or_entries(void **state) {
    (void)state;
    assert_string_equal(user_line("\n"), "blank");
    assert_string_equal(user_line(" \t\r\n"), "blank");
    assert_string_equal(user_line(" # * * * * * x"), "comment");
    assert_string_equal(user_line("#A=1"), "comment");
    assert_string_equal(user_line("A=1"), "A|1");
    assert_string_equal(user_line("* * * * * x"), "* * * * *|x");
}

static void an_entry_is_five_fields_or_a_word_and_the_rest_of_the_line(void **state) {
    (void)state;
    assert_string_equal(user_line("\t0  3\t*   * mon-fri \t a  b\tc \n"),
                        "0 3 * * mon-fri|a  b\tc");
    assert_string_equal(user_line("@daily a = b"), "@daily|a = b");
    assert_string_equal(user_line("* * * * * 2027 x"), "* * * * *|2027 x");
    assert_string_equal(user_line("*/90 99 x y z cmd"), "*/90 99 x y z|cmd");
    assert_string_equal(user_line("* * * * * A=1 x"), "* * * * *|A=1 x");
}

static void a_systems_entry_has_a_user(void **state) {
    (void)state;
    assert_string_equal(read_line("17 * * * *  root\tcd / && x", true),
                        "17 * * * *|root|cd / && x");
    assert_string_equal(read_line("@daily www-data x%y", true), "@daily|www-data|x|y\n");
    assert_string_equal(read_line("A=1", true), "A|1");
    assert_string_equal(read_line("@daily root", true),
                        "broken: it has neither five fields or a word with @, a user and a "
                        "command, nor NAME=VALUE");
}

static void what_is_neither_is_broken(void **state) {
    static const char *const lines[] = {"x",         "* * * * *",   "* * * *",        "@daily",
                                        "@",         "=",           "1A=2",           "A-B=2",
                                        "@daily %x", "* * * * * %", "hello there you"};
    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        assert_string_equal(user_line(lines[i]),
                            "broken: it has neither five fields or a word with @ and a command, "
                            "nor NAME=VALUE");
    assert_string_equal(user_line("* * * * * \xff"), "broken: it is not UTF-8");
    assert_string_equal(user_line("# \xc3"), "broken: it is not UTF-8");
}

static void a_variable_has_its_quotes_taken_off(void **state) {
    (void)state;
    assert_string_equal(user_line("A="), "A|");
    assert_string_equal(user_line("  _a9 \t=  b  c \t"), "_a9|b  c");
    assert_string_equal(user_line("A=\" b \""), "A| b ");
    assert_string_equal(user_line("A='\"'"), "A|\"");
    assert_string_equal(user_line("A=''"), "A|");
    assert_string_equal(user_line("A=it's"), "A|it's");
    assert_string_equal(user_line("A=$B%c"), "A|$B%c");
    assert_string_equal(user_line("A=b=c"), "A|b=c");
    assert_string_equal(user_line("A=\"b\" c"),
                        "broken: its quotes do not enclose the whole value");
    assert_string_equal(user_line("A='"), "broken: its quotes do not enclose the whole value");
}

static void a_percent_ends_the_command_and_begins_its_input(void **state) {
    (void)state;
    assert_string_equal(user_line("@daily a%b"), "@daily|a|b\n");
    assert_string_equal(user_line("@daily a%b%%c%"), "@daily|a|b\n\nc\n");
    assert_string_equal(user_line("@daily a%"), "@daily|a|");
    assert_string_equal(user_line("@daily a%%"), "@daily|a|\n");
    assert_string_equal(user_line("@daily date +\\%F"), "@daily|date +%F");
    assert_string_equal(user_line("@daily a%1\\%2%3"), "@daily|a|1%2\n3\n");
    assert_string_equal(user_line("@daily a \\b \\\\ c\\"), "@daily|a \\b \\\\ c\\");
    assert_string_equal(user_line("@daily a\\\\%b\\n"), "@daily|a\\\\|b\\n\n");
}

static void lines_are_numbered_and_end_anyhow(void **state) {
    static const char text[] = "A=1\r\n\n\r\n@daily x\r\n# no break at the end";
    static const char *const lines[] = {"A|1", "blank", "blank", "@daily|x", "comment"};
    struct alk__arena memory = {NULL};
    struct alk__crontab crontab = {.text = ALK__TEXT(text), .memory = &memory};
    struct alk__crontab_line line;

    (void)state;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(alk__crontab_next(&crontab, &line, NULL), ALK_OK);
        assert_string_equal(shown(&line), lines[i]);
        assert_int_equal(line.number, i + 1);
    }
    assert_true(alk__text_is(line.text, "# no break at the end"));
    assert_int_equal(alk__crontab_next(&crontab, &line, NULL), ALK_EMPTY);
    alk__arena_free(&memory);
}

static void a_nul_is_not_the_end(void **state) {
    struct alk__arena memory = {NULL};
    struct alk__crontab crontab = {.text = ALK__TEXT("@daily a\0b\n@daily c"), .memory = &memory};
    struct alk__crontab_line line;

    (void)state;
    assert_int_equal(alk__crontab_next(&crontab, &line, NULL), ALK_OK);
    assert_string_equal(shown(&line), "broken: it is not UTF-8");
    assert_int_equal(alk__crontab_next(&crontab, &line, NULL), ALK_OK);
    assert_string_equal(shown(&line), "@daily|c");
    alk__arena_free(&memory);
}

/* S218 */
static void the_end_of_memory_is_an_error(void **state) {
    static const char *const lines[] = {"A=1", "@daily root x%y"};
    alk_status st;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        long n = 0;

        do {
            struct alk__arena memory = {NULL};
            struct alk__crontab crontab = {
                .text = alk__text_of(lines[i]), .is_system = true, .memory = &memory};
            struct alk__crontab_line line;

            alk__alloc_fail_at(++n);
            st = alk__crontab_next(&crontab, &line, NULL);
            alk__alloc_fail_at(0);
            alk__arena_free(&memory);
        } while (st == ALK_NOMEM);
        assert_int_equal(st, ALK_OK);
        assert_true(n > 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_blank_comments_variables_or_entries),
        cmocka_unit_test(an_entry_is_five_fields_or_a_word_and_the_rest_of_the_line),
        cmocka_unit_test(a_systems_entry_has_a_user),
        cmocka_unit_test(what_is_neither_is_broken),
        cmocka_unit_test(a_variable_has_its_quotes_taken_off),
        cmocka_unit_test(a_percent_ends_the_command_and_begins_its_input),
        cmocka_unit_test(lines_are_numbered_and_end_anyhow),
        cmocka_unit_test(a_nul_is_not_the_end),
        cmocka_unit_test(the_end_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
