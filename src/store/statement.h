/* store/statement.h: what core says to a database. A statement is a .sql file in each dialect,
 * named in statement_table.h with the types of its parameters and the struct that its rows become.
 * Only the drivers know libpq and sqlite3. */
#ifndef ALK_STORE_STATEMENT_H
#define ALK_STORE_STATEMENT_H

#include "base/arena.h"
#include "base/text.h"

/* Types of parameters and columns. The letter stands in statement_table.h; a capital letter is an
 * array of it. Null is ALK__NULL for what is an integer in C and bytes == NULL for texts. */
enum alk__type {
    ALK__INT = 'i',  /* int64_t; bigint, integer or smallint in SQL */
    ALK__BOOL = 'b', /* int64_t 0 or 1 */
    ALK__STR = 's',  /* struct alk__text; text */
    ALK__JSON = 'j', /* struct alk__text, checked JSON; json, TEXT in SQLite */
    ALK__TIME = 't', /* int64_t microseconds since 1970; timestamptz, INTEGER in SQLite */
    ALK__SPAN = 'd'  /* int64_t microseconds; interval, INTEGER in SQLite */
};

#define ALK__NULL INT64_MIN

/* One parameter. An array parameter has count elements; all array parameters of a call have the
 * same count. On PostgreSQL they are bound as arrays (unnest($1::bigint[], $2::text[]) ...); on
 * SQLite the statement runs once for each element, in order, with that element bound, and the rows
 * of all runs come back together. */
struct alk__value {
    char type;
    int64_t integer;
    struct alk__text text;
    const int64_t *integers;
    const struct alk__text *texts;
    size_t count;
};

#define ALK__I(value) ((struct alk__value){.type = 'i', .integer = (value)})
#define ALK__B(value) ((struct alk__value){.type = 'b', .integer = (value) ? 1 : 0})
#define ALK__S(value) ((struct alk__value){.type = 's', .text = (value)})
#define ALK__Z(value) ((struct alk__value){.type = 's', .text = alk__text_of(value)})
#define ALK__J(value) ((struct alk__value){.type = 'j', .text = (value)})
#define ALK__T(value) ((struct alk__value){.type = 't', .integer = (value)})
#define ALK__D(value) ((struct alk__value){.type = 'd', .integer = (value)})
#define ALK__IS(values, count_)                                                                    \
    ((struct alk__value){.type = 'I', .integers = (values), .count = (count_)})
#define ALK__BS(values, count_)                                                                    \
    ((struct alk__value){.type = 'B', .integers = (values), .count = (count_)})
#define ALK__SS(values, count_)                                                                    \
    ((struct alk__value){.type = 'S', .texts = (values), .count = (count_)})
#define ALK__JS(values, count_)                                                                    \
    ((struct alk__value){.type = 'J', .texts = (values), .count = (count_)})
#define ALK__TS(values, count_)                                                                    \
    ((struct alk__value){.type = 'T', .integers = (values), .count = (count_)})
#define ALK__DS(values, count_)                                                                    \
    ((struct alk__value){.type = 'D', .integers = (values), .count = (count_)})

/* One column of a row struct. A column that is null without may_be_null, or holds a value of
 * another type (a CHECK dropped, a table rebuilt), makes its row unreadable: the other columns are
 * decoded as far as they can be, and unreadable says which and why (S9). */
struct alk__column {
    const char *name;
    char type;
    bool may_be_null;
    size_t offset;
};

struct alk__row_type {
    const char *name;
    size_t size;
    /* ended by a NULL name; NULL = the statement returns no rows */
    const struct alk__column *columns;
};

/* Every row struct starts with this. */
struct alk__row {
    /* NULL, or "column 'attempt' holds text, not an integer"; lives in the arena of the rows */
    const char *unreadable;
};

enum alk__statement {
#define ALK__STATEMENT(name, file, parameters, row, flags) name,
#include "store/statement_table.h"
#undef ALK__STATEMENT
    ALK__STATEMENT_COUNT
};

enum alk__statement_flag {
    ALK__READ = 0, /* writes nothing: no transaction is begun for it */
    /* alone and outside a transaction it runs in its own, on SQLite IMMEDIATE */
    ALK__WRITE = 1 << 0,
    /* PostgreSQL: with enable_seqscan, hashjoin, mergejoin, bitmapscan and jit off on own
     * connections */
    ALK__BY_ID = 1 << 1,
    ALK__SQLITE_ONLY = 1 << 2,
    ALK__POSTGRES_ONLY = 1 << 3,
    /* PostgreSQL: when the library began the transaction for it alone, synchronous_commit = off */
    ALK__ASYNC = 1 << 4
};

/* What a call brought back: count structs of the statement's row type, one after the other. Start
 * with {0}; alk__rows_free. */
struct alk__rows {
    struct alk__arena arena;
    size_t count;
    size_t capacity;
    size_t row_size;
    void *items;
    int64_t changed; /* rows written, where the statement returns none */
};

#define ALK__ROW(rows, row_type, n) ((struct row_type *)alk__row_at((rows), (n)))
void *alk__row_at(const struct alk__rows *rows, size_t n);
void alk__rows_free(struct alk__rows *rows);

#endif
