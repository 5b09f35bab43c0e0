/* cli/schedule_put.c: `alk schedule put` and `set`. Their options are the rows of
 * program/schedule_settings.h. */
#include "base/error.h"
#include "cli/exit.h"
#include "cli/schedule.h"

static alk_status put(const struct alk__arguments *arguments, alk_conn *conn, alk_error *error) {
    alk_schedule schedule = arguments->schedule;
    alk_status st;

    schedule.name = arguments->operands.items[0];
    schedule.spec = arguments->operands.items[1];
    st = alk_schedule_put(conn, &schedule, error);
    return st < 0 ? st : alk__schedule_print_next(arguments, conn, schedule.name, error);
}

static unsigned fields_of(const struct alk__arguments *arguments) {
    return arguments->schedule_fields |
           (arguments->is_reanchor ? (unsigned)ALK_SCHEDULE_REANCHOR : 0);
}

static alk_status set(const struct alk__arguments *arguments, alk_conn *conn, alk_error *error) {
    alk_schedule schedule = arguments->schedule;
    alk_status st;

    schedule.name = arguments->operands.items[0];
    st = alk_schedule_change(conn, &schedule, fields_of(arguments), error);
    if (st == ALK_ABSENT)
        return alk__schedule_absent(schedule.name, error);
    return st < 0 ? st : alk__schedule_print_next(arguments, conn, schedule.name, error);
}

static int refuse(const char *message) {
    alk_error error = ALK_ERROR_INIT;

    return alk__exit_report(alk__fail(&error, ALK_INVALID, "%s", message), &error);
}

static int run_put(const struct alk__arguments *arguments) {
    if (arguments->schedule.queue == NULL)
        return refuse("schedule put needs --queue Q");
    return alk__with_store(arguments, put);
}

static int run_set(const struct alk__arguments *arguments) {
    if (fields_of(arguments) == 0)
        return refuse("schedule set needs something to set (alk help schedule set lists it)");
    if (arguments->is_reanchor && (arguments->schedule_fields & ALK_SCHEDULE_ANCHOR))
        return refuse("either --anchor or --reanchor, not both");
    return alk__with_store(arguments, set);
}

/* clang-format off */
#define SETTINGS \
    ALK__SCHEDULE_JOB_SETTINGS(ALK__SCHEDULE_OPTION) \
    ALK__SCHEDULE_TIMING_SETTINGS(ALK__SCHEDULE_OPTION) \
    ALK__SCHEDULE_POLICY_SETTINGS(ALK__SCHEDULE_OPTION)
static const struct alk__option put_options[] = {
    SETTINGS
    {"allow-late", NULL, "an @at that has passed is due at once", ALK__OPTION_FLAG, offsetof(struct alk__arguments, schedule.allow_late), 0, 0},
    {.name = NULL},
};
static const struct alk__option set_options[] = {
    ALK__SCHEDULE_SPEC_SETTING(ALK__SCHEDULE_OPTION)
    SETTINGS
    {"reanchor", NULL, "the grid of @every starts now", ALK__OPTION_FLAG, offsetof(struct alk__arguments, is_reanchor), 0, 0},
    {.name = NULL},
};
/* clang-format on */

const struct alk__command alk__command_schedule_put = {
    .name = "schedule put",
    .summary = "make a schedule, or state the whole of one anew",
    .usage = "NAME SPEC --queue Q",
    .details =
        "SPEC is cron in five to seven fields, a word like @daily, @every 10m, or @at and a time;\n"
        "alk explain says what one means. What is not given is set to its default. When what "
        "bears\n"
        "on its boundaries stays, so does the next fire.",
    .examples = {{"alk schedule put nightly '0 3 * * *' --queue reports --zone Europe/Rome",
                  "at 3"},
                 {"alk schedule put beat '@every 10s' --queue beat --overlap skip --catchup skip",
                  "one at a time, never late"}},
    .options = put_options,
    .least = 2,
    .most = 2,
    .run = run_put,
};

const struct alk__command alk__command_schedule_set = {
    .name = "schedule set",
    .summary = "change some fields of a schedule and leave the others",
    .usage = "NAME [--spec SPEC] [--queue Q] [--payload P]",
    .details = "An empty value takes a field back to its default: --expires '' means never again.",
    .examples = {{"alk schedule set nightly --spec '30 3 * * *'", "half an hour later"},
                 {"alk schedule set nightly --payload '{\"full\":true}' --jitter ''",
                  "timing stays"}},
    .options = set_options,
    .least = 1,
    .most = 1,
    .run = run_set,
};
