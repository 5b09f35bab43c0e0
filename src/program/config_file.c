/* program/config_file.c: the reader of the configuration file. */
#include "program/config_file.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

static bool is_blank(char byte) {
    return byte == ' ' || byte == '\t' || byte == '\r';
}

/* The text without blanks at its ends, cut in place. */
static char *trim(char *text) {
    size_t length;

    while (is_blank(*text))
        text++;
    length = strlen(text);
    while (length > 0 && is_blank(text[length - 1]))
        length--;
    text[length] = '\0';
    return text;
}

static alk_status read_section(char *text, struct alk__config_line *line, alk_error *error) {
    size_t length = strlen(text);
    char *word = text + 1;
    char *end;

    if (text[length - 1] != ']')
        return alk__fail(error, ALK_INVALID, "a section is written [section] or [section NAME]");
    text[length - 1] = '\0';
    word = trim(word);
    end = word + strcspn(word, " \t");
    line->name = "";
    if (*end != '\0') {
        *end = '\0';
        line->name = trim(end + 1);
    }
    line->section = word;
    line->key = NULL;
    line->value = NULL;
    return ALK_OK;
}

static alk_status read_entry(char *text, struct alk__config_line *line, alk_error *error) {
    char *equals = strchr(text, '=');

    if (equals == NULL || equals == text)
        return alk__fail(error, ALK_INVALID, "'%s' is neither [section] nor key = value",
                         alk__excerpt_of(alk__text_of(text)).text);
    *equals = '\0';
    line->key = trim(text);
    line->value = trim(equals + 1);
    if (line->section == NULL)
        return alk__fail(error, ALK_INVALID, "'%s' stands before the first [section]", line->key);
    return ALK_OK;
}

static alk_status read_line(char *text, struct alk__config_line *line, alk__config_fn function,
                            void *context, alk_error *error) {
    alk_status st;

    if (!alk__utf8_is_valid(text, strlen(text), NULL))
        return alk__fail(error, ALK_INVALID, "is not UTF-8");
    text = trim(text);
    if (*text == '\0' || *text == '#' || *text == ';')
        return ALK_OK;
    st = *text == '[' ? read_section(text, line, error) : read_entry(text, line, error);
    return st == ALK_OK ? function(line, context, error) : st;
}

static alk_status read_lines(const char *path, char *text, alk__config_fn function, void *context,
                             alk_error *error) {
    struct alk__config_line line = {.number = 1};

    for (char *next; text != NULL; text = next, line.number++) {
        char *end = strchr(text, '\n');
        alk_status st;

        next = end != NULL ? end + 1 : NULL;
        if (end != NULL)
            *end = '\0';
        st = read_line(text, &line, function, context, error);
        if (st != ALK_OK)
            return alk__wrap(error, st, "%s:%d", path, line.number);
    }
    return ALK_OK;
}

static alk_status read_file(const char *path, FILE *file, struct alk__arena *arena, char **ret_text,
                            alk_error *error) {
    char *text = alk__arena_alloc(arena, ALK__CONFIG_BYTES_MAX + 1);
    size_t length;

    if (text == NULL)
        return alk__nomem(error);
    length = fread(text, 1, ALK__CONFIG_BYTES_MAX + 1, file);
    if (ferror(file))
        return alk__fail(error, ALK_FAILED, "cannot read '%s': %s", path,
                         alk__reason_of(errno).text);
    if (length > ALK__CONFIG_BYTES_MAX)
        return alk__fail(error, ALK_INVALID, "'%s' is larger than %s bytes", path,
                         alk__number_of(ALK__CONFIG_BYTES_MAX).text);
    if (memchr(text, '\0', length) != NULL)
        return alk__fail(error, ALK_INVALID, "'%s' is not text: it has a NUL byte", path);
    text[length] = '\0';
    *ret_text = text;
    return ALK_OK;
}

alk_status alk__config_file_read(const char *path, struct alk__arena *arena,
                                 alk__config_fn function, void *context, alk_error *error) {
    FILE *file = fopen(path, "re");
    char *text = NULL;
    alk_status st;

    if (file == NULL)
        return alk__fail(error, errno == ENOENT ? ALK_ABSENT : ALK_FAILED, "cannot read '%s': %s",
                         path, alk__reason_of(errno).text);
    st = read_file(path, file, arena, &text, error);
    fclose(file);
    return st == ALK_OK ? read_lines(path, text, function, context, error) : st;
}
