/* base/json: the one check of payloads and headers, and strings in JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

static alk_status check(struct alk__text text, alk_error *error) {
    return alk__json_check("payload", text, ALK__PAYLOAD_MAX, error);
}

/* S17 */
static void every_json_text_is_accepted(void **state) {
    static const char *const accepted[] = {
        "null",
        "true",
        "false",
        "0",
        "-0",
        "7",
        "-12",
        "1.5",
        "0.25",
        "1e5",
        "1E+5",
        "1e-5",
        "-0.0e0",
        "123456789012345678901234567890",
        "1e400000",
        "\"\"",
        "\"hello\"",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
        "\"\\u0041\\u00e9\\uFFFF\"",
        "\"\\ud83d\\ude00\"",
        "\"\\uD800\\uDC00\"",
        "\"\\uDBFF\\uDFFF\"",
        "\"gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80 \x7F\"",
        "[]",
        "[ ]",
        "[1]",
        "[1,2]",
        "[[],[[]]]",
        "{}",
        "{ }",
        "{\"a\":1}",
        "{\"a\":1,\"a\":2}",
        "{\"\":{\"b\":[{}]}}",
        " \t\r\n[ 1 , { \"a\" : null } ] \n",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(accepted); i++) {
        alk_error error = ALK_ERROR_INIT;
        if (check(alk__text_of(accepted[i]), &error) != ALK_OK)
            fail_msg("%s: %s", accepted[i], error.message);
    }
}

/* S17 */
static void every_refusal_names_the_column_the_place_and_the_reason(void **state) {
    static const struct {
        const char *text;
        int column;
        const char *rest;
    } refused[] = {
        {"hello", 1, "'hello' (a string is written '\"hello\"')"},
        {"hello world", 1, "'hello' (a string is written '\"hello\"')"},
        {"[1, yes]", 5, "'yes' (a string is written '\"yes\"')"},
        {"nulls", 1, "'nulls' (a string is written '\"nulls\"')"},
        {"gr\xC3\xBC\xC3\x9F", 1,
         "'gr\xC3\xBC\xC3\x9F' (a string is written '\"gr\xC3\xBC\xC3\x9F\"')"},
        {"", 1, "a value is missing"},
        {"  ", 3, "a value is missing"},
        {"True", 1, "'True' (the words are true, false and null)"},
        {"[None]", 2, "'None' (the words are true, false and null)"},
        {"undefined", 1, "'undefined' (the words are true, false and null)"},
        {"NaN", 1, "'NaN' (a number is finite)"},
        {"Infinity", 1, "'Infinity' (a number is finite)"},
        {"-Infinity", 2, "'Infinity' (a digit is missing)"},
        {"'x'", 1, "''x'' (strings take double quotes)"},
        {"{'a':1}", 2, "''a':1}' (a key is a string in double quotes)"},
        {"{a:1}", 2, "'a' (a key is a string in double quotes)"},
        {"{1:1}", 2, "'1' (a key is a string in double quotes)"},
        {"{,}", 2, "',}' (a key is a string in double quotes)"},
        {"{\"a\" 1}", 6, "'1' (a colon follows a key)"},
        {"{\"a\"", 5, "a colon follows a key"},
        {"{\"a\":}", 6, "'}' (a value is missing before the bracket)"},
        {"{\"a\":,", 6, "',' (a value is missing before the comma)"},
        {"{\"a\":1 \"b\":2}", 8, "'\"b\":2}' (a comma or '}' is missing)"},
        {"{\"a\":1]", 7, "']' (a comma or '}' is missing)"},
        {"{\"a\":1,}", 8, "'}' (no comma stands before a closing bracket)"},
        {"{\"a\":1", 7, "an object is not closed"},
        {"{\"a\":", 6, "an object is not closed"},
        {"{\"a\":1,", 8, "an object is not closed"},
        {"{", 2, "an object is not closed"},
        {"{\"a\":[1", 8, "an array is not closed"},
        {"[{\"a\":1", 8, "an object is not closed"},
        {"[1,2", 5, "an array is not closed"},
        {"[1,", 4, "an array is not closed"},
        {"[", 2, "an array is not closed"},
        {"[1 2]", 4, "'2' (a comma or ']' is missing)"},
        {"[1}", 3, "'}' (a comma or ']' is missing)"},
        {"[1, ]", 5, "']' (no comma stands before a closing bracket)"},
        {"[,1]", 2, "',1]' (a value is missing before the comma)"},
        {"[1,,2]", 4, "',2]' (a value is missing before the comma)"},
        {"]", 1, "']' (a value is missing before the bracket)"},
        {"\"abc", 1, "'\"abc' (a string is not closed)"},
        {"[\"abc]", 2, "'\"abc]' (a string is not closed)"},
        {"\"abc\\", 5, "'\\' (no such escape)"},
        {"\"\\x41\"", 2, "'\\x41\"' (no such escape)"},
        {"\"\\u12g4\"", 6, "'g4' (four hexadecimal digits follow a \\u)"},
        {"\"\\u12", 6, "four hexadecimal digits follow a \\u"},
        {"\"\\u0000\"", 2, "'\\u0000\"' (no database keeps a \\u0000 in a text)"},
        {"\"\\ud83d\"", 2, "'\\ud83d\"' (half of a surrogate pair)"},
        {"\"\\ude00\"", 2, "'\\ude00\"' (half of a surrogate pair)"},
        {"\"\\ud83d\\n\"", 2, "'\\ud83d\\n\"' (half of a surrogate pair)"},
        {"\"\\ud83d\\ud83d\"", 2, "'\\ud83d\\ud83d\"' (half of a surrogate pair)"},
        {"\"\\ud83d\\u00\"", 2, "'\\ud83d\\u00\"' (half of a surrogate pair)"},
        {"\"a\nb\"", 3, "'?b\"' (a control character in a string is written as an escape)"},
        {"01", 2, "'1' (a number does not begin with 0)"},
        {"-", 2, "a digit is missing"},
        {"-x", 2, "'x' (a digit is missing)"},
        {"1.", 3, "a digit is missing"},
        {"[1.]", 4, "']' (a digit is missing)"},
        {"1e", 3, "a digit is missing"},
        {"1e+", 4, "a digit is missing"},
        {"+1", 1, "'+1' (a number has no plus sign)"},
        {".5", 1, "'.5' (a number begins with a digit)"},
        {"0x10", 2, "'x10' (the text goes on after the value)"},
        {"1 2", 3, "'2' (the text goes on after the value)"},
        {"{} // done", 4, "'// done' (the text goes on after the value)"},
        {"// x\n1", 1, "'// x?1' (JSON has no comments)"},
        {"# x", 1, "'# x' (JSON has no comments)"},
        {"\xEF\xBB\xBF{}", 1, "'\xEF\xBB\xBF' (no byte order mark stands before JSON)"},
        {"@x", 1, "'@x' (no value begins like this)"},
        {"\f1", 1, "'?1' (no value begins like this)"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(refused); i++) {
        alk_error error = ALK_ERROR_INIT;
        char message[200];

        snprintf(message, sizeof(message), "payload is not JSON at column %d: %s",
                 refused[i].column, refused[i].rest);
        assert_int_equal(check(alk__text_of(refused[i].text), &error), ALK_INVALID);
        assert_string_equal(error.message, message);
    }
}

static void assert_refused(struct alk__text text, const char *message) {
    alk_error error = ALK_ERROR_INIT;

    assert_int_equal(check(text, &error), ALK_INVALID);
    assert_string_equal(error.message, message);
}

/* S17 */
static void text_that_is_not_utf8_or_has_a_nul_is_refused(void **state) {
    (void)state;
    assert_refused(ALK__TEXT("\"a\xFF\""), "payload is not UTF-8 at column 3");
    assert_refused(ALK__TEXT("\"\xED\xA0\x80\""), "payload is not UTF-8 at column 2");
    assert_refused(ALK__TEXT("\"\xC3"), "payload is not UTF-8 at column 2");
    assert_refused(ALK__TEXT("1\0"), "payload has a NUL byte at column 2");
    assert_refused(ALK__TEXT("\0"), "payload has a NUL byte at column 1");
    assert_refused(alk__text_of(NULL), "payload is not JSON at column 1: a value is missing");
}

/* count opening brackets and as many closing ones around nothing. */
static struct alk__text nested(char *room, size_t count, bool is_object) {
    const char *open = is_object ? "{\"\":" : "[";
    size_t width = strlen(open);

    for (size_t i = 0; i < count; i++)
        memcpy(room + i * width, open, width);
    room[count * width] = '1';
    memset(room + count * width + 1, is_object ? '}' : ']', count);
    return (struct alk__text){room, count * (width + 1) + 1};
}

/* S17 */
static void nesting_is_allowed_a_thousand_deep_and_no_deeper(void **state) {
    static char room[600001];

    (void)state;
    for (int is_object = 0; is_object < 2; is_object++) {
        assert_int_equal(check(nested(room, 1000, is_object), NULL), ALK_OK);
        assert_int_equal(check(nested(room, 1001, is_object), NULL), ALK_INVALID);
        assert_int_equal(check(nested(room, 100000, is_object), NULL), ALK_INVALID);
    }
    alk_error error = ALK_ERROR_INIT;
    assert_int_equal(check(nested(room, 1001, false), &error), ALK_INVALID);
    assert_non_null(strstr(error.message, "payload is not JSON at column 1001: '[1]]]"));
    assert_non_null(strstr(error.message, "(nested deeper than 1,000)"));
}

/* S17 */
static void a_text_above_the_limit_is_refused_and_one_at_it_is_not(void **state) {
    static char room[ALK__PAYLOAD_MAX + 1];
    alk_error error = ALK_ERROR_INIT;

    (void)state;
    memset(room, 'x', sizeof(room));
    room[0] = room[ALK__PAYLOAD_MAX - 1] = '"';
    assert_int_equal(check((struct alk__text){room, ALK__PAYLOAD_MAX}, NULL), ALK_OK);
    assert_refused((struct alk__text){room, ALK__PAYLOAD_MAX + 1},
                   "payload is 1,048,577 bytes, above the limit of 1,048,576");
    assert_int_equal(alk__json_check("headers", ALK__TEXT("[1]"), 2, &error), ALK_INVALID);
    assert_string_equal(error.message, "headers is 3 bytes, above the limit of 2");
}

/* Made-up values: they are JSON because of how they are made, and no beginning of one is. */
static uint64_t bits;

static unsigned draw(unsigned below) {
    bits = bits * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(bits >> 33) % below;
}

static void add_value(struct alk__buffer *buffer, int depth) {
    static const char *const leaves[] = {"null",       "true", "false",    "0",
                                         "-1.5e+7",    "\"\"", "\"x\"",    "\"\\u00e9\"",
                                         "\"\\\"]}\"", "12.0", "\" , : \""};
    static const char *const blanks[] = {"", "", " ", "\n", "\t "};
    bool is_object = draw(2) == 0;
    unsigned count = draw(4);

    alk__buffer_add_text(buffer, blanks[draw(COUNT(blanks))]);
    if (depth > 5 || draw(3) == 0) {
        alk__buffer_add_text(buffer, leaves[draw(COUNT(leaves))]);
    } else {
        alk__buffer_add_text(buffer, is_object ? "{" : "[");
        for (unsigned i = 0; i < count; i++) {
            if (i > 0)
                alk__buffer_add_text(buffer, ",");
            if (is_object)
                alk__buffer_addf(buffer, "\"k%u\"%s:", i, blanks[draw(COUNT(blanks))]);
            add_value(buffer, depth + 1);
        }
        alk__buffer_add_text(buffer, is_object ? "}" : "]");
    }
    alk__buffer_add_text(buffer, blanks[draw(COUNT(blanks))]);
}

static void made_up_values_are_accepted_and_no_part_of_one_is(void **state) {
    struct alk__buffer buffer = ALK__BUFFER_INIT(100000);

    (void)state;
    bits = 20261201;
    for (int i = 0; i < 3000; i++) {
        alk_error error = ALK_ERROR_INIT;

        alk__buffer_clear(&buffer);
        alk__buffer_add_text(&buffer, "[");
        add_value(&buffer, 0);
        alk__buffer_add_text(&buffer, "]");
        if (check((struct alk__text){buffer.bytes, buffer.length}, &error) != ALK_OK)
            fail_msg("%s: %s", buffer.bytes, error.message);
        for (size_t length = 0; length < buffer.length; length += 1 + draw(5))
            if (check((struct alk__text){buffer.bytes, length}, NULL) != ALK_INVALID)
                fail_msg("%.*s", (int)length, buffer.bytes);
    }
    alk__buffer_release(&buffer);
}

static void an_object_is_told_from_other_values(void **state) {
    (void)state;
    assert_true(alk__json_is_object(ALK__TEXT("{}")));
    assert_true(alk__json_is_object(ALK__TEXT(" \t\r\n{\"a\":1}")));
    assert_false(alk__json_is_object(ALK__TEXT("[{}]")));
    assert_false(alk__json_is_object(ALK__TEXT("\"{}\"")));
    assert_false(alk__json_is_object(ALK__TEXT("")));
    assert_false(alk__json_is_object(alk__text_of(NULL)));
}

static void a_string_is_written_so_that_it_is_json_again(void **state) {
    const struct {
        struct alk__text text;
        const char *written;
    } strings[] = {
        {ALK__TEXT(""), "\"\""},
        {ALK__TEXT("plain"), "\"plain\""},
        {ALK__TEXT("gr\xC3\xBC\xC3\x9F"), "\"gr\xC3\xBC\xC3\x9F\""},
        {ALK__TEXT("\"\\/"), "\"\\\"\\\\/\""},
        {ALK__TEXT("\b\f\n\r\t"), "\"\\b\\f\\n\\r\\t\""},
        {ALK__TEXT("\x01\x1F\x7F"), "\"\\u0001\\u001f\x7F\""},
        {ALK__TEXT("a\0b"), "\"a\xEF\xBF\xBD"
                            "b\""},
        {ALK__TEXT("\xFF\xC3"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\""},
    };
    struct alk__buffer buffer = ALK__BUFFER_INIT(1000);

    (void)state;
    for (size_t i = 0; i < COUNT(strings); i++) {
        alk__buffer_clear(&buffer);
        alk__json_add_string(&buffer, strings[i].text);
        assert_string_equal(buffer.bytes, strings[i].written);
    }
    alk__buffer_release(&buffer);
}

static void any_bytes_at_all_are_written_as_a_string_that_is_accepted(void **state) {
    struct alk__buffer buffer = ALK__BUFFER_INIT(1000);
    char bytes[20];

    (void)state;
    bits = 20261201;
    for (int i = 0; i < 20000; i++) {
        for (size_t at = 0; at < sizeof(bytes); at++)
            bytes[at] = (char)draw(256);
        alk__buffer_clear(&buffer);
        alk__json_add_string(&buffer, (struct alk__text){bytes, draw(sizeof(bytes) + 1)});
        assert_int_equal(check((struct alk__text){buffer.bytes, buffer.length}, NULL), ALK_OK);
    }
    alk__buffer_release(&buffer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_json_text_is_accepted),
        cmocka_unit_test(every_refusal_names_the_column_the_place_and_the_reason),
        cmocka_unit_test(text_that_is_not_utf8_or_has_a_nul_is_refused),
        cmocka_unit_test(nesting_is_allowed_a_thousand_deep_and_no_deeper),
        cmocka_unit_test(a_text_above_the_limit_is_refused_and_one_at_it_is_not),
        cmocka_unit_test(made_up_values_are_accepted_and_no_part_of_one_is),
        cmocka_unit_test(an_object_is_told_from_other_values),
        cmocka_unit_test(a_string_is_written_so_that_it_is_json_again),
        cmocka_unit_test(any_bytes_at_all_are_written_as_a_string_that_is_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
