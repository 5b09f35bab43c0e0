/* store/statements: the contract of sql/: each file is in the table, each statement prepares on a
 * fresh schema, and names, parameters, columns and types agree with the table. */
#if ALK_WITH_POSTGRES
#include <libpq-fe.h>
#endif
#include <sqlite3.h>

#include "store/sql_files.h"
#include "store/sqlite.h"
#include "store/store.h"
#include "support/test.h"

static const struct alk__sql_file *find_file(const struct alk__sql_file *files, const char *name) {
    for (; files->name != NULL; files++) {
        if (strcmp(files->name, name) == 0)
            return files;
    }
    return NULL;
}

static const struct alk__statement_def *find_def(const char *name) {
    for (size_t i = 0; i < ALK__STATEMENT_COUNT; i++) {
        if (strcmp(alk__statements[i].name, name) == 0)
            return &alk__statements[i];
    }
    return NULL;
}

static size_t column_count(const struct alk__row_type *type) {
    size_t count = 0;

    while (type->columns != NULL && type->columns[count].name != NULL)
        count++;
    return count;
}

/* ---- files and their headers ---- */

static void every_statement_has_its_files(struct scene *scene) {
    (void)scene;
    for (size_t i = 0; i < ALK__STATEMENT_COUNT; i++) {
        const struct alk__statement_def *def = &alk__statements[i];
        bool on_sqlite = find_file(alk__sql_sqlite, def->name) != NULL;
        bool on_postgres = find_file(alk__sql_postgres, def->name) != NULL;
        if (on_sqlite != ((def->flags & ALK__POSTGRES_ONLY) == 0) ||
            on_postgres != ((def->flags & ALK__SQLITE_ONLY) == 0))
            fail_msg("'%s': files and flags do not agree", def->name);
    }
}

static void every_file_is_in_the_table(struct scene *scene) {
    static const struct alk__sql_file *const lists[] = {alk__sql_sqlite, alk__sql_postgres};

    (void)scene;
    for (int i = 0; i < 2; i++) {
        for (const struct alk__sql_file *file = lists[i]; file->name != NULL; file++) {
            if (find_def(file->name) == NULL)
                fail_msg("'%s.sql' is in no line of the table", file->name);
        }
    }
}

static char letter_of(const char *word, size_t length) {
    static const struct {
        const char *word;
        char letter;
    } types[] = {{"int", 'i'},  {"bool", 'b'}, {"str", 's'},
                 {"json", 'j'}, {"time", 't'}, {"span", 'd'}};
    bool is_array = length > 2 && strncmp(word + length - 2, "[]", 2) == 0;

    length -= is_array ? 2 : 0;
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        if (strlen(types[i].word) == length && strncmp(types[i].word, word, length) == 0)
            return (char)(is_array ? types[i].letter - 'a' + 'A' : types[i].letter);
    }
    return '?';
}

/* The comment in front as one line, what stands in parentheses left out. */
static void read_header(const char *text, char *header, size_t size) {
    size_t length = 0;
    int depth = 0;

    while (strncmp(text, "--", 2) == 0) {
        for (text += 2; *text != '\n' && *text != '\0'; text++) {
            depth += *text == '(';
            if (depth == 0 && length + 1 < size)
                header[length++] = *text;
            depth -= *text == ')';
        }
        text += *text == '\n';
    }
    header[length] = '\0';
}

/* "a int, b time[]" as its letters "iT", up to the word that ends the list. */
static void read_list(const char *list, const char *end, char *letters, size_t size) {
    size_t count = 0;

    while (list < end && count + 1 < size) {
        const char *stop = memchr(list, ',', (size_t)(end - list));
        stop = stop == NULL ? end : stop;
        const char *last = stop;
        while (last > list && last[-1] == ' ')
            last--;
        const char *word = last;
        while (word > list && word[-1] != ' ')
            word--;
        letters[count++] = letter_of(word, (size_t)(last - word));
        list = stop + 1;
    }
    letters[count] = '\0';
}

static void check_header(const char *engine, const struct alk__sql_file *file,
                         const struct alk__statement_def *def) {
    char header[2000];
    char start[80];
    char letters[40] = "";

    read_header(file->text, header, sizeof(header));
    snprintf(start, sizeof(start), " %s: ", file->name);
    if (strncmp(header, start, strlen(start)) != 0)
        fail_msg("%s '%s': the header does not begin with '--%s'", engine, file->name, start);

    const char *parameters = strstr(header, " parameters: ");
    const char *columns = strstr(header, " columns: ");
    if (parameters != NULL)
        read_list(parameters + strlen(" parameters: "),
                  columns != NULL ? columns : header + strlen(header), letters, sizeof(letters));
    if (strcmp(letters, def->parameters) != 0)
        fail_msg("%s '%s': the header's parameters are '%s', the table's '%s'", engine, file->name,
                 letters, def->parameters);
    if ((columns != NULL) != (def->row->columns != NULL))
        fail_msg("%s '%s': columns in the header or in the table, not in both", engine, file->name);
}

static void headers_agree_with_the_table(struct scene *scene) {
    (void)scene;
    for (size_t i = 0; i < ALK__STATEMENT_COUNT; i++) {
        const struct alk__statement_def *def = &alk__statements[i];
        const struct alk__sql_file *file = find_file(alk__sql_sqlite, def->name);
        if (file != NULL)
            check_header("sqlite", file, def);
        file = find_file(alk__sql_postgres, def->name);
        if (file != NULL)
            check_header("postgres", file, def);
    }
}

/* ---- SQLite ---- */

static bool is_sqlite_type(char letter, const char *declared) {
    return strcmp(declared, letter == ALK__STR || letter == ALK__JSON ? "TEXT" : "INTEGER") == 0;
}

/* Columns of one piece; a piece without any is none of the statement's answer. */
static bool check_sqlite_columns(const struct alk__statement_def *def, sqlite3_stmt *piece) {
    size_t count = (size_t)sqlite3_column_count(piece);

    if (count == 0 || def->row->columns == NULL)
        return count > 0;
    if (count != column_count(def->row))
        fail_msg("sqlite '%s': %zu columns, %s has %zu", def->name, count, def->row->name,
                 column_count(def->row));
    for (size_t i = 0; i < count; i++) {
        const struct alk__column *column = &def->row->columns[i];
        const char *name = sqlite3_column_name(piece, (int)i);
        const char *declared = sqlite3_column_decltype(piece, (int)i);
        if (strcmp(name, column->name) != 0)
            fail_msg("sqlite '%s': column %zu is '%s', in %s '%s'", def->name, i, name,
                     def->row->name, column->name);
        if (declared != NULL && !is_sqlite_type(column->type, declared))
            fail_msg("sqlite '%s': column '%s' is %s", def->name, name, declared);
    }
    return true;
}

static void check_sqlite_statement(sqlite3 *handle, const struct alk__statement_def *def,
                                   const char *text) {
    size_t parameters = strlen(def->parameters);
    bool is_used[40] = {false};
    bool has_columns = false;

    while (*text != '\0') {
        sqlite3_stmt *piece;
        if (sqlite3_prepare_v2(handle, text, -1, &piece, &text) != SQLITE_OK)
            fail_msg("sqlite '%s': %s", def->name, sqlite3_errmsg(handle));
        if (piece == NULL)
            continue;
        for (int i = 1; i <= sqlite3_bind_parameter_count(piece); i++)
            is_used[i] = is_used[i] || sqlite3_bind_parameter_name(piece, i) != NULL;
        has_columns = check_sqlite_columns(def, piece) || has_columns;
        if ((def->flags & ALK__WRITE) == 0 && !sqlite3_stmt_readonly(piece))
            fail_msg("sqlite '%s' writes and is not marked ALK__WRITE", def->name);
        sqlite3_finalize(piece);
    }
    for (size_t i = 1; i < sizeof(is_used); i++) {
        if (is_used[i] ? i > parameters + 1 : false)
            fail_msg("sqlite '%s': ?%zu is not in the table", def->name, i);
    }
    if (has_columns != (def->row->columns != NULL))
        fail_msg("sqlite '%s': columns where the table has none, or none", def->name);
}

static void statements_prepare_on_sqlite(struct scene *scene) {
    const char *const *texts = scene->store->settings.statements;

    for (size_t i = 0; i < ALK__STATEMENT_COUNT; i++) {
        if (texts[i] != NULL)
            check_sqlite_statement(sql_handle(scene), &alk__statements[i], texts[i]);
    }
}

/* ---- PostgreSQL ---- */

#if ALK_WITH_POSTGRES
/* Letters and the types they stand for; a result may be of a smaller integer too. */
static const struct {
    char letter;
    Oid oid;
} postgres_types[] = {
    {'i', 20},   {'b', 16},   {'s', 25},  {'j', 114},  {'t', 1184}, {'d', 1186}, {'I', 1016},
    {'B', 1000}, {'S', 1009}, {'J', 199}, {'T', 1185}, {'D', 1187}, {'i', 23},   {'i', 21},
};
#define POSTGRES_TYPES (sizeof(postgres_types) / sizeof(*postgres_types))

static Oid postgres_type(char letter) {
    for (size_t i = 0; i < POSTGRES_TYPES; i++) {
        if (postgres_types[i].letter == letter)
            return postgres_types[i].oid;
    }
    return 0;
}

static bool is_postgres_type(char letter, Oid oid) {
    for (size_t i = 0; i < POSTGRES_TYPES; i++) {
        if (postgres_types[i].letter == letter && postgres_types[i].oid == oid)
            return true;
    }
    return false;
}

static void check_postgres_columns(const struct alk__statement_def *def, const PGresult *result) {
    size_t count = (size_t)PQnfields(result);

    if (def->row->columns == NULL)
        return;
    if (count != column_count(def->row))
        fail_msg("postgres '%s': %zu columns, %s has %zu", def->name, count, def->row->name,
                 column_count(def->row));
    for (size_t i = 0; i < count; i++) {
        const struct alk__column *column = &def->row->columns[i];
        if (strcmp(PQfname(result, (int)i), column->name) != 0)
            fail_msg("postgres '%s': column %zu is '%s', in %s '%s'", def->name, i,
                     PQfname(result, (int)i), def->row->name, column->name);
        if (!is_postgres_type(column->type, PQftype(result, (int)i)))
            fail_msg("postgres '%s': column '%s' has type %u", def->name, column->name,
                     PQftype(result, (int)i));
    }
}

static void check_postgres_statement(PGconn *handle, const struct alk__statement_def *def,
                                     const char *text) {
    Oid types[40];
    size_t count = strlen(def->parameters);

    for (size_t i = 0; i < count; i++)
        types[i] = postgres_type(def->parameters[i]);
    PGresult *result = PQprepare(handle, "", text, (int)count, types);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        fail_msg("postgres '%s': %s", def->name, PQerrorMessage(handle));
    PQclear(result);
    result = PQdescribePrepared(handle, "");
    if (PQnparams(result) != (int)count)
        fail_msg("postgres '%s': %d parameters, the table has '%s'", def->name, PQnparams(result),
                 def->parameters);
    check_postgres_columns(def, result);
    PQclear(result);
}

static void statements_prepare_on_postgres(struct scene *scene) {
    const char *const *texts = scene->store->settings.statements;

    /* no name is found by luck */
    sql(scene, "SET search_path = ''");
    for (size_t i = 0; i < ALK__STATEMENT_COUNT; i++) {
        if (texts[i] != NULL)
            check_postgres_statement(sql_handle(scene), &alk__statements[i], texts[i]);
    }
}
#else
static void statements_prepare_on_postgres(struct scene *scene) {
    (void)scene;
    skip();
}
#endif

/* ---- names of PostgreSQL are qualified ---- */

/* SQL as words: names with their dots, each other sign by itself; comments and quoted texts left
 * out. */
struct words {
    const char *at;
    char word[80];
    char before[80];
    char before_that[80];
};

static bool is_word_byte(char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || byte == '.' || byte == '$';
}

static const char *skip_unread(const char *at) {
    for (;;) {
        at += strspn(at, " \n\t");
        if (strncmp(at, "--", 2) == 0)
            at += strcspn(at, "\n");
        else if (*at == '\'')
            at += strcspn(at + 1, "'") + 2;
        else if (strncmp(at, "$name$", 6) == 0)
            at = strstr(at + 6, "$name$") + 6;
        else
            return at;
    }
}

static bool next_word(struct words *words) {
    size_t length = 0;

    memcpy(words->before_that, words->before, sizeof(words->before));
    memcpy(words->before, words->word, sizeof(words->word));
    words->at = skip_unread(words->at);
    if (*words->at == '\0')
        return false;
    while (is_word_byte(words->at[length]) && length + 1 < sizeof(words->word))
        length++;
    length = length == 0 ? 1 : length;
    memcpy(words->word, words->at, length);
    words->word[length] = '\0';
    words->at += length;
    return true;
}

static bool is_one_of(const char *word, const char *const *list) {
    for (; *list != NULL; list++) {
        if (strcmp(word, *list) == 0)
            return true;
    }
    return false;
}

static bool is_qualified(const char *word) {
    return strncmp(word, "pg_catalog.", 11) == 0 || strncmp(word, "alk.", 4) == 0;
}

/* Whether text defines name as a common table: "WITH name (columns)", "name AS MATERIALIZED (",
 * "name AS (". */
static bool is_common_table(const char *text, const char *name) {
    struct words words = {.at = text};

    while (next_word(&words)) {
        if ((strcmp(words.before, "WITH") == 0 || strcmp(words.before, "RECURSIVE") == 0) &&
            strcmp(words.word, name) == 0)
            return true;
        if ((strcmp(words.word, "MATERIALIZED") == 0 || strcmp(words.word, "(") == 0) &&
            strcmp(words.before, "AS") == 0 && strcmp(words.before_that, name) == 0)
            return true;
    }
    return false;
}

/* What looks like a call and is the grammar's own, or names columns. */
static void check_call(const char *name, const struct words *words) {
    static const char *const grammar[] = {"coalesce", "greatest", "least",   "nullif",
                                          "extract",  "numeric",  "PRIMARY", "CHECK",
                                          "UNIQUE",   "INDEX",    NULL};
    char first = words->before[0];

    if (first < 'a' || first > 'z' || is_qualified(words->before) ||
        is_one_of(words->before, grammar))
        return;
    if (words->at[-2] == ' ' || words->at[-2] == '\n')
        return; /* a list of columns has a blank before it, a call has none */
    fail_msg("postgres '%s': '%s(' is not qualified", name, words->before);
}

static void check_table(const char *name, const char *text, const struct words *words) {
    static const char *const before_tables[] = {"FROM", "JOIN", "INTO", "UPDATE", "TABLE", NULL};

    if (!is_one_of(words->before, before_tables) || strcmp(words->before_that, "DISTINCT") == 0 ||
        words->word[0] < 'a' || words->word[0] > 'z' || is_qualified(words->word) ||
        is_common_table(text, words->word))
        return;
    fail_msg("postgres '%s': table '%s' is not qualified", name, words->word);
}

/* A type that is a word of the grammar needs no schema; another's name may be a temporary table. */
static void check_type(const char *name, const struct words *words) {
    static const char *const grammar[] = {"bigint",   "smallint", "boolean",
                                          "interval", "numeric",  NULL};

    if (strcmp(words->before, ":") != 0 || strcmp(words->before_that, ":") != 0 ||
        is_qualified(words->word) || is_one_of(words->word, grammar))
        return;
    fail_msg("postgres '%s': type '%s' is not qualified", name, words->word);
}

static void check_names(const struct alk__sql_file *file) {
    struct words words = {.at = file->text};

    while (next_word(&words)) {
        if (strcmp(words.word, "(") == 0)
            check_call(file->name, &words);
        check_table(file->name, file->text, &words);
        check_type(file->name, &words);
    }
}

/* S31b: a host's search_path can put its own in front. */
static void names_of_postgres_are_qualified(struct scene *scene) {
    (void)scene;
    for (const struct alk__sql_file *file = alk__sql_postgres; file->name != NULL; file++)
        check_names(file);
    for (const struct alk__sql_file *file = alk__sql_postgres_migrations; file->name != NULL;
         file++)
        check_names(file);
}

/* ---- loading ---- */

/* S7: a schema's name is quoted, and only what is ours is put into it. */
static void a_schema_is_put_in_quoted(struct scene *scene) {
    struct alk__arena arena = {0};

    (void)scene;
    assert_string_equal(
        alk__sql_in_schema(&arena, "SELECT alk.f(talk.x, alk.y) FROM alk.t", "a\"b"),
        "SELECT \"a\"\"b\".f(talk.x, \"a\"\"b\".y) FROM \"a\"\"b\".t");
    assert_string_equal(alk__sql_quoted(&arena, ""), "\"\"");
    assert_true(alk__schema_hash("alk") != alk__schema_hash("alk2"));
    alk__arena_free(&arena);
}

/* In SQLite a named parameter takes the first number that is free where it stands. */
static void now_is_a_parameter_behind_the_others(struct scene *scene) {
    struct alk__arena arena = {0};
    const char *const *texts = alk__statements_load(&arena, ALK_ENGINE_SQLITE, "");

    (void)scene;
    assert_non_null(texts);
    assert_string_equal(texts[ALK__CLOCK_GET], "SELECT ?1 AS number\n");
    for (size_t i = 0; i < ALK__STATEMENT_COUNT; i++) {
        if (texts[i] != NULL && strstr(texts[i], ":now") != NULL)
            fail_msg("'%s' still has :now", alk__statements[i].name);
    }
    alk__arena_free(&arena);
}

static const struct scene_test tests[] = {
    ALONE(every_statement_has_its_files),     ALONE(every_file_is_in_the_table),
    ALONE(headers_agree_with_the_table),      SQLITE(statements_prepare_on_sqlite),
    POSTGRES(statements_prepare_on_postgres), ALONE(names_of_postgres_are_qualified),
    ALONE(a_schema_is_put_in_quoted),         ALONE(now_is_a_parameter_behind_the_others),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
