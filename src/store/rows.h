/* store/rows.h: the structs that rows become. rows.c has their column tables, name by name. Null
 * integers and times are ALK__NULL, null texts have bytes NULL. Each starts with struct
 * alk__row. */
#ifndef ALK_STORE_ROWS_H
#define ALK_STORE_ROWS_H

#include "store/statement.h"

/* One number: a clock, a count, an id. */
struct alk__row_number {
    struct alk__row row;
    int64_t number;
};

/* meta: versions and epoch. */
struct alk__row_meta {
    struct alk__row row;
    int64_t version;
    int64_t oldest;
    int64_t epoch;
};

struct alk__row_lease {
    struct alk__row row;
    struct alk__text name;
    struct alk__text owner;
    int64_t fence;
    int64_t ttl;
    int64_t acquired_at;
    int64_t expires_at;
    int64_t now; /* of the statement */
};

extern const struct alk__row_type alk__row_none;
extern const struct alk__row_type alk__row_number;
extern const struct alk__row_type alk__row_meta;
extern const struct alk__row_type alk__row_lease;

#endif
