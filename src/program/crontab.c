/* program/crontab.c: the reader of crontabs. */
#include "program/crontab.h"

#include <string.h>

#include "base/error.h"

#define FIELDS 5

/* ---- pieces of a line ---- */

static bool is_blank(char byte) {
    return byte == ' ' || byte == '\t';
}

static bool is_letter(char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
}

static struct alk__text without_blanks(struct alk__text text) {
    while (text.length > 0 && is_blank(text.bytes[0])) {
        text.bytes++;
        text.length--;
    }
    while (text.length > 0 && is_blank(text.bytes[text.length - 1]))
        text.length--;
    return text;
}

/* Takes the first word of rest, and the blanks behind it. */
static struct alk__text take_word(struct alk__text *rest) {
    struct alk__text word = {rest->bytes, 0};

    while (word.length < rest->length && !is_blank(rest->bytes[word.length]))
        word.length++;
    *rest =
        without_blanks((struct alk__text){rest->bytes + word.length, rest->length - word.length});
    return word;
}

/* The next line without its break; one that ends in CR LF loses both. */
static struct alk__text take_line(struct alk__crontab *crontab) {
    const char *start = crontab->text.bytes + crontab->at;
    size_t left = crontab->text.length - crontab->at;
    const char *end = memchr(start, '\n', left);
    struct alk__text line = {start, end != NULL ? (size_t)(end - start) : left};

    crontab->at += line.length + (end != NULL);
    crontab->number++;
    if (line.length > 0 && line.bytes[line.length - 1] == '\r')
        line.length--;
    return without_blanks(line);
}

static void refuse(struct alk__crontab_line *line, const char *reason) {
    line->kind = ALK__CRONTAB_BROKEN;
    line->reason = reason;
}

/* ---- NAME=VALUE ---- */

/* The place of the = in a line that sets a variable, 0 in others. */
static size_t find_equals(struct alk__text text) {
    size_t at = 0;

    while (at < text.length && (is_letter(text.bytes[at]) ||
                                (at > 0 && text.bytes[at] >= '0' && text.bytes[at] <= '9')))
        at++;
    while (at > 0 && at < text.length && is_blank(text.bytes[at]))
        at++;
    return at < text.length && text.bytes[at] == '=' ? at : 0;
}

static alk_status read_variable(struct alk__crontab *crontab, size_t equals,
                                struct alk__crontab_line *line, alk_error *error) {
    const char *bytes = line->text.bytes;
    struct alk__text name = without_blanks((struct alk__text){bytes, equals});
    struct alk__text value =
        without_blanks((struct alk__text){bytes + equals + 1, line->text.length - equals - 1});
    char quote = value.length > 0 ? value.bytes[0] : '\0';

    if (quote == '"' || quote == '\'') {
        const char *end = memchr(value.bytes + 1, quote, value.length - 1);

        if (end != value.bytes + value.length - 1) {
            refuse(line, "its quotes do not enclose the whole value");
            return ALK_OK;
        }
        value = (struct alk__text){value.bytes + 1, value.length - 2};
    }
    line->kind = ALK__CRONTAB_VARIABLE;
    line->name = alk__arena_copy(crontab->memory, name.bytes, name.length);
    line->value = alk__arena_copy(crontab->memory, value.bytes, value.length);
    return line->name == NULL || line->value == NULL ? alk__nomem(error) : ALK_OK;
}

/* ---- entries ---- */

/* Takes the spec; NULL is left in line where it is not whole. */
static alk_status take_spec(struct alk__crontab *crontab, struct alk__text *rest,
                            struct alk__crontab_line *line, alk_error *error) {
    int fields = rest->bytes[0] == '@' ? 1 : FIELDS;
    char *spec = alk__arena_alloc(crontab->memory, rest->length + 1);
    size_t length = 0;

    if (spec == NULL)
        return alk__nomem(error);
    for (int i = 0; i < fields; i++) {
        struct alk__text word = take_word(rest);

        if (word.length == 0)
            return ALK_OK;
        if (i > 0)
            spec[length++] = ' ';
        memcpy(spec + length, word.bytes, word.length);
        length += word.length;
    }
    line->spec = spec;
    return ALK_OK;
}

/* Copies up to the first % without a backslash, or all of it when is_input: there such a % is a
 * line break. Gives how much was taken; only \% loses its backslash. */
static size_t copy_unescaped(struct alk__text text, bool is_input, char *copy, size_t *ret_length) {
    size_t at = 0, length = 0;

    for (; at < text.length && (is_input || text.bytes[at] != '%'); at++) {
        char byte = text.bytes[at];

        if (byte == '\\' && at + 1 < text.length) {
            if (text.bytes[at + 1] != '%')
                copy[length++] = byte;
            copy[length++] = text.bytes[++at];
        } else {
            copy[length++] = byte == '%' ? '\n' : byte;
        }
    }
    *ret_length = length;
    return at;
}

static alk_status split_command(struct alk__crontab *crontab, struct alk__text text,
                                struct alk__crontab_line *line, alk_error *error) {
    char *command = alk__arena_alloc(crontab->memory, text.length + 1);
    char *input = alk__arena_alloc(crontab->memory, text.length + 2);
    size_t length, taken;

    if (command == NULL || input == NULL)
        return alk__nomem(error);
    taken = copy_unescaped(text, false, command, &length);
    line->command = command;
    if (taken == text.length)
        return ALK_OK;
    text = (struct alk__text){text.bytes + taken + 1, text.length - taken - 1};
    copy_unescaped(text, true, input, &length);
    if (length > 0 && input[length - 1] != '\n')
        input[length] = '\n';
    line->input = input;
    return ALK_OK;
}

static alk_status read_entry(struct alk__crontab *crontab, struct alk__crontab_line *line,
                             alk_error *error) {
    struct alk__text rest = line->text;
    struct alk__text user = {NULL, 0};
    alk_status st = take_spec(crontab, &rest, line, error);

    if (st != ALK_OK)
        return st;
    if (crontab->is_system)
        user = take_word(&rest);
    if (line->spec == NULL || rest.length == 0 || rest.bytes[0] == '%') {
        refuse(line, crontab->is_system
                         ? "it has neither five fields or a word with @, a user and a command, nor "
                           "NAME=VALUE"
                         : "it has neither five fields or a word with @ and a command, nor "
                           "NAME=VALUE");
        return ALK_OK;
    }
    line->kind = ALK__CRONTAB_ENTRY;
    if (crontab->is_system) {
        line->user = alk__arena_copy(crontab->memory, user.bytes, user.length);
        if (line->user == NULL)
            return alk__nomem(error);
    }
    return split_command(crontab, rest, line, error);
}

alk_status alk__crontab_next(struct alk__crontab *crontab, struct alk__crontab_line *ret_line,
                             alk_error *error) {
    struct alk__crontab_line line = {.kind = ALK__CRONTAB_BLANK};
    alk_status st = ALK_OK;
    size_t equals;

    if (crontab->at >= crontab->text.length)
        return ALK_EMPTY;
    line.text = take_line(crontab);
    line.number = crontab->number;
    equals = find_equals(line.text);
    if (!alk__utf8_is_valid(line.text.bytes, line.text.length, NULL))
        refuse(&line, "it is not UTF-8");
    else if (line.text.length > 0 && line.text.bytes[0] == '#')
        line.kind = ALK__CRONTAB_COMMENT;
    else if (equals > 0)
        st = read_variable(crontab, equals, &line, error);
    else if (line.text.length > 0)
        st = read_entry(crontab, &line, error);
    if (st == ALK_OK)
        *ret_line = line;
    return st;
}
