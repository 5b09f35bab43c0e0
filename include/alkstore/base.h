/* alkstore/base.h: results, errors, events, the stop token and the version.
 *
 * Everything else in the library speaks through what is declared here. Nothing in this header
 * touches a database. */
#ifndef ALKSTORE_BASE_H
#define ALKSTORE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ALK_API __attribute__((visibility("default")))
#define ALK_PRINTF(format_at, first_at) __attribute__((format(printf, format_at, first_at)))
#else
#define ALK_API
#define ALK_PRINTF(format_at, first_at)
#endif

#define ALK_VERSION_MAJOR 0
#define ALK_VERSION_MINOR 1
#define ALK_VERSION_PATCH 0
#define ALK_VERSION "0.1.0"

/* A time that is not there (a job that was never claimed, a schedule that never fired). */
#define ALK_NO_TIME INT64_MIN

/* Every status: name, number, class, text. 0 worked; above 0 it worked and the answer is no; below
 * 0 it failed (S220). Numbers are stable: a release may add some and never changes one. */
#define ALK_STATUS_MAP(X)                                                                          \
    X(ALK_OK, 0, ALK_CLASS_NONE, "ok")                                                             \
    X(ALK_EMPTY, 1, ALK_CLASS_NONE, "nothing there")                                               \
    X(ALK_DUPLICATE, 2, ALK_CLASS_NONE, "already there")                                           \
    X(ALK_HELD, 3, ALK_CLASS_NONE, "held by another owner")                                        \
    X(ALK_ABSENT, 4, ALK_CLASS_NONE, "no such thing")                                              \
    X(ALK_UNCHANGED, 5, ALK_CLASS_NONE, "nothing to change")                                       \
    X(ALK_AGAIN, -1, ALK_CLASS_TRANSIENT, "passing failure")                                       \
    X(ALK_POOL_TIMEOUT, -2, ALK_CLASS_TRANSIENT, "no connection became free in time")              \
    X(ALK_NOMEM, -3, ALK_CLASS_TRANSIENT, "out of memory")                                         \
    X(ALK_FAILED, -4, ALK_CLASS_PERMANENT, "failure")                                              \
    X(ALK_NO_STORE, -5, ALK_CLASS_PERMANENT, "no store")                                           \
    X(ALK_TOO_NEW, -6, ALK_CLASS_PERMANENT, "schema too new")                                      \
    X(ALK_UNREADABLE, -7, ALK_CLASS_PERMANENT, "a stored row cannot be read")                      \
    X(ALK_DATA, -8, ALK_CLASS_PERMANENT, "a value the database refuses")                           \
    X(ALK_LOST, -9, ALK_CLASS_LOST, "no longer the owner")                                         \
    X(ALK_CLOSED, -10, ALK_CLASS_CLOSED, "closed")                                                 \
    X(ALK_USAGE, -11, ALK_CLASS_USAGE, "wrong use")                                                \
    X(ALK_INVALID, -12, ALK_CLASS_USAGE, "a value that is not allowed")

typedef enum alk_status {
#define ALK_STATUS_ITEM(name, number, class_, text) name = number,
    ALK_STATUS_MAP(ALK_STATUS_ITEM)
#undef ALK_STATUS_ITEM
} alk_status;

/* What a caller may do about a failure (S35): wait and try again; nothing without a person;
 * somebody else has it now; the handle was closed; mend the call. */
typedef enum alk_class {
    ALK_CLASS_NONE,
    ALK_CLASS_TRANSIENT,
    ALK_CLASS_PERMANENT,
    ALK_CLASS_LOST,
    ALK_CLASS_CLOSED,
    ALK_CLASS_USAGE
} alk_class;

/* What a loop was doing when it failed (S167): name and the word that stands in messages. */
#define ALK_PHASE_MAP(X)                                                                           \
    X(ALK_PHASE_NONE, "")                                                                          \
    X(ALK_PHASE_CONNECT, "connect")                                                                \
    X(ALK_PHASE_RENEW, "renew")                                                                    \
    X(ALK_PHASE_BEGIN, "begin")                                                                    \
    X(ALK_PHASE_READ_DUE, "read due")                                                              \
    X(ALK_PHASE_PARSE, "parse")                                                                    \
    X(ALK_PHASE_ENQUEUE, "enqueue")                                                                \
    X(ALK_PHASE_ADVANCE, "advance")                                                                \
    X(ALK_PHASE_COMMIT, "commit")                                                                  \
    X(ALK_PHASE_SLEEP, "sleep")                                                                    \
    X(ALK_PHASE_CLAIM, "claim")                                                                    \
    X(ALK_PHASE_SETTLE, "settle")                                                                  \
    X(ALK_PHASE_EXTEND, "extend")

typedef enum alk_phase {
#define ALK_PHASE_ITEM(name, text) name,
    ALK_PHASE_MAP(ALK_PHASE_ITEM)
#undef ALK_PHASE_ITEM
} alk_phase;

#define ALK_ERROR_MESSAGE_BYTES 1024
#define ALK_ERROR_SUBJECT_BYTES 208
#define ALK_ERROR_CODE_BYTES 12

/* One failure. The caller owns it; it holds no memory of its own and needs no freeing. Start it
 * with ALK_ERROR_INIT.
 *
 * status        what the call returned
 * error_class   what can be done about it
 * phase         what a loop was doing, ALK_PHASE_NONE elsewhere
 * is_unknown    the connection broke during COMMIT: it may or may not have happened (S36)
 * engine_code   SQLSTATE on PostgreSQL, the extended result code in decimal on SQLite, "" where no
 *               engine was asked
 * subject       the name of the schedule, queue or lease concerned, "" where there is none
 * message       the whole chain, outermost first, "run scheduler: tick: enqueue 'nightly': ...:
 *               <the engine's words>" */
typedef struct alk_error {
    alk_status status;
    alk_class error_class;
    alk_phase phase;
    bool is_unknown;
    char engine_code[ALK_ERROR_CODE_BYTES];
    char subject[ALK_ERROR_SUBJECT_BYTES];
    char message[ALK_ERROR_MESSAGE_BYTES];
} alk_error;

#ifdef __cplusplus
#define ALK_ERROR_INIT alk_error()
#else
#define ALK_ERROR_INIT                                                                             \
    { .status = ALK_OK }
#endif

/* The class of a status: what can be done about it (S35). ALK_CLASS_NONE for results that are no
 * failure. */
ALK_API alk_class alk_status_class(alk_status status);

/* The text of a status, for people ("schema too new"); static, never NULL (S220). */
ALK_API const char *alk_status_text(alk_status status);

/* The stable name of a status as it stands in this header ("ALK_TOO_NEW"); static, never NULL
 * (S220). */
ALK_API const char *alk_status_name(alk_status status);

/* The word of a phase ("read due"); static, "" for ALK_PHASE_NONE (S167). */
ALK_API const char *alk_phase_text(alk_phase phase);

/* The version of the library that runs, "0.1.0"; static. */
ALK_API const char *alk_version(void);

/* ---- stop ---- */

/* A token that tells loops to end. One token may serve any number of loops and threads. */
typedef struct alk_stop alk_stop;

/* Makes a token that is not set.
 *
 * ret_stop  receives the token on success; the caller frees it with alk_stop_free
 * error     may be NULL
 * Returns ALK_OK; ALK_AGAIN when the process has no descriptor left; ALK_NOMEM. */
ALK_API alk_status alk_stop_new(alk_stop **ret_stop, alk_error *error);

/* Sets the token: every loop and wait that has it ends (S80). Async-signal-safe (S219), may be
 * called any number of times and from any thread. NULL is allowed and does nothing. */
ALK_API void alk_stop_set(alk_stop *stop);

/* Whether the token is set. NULL is never set. */
ALK_API bool alk_stop_is_set(const alk_stop *stop);

/* A descriptor that becomes readable when the token is set, for a caller's own poll(); owned by the
 * token. -1 for NULL. */
ALK_API int alk_stop_fd(const alk_stop *stop);

/* Frees the token. No loop may be using it. NULL is allowed. */
ALK_API void alk_stop_free(alk_stop *stop);

/* ---- events ---- */

typedef enum alk_level {
    ALK_LEVEL_DEBUG,
    ALK_LEVEL_INFO,
    ALK_LEVEL_WARNING,
    ALK_LEVEL_ERROR
} alk_level;

/* One thing that a loop did or met (S205). Loops report through one callback and never write to a
 * stream. Pointers are valid during the callback only; a text that does not apply is "", a number
 * -1. Payloads are never part of it.
 *
 * level        how much it matters
 * name         what happened, a fixed phrase ("schedule quarantined")
 * component    who says so: "scheduler", "worker", "maintenance", "store"
 * subject      the schedule, queue or lease concerned
 * owner        the owner of a lease, where one is concerned
 * job_id       the job concerned
 * attempt      its attempt
 * fence        the fence of the lease concerned
 * count        how many (boundaries skipped, jobs settled)
 * duration_us  how long it took
 * fire_at_us   the boundary concerned, ALK_NO_TIME if none; with last_fire_at_us the first and last
 *              of several
 * detail       free text for people
 * error        the failure, NULL if none */
typedef struct alk_event {
    alk_level level;
    const char *name;
    const char *component;
    const char *subject;
    const char *owner;
    int64_t job_id;
    int64_t attempt;
    int64_t fence;
    int64_t count;
    int64_t duration_us;
    int64_t fire_at_us;
    int64_t last_fire_at_us;
    const char *detail;
    const alk_error *error;
} alk_event;

/* Receives events. Called from the thread of the loop that reports (a worker's executors too): it
 * must be thread-safe, must not block for long and must not call the loop. */
typedef void (*alk_event_fn)(const alk_event *event, void *context);

/* An event callback that prints one logfmt line: time, level, event, component and what applies.
 *
 * event    not NULL
 * context  a FILE * that is open for writing */
ALK_API void alk_event_print(const alk_event *event, void *context);

/* ---- the seams for tests (S221) ---- */

/* Gives the time in microseconds since 1970 UTC. Must be thread-safe. On SQLite this is the time of
 * the store; on PostgreSQL the database's own clock rules and this one only measures skew (S14). */
typedef int64_t (*alk_now_fn)(void *context);

/* Gives 64 random bits. Must be thread-safe. */
typedef uint64_t (*alk_random_fn)(void *context);

#ifdef __cplusplus
}
#endif
#endif
