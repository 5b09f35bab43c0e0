/* base/arena: the one door to memory, and memory that is given back all at once. */
#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"

static void pieces_are_zeroed_aligned_and_apart(void **state) {
    static const size_t sizes[] = {0, 1, 7, 16, 17, 100, 999, 1000, 1001, 4000, 4001, 100000};
    enum { PIECES = 600 };
    struct alk__arena arena = {NULL};
    unsigned char *pieces[PIECES];

    (void)state;
    for (size_t i = 0; i < PIECES; i++) {
        size_t size = sizes[i % (sizeof(sizes) / sizeof(*sizes))];
        pieces[i] = alk__arena_alloc(&arena, size);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % alignof(max_align_t), 0);
        for (size_t at = 0; at < size; at++)
            assert_int_equal(pieces[i][at], 0);
        memset(pieces[i], (int)(i % 255 + 1), size);
    }
    for (size_t i = 0; i < PIECES; i++) {
        size_t size = sizes[i % (sizeof(sizes) / sizeof(*sizes))];
        for (size_t at = 0; at < size; at++)
            assert_int_equal(pieces[i][at], i % 255 + 1);
    }
    alk__arena_free(&arena);
    assert_null(arena.block);
    alk__arena_free(&arena);
}

/* Otherwise a result of many small rows between large ones would take a block a row. */
static void a_large_piece_leaves_the_room_of_the_block_in_use(void **state) {
    struct alk__arena arena = {NULL};

    (void)state;
    char *first = alk__arena_alloc(&arena, 16);
    char *large = alk__arena_alloc(&arena, 100000);
    char *second = alk__arena_alloc(&arena, 16);
    assert_non_null(large);
    assert_ptr_equal(second, first + 16);
    alk__arena_free(&arena);
}

static void copies_end_in_a_nul(void **state) {
    struct alk__arena arena = {NULL};

    (void)state;
    assert_string_equal(alk__arena_text(&arena, "nightly"), "nightly");
    assert_string_equal(alk__arena_copy(&arena, "nightly", 5), "night");
    assert_string_equal(alk__arena_copy(&arena, NULL, 0), "");
    assert_memory_equal(alk__arena_copy(&arena, "a\0b", 3), "a\0b", 4);
    alk__arena_free(&arena);
}

/* S218 */
static void a_size_that_cannot_be_is_refused(void **state) {
    struct alk__arena arena = {NULL};

    (void)state;
    assert_null(alk__arena_alloc(&arena, SIZE_MAX));
    assert_null(alk__arena_alloc(&arena, SIZE_MAX - 20));
    assert_null(alk__arena_copy(&arena, "x", SIZE_MAX));
    assert_non_null(alk__arena_alloc(&arena, 1));
    alk__arena_free(&arena);
}

/* S218 */
static void the_nth_allocation_fails_and_only_that_one(void **state) {
    void *memory;

    (void)state;
    alk__alloc_fail_at(2);
    alk__free(memory = alk__alloc(8));
    assert_non_null(memory);
    assert_null(alk__realloc(NULL, 8));
    alk__free(memory = alk__realloc(NULL, 8));
    assert_non_null(memory);

    alk__alloc_fail_at(1);
    alk__alloc_fail_at(0);
    alk__free(memory = alk__alloc(0));
    assert_non_null(memory);
}

/* S218 */
static void a_failed_resize_leaves_the_memory_as_it_was(void **state) {
    (void)state;
    char *memory = alk__alloc(4);
    memcpy(memory, "abc", 4);
    alk__alloc_fail_at(1);
    assert_null(alk__realloc(memory, 1000));
    assert_string_equal(memory, "abc");
    alk__free(memory);
}

/* S218 */
static void an_arena_without_memory_says_so_and_keeps_what_it_has(void **state) {
    static const char large[100000];
    struct alk__arena arena = {NULL};

    (void)state;
    alk__alloc_fail_at(1);
    assert_null(alk__arena_alloc(&arena, 16));
    char *kept = alk__arena_text(&arena, "kept");
    alk__alloc_fail_at(1);
    assert_null(alk__arena_copy(&arena, large, sizeof(large)));
    alk__alloc_fail_at(1);
    assert_null(alk__arena_alloc(&arena, 3990));
    assert_string_equal(kept, "kept");
    alk__alloc_fail_at(0);
    alk__arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_zeroed_aligned_and_apart),
        cmocka_unit_test(a_large_piece_leaves_the_room_of_the_block_in_use),
        cmocka_unit_test(copies_end_in_a_nul),
        cmocka_unit_test(a_size_that_cannot_be_is_refused),
        cmocka_unit_test(the_nth_allocation_fails_and_only_that_one),
        cmocka_unit_test(a_failed_resize_leaves_the_memory_as_it_was),
        cmocka_unit_test(an_arena_without_memory_says_so_and_keeps_what_it_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
