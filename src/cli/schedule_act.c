/* cli/schedule_act.c: `alk schedule pause`, `resume`, `remove` and `fire`. */
#include "base/error.h"
#include "cli/exit.h"
#include "cli/output.h"
#include "cli/schedule.h"

/* Says what was done: "nightly: paused", or {"name":"nightly","done":"paused","changed":true}. */
static alk_status say(const struct alk__arguments *arguments, const char *done, alk_status st) {
    const char *name = arguments->operands.items[0];
    struct alk__record record;

    if (arguments->is_json) {
        alk__record_start(&record);
        alk__record_text(&record, "name", name);
        alk__record_text(&record, "done", done);
        alk__record_flag(&record, "changed", st == ALK_OK);
        alk__record_end(&record);
    } else {
        printf("%s: %s%s\n", name, done, st == ALK_OK ? "" : " already");
    }
    return ALK_OK;
}

static alk_status pause_one(const struct alk__arguments *arguments, alk_conn *conn,
                            alk_error *error) {
    const char *name = arguments->operands.items[0];
    alk_status st = alk_schedule_pause(conn, name, error);

    if (st == ALK_ABSENT)
        return alk__schedule_absent(name, error);
    return st < 0 ? st : say(arguments, "paused", st);
}

static alk_status resume_one(const struct alk__arguments *arguments, alk_conn *conn,
                             alk_error *error) {
    const char *name = arguments->operands.items[0];
    alk_resume_options options = ALK_RESUME_OPTIONS_INIT;
    alk_status st;

    options.catchup = arguments->does_catchup;
    st = alk_schedule_resume(conn, name, &options, error);
    if (st == ALK_ABSENT)
        return alk__schedule_absent(name, error);
    return st < 0 ? st : alk__schedule_print_next(arguments, conn, name, error);
}

static alk_status remove_one(const struct alk__arguments *arguments, alk_conn *conn,
                             alk_error *error) {
    const char *name = arguments->operands.items[0];
    alk_status st = alk_schedule_remove(conn, name, error);

    if (st == ALK_ABSENT)
        return alk__schedule_absent(name, error);
    return st < 0 ? st : say(arguments, "removed", st);
}

static alk_status fire_one(const struct alk__arguments *arguments, alk_conn *conn,
                           alk_error *error) {
    const char *name = arguments->operands.items[0];
    alk_fire_options options = ALK_FIRE_OPTIONS_INIT;
    int64_t id = 0;
    alk_status st;

    options.respect_overlap = arguments->respect_overlap;
    options.unique_key = arguments->unique;
    st = alk_schedule_fire(conn, name, &options, &id, error);
    if (st == ALK_ABSENT)
        return alk__schedule_absent(name, error);
    if (st == ALK_HELD)
        return alk__fail(error, ALK_HELD, "schedule '%s' has a job that is unfinished", name);
    if (st < 0)
        return st;
    alk__print_job_id(arguments, id, st);
    return ALK_OK;
}

static int run_pause(const struct alk__arguments *arguments) {
    return alk__with_store(arguments, pause_one);
}

static int run_resume(const struct alk__arguments *arguments) {
    return alk__with_store(arguments, resume_one);
}

static int run_remove(const struct alk__arguments *arguments) {
    return alk__with_store(arguments, remove_one);
}

static int run_fire(const struct alk__arguments *arguments) {
    return alk__with_store(arguments, fire_one);
}

/* clang-format off */
static const struct alk__option resume_options[] = {
    {"catchup", NULL, "its own policy decides about what passed since the pause", ALK__OPTION_FLAG, offsetof(struct alk__arguments, does_catchup), 0, 0},
    {.name = NULL},
};
static const struct alk__option fire_options[] = {
    {"respect-overlap", NULL, "not while its overlap policy is against it", ALK__OPTION_FLAG, offsetof(struct alk__arguments, respect_overlap), 0, 0},
    {"unique", "KEY", "not while another job of its queue has that key", ALK__OPTION_TEXT, offsetof(struct alk__arguments, unique), 0, 0},
    {.name = NULL},
};
/* clang-format on */

const struct alk__command alk__command_schedule_pause = {
    .name = "schedule pause",
    .summary = "let no boundary fire until it is resumed",
    .usage = "NAME",
    .examples = {{"alk schedule pause nightly", "for a while"},
                 {"alk schedule pause nightly --json", "says whether that changed anything"}},
    .least = 1,
    .most = 1,
    .run = run_pause,
};

const struct alk__command alk__command_schedule_resume = {
    .name = "schedule resume",
    .summary = "go on at the first boundary after now",
    .usage = "NAME [--catchup]",
    .details = "Boundaries that passed meanwhile are not fired; they are one line of its history.",
    .examples = {{"alk schedule resume nightly", "prints when it fires next"},
                 {"alk schedule resume nightly --catchup", "and fires what its policy says"}},
    .options = resume_options,
    .least = 1,
    .most = 1,
    .run = run_resume,
};

const struct alk__command alk__command_schedule_remove = {
    .name = "schedule remove",
    .summary = "remove a schedule and its history",
    .usage = "NAME",
    .details = "The jobs that it fired stay.",
    .examples = {{"alk schedule remove nightly", "for good"},
                 {"alk schedule remove nightly || echo 'was not there'", "exit 3 then"}},
    .least = 1,
    .most = 1,
    .run = run_remove,
};

const struct alk__command alk__command_schedule_fire = {
    .name = "schedule fire",
    .summary = "run it now, once, and print the id of the job",
    .usage = "NAME [--respect-overlap] [--unique KEY]",
    .details = "When it fires next stays as it is. Works while it is paused or quarantined, too.",
    .examples = {{"alk job show $(alk schedule fire nightly)", "prints the job's id, and the job"},
                 {"alk schedule fire nightly --respect-overlap", "exit 4 while one is unfinished"}},
    .options = fire_options,
    .least = 1,
    .most = 1,
    .run = run_fire,
};
