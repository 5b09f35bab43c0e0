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
    {"quarantined_at", ALK__COLUMN_TIME, IN(quarantined_at_us), true, NULL},
    {"last_error", ALK__COLUMN_TEXT, IN(last_error), true, NULL},
    {"paused_at", ALK__COLUMN_TIME, IN(paused_at_us), true, NULL},
    {"priority", ALK__COLUMN_INT, IN(priority), false, NULL},
    {"max_attempts", ALK__COLUMN_COUNT, IN(max_attempts), false, NULL},
    {"expires_us", ALK__COLUMN_DURATION, IN(expires_us), false, NULL},
    {"catchup_max", ALK__COLUMN_COUNT, IN(catchup_max), false, NULL},
    {"created_at", ALK__COLUMN_TIME, IN(created_at_us), false, NULL},
    {"anchor_at", ALK__COLUMN_TIME, IN(anchor_at_us), false, NULL},
    {"id", ALK__COLUMN_INTEGER, IN(id), false, NULL},
    {"payload", ALK__COLUMN_VALUE, IN(payload), false, NULL},
    {"unreadable", ALK__COLUMN_TEXT, IN(unreadable), true, NULL},
};
/* clang-format on */

static struct alk__listing rows_of(const alk_schedule_list *list) {
    return (struct alk__listing){.columns = columns,
                                 .column_count = ALK__COUNT(columns),
                                 .rows = list->schedules,
                                 .row_bytes = sizeof(alk_schedule_row),
                                 .count = list->count,
                                 .now_us = list->now_us};
}

alk_status alk__schedule_print_next(const struct alk__arguments *arguments, alk_conn *conn,
                                    const char *name, alk_error *error) {
    alk_schedule_list list = {.count = 0};
    char next[ALK__AGE_BYTES];
    alk_status st = alk_schedule_get(conn, name, &list, error);
    struct alk__listing rows = rows_of(&list);

    if (st != ALK_OK)
        return st == ALK_ABSENT ? alk__schedule_absent(name, error) : st;
    if (arguments->is_json) {
        st = alk__print_one(&rows, true, error);
    } else if (list.schedules[0].next_fire_at_us != ALK_NO_TIME) {
        alk__time_with_age(list.schedules[0].next_fire_at_us, list.now_us, next, sizeof(next));
        printf("%s: next at %s%s\n", name, next,
               list.schedules[0].state == ALK_SCHEDULE_PAUSED ? ", but it is paused" : "");
    }
    alk_schedule_list_free(&list);
    return st;
}

/* ---- list and show ---- */

static alk_status list_schedules(const struct alk__arguments *arguments, alk_conn *conn,
                                 alk_error *error) {
    int limit = (int)alk__given(arguments->limit, 100);
    alk_schedule_list list = {.count = 0};
    alk_status st = alk_schedule_list_get(conn, NULL, limit, &list, error);
    struct alk__listing rows = rows_of(&list);

    if (st < 0)
        return st;
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
static const struct alk__option limit_options[] = {
    {"limit", "N", "at most so many; 100 unless given", ALK__OPTION_INTEGER, offsetof(struct alk__arguments, limit), 1, 10000},
    {.name = NULL},
};
/* clang-format on */

const struct alk__command alk__command_schedule_list = {
    .name = "schedule list",
    .summary = "all schedules by name",
    .usage = "[--limit N]",
    .examples = {{"alk schedule list", "what fires when, and what is quarantined why"},
                 {"alk schedule list --json | jq -r .name", "for a script"}},
    .options = limit_options,
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
    .options = limit_options,
    .least = 1,
    .most = 1,
    .run = run_history,
};
