/* cli/schedule_show.c: `alk schedule list`, `show` and `history`. */
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/output.h"
#include "cli/schedule.h"

alk_status alk__schedule_absent(const char *name, alk_error *error) {
    return alk__fail(error, ALK_ABSENT, "no schedule '%s'", name);
}

static const char *state_of(const void *row) {
    const alk_schedule_row *schedule = row;

    return schedule->unreadable != NULL ? "unreadable" : alk_schedule_state_text(schedule->state);
}

#define IN(field) offsetof(alk_schedule_row, field)

static const char *catchup_of(const void *row) {
    return alk_catchup_text(((const alk_schedule_row *)row)->catchup);
}

static const char *overlap_of(const void *row) {
    return alk_overlap_text(((const alk_schedule_row *)row)->overlap);
}

static const char *gap_of(const void *row) {
    return alk_dst_gap_text(((const alk_schedule_row *)row)->dst_gap);
}

static const char *fold_of(const void *row) {
    return alk_dst_fold_text(((const alk_schedule_row *)row)->dst_fold);
}

/* clang-format off */
static const struct alk__column columns[] = {
    {"name", ALK__COLUMN_TEXT, IN(name), true, NULL},
    {"spec", ALK__COLUMN_TEXT, IN(spec), true, NULL},
    {"zone", ALK__COLUMN_TEXT, IN(zone), true, NULL},
    {"queue", ALK__COLUMN_TEXT, IN(queue), true, NULL},
    {"state", ALK__COLUMN_STATE, 0, true, state_of},
    {"next_fire_at", ALK__COLUMN_TIME, IN(next_fire_at_us), true, NULL},
    {"last_fire_at", ALK__COLUMN_TIME, IN(last_fire_at_us), true, NULL},
    {"fired", ALK__COLUMN_INTEGER, IN(fired_total), true, NULL},
    {"missed", ALK__COLUMN_INTEGER, IN(missed_total), true, NULL},
    {"skipped", ALK__COLUMN_INTEGER, IN(skipped_total), false, NULL},
    {"quarantined", ALK__COLUMN_INTEGER, IN(quarantined_total), false, NULL},
    {"last_missed_at", ALK__COLUMN_TIME, IN(last_missed_at_us), false, NULL},
    {"quarantined_at", ALK__COLUMN_TIME, IN(quarantined_at_us), true, NULL},
    {"quarantine_count", ALK__COLUMN_COUNT, IN(quarantine_count), false, NULL},
    {"last_error", ALK__COLUMN_TEXT, IN(last_error), true, NULL},
    {"paused_at", ALK__COLUMN_TIME, IN(paused_at_us), true, NULL},
    {"pause_until", ALK__COLUMN_TIME, IN(pause_until_us), true, NULL},
    {"done_at", ALK__COLUMN_TIME, IN(done_at_us), false, NULL},
    {"set", ALK__COLUMN_TEXT, IN(owner_set), true, NULL},
    {"priority", ALK__COLUMN_INT, IN(priority), false, NULL},
    {"max_attempts", ALK__COLUMN_COUNT, IN(max_attempts), false, NULL},
    {"expires_us", ALK__COLUMN_DURATION, IN(expires_us), false, NULL},
    {"catchup", ALK__COLUMN_STATE, 0, false, catchup_of},
    {"catchup_max", ALK__COLUMN_COUNT, IN(catchup_max), false, NULL},
    {"catchup_window_us", ALK__COLUMN_DURATION, IN(catchup_window_us), false, NULL},
    {"grace_us", ALK__COLUMN_DURATION, IN(grace_us), false, NULL},
    {"max_lateness_us", ALK__COLUMN_DURATION, IN(max_lateness_us), false, NULL},
    {"overlap", ALK__COLUMN_STATE, 0, false, overlap_of},
    {"jitter_us", ALK__COLUMN_DURATION, IN(jitter_us), false, NULL},
    {"gap", ALK__COLUMN_STATE, 0, false, gap_of},
    {"fold", ALK__COLUMN_STATE, 0, false, fold_of},
    {"not_before", ALK__COLUMN_TIME, IN(not_before_us), false, NULL},
    {"not_after", ALK__COLUMN_TIME, IN(not_after_us), false, NULL},
    {"max_fires", ALK__COLUMN_COUNT, IN(max_fires), false, NULL},
    {"created_at", ALK__COLUMN_TIME, IN(created_at_us), false, NULL},
    {"anchor_at", ALK__COLUMN_TIME, IN(anchor_at_us), false, NULL},
    {"spec_resolved", ALK__COLUMN_TEXT, IN(spec_resolved), false, NULL},
    {"warning", ALK__COLUMN_TEXT, IN(warning), false, NULL},
    {"id", ALK__COLUMN_INTEGER, IN(id), false, NULL},
    {"payload", ALK__COLUMN_VALUE, IN(payload), false, NULL},
    {"unreadable", ALK__COLUMN_TEXT, IN(unreadable), true, NULL},
};
/* clang-format on */

struct alk__listing alk__schedule_rows(const alk_schedule_row *schedules, size_t count,
                                       int64_t now_us) {
    return (struct alk__listing){.columns = columns,
                                 .column_count = ALK__COUNT(columns),
                                 .rows = schedules,
                                 .row_bytes = sizeof(alk_schedule_row),
                                 .count = count,
                                 .now_us = now_us};
}

static struct alk__listing rows_of(const alk_schedule_list *list) {
    return alk__schedule_rows(list->schedules, list->count, list->now_us);
}

/* "nightly: next at 2027-01-01T03:00:00Z (in 5h)", "nightly: done". */
static void print_next(const alk_schedule_row *schedule, int64_t now_us) {
    char time[ALK__AGE_BYTES];

    printf("%s: ", schedule->name);
    if (schedule->next_fire_at_us == ALK_NO_TIME) {
        printf("%s\n", alk_schedule_state_text(schedule->state));
        return;
    }
    alk__time_with_age(schedule->next_fire_at_us, now_us, time, sizeof(time));
    printf("next at %s%s", time, schedule->paused_at_us != ALK_NO_TIME ? ", but it is paused" : "");
    if (schedule->paused_at_us != ALK_NO_TIME && schedule->pause_until_us != ALK_NO_TIME) {
        alk__time_with_age(schedule->pause_until_us, now_us, time, sizeof(time));
        printf(" until %s", time);
    }
    printf("\n");
}

alk_status alk__schedule_print_next(const struct alk__arguments *arguments, alk_conn *conn,
                                    const char *name, alk_error *error) {
    alk_schedule_list list = {.count = 0};
    alk_status st = alk_schedule_get(conn, name, &list, error);
    struct alk__listing rows = rows_of(&list);

    if (st != ALK_OK)
        return st == ALK_ABSENT ? alk__schedule_absent(name, error) : st;
    if (arguments->is_json)
        st = alk__print_one(&rows, true, error);
    else
        print_next(&list.schedules[0], list.now_us);
    alk__say_warning(list.schedules[0].warning);
    alk_schedule_list_free(&list);
    return st;
}

/* ---- list and show ---- */

static alk_status list_schedules(const struct alk__arguments *arguments, alk_conn *conn,
                                 alk_error *error) {
    int limit = (int)alk__given(arguments->limit, 100);
    alk_schedule_list list = {.count = 0};
    struct alk__listing rows;
    alk_status st;

    if (arguments->is_bad)
        return alk__schedule_list_bad(arguments, conn, limit, error);
    st = alk_schedule_list_get(conn, NULL, limit, &list, error);
    if (st < 0)
        return st;
    rows = rows_of(&list);
    st = alk__print_list(&rows, arguments->is_json, error);
    alk__say_more(arguments, list.count, (size_t)limit);
    alk_schedule_list_free(&list);
    return st;
}

static alk_status show_schedule(const struct alk__arguments *arguments, alk_conn *conn,
                                alk_error *error) {
    const char *name = arguments->operands.items[0];
    alk_schedule_list list = {.count = 0};
    alk_status st = alk_schedule_get(conn, name, &list, error);
    struct alk__listing rows = rows_of(&list);

    if (st != ALK_OK)
        return st == ALK_ABSENT ? alk__schedule_absent(name, error) : st;
    st = alk__print_one(&rows, arguments->is_json, error);
    alk_schedule_list_free(&list);
    return st;
}

/* ---- history ---- */

#define IN_EVENT(field) offsetof(alk_schedule_event, field)

/* clang-format off */
static const struct alk__column event_columns[] = {
    {"outcome", ALK__COLUMN_STATE, IN_EVENT(outcome), true, NULL},
    {"fire_at", ALK__COLUMN_TIME, IN_EVENT(fire_at_us), true, NULL},
    {"to", ALK__COLUMN_TIME, IN_EVENT(to_us), true, NULL},
    {"count", ALK__COLUMN_COUNT, IN_EVENT(count), true, NULL},
    {"at_least", ALK__COLUMN_FLAG, IN_EVENT(is_at_least), true, NULL},
    {"job_id", ALK__COLUMN_COUNT, IN_EVENT(job_id), true, NULL},
    {"lateness_us", ALK__COLUMN_DURATION, IN_EVENT(lateness_us), true, NULL},
    {"catchup", ALK__COLUMN_FLAG, IN_EVENT(is_catchup), true, NULL},
    {"at", ALK__COLUMN_TIME, IN_EVENT(at_us), true, NULL},
    {"owner", ALK__COLUMN_TEXT, IN_EVENT(owner), false, NULL},
    {"fence", ALK__COLUMN_COUNT, IN_EVENT(fence), false, NULL},
    {"detail", ALK__COLUMN_TEXT, IN_EVENT(detail), true, NULL},
    {"unreadable", ALK__COLUMN_TEXT, IN_EVENT(unreadable), true, NULL},
};
/* clang-format on */

static alk_status show_history(const struct alk__arguments *arguments, alk_conn *conn,
                               alk_error *error) {
    const char *name = arguments->operands.items[0];
    int limit = (int)alk__given(arguments->limit, 100);
    alk_schedule_history history = {.count = 0};
    alk_status st = alk_schedule_history_get(conn, name, limit, &history, error);
    struct alk__listing rows = {.columns = event_columns,
                                .column_count = ALK__COUNT(event_columns),
                                .rows = history.events,
                                .row_bytes = sizeof(alk_schedule_event),
                                .count = history.count,
                                .now_us = alk__now_us(NULL)};

    if (st != ALK_OK)
        return st == ALK_ABSENT ? alk__schedule_absent(name, error) : st;
    st = alk__print_list(&rows, arguments->is_json, error);
    alk__say_more(arguments, history.count, (size_t)limit);
    alk_schedule_history_free(&history);
    return st;
}

/* ---- the commands ---- */

static int run_list(const struct alk__arguments *arguments) {
    return alk__with_store(arguments, list_schedules);
}

static int run_show(const struct alk__arguments *arguments) {
    return alk__with_store(arguments, show_schedule);
}

static int run_history(const struct alk__arguments *arguments) {
    return alk__with_store(arguments, show_history);
}

/* clang-format off */
#define LIMIT_OPTION \
    {"limit", "N", "at most so many; 100 unless given", ALK__OPTION_INTEGER, offsetof(struct alk__arguments, limit), 1, 10000}
static const struct alk__option history_options[] = {
    LIMIT_OPTION,
    {.name = NULL},
};
static const struct alk__option list_options[] = {
    {"bad", NULL, "only quarantined, unreadable and never due ones", ALK__OPTION_FLAG, offsetof(struct alk__arguments, is_bad), 0, 0},
    LIMIT_OPTION,
    {.name = NULL},
};
/* clang-format on */

const struct alk__command alk__command_schedule_list = {
    .name = "schedule list",
    .summary = "all schedules by name",
    .usage = "[--bad] [--limit N]",
    .examples = {{"alk schedule list --bad", "what needs somebody, and why"},
                 {"alk schedule list --json | jq -r .name", "for a script"}},
    .options = list_options,
    .run = run_list,
};

const struct alk__command alk__command_schedule_show = {
    .name = "schedule show",
    .summary = "one schedule with all it has",
    .usage = "NAME",
    .examples = {{"alk schedule show nightly", "for people"},
                 {"alk schedule show nightly --json | jq .next_fire_at", "for a script"}},
    .least = 1,
    .most = 1,
    .run = run_show,
};

const struct alk__command alk__command_schedule_history = {
    .name = "schedule history",
    .summary = "what became of each boundary, newest first",
    .usage = "NAME [--limit N]",
    .examples = {{"alk schedule history nightly --limit 7", "the last week"},
                 {"alk schedule history nightly --json | jq .outcome", "for a script"}},
    .options = history_options,
    .least = 1,
    .most = 1,
    .run = run_history,
};
