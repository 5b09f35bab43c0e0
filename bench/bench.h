/* bench/bench.h: what the benches share. Each is one file with one entry in the table of main.c; it
 * runs once on each engine, in a store of its own that is removed afterwards, and prints figures. A
 * bench may use the library's inside and the databases' own libraries: it sets the library beside
 * hand-written SQL. */
#ifndef ALK_BENCH_BENCH_H
#define ALK_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <alkstore.h>

struct bench_options {
    bool is_json;
    int64_t rows;
    int64_t seconds; /* of what runs for a while */
};

/* A store of the bench's own and a connection to it that is not the library's. */
struct bench {
    const struct bench_options *options;
    const char *command;
    alk_engine engine; /* 0: the command needs no store */
    alk_store *store;
    alk_conn *conn;
    char url[512];
    char folder[64]; /* SQLite: holds the file */
    char schema[64]; /* PostgreSQL: the search_path of SQL */
    void *handle;    /* sqlite3 *, PGconn * */
};

typedef void bench_fn(struct bench *bench);
bench_fn bench_schedule;
bench_fn bench_when;

/* Prints a line and ends the program; what was made is removed. */
_Noreturn void die(const char *format, ...) ALK_PRINTF(1, 2);

/* Ends the program unless the call of the library worked. */
void check(alk_status status, const alk_error *error);

/* ---- figures (main.c) ---- */

/* Prints one figure.
 *
 * rows    in the table while it was measured, 0 = that says nothing
 * unit    "ms", "/s", "MB", ...
 * target  what it ought to be ("< 2"), NULL = nothing is asked of it */
void figure(const struct bench *bench, const char *name, int64_t rows, double value,
            const char *unit, const char *target);

/* The middle one of count values, which are put in order. */
double median(double *values, size_t count);

/* The memory of this process, in MB. */
double resident_mb(void);

/* ---- the store (place.c) ---- */

/* Makes the store: a SQLite file in a folder of its own where base_url begins with sqlite:, else a
 * schema of its own in that database. Both connections are as durable as the library's. */
void place_open(struct bench *bench, const char *base_url);
void place_close(struct bench *bench);

/* Only removes what is in the file system or the database. */
void place_remove(struct bench *bench);

/* Runs SQL, on PostgreSQL with the store's schema as search_path; how many rows the last statement
 * changed. What fails ends the program. */
int64_t place_do(struct bench *bench, const char *format, ...) ALK_PRINTF(2, 3);

/* The pages (PostgreSQL) or instructions (SQLite) that a statement of the library takes whose
 * parameters are the number 1. */
int64_t place_work(struct bench *bench, int statement);

#endif
