/* cli/schedule_apply.c: `alk schedule apply`: the schedules of a configuration file, stated once
 * (S123). Nothing runs. */
#include "base/error.h"
#include "cli/exit.h"
#include "cli/schedule.h"
#include "program/declare.h"

static const char *action_of(const void *row) {
    return alk_apply_action_text(((const alk_apply_change *)row)->action);
}

static const struct alk__column columns[] = {
    {"name", ALK__COLUMN_TEXT, offsetof(alk_apply_change, name), true, NULL},
    {"action", ALK__COLUMN_STATE, 0, true, action_of},
};

/* A surprising spec has its schedule's name with it: there are many. */
static void say_warnings(const struct alk__config *config) {
    for (size_t i = 0; i < config->schedule_count; i++) {
        if (config->sections[i].warning[0] != '\0')
            fprintf(stderr, "alk: schedule '%s': %s\n", config->schedules[i].name,
                    config->sections[i].warning);
    }
}

static alk_status apply(const struct alk__arguments *arguments, const struct alk__config *config,
                        alk_conn *conn, alk_error *error) {
    const char *set = alk__declared_set(config);
    alk_apply_result result = {.count = 0};
    struct alk__listing rows;
    alk_status st = alk__declare(config, set != NULL ? set : ALK__SET_DEFAULT, conn,
                                 arguments->is_dry_run, &result, error);

    if (st < 0)
        return st;
    rows = (struct alk__listing){.columns = columns,
                                 .column_count = ALK__COUNT(columns),
                                 .rows = result.changes,
                                 .row_bytes = sizeof(alk_apply_change),
                                 .count = result.count};
    st = alk__print_list(&rows, arguments->is_json, error);
    fflush(stdout);
    say_warnings(config);
    alk_apply_result_free(&result);
    return st;
}

static int run(const struct alk__arguments *arguments) {
    struct alk__config *config = NULL;
    struct alk__access access = {NULL, NULL};
    alk_error error = ALK_ERROR_INIT;
    alk_status st = alk__command_config(arguments, arguments->operands.items[0], &config, &error);

    if (st == ALK_OK)
        st = alk__access_configured(config, &access, &error);
    if (st >= 0 && config != NULL)
        st = apply(arguments, config, access.conn, &error);
    alk__access_close(&access);
    alk__config_free(config);
    return st < 0 || st == ALK_ABSENT ? alk__exit_report(st, &error) : ALK__EXIT_OK;
}

/* clang-format off */
static const struct alk__option options[] = {
    {"dry-run", NULL, "only say what it would do", ALK__OPTION_FLAG, offsetof(struct alk__arguments, is_dry_run), 0, 0},
    {.name = NULL},
};
/* clang-format on */

const struct alk__command alk__command_schedule_apply = {
    .name = "schedule apply",
    .summary = "make the schedules of the store what a configuration file says",
    .usage = "FILE [--dry-run]",
    .details =
        "All or nothing: those of its [schedule NAME] sections are added or changed, those that "
        "it\n"
        "owned and no longer names are removed with their history; others stay as they are. What "
        "it\n"
        "owns has the name of [scheduler] set, 'config' unless given. Commands are alk run's.",
    .examples = {{"alk schedule apply alk.conf --dry-run", "a line a schedule"},
                 {"alk schedule apply alk.conf --json | jq -r 'select(.action != \"unchanged\")'",
                  "what changed"}},
    .options = options,
    .least = 1,
    .most = 1,
    .run = run,
};
