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

/* What to do about boundaries that were missed: older than the schedule's grace (S131). */
#define ALK_CATCHUP_MAP(X)                                                                         \
    X(ALK_CATCHUP_LAST, "last") /* fire the newest, unless a late one fires */                     \
    X(ALK_CATCHUP_SKIP, "skip") /* fire none */                                                    \
    X(ALK_CATCHUP_ALL, "all")   /* fire those within the window */

/* What a boundary does while an earlier job of its schedule is unfinished (S122). */
#define ALK_OVERLAP_MAP(X)                                                                         \
    X(ALK_OVERLAP_ALLOW, "allow")                     /* it fires */                               \
    X(ALK_OVERLAP_SKIP, "skip")                       /* it is skipped */                          \
    X(ALK_OVERLAP_BUFFER_ONE, "buffer_one")           /* it fires unless a job waits already */    \
    X(ALK_OVERLAP_REPLACE_PENDING, "replace_pending") /* it fires, and what waits is cancelled */

/* Local times that clocks go forward over: one fire at the change, or none (S107). */
#define ALK_DST_GAP_MAP(X)                                                                         \
    X(ALK_DST_GAP_SHIFT, "shift")                                                                  \
    X(ALK_DST_GAP_SKIP, "skip")

/* Local times that come twice; auto: the first, and both for specs of every hour or minute
 * (S107). */
#define ALK_DST_FOLD_MAP(X)                                                                        \
    X(ALK_DST_FOLD_AUTO, "auto")                                                                   \
    X(ALK_DST_FOLD_FIRST, "first")                                                                 \
    X(ALK_DST_FOLD_LAST, "last")                                                                   \
    X(ALK_DST_FOLD_BOTH, "both")

#define ALK_WORD_ITEM(name, text) name,
typedef enum alk_catchup { ALK_CATCHUP_MAP(ALK_WORD_ITEM) } alk_catchup;
typedef enum alk_overlap { ALK_OVERLAP_MAP(ALK_WORD_ITEM) } alk_overlap;
typedef enum alk_dst_gap { ALK_DST_GAP_MAP(ALK_WORD_ITEM) } alk_dst_gap;
typedef enum alk_dst_fold { ALK_DST_FOLD_MAP(ALK_WORD_ITEM) } alk_dst_fold;
#undef ALK_WORD_ITEM

/* Their words, as tables, options and files have them; static, "" for no value of theirs. */
ALK_API const char *alk_catchup_text(alk_catchup catchup);
ALK_API const char *alk_overlap_text(alk_overlap overlap);
ALK_API const char *alk_dst_gap_text(alk_dst_gap gap);
ALK_API const char *alk_dst_fold_text(alk_dst_fold fold);

/* What a schedule states. Start with ALK_SCHEDULE_INIT. Spans are 1 us to 100 years, times lie in
 * 1970-2199; ALK_NO_TIME = none.
 *
 * name               1-200 bytes, unique (S111, S212)
 * spec               "@every 10m", "0 6 * * MON-FRI", "@daily", "@at ...", ... at most 256 bytes
 *                    (schedules.md, part 2)
 * zone               an IANA name, NULL or "" = that of CRON_TZ= in spec, else UTC (S105)
 * queue              1-200 bytes
 * payload            JSON, at most 1 MiB; NULL = "null"
 * priority           of its jobs, -32768..32767
 * max_attempts       of its jobs, 0 = the queue's
 * expires_us         of its jobs, counted from the boundary (S119); ALK_NO_TIME = never
 * catchup_max        1-1000, 0 = 64 (S129)
 * dst_gap, dst_fold  schedules.md, part 3
 * catchup            schedules.md, part 5
 * catchup_window_us  with ALL: missed boundaries fire when they are younger; ALK_NO_TIME = no limit
 * grace_us           a boundary not older than this is late, not missed; >= 0; ALK_NO_TIME = 60 s
 * max_lateness_us    missed boundaries older than this never fire; ALK_NO_TIME = no limit
 * overlap            schedules.md, part 6
 * jitter_us          a job runs up to so long after its boundary, the same at each try (S109);
 *                    ALK_NO_TIME = none
 * not_before_us      earlier times are no boundaries (S121)
 * not_after_us       this time and later ones are none: then the schedule is done
 * max_fires          it is done after so many fired boundaries; 0 = no limit
 * anchor_us          where the grid of an @every without phase starts; ALK_NO_TIME = when the
 *                    schedule was made
 * pause_until_us     it is paused, and resumes by itself then; ALK_NO_TIME or a time that has
 *                    passed = no such thing, and a pause that there is stays
 * allow_late         an @at that has passed is due at once, instead of being refused
 * owner_set          the declarative set it belongs to, 1-200 bytes (S123); NULL or "" = none */
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
    alk_dst_gap dst_gap;
    alk_dst_fold dst_fold;
    alk_catchup catchup;
    int64_t catchup_window_us;
    int64_t grace_us;
    int64_t max_lateness_us;
    alk_overlap overlap;
    int64_t jitter_us;
    int64_t not_before_us;
    int64_t not_after_us;
    int64_t max_fires;
    int64_t anchor_us;
    int64_t pause_until_us;
    bool allow_late;
    const char *owner_set;
} alk_schedule;

#define ALK_SCHEDULE_INIT                                                                          \
    {                                                                                              \
        sizeof(alk_schedule), NULL, NULL, NULL, NULL, NULL, 0, 0, 0, ALK_NO_TIME, 0,               \
            ALK_DST_GAP_SHIFT, ALK_DST_FOLD_AUTO, ALK_CATCHUP_LAST, ALK_NO_TIME, ALK_NO_TIME,      \
            ALK_NO_TIME, ALK_OVERLAP_ALLOW, ALK_NO_TIME, ALK_NO_TIME, ALK_NO_TIME, 0, ALK_NO_TIME, \
            ALK_NO_TIME, false, NULL                                                               \
    }

/* States the whole of a schedule: makes it, or sets every field of the one of that name
 * (S112-S115). Its timing is left alone when spec, zone, anchor, not_before, not_after and the dst
 * options are unchanged (S114); else it starts anew with the first boundary after now, without
 * catching up. Clears a quarantine (S143); mends a row that cannot be read; a paused one
 * stays paused.
 * Returns ALK_OK; ALK_UNCHANGED (nothing to write); ALK_INVALID, the message naming the schedule
 * and the column (S112), also for a spec that has no boundary after now (S108). */
ALK_API alk_status alk_schedule_put(alk_conn *conn, const alk_schedule *schedule, alk_error *error);

/* The fields that alk_schedule_change sets, a bit each (S115). A field whose value means "null"
 * (zone "", expires ALK_NO_TIME) is set to null. REANCHOR lets the grid of an @every start now. */
enum alk_schedule_field {
    ALK_SCHEDULE_SPEC = 1 << 0,
    ALK_SCHEDULE_ZONE = 1 << 1,
    ALK_SCHEDULE_QUEUE = 1 << 2,
    ALK_SCHEDULE_PAYLOAD = 1 << 3,
    ALK_SCHEDULE_PRIORITY = 1 << 4,
    ALK_SCHEDULE_MAX_ATTEMPTS = 1 << 5,
    ALK_SCHEDULE_EXPIRES = 1 << 6,
    ALK_SCHEDULE_CATCHUP_MAX = 1 << 7,
    ALK_SCHEDULE_DST_GAP = 1 << 8,
    ALK_SCHEDULE_DST_FOLD = 1 << 9,
    ALK_SCHEDULE_CATCHUP = 1 << 10,
    ALK_SCHEDULE_CATCHUP_WINDOW = 1 << 11,
    ALK_SCHEDULE_GRACE = 1 << 12,
    ALK_SCHEDULE_MAX_LATENESS = 1 << 13,
    ALK_SCHEDULE_OVERLAP = 1 << 14,
    ALK_SCHEDULE_JITTER = 1 << 15,
    ALK_SCHEDULE_NOT_BEFORE = 1 << 16,
    ALK_SCHEDULE_NOT_AFTER = 1 << 17,
    ALK_SCHEDULE_MAX_FIRES = 1 << 18,
    ALK_SCHEDULE_ANCHOR = 1 << 19,
    ALK_SCHEDULE_PAUSE_UNTIL = 1 << 20,
    ALK_SCHEDULE_OWNER_SET = 1 << 21,
    ALK_SCHEDULE_REANCHOR = 1 << 22
};

/* Changes only the fields named, atomically; change->name says which schedule; clears a quarantine
 * (S143). ALK_OK; ALK_UNCHANGED; ALK_ABSENT; ALK_INVALID; ALK_UNREADABLE (S9: put mends it). */
ALK_API alk_status alk_schedule_change(alk_conn *conn, const alk_schedule *change, unsigned fields,
                                       alk_error *error);

/* What alk_schedule_apply does about a schedule. */
#define ALK_APPLY_MAP(X)                                                                           \
    X(ALK_APPLY_UNCHANGED, "unchanged")                                                            \
    X(ALK_APPLY_ADDED, "added")                                                                    \
    X(ALK_APPLY_CHANGED, "changed")                                                                \
    X(ALK_APPLY_REMOVED, "removed")

typedef enum alk_apply_action {
#define ALK_APPLY_ITEM(name, text) name,
    ALK_APPLY_MAP(ALK_APPLY_ITEM)
#undef ALK_APPLY_ITEM
} alk_apply_action;

ALK_API const char *alk_apply_action_text(alk_apply_action action);

typedef struct alk_apply_change {
    const char *name;
    alk_apply_action action;
} alk_apply_change;

typedef struct alk_apply_result {
    size_t count; /* those given, in their order, then those removed */
    alk_apply_change *changes;
    void *memory;
} alk_apply_result;

/* Makes a declarative set what is given, all or nothing (S123): puts each schedule as one of the
 * set, and removes those that the set owns and that are not among them. A schedule that is named
 * belongs to the set from then on; others are never touched.
 *
 * set         its name, 1-200 bytes
 * schedules   count of them, may be none; their owner_set is not looked at; names differ
 * is_dry_run  says what it would do and changes nothing
 * ret_result  freed with alk_apply_result_free; may be NULL
 * Returns ALK_OK; ALK_INVALID as alk_schedule_put. */
ALK_API alk_status alk_schedule_apply(alk_conn *conn, const char *set,
                                      const alk_schedule *schedules, size_t count, bool is_dry_run,
                                      alk_apply_result *ret_result, alk_error *error);
ALK_API void alk_apply_result_free(alk_apply_result *result);

/* Removes a schedule with its history; jobs it fired stay. ALK_OK; ALK_ABSENT. */
ALK_API alk_status alk_schedule_remove(alk_conn *conn, const char *name, alk_error *error);

/* Pauses: no boundary fires until it is resumed (S116); what was to end a pause by itself is
 * forgotten. ALK_OK; ALK_UNCHANGED (it is paused, or done); ALK_ABSENT. */
ALK_API alk_status alk_schedule_pause(alk_conn *conn, const char *name, alk_error *error);

/* Start with ALK_RESUME_OPTIONS_INIT.
 *
 * catchup  what was missed since the pause is treated as the schedule's policy says (S117) */
typedef struct alk_resume_options {
    size_t size;
    bool catchup;
} alk_resume_options;

#define ALK_RESUME_OPTIONS_INIT                                                                    \
    { sizeof(alk_resume_options), false }

/* Resumes at the first boundary after now; those passed meanwhile are one missed line of the
 * ledger, not fired (S117). options may be NULL. ALK_OK; ALK_UNCHANGED (it is not paused);
 * ALK_ABSENT; ALK_INVALID (its spec has become bad, it stays paused); ALK_UNREADABLE (S9). */
ALK_API alk_status alk_schedule_resume(alk_conn *conn, const char *name,
                                       const alk_resume_options *options, alk_error *error);

/* Start with ALK_FIRE_OPTIONS_INIT.
 *
 * respect_overlap  not while the schedule's overlap policy is against it: skip, while a job of it
 *                  is unfinished; buffer_one, while one waits; replace_pending cancels what waits
 * unique_key       1-200 bytes, taken until the job is finished; NULL = none (S58) */
typedef struct alk_fire_options {
    size_t size;
    bool respect_overlap;
    const char *unique_key;
} alk_fire_options;

#define ALK_FIRE_OPTIONS_INIT                                                                      \
    { sizeof(alk_fire_options), false, NULL }

/* Runs it now: one job and a manual line, next_fire_at stays; also while paused or quarantined
 * (S120). options and ret_job_id may be NULL. ALK_OK; ALK_DUPLICATE (another job of the queue has
 * the unique key, ret_job_id is its id, nothing was done); ALK_HELD (the overlap policy is against
 * it, nothing was done); ALK_ABSENT. */
ALK_API alk_status alk_schedule_fire(alk_conn *conn, const char *name,
                                     const alk_fire_options *options, int64_t *ret_job_id,
                                     alk_error *error);

#define ALK_BACKFILL_MAX 10000

typedef struct alk_backfill_result {
    size_t count;        /* boundaries that fired now, or would */
    int64_t *fire_at_us; /* in order of time */
    int64_t *job_ids;    /* 0 in a dry run */
    int64_t fired_before;
    bool has_more; /* max was reached: call it again */
    void *memory;
} alk_backfill_result;

/* Fires boundaries of the past that have not fired, whatever the schedule's last fire and policies
 * say; also while paused, quarantined or done (schedules.md, part 5). Their jobs expire counted
 * from now, and none of them counts towards max_fires.
 *
 * from_us, to_us  the first and the last moment; what is later than now is left to the scheduler
 * max             the most that fire, the oldest; 1-10,000
 * is_dry_run      says what it would fire and writes nothing
 * ret_result      freed with alk_backfill_result_free; may be NULL
 * Returns ALK_OK; ALK_ABSENT; ALK_INVALID (its spec is bad too); ALK_UNREADABLE. */
ALK_API alk_status alk_schedule_backfill(alk_conn *conn, const char *name, int64_t from_us,
                                         int64_t to_us, int max, bool is_dry_run,
                                         alk_backfill_result *ret_result, alk_error *error);
ALK_API void alk_backfill_result_free(alk_backfill_result *result);

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
    alk_dst_gap dst_gap;
    alk_dst_fold dst_fold;
    alk_catchup catchup;
    int64_t catchup_window_us;
    int64_t grace_us;
    int64_t max_lateness_us;
    alk_overlap overlap;
    int64_t jitter_us;
    int64_t not_before_us;
    int64_t not_after_us;
    int64_t max_fires; /* 0: no limit */
    int64_t pause_until_us;
    int64_t done_at_us;
    int64_t last_missed_at_us;
    const char *owner_set; /* "" = none */
    const char
        *spec_resolved;  /* what counts, where spec has an H (schedules.md, part 2); else "" */
    const char *warning; /* what is legal but surprising about its spec, "" if nothing */
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
 * event, event_context  told what happens
 * forget_missed  what was due before it started is not fired but one missed line of the ledger a
 *                schedule, and each goes on at its next boundary; done once, before the first tick
 *                (schedules.md, part 9) */
typedef struct alk_scheduler_options {
    size_t size;
    const char *lease_name;
    const char *owner;
    int64_t ttl_us;
    int batch;
    bool is_once;
    alk_event_fn event;
    void *event_context;
    bool forget_missed;
} alk_scheduler_options;

#define ALK_SCHEDULER_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(alk_scheduler_options), ALK_SCHEDULER_LEASE_DEFAULT, NULL,                          \
            ALK_SCHEDULER_TTL_DEFAULT_US, ALK_SCHEDULER_BATCH_DEFAULT, false, NULL, NULL, false    \
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

/* Lets every scheduler of this process compare its zone files with those that next fires were
 * worked out with, and work them out anew where a file changed (schedules.md, part 3); each does
 * so by itself when it starts to lead and once a day. Async-signal-safe. */
ALK_API void alk_scheduler_refresh_zones(void);

#ifdef __cplusplus
}
#endif
#endif
