/* tests/support/program.h: runs the program alk of this build in a folder of its own, beside a
 * store of its own: a file there, or a schema in the database that ALK_TEST_POSTGRES names.
 *
 *     // S38
 *     static void enqueue_prints_the_id(void **state) {
 *         struct place *place = *state;
 *
 *         assert_int_equal(alk(place, "enqueue", "q", "1"), 0);
 *         assert_string_equal(place->out, "1\n");
 *     }
 *
 *     const struct CMUnitTest tests[] = {ON_BOTH(enqueue_prints_the_id)};
 *
 * The store is made before the test (ON_...) or is not there yet (EMPTY). */
#ifndef ALK_TESTS_SUPPORT_PROGRAM_H
#define ALK_TESTS_SUPPORT_PROGRAM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <cmocka.h>

#define PLACE_BYTES 65536

struct place {
    bool is_postgres;
    bool is_missing; /* there is no server: whatever is done here skips the test (S222) */
    char folder[64];
    char url[512];
    char schema[64];
    const char *input;     /* what the next command reads from stdin, NULL = nothing */
    const char *extra;     /* one more NAME=VALUE for its environment, NULL = none */
    bool as_nobody;        /* whether commands run without the rights of root */
    pid_t started[16];     /* what place_start started and nobody waited for yet */
    char out[PLACE_BYTES]; /* of the last command */
    char err[PLACE_BYTES];
};

int place_sqlite(void **state); /* set-ups: the store is there */
int place_postgres(void **state);
int place_empty(void **state); /* no store; SQLite */
int place_empty_postgres(void **state);
int place_remove(void **state);

#define TEST_AT_(name_, body, set_up)                                                              \
    { name_, body, set_up, place_remove, NULL }
#define ON_SQLITE(body) TEST_AT_("sqlite: " #body, body, place_sqlite)
#define ON_POSTGRES(body) TEST_AT_("postgres: " #body, body, place_postgres)
#define ON_BOTH(body) ON_SQLITE(body), ON_POSTGRES(body)
#define EMPTY(body) TEST_AT_("sqlite: " #body, body, place_empty)
#define EMPTY_POSTGRES(body) TEST_AT_("postgres: " #body, body, place_empty_postgres)
#define EMPTY_BOTH(body) EMPTY(body), EMPTY_POSTGRES(body)

/* Runs alk with these words and gives its exit code; 128 + the signal that ended it. */
#define alk(place, ...) place_run((place), (const char *const[]){__VA_ARGS__, NULL})
int place_run(struct place *place, const char *const *words);

/* Starts it and does not wait; its stdout and stderr go to the file name in the folder. */
#define alk_start(place, name, ...)                                                                \
    place_start((place), (name), (const char *const[]){__VA_ARGS__, NULL})
pid_t place_start(struct place *place, const char *name, const char *const *words);

/* Waits for what was started (at most 60 s) and gives its exit code. */
int place_wait(struct place *place, pid_t child);

/* What the file name in the folder holds ("" when it is not there), valid until the next call. */
const char *place_read(struct place *place, const char *name);
void place_write(struct place *place, const char *name, const char *text);

/* Waits at most 30 s until the file holds part, count times. */
void place_await(struct place *place, const char *name, const char *part, int count);

/* How often text holds part. */
int count_of(const char *text, const char *part);

/* SQL of one's own on the store, for tampering; tables are written alk_job. */
void place_sql(struct place *place, const char *sql);

#define assert_has(text, part) assert_has_at((text), (part), __FILE__, __LINE__)
void assert_has_at(const char *text, const char *part, const char *file, int line);

#endif
