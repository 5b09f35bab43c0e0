/* cli/output.h: what a command has to say: tables for people, JSON for programs, made from one
 * table of columns.
 *
 * JSON: one object a line, the columns' names as fields, in their order; null for what is not
 * there; times RFC 3339 in UTC.
 * People: tables without what is nowhere there; times in UTC with their age. Colour only on a
 * terminal and without NO_COLOR. */
#ifndef ALK_CLI_OUTPUT_H
#define ALK_CLI_OUTPUT_H

#include "base/text.h"

#include <alkstore/base.h>

enum alk__column_kind {
    ALK__COLUMN_TEXT,     /* const char *; NULL and "" are null */
    ALK__COLUMN_STATE,    /* the same by text_of: a state, which may have a colour */
    ALK__COLUMN_INTEGER,  /* int64_t */
    ALK__COLUMN_INT,      /* int */
    ALK__COLUMN_COUNT,    /* int64_t; 0 is null */
    ALK__COLUMN_FLAG,     /* bool */
    ALK__COLUMN_TIME,     /* int64_t; ALK_NO_TIME is null */
    ALK__COLUMN_DURATION, /* int64_t microseconds, its name ends in _us; ALK_NO_TIME is null */
    ALK__COLUMN_VALUE     /* const char *: JSON; "" is null */
};

/* is_listed  whether tables of many rows show it to people; a single row shows all */
struct alk__column {
    const char *name;
    enum alk__column_kind kind;
    size_t offset;
    bool is_listed;
    const char *(*text_of)(const void *row);
};

/* Rows as they lie in memory, and what their columns are. now_us: the time that ages are counted
 * from. is_narrow: times by their age alone, where a terminal has no room for more; set by what
 * prints. */
struct alk__listing {
    const struct alk__column *columns;
    size_t column_count;
    const void *rows;
    size_t row_bytes;
    size_t count;
    int64_t now_us;
    bool is_narrow;
};

#define ALK__COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Prints all rows. ALK_OK; ALK_NOMEM. */
alk_status alk__print_list(const struct alk__listing *rows, bool is_json, alk_error *error);

/* Prints the first row with everything it has: for people a line a column. */
alk_status alk__print_one(const struct alk__listing *rows, bool is_json, alk_error *error);

/* "2026-12-01T06:00:00Z (in 5h)". size >= ALK__AGE_BYTES. */
#define ALK__AGE_BYTES 96
void alk__time_with_age(int64_t us, int64_t now_us, char *text, size_t size);

/* One JSON object on a line of its own, for what is no row. */
struct alk__record {
    struct alk__buffer line;
};
void alk__record_start(struct alk__record *record);
void alk__record_text(struct alk__record *record, const char *name, const char *value);
void alk__record_number(struct alk__record *record, const char *name, int64_t value);
void alk__record_flag(struct alk__record *record, const char *name, bool value);
void alk__record_time(struct alk__record *record, const char *name, int64_t us);
void alk__record_texts(struct alk__record *record, const char *name, const char *const *texts,
                       size_t count);
/* A value that is JSON already; line breaks, which can only stand between its tokens, become
 * spaces. */
void alk__record_value(struct alk__record *record, const char *name, const char *json);
void alk__record_end(struct alk__record *record);

#endif
