/* base/utf8: which bytes are UTF-8, checked against an encoder, and the rule for names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"

/* Writes a code point as the bit patterns of RFC 3629 have it, without asking whether it may be. */
static size_t encode(uint32_t code, size_t length, char bytes[4]) {
    static const unsigned first[] = {0, 0, 0xC0, 0xE0, 0xF0};

    for (size_t i = length - 1; i > 0; i--, code >>= 6)
        bytes[i] = (char)(0x80 | (code & 0x3F));
    bytes[0] = (char)(first[length] | code);
    return length;
}

static size_t shortest(uint32_t code) {
    return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

static void exactly_the_shortest_form_of_every_character_is_valid(void **state) {
    (void)state;
    for (uint32_t code = 0; code <= 0x1FFFFF; code++) {
        bool is_character = code > 0 && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);

        for (size_t length = shortest(code); length <= 4; length++) {
            char bytes[4];
            bool is_valid = is_character && length == shortest(code);

            encode(code, length, bytes);
            if (alk__utf8_step(bytes, length) != (is_valid ? length : 0))
                fail_msg("U+%04X in %zu bytes", code, length);
            if (is_valid && length > 1 && alk__utf8_step(bytes, length - 1) != 0)
                fail_msg("U+%04X cut by a byte", code);
        }
    }
}

static void a_tail_byte_is_wrong_where_none_belongs(void **state) {
    char bytes[4];

    (void)state;
    for (uint32_t code = 0x80; code <= 0x10FFFF; code += 0x3F1) {
        size_t length = shortest(code);

        if (code >= 0xD800 && code <= 0xDFFF)
            continue;
        for (size_t at = 1; at < length; at++) {
            encode(code, length, bytes);
            bytes[at] = 'x';
            assert_int_equal(alk__utf8_step(bytes, length), 0);
            bytes[at] = (char)0xC3;
            assert_int_equal(alk__utf8_step(bytes, length), 0);
        }
    }
    for (unsigned first = 0x80; first <= 0xFF; first++) {
        bytes[0] = (char)first;
        assert_int_equal(alk__utf8_step(bytes, 1), 0);
    }
    assert_int_equal(alk__utf8_step("", 0), 0);
}

static void the_first_wrong_byte_is_told(void **state) {
    size_t at = 77;

    (void)state;
    assert_true(alk__utf8_is_valid("gr\xC3\xBC\xC3\x9F", 6, &at));
    assert_true(alk__utf8_is_valid(NULL, 0, &at));
    assert_int_equal(at, 77);
    assert_false(alk__utf8_is_valid("gr\xC3\xBC\xFF", 5, &at));
    assert_int_equal(at, 4);
    assert_false(alk__utf8_is_valid("ab\0c", 4, &at));
    assert_int_equal(at, 2);
    assert_false(alk__utf8_is_valid("abc\xC3", 4, &at));
    assert_int_equal(at, 3);
    assert_false(alk__utf8_is_valid("\xED\xA0\x80", 3, NULL));
}

static void assert_name_refused(const char *name, const char *message) {
    alk_error error = ALK_ERROR_INIT;

    assert_int_equal(alk__name_check("queue", name, &error), ALK_INVALID);
    assert_int_equal(error.error_class, ALK_CLASS_USAGE);
    assert_string_equal(error.message, message);
    assert_int_equal(alk__name_check("queue", name, NULL), ALK_INVALID);
}

/* S212 */
static void a_name_is_1_to_200_bytes_of_utf8_without_control_characters(void **state) {
    char name[ALK__NAME_MAX + 2] = {0};

    (void)state;
    memset(name, 'n', ALK__NAME_MAX);
    assert_int_equal(alk__name_check("queue", name, NULL), ALK_OK);
    assert_int_equal(alk__name_check("queue", "x", NULL), ALK_OK);
    assert_int_equal(alk__name_check("queue", "my queue/\xC3\xBC '\"; --", NULL), ALK_OK);
    name[ALK__NAME_MAX] = 'n';
    assert_name_refused(name, "queue name 'nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn...' is 201 "
                              "bytes, above the limit of 200");
    assert_name_refused("", "queue name is empty");
    assert_name_refused(NULL, "queue name is empty");
    assert_name_refused("a\nb", "queue name 'a?b' has a control character at column 2");
    assert_name_refused("a\x7F", "queue name 'a?' has a control character at column 2");
    assert_name_refused("\xC2\x85", "queue name '?' has a control character at column 1");
    assert_name_refused("ab\xFF", "queue name 'ab?' is not UTF-8 at column 3");
    assert_name_refused("\xED\xA0\x80", "queue name '?"
                                        "?"
                                        "?' is not UTF-8 at column 1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exactly_the_shortest_form_of_every_character_is_valid),
        cmocka_unit_test(a_tail_byte_is_wrong_where_none_belongs),
        cmocka_unit_test(the_first_wrong_byte_is_told),
        cmocka_unit_test(a_name_is_1_to_200_bytes_of_utf8_without_control_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
