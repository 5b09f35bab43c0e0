/* tests/support/tsv.c: reads the vectors. */
#include "support/tsv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/duration.h"

struct tsv tsv_open(const char *name) {
    struct tsv tsv = {.line = 0};
    char path[1024];
    const size_t size = 1 << 20;

    snprintf(path, sizeof(path), "%s/tests/vectors/%s", ALK_TEST_SOURCE_DIR, name);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        fail_msg("%s is not there", path);
    tsv.bytes = malloc(size);
    assert_non_null(tsv.bytes);
    tsv.bytes[fread(tsv.bytes, 1, size - 1, file)] = '\0';
    fclose(file);
    tsv.next = tsv.bytes;
    assert_true(tsv_next(&tsv));
    assert_int_equal('#', tsv.field[0][0]);
    return tsv;
}

/* Cuts *text at the first separator and moves it behind; NULL when there is nothing left. */
static char *cut(char **text, char separator) {
    char *piece = *text;

    if (piece == NULL)
        return NULL;
    char *end = strchr(piece, separator);
    *text = end == NULL ? NULL : end + 1;
    if (end != NULL)
        *end = '\0';
    return piece;
}

bool tsv_next(struct tsv *tsv) {
    static char empty[] = "";
    char *line = cut(&tsv->next, '\n');

    if (line == NULL || (tsv->next == NULL && line[0] == '\0'))
        return false;
    tsv->line++;
    for (int i = 0; i < TSV_FIELDS_MAX; i++) {
        char *field = cut(&line, '\t');
        tsv->field[i] = field == NULL ? empty : field;
    }
    return true;
}

void tsv_close(struct tsv *tsv) {
    free(tsv->bytes);
}

char *tsv_word(char **text) {
    char *word = cut(text, ' ');

    return word == NULL || word[0] == '\0' ? NULL : word;
}

int64_t seconds_of(const char *text) {
    alk_error error = ALK_ERROR_INIT;
    int64_t us = 0;

    if (alk__time_parse(alk__text_of(text), &us, &error) < 0)
        fail_msg("%s", error.message);
    return us / ALK__SECOND;
}
