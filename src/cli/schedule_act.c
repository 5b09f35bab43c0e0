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
    alk_status st = alk_schedule_resume(conn, name, NULL, error);

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
    alk_fire_options fire = ALK_FIRE_OPTIONS_INIT;
    int64_t id = 0;

    fire.unique_key = arguments->unique;
    alk_status st = alk_schedule_fire(conn, name, &fire, &id, error);

    if (st == ALK_ABSENT)
        return alk__schedule_absent(name, error);
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
    .usage = "NAME",
    .details = "Boundaries that passed meanwhile are not fired; they are one line of its history.",
    .examples = {{"alk schedule resume nightly", "prints when it fires next"},
                 {"alk schedule resume nightly --json", "the whole schedule"}},
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

/* clang-format off */
static const struct alk__option fire_options[] = {
    {"unique", "KEY", "not while another job of its queue has that key", ALK__OPTION_TEXT, offsetof(struct alk__arguments, unique), 0, 0},
    {.name = NULL},
};
/* clang-format on */

const struct alk__command alk__command_schedule_fire = {
    .name = "schedule fire",
    .summary = "run it now, once, and print the id of the job",
    .usage = "NAME",
    .details = "When it fires next stays as it is. Works while it is paused or quarantined, too.",
    .options = fire_options,
    .examples = {{"alk schedule fire nightly", "prints the job's id"},
                 {"alk job show $(alk schedule fire nightly)", "and the job"}},
    .least = 1,
    .most = 1,
    .run = run_fire,
};
