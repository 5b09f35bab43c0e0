/* tests/fuzz/replay.c: gives a fuzz program the files of its corpus one by one, as a test. What
 * fuzzing found once is not found again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#define INPUT_BYTES_MAX ((size_t)4 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t length);

/* The input has exactly its length, so that a sanitizer sees a read behind it. */
static void replay(const char *name) {
    char path[1024];
    FILE *file;
    uint8_t *room = malloc(INPUT_BYTES_MAX);
    uint8_t *input;
    size_t length;

    snprintf(path, sizeof(path), "%s/%s", ALK_FUZZ_CORPUS, name);
    print_message("# %s\n", name);
    file = fopen(path, "re");
    assert_non_null(file);
    assert_non_null(room);
    length = fread(room, 1, INPUT_BYTES_MAX, file);
    assert_true(feof(file));
    fclose(file);
    input = realloc(room, length > 0 ? length : 1);
    assert_non_null(input);
    assert_int_equal(LLVMFuzzerTestOneInput(input, length), 0);
    free(input);
}

static void every_input_of_the_corpus_is_taken(void **state) {
    DIR *folder = opendir(ALK_FUZZ_CORPUS);
    int count = 0;

    (void)state;
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        replay(entry->d_name);
        count++;
    }
    closedir(folder);
    assert_true(count > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_input_of_the_corpus_is_taken)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
