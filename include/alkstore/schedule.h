/* alkstore/schedule.h: rows that put a job in a queue at each boundary of their spec, and the loop
 * that fires them. Specified in docs/spec/schedules.md. */
#ifndef ALKSTORE_SCHEDULE_H
#define ALKSTORE_SCHEDULE_H

#include <alkstore/lease.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ALK_SCHEDULER_LEASE_DEFAULT "scheduler"
#define ALK_SCHEDULER_TTL_DEFAULT_US INT64_C(15000000)
#define ALK_SCHEDULER_TTL_MIN_US INT64_C(3000000)
#define ALK_SCHEDULER_BATCH_DEFAULT 500
#define ALK_CATCHUP_MAX_DEFAULT 64

/* What a schedule states. Start with ALK_SCHEDULE_INIT.
 *
 * name           1-200 bytes, unique (S111, S212)
 * spec           "@every 10m", "0 6 * * MON-FRI", "@daily", ... at most 256 bytes (schedules.md,
 *                part 2)
 * zone           an IANA name, NULL or "" = UTC (S105)
 * queue          1-200 bytes
 * payload        JSON, at most 1 MiB; NULL = "null"
 * priority       of its jobs, -32768..32767
 * max_attempts   of its jobs, 0 = the queue's
 * expires_us     of its jobs, counted from the boundary (S119); ALK_NO_TIME = never
 * catchup_max    1-1000, 0 = 64 (S129) */
typedef struct alk_schedule {
    size_t size;
    const char *name;
    const char *spec;
    const char *zone;
    const char *queue;
    const char *payload;
    size_t payload_length;
    int priority;
    int max_attempts;
    int64_t expires_us;
    int catchup_max;
} alk_schedule;

#define ALK_SCHEDULE_INIT                                                                          \
    { sizeof(alk_schedule), NULL, NULL, NULL, NULL, NULL, 0, 0, 0, ALK_NO_TIME, 0 }

/* States the whole of a schedule: makes it, or sets every field of the one of that name
 * (S112-S115). Its timing is left alone when spec and zone are unchanged (S114); clears a
 * quarantine (S143); mends a row that cannot be read; a paused one stays paused.
 * Returns ALK_OK; ALK_UNCHANGED (nothing to write); ALK_INVALID, the message naming the schedule
 * and the column (S112). */
ALK_API alk_status alk_schedule_put(alk_conn *conn, const alk_schedule *schedule, alk_error *error);

/* The fields that alk_schedule_change sets, a bit each (S115). A field whose value means "null"
 * (zone "", expires ALK_NO_TIME) is set to null. */
enum alk_schedule_field {
    ALK_SCHEDULE_SPEC = 1 << 0,
    ALK_SCHEDULE_ZONE = 1 << 1,
    ALK_SCHEDULE_QUEUE = 1 << 2,
    ALK_SCHEDULE_PAYLOAD = 1 << 3,
    ALK_SCHEDULE_PRIORITY = 1 << 4,
    ALK_SCHEDULE_MAX_ATTEMPTS = 1 << 5,
    ALK_SCHEDULE_EXPIRES = 1 << 6,
    ALK_SCHEDULE_CATCHUP_MAX = 1 << 7
};

/* Changes only the fields named, atomically; change->name says which schedule; clears a quarantine
 * (S143). ALK_OK; ALK_UNCHANGED; ALK_ABSENT; ALK_INVALID; ALK_UNREADABLE (S9: put mends it). */
ALK_API alk_status alk_schedule_change(alk_conn *conn, const alk_schedule *change, unsigned fields,
                                       alk_error *error);

/* Removes a schedule with its history; jobs it fired stay. ALK_OK; ALK_ABSENT. */
ALK_API alk_status alk_schedule_remove(alk_conn *conn, const char *name, alk_error *error);

/* Pauses: no boundary fires until it is resumed (S116). ALK_OK; ALK_UNCHANGED (it is paused
 * or done); ALK_ABSENT. */
ALK_API alk_status alk_schedule_pause(alk_conn *conn, const char *name, alk_error *error);

/* Resumes at the first boundary after now; those passed meanwhile are one missed line of the
 * ledger, not fired (S117). ALK_OK; ALK_UNCHANGED (it is not paused); ALK_ABSENT; ALK_INVALID (its
 * spec has become bad, it stays paused); ALK_UNREADABLE (S9). */
ALK_API alk_status alk_schedule_resume(alk_conn *conn, const char *name, alk_error *error);

/* Runs it now: one job and a manual line, next_fire_at stays; also while paused or quarantined
 * (S120). ret_job_id may be NULL. */
ALK_API alk_status alk_schedule_fire(alk_conn *conn, const char *name, int64_t *ret_job_id,
                                     alk_error *error);

#define ALK_SCHEDULE_STATE_MAP(X)                                                                  \
    X(ALK_SCHEDULE_ACTIVE, "active")                                                               \
    X(ALK_SCHEDULE_PAUSED, "paused")                                                               \
    X(ALK_SCHEDULE_QUARANTINED, "quarantined")                                                     \
    X(ALK_SCHEDULE_DONE, "done")

typedef enum alk_schedule_state {
#define ALK_SCHEDULE_STATE_ITEM(name, text) name,
    ALK_SCHEDULE_STATE_MAP(ALK_SCHEDULE_STATE_ITEM)
#undef ALK_SCHEDULE_STATE_ITEM
} alk_schedule_state;

ALK_API const char *alk_schedule_state_text(alk_schedule_state state);

/* One schedule as read. Texts live as long as the list; times ALK_NO_TIME where there is none. */
typedef struct alk_schedule_row {
    int64_t id;
    const char *name;
    const char *spec;
    const char *zone;
    const char *queue;
    const char *payload;
    size_t payload_length;
    int priority;
    int64_t max_attempts;
    int64_t expires_us;
    int64_t catchup_max;
    alk_schedule_state state;
    int64_t next_fire_at_us;
    int64_t last_fire_at_us;
    int64_t created_at_us;
    int64_t anchor_at_us;
    int64_t paused_at_us;
    int64_t quarantined_at_us;
    int64_t quarantine_count; /* in a row */
    const char *last_error;
    int64_t fired_total;
    int64_t missed_total;
    int64_t skipped_total;
    int64_t quarantined_total;
    const char *unreadable; /* NULL, or why this row cannot be read (S9) */
} alk_schedule_row;

typedef struct alk_schedule_list {
    size_t count;
    alk_schedule_row *schedules;
    int64_t now_us;
    void *memory;
} alk_schedule_list;

/* Reads one; ret_list gets one schedule. ALK_OK; ALK_ABSENT; ALK_UNREADABLE (S9). */
ALK_API alk_status alk_schedule_get(alk_conn *conn, const char *name, alk_schedule_list *ret_list,
                                    alk_error *error);

/* Lists them by name, from the one after `after` (NULL = the first), 1-10,000 of them. */
ALK_API alk_status alk_schedule_list_get(alk_conn *conn, const char *after, int limit,
                                         alk_schedule_list *ret_list, alk_error *error);
ALK_API void alk_schedule_list_free(alk_schedule_list *list);

/* One line of the ledger: every boundary is fired or has its reason (S124, S130). */
typedef struct alk_schedule_event {
    int64_t id;
    const char *outcome; /* fired, missed, manual, error, skipped_overlap */
    int64_t fire_at_us;  /* the boundary; the first of several for missed */
    int64_t to_us;       /* missed: the last of them */
    int64_t count;       /* missed: how many */
    int64_t job_id;      /* 0: none */
    int64_t lateness_us;
    const char *owner;
    int64_t fence;
    const char *detail;
    int64_t at_us;
    bool is_catchup;
    bool is_at_least; /* count was not counted to its end */
    const char *unreadable;
} alk_schedule_event;

typedef struct alk_schedule_history {
    size_t count;
    alk_schedule_event *events;
    void *memory;
} alk_schedule_history;

/* The ledger of one schedule, newest first, 1-10,000 lines. ALK_OK; ALK_ABSENT (no such
 * schedule). */
ALK_API alk_status alk_schedule_history_get(alk_conn *conn, const char *name, int limit,
                                            alk_schedule_history *ret_history, alk_error *error);
ALK_API void alk_schedule_history_free(alk_schedule_history *history);

/* Start with ALK_SCHEDULER_OPTIONS_INIT.
 *
 * lease_name  the leadership's lease; all schedulers of a store serve all its schedules (S162)
 * owner       for people, NULL = "host/pid"; a random token is added (S163)
 * ttl_us      of the lease, >= 3 s (S147)
 * batch       schedules a tick, 1-10,000 (S132)
 * is_once     one tick of everything due, then return; ALK_HELD at once when another leads (S157)
 * event, event_context  told what happens */
typedef struct alk_scheduler_options {
    size_t size;
    const char *lease_name;
    const char *owner;
    int64_t ttl_us;
    int batch;
    bool is_once;
    alk_event_fn event;
    void *event_context;
} alk_scheduler_options;

#define ALK_SCHEDULER_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(alk_scheduler_options), ALK_SCHEDULER_LEASE_DEFAULT, NULL,                          \
            ALK_SCHEDULER_TTL_DEFAULT_US, ALK_SCHEDULER_BATCH_DEFAULT, false, NULL, NULL           \
    }

/* Waits for leadership, then fires schedules until stop is set.
 *
 * A new or changed schedule is noticed within milliseconds when wake-ups work, and within TTL/3
 * when they do not: at least every third of the TTL the lease is renewed and the soonest due time
 * read again (S150). A stored schedule that cannot be read is quarantined, reported by name, and
 * stops nothing (S138). A transient error of the database is tried again three times after 100, 200
 * and 400 ms, jittered, the lease renewed before each (S164, S169), and then returned with phase
 * and, where known, the schedule's name (S165). On a stop the lease is released (S152). After an
 * error the lease is NOT released: nobody ticks until it lapses, TTL after the last renewal, and a
 * standby does within two seconds more (S153).
 *
 * Returns ALK_OK after a stop (or once); ALK_HELD (once, and another leads: error's subject is its
 * owner); ALK_LOST (leadership was lost: run it again); < 0 otherwise, error->error_class saying
 * what to do: transient = run it again after a while, permanent = tell a person, closed = end
 * (S174). */
ALK_API alk_status alk_scheduler_run(alk_store *store, const alk_scheduler_options *options,
                                     alk_stop *stop, alk_error *error);

#ifdef __cplusplus
}
#endif
#endif
