/* cli/schedule_put.c: `alk schedule put` and `set`. */
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/exit.h"
#include "cli/schedule.h"

/* The fields that the options name, a bit each. */
static unsigned take_options(const struct alk__arguments *arguments, alk_schedule *schedule) {
    unsigned fields = 0;

    if (arguments->spec != NULL) {
        schedule->spec = arguments->spec;
        fields |= ALK_SCHEDULE_SPEC;
    }
    if (arguments->queue != NULL) {
        schedule->queue = arguments->queue;
        fields |= ALK_SCHEDULE_QUEUE;
    }
    if (arguments->payload != NULL) {
        schedule->payload = arguments->payload;
        schedule->payload_length = alk__text_of(arguments->payload).length;
        fields |= ALK_SCHEDULE_PAYLOAD;
    }
    if (arguments->priority != ALK__NOT_GIVEN) {
        schedule->priority = (int)arguments->priority;
        fields |= ALK_SCHEDULE_PRIORITY;
    }
    if (arguments->max_attempts != ALK__NOT_GIVEN) {
        schedule->max_attempts = (int)arguments->max_attempts;
        fields |= ALK_SCHEDULE_MAX_ATTEMPTS;
    }
    if (arguments->expires_us != ALK__NOT_GIVEN) {
        schedule->expires_us = arguments->expires_us;
        fields |= ALK_SCHEDULE_EXPIRES;
    }
    return fields;
}

static alk_status put(const struct alk__arguments *arguments, alk_conn *conn, alk_error *error) {
    alk_schedule schedule = ALK_SCHEDULE_INIT;
    alk_status st;

    take_options(arguments, &schedule);
    schedule.name = arguments->operands.items[0];
    schedule.spec = arguments->operands.items[1];
    st = alk_schedule_put(conn, &schedule, error);
    return st < 0 ? st : alk__schedule_print_next(arguments, conn, schedule.name, error);
}

static alk_status set(const struct alk__arguments *arguments, alk_conn *conn, alk_error *error) {
    alk_schedule schedule = ALK_SCHEDULE_INIT;
    unsigned fields = take_options(arguments, &schedule);
    alk_status st;

    schedule.name = arguments->operands.items[0];
    st = alk_schedule_change(conn, &schedule, fields, error);
    if (st == ALK_ABSENT)
        return alk__schedule_absent(schedule.name, error);
    return st < 0 ? st : alk__schedule_print_next(arguments, conn, schedule.name, error);
}

static int refuse(const char *message) {
    alk_error error = ALK_ERROR_INIT;

    return alk__exit_report(alk__fail(&error, ALK_INVALID, "%s", message), &error);
}

static bool is_payload_empty(const struct alk__arguments *arguments) {
    return arguments->payload != NULL && arguments->payload[0] == '\0';
}

static int run_put(const struct alk__arguments *arguments) {
    if (arguments->queue == NULL)
        return refuse("schedule put needs --queue Q");
    if (is_payload_empty(arguments))
        return refuse(ALK__PAYLOAD_EMPTY);
    return alk__with_store(arguments, put);
}

static int run_set(const struct alk__arguments *arguments) {
    alk_schedule ignored = ALK_SCHEDULE_INIT;

    if (is_payload_empty(arguments))
        return refuse(ALK__PAYLOAD_EMPTY);
    if (take_options(arguments, &ignored) == 0)
        return refuse("schedule set needs something to set (alk help schedule set lists it)");
    return alk__with_store(arguments, set);
}

/* clang-format off */
#define JOB_OPTIONS \
    {"queue", "Q", "where its jobs go", ALK__OPTION_TEXT, offsetof(struct alk__arguments, queue), 0, 0}, \
    {"payload", "P", "of its jobs: JSON, null unless given", ALK__OPTION_TEXT, offsetof(struct alk__arguments, payload), 0, 0}, \
    {"priority", "N", "of its jobs; 0 unless given", ALK__OPTION_INTEGER, offsetof(struct alk__arguments, priority), -32768, 32767}, \
    {"max-attempts", "N", "of its jobs; else the queue's", ALK__OPTION_INTEGER, offsetof(struct alk__arguments, max_attempts), 1, INT32_MAX}, \
    {"expires", "D", "of its jobs, counted from the boundary", ALK__OPTION_DURATION, offsetof(struct alk__arguments, expires_us), ALK__MS, 3650 * ALK__DAY}, \
    {.name = NULL}
static const struct alk__option put_options[] = {JOB_OPTIONS};
static const struct alk__option set_options[] = {
    {"spec", "SPEC", "when it fires", ALK__OPTION_TEXT, offsetof(struct alk__arguments, spec), 0, 0},
    JOB_OPTIONS,
};
/* clang-format on */

const struct alk__command alk__command_schedule_put = {
    .name = "schedule put",
    .summary = "make a schedule, or state the whole of one anew",
    .usage = "NAME SPEC --queue Q",
    .details =
        "SPEC is five fields of cron in UTC, or six with seconds first; a word like @daily; "
        "@every 10m;\n"
        "or @at 2027-01-31T06:00:00Z, once.\n"
        "What is not given is set to its default. When the spec stays, so does the next fire.",
    .examples = {{"alk schedule put nightly '0 3 * * *' --queue reports", "at three"},
                 {"alk schedule put beat '@every 10s' --queue beat --payload '{\"n\":1}'",
                  "with a payload"}},
    .options = put_options,
    .least = 2,
    .most = 2,
    .run = run_put,
};

const struct alk__command alk__command_schedule_set = {
    .name = "schedule set",
    .summary = "change some fields of a schedule and leave the others",
    .usage = "NAME [--spec SPEC] [--queue Q] [--payload P]",
    .examples = {{"alk schedule set nightly --spec '30 3 * * *'", "half an hour later"},
                 {"alk schedule set nightly --payload '{\"full\":true}'", "timing stays"}},
    .options = set_options,
    .least = 1,
    .most = 1,
    .run = run_set,
};
