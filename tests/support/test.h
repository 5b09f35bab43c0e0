/* support/test.h: how the tests of store, core and loops are written: one body, run once on each
 * engine.
 *
 *     #include "support/test.h"
 *
 *     // S123: the statement's number, where the test would fail without it.
 *     static void a_stale_stamp_is_refused(struct scene *scene) {
 *         alk_batch *batch;
 *
 *         ok(scene, alk_enqueue(scene->conn, "mail", ..., &scene->error));
 *         scene_pass(scene, 31 * ALK__SECOND);
 *         expect(scene, ALK_LOST, alk_settle(scene->conn, ..., &scene->error));
 *         assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_job"), 1);
 *     }
 *
 *     static const struct scene_test tests[] = {
 *         BOTH(a_stale_stamp_is_refused), SQLITE(...), POSTGRES(...), ALONE(no store at all),
 *     };
 *
 *     int main(int argc, char **argv) {
 *         return RUN_SCENES(argc, argv, tests, NULL);
 *     }
 *
 * The names of the tests are "sqlite: a_stale_stamp_is_refused" and "postgres: ..."; an argument of
 * the program is a pattern for them ("sqlite:*"). Each test has a fresh store of its own (S225): a
 * file in a folder of its own, or a schema of its own in the database that ALK_TEST_POSTGRES names;
 * without that the test is skipped (S222), with ALK_TEST_REQUIRE=postgres it fails (S224).
 * ALK_TEST_KEEP=1 keeps what a failed test leaves, and names it.
 *
 * Time: on SQLite the store has scene->clock, which stands still; on PostgreSQL the server's rules.
 * scene_pass lets time pass on both: there all times in the tables move into the past. scene_now
 * asks the store. Random numbers repeat. Never sleep: wait_until(condition) looks every millisecond
 * for at most 30 s. Faults: support/fault.h. Another process: spawn runs a role of this program
 * anew (fork and exec), as fast as a thread and with nothing shared. */
#ifndef ALK_TEST_SUPPORT_TEST_H
#define ALK_TEST_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include <cmocka.h>

#include "store/run.h"
#include <alkstore.h>

#define SCENE_START_US                                                                             \
    INT64_C(1767225600000000) /* 2026-01-01T00:00:00Z: where the fake clock stands at first */

/* A clock that moves when told to. */
struct fake_clock {
    _Atomic int64_t now_us;
};
int64_t fake_now(void *clock); /* an alk_now_fn */

/* Numbers that are the same in each run. */
struct fixed_random {
    _Atomic uint64_t state;
};
uint64_t fixed_bits(void *random); /* an alk_random_fn */

struct scene_private;

struct scene {
    const char *name;
    const char *folder; /* of this test, for what it likes */
    alk_engine engine;  /* 0 for ALONE */
    const char *url;    /* of the store; NULL for ALONE */
    alk_store *store;   /* open */
    alk_conn *conn;     /* a connection of it */
    alk_error error;
    struct fake_clock clock;
    struct fixed_random random;
    struct scene_private *private;
};

typedef void scene_fn(struct scene *scene);

struct scene_test {
    const char *name;
    scene_fn *body;
    unsigned engines; /* alk_engine, or-ed; 0 = none */
};

#define BOTH(body_)                                                                                \
    { #body_, body_, ALK_ENGINE_SQLITE | ALK_ENGINE_POSTGRES }
#define SQLITE(body_)                                                                              \
    { #body_, body_, ALK_ENGINE_SQLITE }
#define POSTGRES(body_)                                                                            \
    { #body_, body_, ALK_ENGINE_POSTGRES }
#define ALONE(body_)                                                                               \
    { #body_, body_, 0 }

/* ---- processes ---- */

/* What spawn runs in a process of its own. The scene has folder, url, engine, clock and random as
 * they were there, and no store: scene_open makes one. The result is the exit code; no assert_*:
 * fail by an exit code. */
typedef int role_fn(struct scene *scene, const char *argument);

struct role { /* a list of them ends with {NULL, NULL} */
    const char *name;
    role_fn *run;
};

pid_t spawn(struct scene *scene, const char *role, const char *argument);

/* Waits for it: its exit code, 128 + the signal that killed it. After 60 s it is killed and the
 * test fails. */
int reap(pid_t child);

#define RUN_SCENES(argc, argv, tests, roles)                                                       \
    run_scenes((argc), (argv), (tests), sizeof(tests) / sizeof(*(tests)), (roles))
int run_scenes(int argc, char **argv, const struct scene_test *tests, size_t count,
               const struct role *roles);

/* ---- stores ---- */

/* The options with which the scene's store is opened: its clock (SQLite) and random numbers. */
alk_store_options scene_options(struct scene *scene);

/* Opens the scene's store (again); options NULL = scene_options. The caller closes it. */
alk_status scene_open(struct scene *scene, const alk_store_options *options, alk_store **ret_store);

/* Closes scene->conn and scene->store. Both may be opened again with scene_reopen. */
void scene_close(struct scene *scene);
void scene_reopen(struct scene *scene);

/* Closes the store and removes it, so that the next to open it is the first. */
void scene_forget(struct scene *scene);

/* SQLite: moves the store's files away under whoever has them open. */
void scene_move_store(struct scene *scene);

/* ---- time ---- */

void scene_pass(struct scene *scene, int64_t span_us);
int64_t scene_now(struct scene *scene);

/* ---- SQL of one's own, for looking and tampering ---- */

/* Runs SQL on a connection that is no part of the library. Tables are written alk_job; on
 * PostgreSQL that becomes job in the test's schema. What fails fails the test. */
void sql(struct scene *scene, const char *format, ...) ALK_PRINTF(2, 3);

/* The same; false where the engine refuses it. */
bool sql_try(struct scene *scene, const char *format, ...) ALK_PRINTF(2, 3);

/* The one number of a query (a boolean is 0 or 1, null is INT64_MIN). */
int64_t sql_number(struct scene *scene, const char *format, ...) ALK_PRINTF(2, 3);

/* The one value of a query as text ("" for null); valid till the next call. */
const char *sql_text(struct scene *scene, const char *format, ...) ALK_PRINTF(2, 3);

/* A time as a literal of the engine; a ring of eight, for use inside a call of sql. */
const char *sql_time(struct scene *scene, int64_t us);

/* The engine's own handle behind sql(), for what it cannot do: sqlite3 *, PGconn *. */
void *sql_handle(struct scene *scene);
void sql_close(struct scene *scene); /* the next sql() opens another */

/* ---- looking ---- */

#define expect(scene, status, call) expect_at((scene), (status), (call), #call, __FILE__, __LINE__)
#define ok(scene, call) expect_at((scene), ALK_OK, (call), #call, __FILE__, __LINE__)
void expect_at(struct scene *scene, alk_status wanted, alk_status got, const char *call,
               const char *file, int line);

/* Fails unless message contains part. */
#define assert_contains(message, part) assert_contains_at((message), (part), __FILE__, __LINE__)
void assert_contains_at(const char *message, const char *part, const char *file, int line);

#define WAIT_LIMIT_US (30 * ALK__SECOND)

#define wait_until(condition)                                                                      \
    do {                                                                                           \
        int64_t until_us_ = alk__monotonic_us() + WAIT_LIMIT_US;                                   \
        while (!(condition)) {                                                                     \
            if (alk__monotonic_us() > until_us_)                                                   \
                fail_msg("not within 30 s: %s", #condition);                                       \
            nap();                                                                                 \
        }                                                                                          \
    } while (0)
void nap(void); /* a millisecond, for wait_until */

#endif
