/* base/text: slices, buffers with a maximum, and how a message shows what somebody wrote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/text.h"

static void a_slice_is_equal_by_its_bytes_and_null_is_only_null(void **state) {
    struct alk__text null = alk__text_of(NULL);

    (void)state;
    assert_true(alk__text_equal(ALK__TEXT("a\0b"), (struct alk__text){"a\0b", 3}));
    assert_false(alk__text_equal(ALK__TEXT("a\0b"), ALK__TEXT("a\0c")));
    assert_false(alk__text_equal(ALK__TEXT("ab"), ALK__TEXT("abc")));
    assert_true(alk__text_equal(null, null));
    assert_false(alk__text_equal(null, ALK__TEXT("")));
    assert_true(alk__text_equal(ALK__TEXT(""), alk__text_of("")));
    assert_true(alk__text_is((struct alk__text){"hours", 4}, "hour"));
    assert_false(alk__text_is((struct alk__text){"hours", 4}, "hours"));
}

static void a_buffer_holds_what_was_added_and_ends_in_a_nul(void **state) {
    struct alk__buffer buffer = ALK__BUFFER_INIT(100000);

    (void)state;
    alk__buffer_add(&buffer, "", 0);
    assert_string_equal(buffer.bytes, "");
    alk__buffer_add_text(&buffer, "one");
    alk__buffer_add(&buffer, "\0two", 4);
    alk__buffer_addf(&buffer, " %d %s", 3, "four");
    assert_memory_equal(buffer.bytes, "one\0two 3 four", sizeof("one\0two 3 four"));
    assert_int_equal(buffer.length, sizeof("one\0two 3 four") - 1);

    alk__buffer_clear(&buffer);
    assert_string_equal(buffer.bytes, "");
    for (int i = 0; i < 50000; i++)
        alk__buffer_addf(&buffer, "%c", 'a' + i % 26);
    assert_false(buffer.is_failed);
    assert_int_equal(strlen(buffer.bytes), 50000);
    for (int i = 0; i < 50000; i++)
        assert_int_equal(buffer.bytes[i], 'a' + i % 26);
    alk__buffer_release(&buffer);
    assert_null(buffer.bytes);
    assert_int_equal(buffer.maximum, 100000);
}

static void a_buffer_is_never_longer_than_its_maximum(void **state) {
    struct alk__buffer buffer = ALK__BUFFER_INIT(100);
    char many[101] = {0};

    (void)state;
    memset(many, 'x', 100);
    alk__buffer_add_text(&buffer, many);
    assert_false(buffer.is_failed);
    assert_true(buffer.capacity <= 101);
    alk__buffer_add_text(&buffer, "y");
    assert_true(buffer.is_failed);
    assert_string_equal(buffer.bytes, many);

    /* What failed stays failed: a text with a hole in it is worse than none. */
    alk__buffer_clear(&buffer);
    alk__buffer_add_text(&buffer, "begin");
    alk__buffer_add_text(&buffer, many);
    alk__buffer_add_text(&buffer, "end");
    assert_true(buffer.is_failed);
    assert_string_equal(buffer.bytes, "begin");
    alk__buffer_clear(&buffer);
    alk__buffer_addf(&buffer, "%s%s", many, "y");
    assert_true(buffer.is_failed);
    assert_int_equal(buffer.length, 0);
    alk__buffer_release(&buffer);
}

static void a_buffer_of_any_maximum_takes_exactly_that(void **state) {
    (void)state;
    for (size_t maximum = 0; maximum < 300; maximum++) {
        struct alk__buffer buffer = ALK__BUFFER_INIT(maximum);

        for (size_t i = 0; i < maximum; i++)
            alk__buffer_add(&buffer, "x", 1);
        assert_false(buffer.is_failed);
        assert_int_equal(buffer.length, maximum);
        alk__buffer_add(&buffer, "x", 1);
        assert_true(buffer.is_failed);
        alk__buffer_release(&buffer);
    }
}

/* S218 */
static void a_buffer_that_finds_no_memory_keeps_what_it_has(void **state) {
    (void)state;
    for (long n = 1;; n++) {
        struct alk__buffer buffer = ALK__BUFFER_INIT(100000);
        size_t added = 0;

        alk__alloc_fail_at(n);
        for (int i = 0; i < 1000 && !buffer.is_failed; i++) {
            alk__buffer_addf(&buffer, "%04d", i);
            added += buffer.is_failed ? 0 : 4;
        }
        alk__alloc_fail_at(0);
        assert_int_equal(buffer.length, added);
        assert_true(buffer.bytes == NULL || strlen(buffer.bytes) == added);
        bool is_whole = !buffer.is_failed;
        alk__buffer_release(&buffer);
        if (is_whole) {
            assert_int_equal(added, 4000);
            assert_true(n > 3);
            break;
        }
    }
}

static void an_excerpt_is_one_short_line_of_utf8(void **state) {
    static const char control[] = "a\nb\tc\x1B[31m\x7F\xC2\x85";
    char text[90];

    (void)state;
    assert_string_equal(alk__excerpt_of(ALK__TEXT("hello")).text, "hello");
    assert_string_equal(alk__excerpt_of(ALK__TEXT("")).text, "");
    assert_string_equal(alk__excerpt_of(alk__text_of(NULL)).text, "");
    assert_string_equal(alk__excerpt_of(ALK__TEXT("a\0b")).text, "a?b");
    assert_string_equal(alk__excerpt_of(alk__text_of(control)).text, "a?b?c?[31m??");
    assert_string_equal(alk__excerpt_of(ALK__TEXT("\xFF\xE2\x82\xAC\xE2\x82")).text,
                        "?\xE2\x82\xAC??");

    for (size_t shift = 0; shift < 4; shift++) {
        memset(text, 'x', sizeof(text));
        for (size_t at = shift; at + 4 < sizeof(text); at += 4)
            memcpy(text + at, "\xF0\x9F\x98\x80", 4);
        struct alk__excerpt excerpt = alk__excerpt_of((struct alk__text){text, sizeof(text)});
        size_t length = strlen(excerpt.text);
        assert_true(length < sizeof(excerpt.text) && length > 40);
        assert_true(alk__utf8_is_valid(excerpt.text, length, NULL));
        assert_string_equal(excerpt.text + length - 3, "...");
    }
}

static void an_excerpt_of_what_just_fits_is_whole(void **state) {
    (void)state;
    for (size_t length = 0; length < 60; length++) {
        char text[61] = {0};
        memset(text, 'x', length);
        struct alk__excerpt excerpt = alk__excerpt_of(alk__text_of(text));
        if (length <= 44)
            assert_string_equal(excerpt.text, text);
        else
            assert_string_equal(excerpt.text + 44, "...");
    }
}

static void large_numbers_have_their_thousands_apart(void **state) {
    (void)state;
    assert_string_equal(alk__number_of(0).text, "0");
    assert_string_equal(alk__number_of(999).text, "999");
    assert_string_equal(alk__number_of(1000).text, "1,000");
    assert_string_equal(alk__number_of(1048576).text, "1,048,576");
    assert_string_equal(alk__number_of(UINT64_MAX).text, "18,446,744,073,709,551,615");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slice_is_equal_by_its_bytes_and_null_is_only_null),
        cmocka_unit_test(a_buffer_holds_what_was_added_and_ends_in_a_nul),
        cmocka_unit_test(a_buffer_is_never_longer_than_its_maximum),
        cmocka_unit_test(a_buffer_of_any_maximum_takes_exactly_that),
        cmocka_unit_test(a_buffer_that_finds_no_memory_keeps_what_it_has),
        cmocka_unit_test(an_excerpt_is_one_short_line_of_utf8),
        cmocka_unit_test(an_excerpt_of_what_just_fits_is_whole),
        cmocka_unit_test(large_numbers_have_their_thousands_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
