/* store/statements.c: the table of statements and the texts that a store runs. */
#include <stdlib.h>
#include <string.h>

#include "store/driver.h"
#include "store/sql_files.h"

const struct alk__statement_def alk__statements[ALK__STATEMENT_COUNT] = {
#define ALK__STATEMENT(name, file, parameters, row, flags) [name] = {file, parameters, &row, flags},
#include "store/statement_table.h"
#undef ALK__STATEMENT
};

#define SQL_MAX ((size_t)1 << 20)

static bool is_name_byte(char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_';
}

/* A copy of text in arena with each word (that no name precedes) replaced. */
static const char *replaced(struct alk__arena *arena, const char *text, const char *word,
                            const char *replacement) {
    struct alk__buffer out = ALK__BUFFER_INIT(SQL_MAX);
    size_t length = strlen(word);

    for (const char *at = text; *at != '\0';) {
        bool is_start = at == text || !is_name_byte(at[-1]);
        if (is_start && strncmp(at, word, length) == 0) {
            alk__buffer_add_text(&out, replacement);
            at += length;
        } else {
            alk__buffer_add(&out, at++, 1);
        }
    }
    const char *copy = out.is_failed ? NULL : alk__arena_copy(arena, out.bytes, out.length);
    alk__buffer_release(&out);
    return copy;
}

const char *alk__sql_quoted(struct alk__arena *arena, const char *name) {
    struct alk__buffer out = ALK__BUFFER_INIT(SQL_MAX);

    alk__buffer_add_text(&out, "\"");
    for (const char *at = name; *at != '\0'; at++)
        alk__buffer_add(&out, *at == '"' ? "\"\"" : at, *at == '"' ? 2 : 1);
    alk__buffer_add_text(&out, "\"");
    const char *copy = out.is_failed ? NULL : alk__arena_copy(arena, out.bytes, out.length);
    alk__buffer_release(&out);
    return copy;
}

const char *alk__sql_in_schema(struct alk__arena *arena, const char *sql, const char *schema) {
    struct alk__buffer prefix = ALK__BUFFER_INIT(SQL_MAX);
    const char *quoted = alk__sql_quoted(arena, schema);
    const char *text = NULL;

    if (quoted == NULL)
        return NULL;
    alk__buffer_addf(&prefix, "%s.", quoted);
    if (!prefix.is_failed)
        text = replaced(arena, sql, "alk.", prefix.bytes);
    alk__buffer_release(&prefix);
    return text;
}

uint64_t alk__schema_hash(const char *schema) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

    for (const char *at = schema; *at != '\0'; at++)
        hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    return hash;
}

/* The text behind the comment that a file begins with. */
static const char *body(const char *text) {
    while (strncmp(text, "--", 2) == 0 || *text == '\n')
        text += strcspn(text, "\n") + (text[strcspn(text, "\n")] == '\n');
    return text;
}

/* :now becomes a numbered parameter behind the others: in SQLite a named one would take the first
 * number that is free where it stands, and share it with a ?1 that comes later. */
static const char *with_now(struct alk__arena *arena, const char *text, const char *parameters) {
    char number[24];

    snprintf(number, sizeof(number), "?%zu", strlen(parameters) + 1);
    return replaced(arena, text, ":now", number);
}

static const struct alk__sql_file *find(const struct alk__sql_file *files, const char *name) {
    for (; files->name != NULL; files++) {
        if (strcmp(files->name, name) == 0)
            return files;
    }
    return NULL;
}

const char *const *alk__statements_load(struct alk__arena *arena, alk_engine engine,
                                        const char *schema) {
    bool is_postgres = engine == ALK_ENGINE_POSTGRES;
    const struct alk__sql_file *files = is_postgres ? alk__sql_postgres : alk__sql_sqlite;
    const char **texts = alk__arena_alloc(arena, sizeof(*texts) * ALK__STATEMENT_COUNT);

    if (texts == NULL)
        return NULL;
    for (size_t i = 0; i < ALK__STATEMENT_COUNT; i++) {
        const struct alk__statement_def *def = &alk__statements[i];
        const struct alk__sql_file *file = find(files, def->name);
        if (file == NULL)
            continue;
        texts[i] = is_postgres ? alk__sql_in_schema(arena, body(file->text), schema)
                               : with_now(arena, body(file->text), def->parameters);
        if (texts[i] == NULL)
            return NULL;
    }
    return texts;
}
