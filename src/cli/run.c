/* cli/run.c: `alk run`: the scheduler and the workers of a configuration file. */
#include "base/error.h"
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/output.h"
#include "program/service.h"
#include "program/supervise.h"

static alk_status load(void *context, struct alk__config **ret_config, alk_error *error) {
    const struct alk__arguments *arguments = context;
    alk_status st = alk__command_config(arguments, arguments->config, ret_config, error);

    if (st != ALK_OK)
        return st;
    st = alk__store_check(*ret_config, error);
    if (st == ALK_OK && !(*ret_config)->is_scheduler && (*ret_config)->worker_count == 0)
        st = alk__fail(error, ALK_INVALID, "%s: no scheduler and no worker: nothing to run",
                       arguments->config);
    if (st == ALK_OK)
        return ALK_OK;
    alk__config_free(*ret_config);
    *ret_config = NULL;
    return st;
}

static int print_check(const struct alk__arguments *arguments, struct alk__config *config) {
    struct alk__record record;

    if (arguments->is_json) {
        alk__record_start(&record);
        alk__record_flag(&record, "ok", true);
        alk__record_flag(&record, "scheduler", config->is_scheduler);
        alk__record_number(&record, "workers", (int64_t)config->worker_count);
        alk__record_number(&record, "schedules", (int64_t)config->schedule_count);
        alk__record_end(&record);
    } else {
        printf("# the configuration is good\n");
        alk__config_print(config, stdout);
    }
    alk__config_free(config);
    return ALK__EXIT_OK;
}

static int run(const struct alk__arguments *arguments) {
    struct alk__arguments again = *arguments;
    struct alk__service_options options = {
        .reload = load, .reload_context = &again, .forget_missed = arguments->forget_missed};
    alk_error error = ALK_ERROR_INIT;
    alk_status st = load(&again, &options.config, &error);

    if (st != ALK_OK)
        return alk__exit_report(st, &error);
    if (arguments->is_check)
        return print_check(arguments, options.config);
    if (arguments->is_once) {
        st = alk__service_once(options.config, arguments->forget_missed, &error);
        alk__config_free(options.config);
    } else {
        st = alk__service_run(&options, &error);
    }
    return st < 0 || st == ALK_HELD ? alk__exit_report(st, &error) : ALK__EXIT_OK;
}

/* clang-format off */
static const struct alk__option options[] = {
    {"config", "FILE", "else only the scheduler runs", ALK__OPTION_TEXT, offsetof(struct alk__arguments, config), 0, 0},
    {"once", NULL, "fire what is due and end; no workers", ALK__OPTION_FLAG, offsetof(struct alk__arguments, is_once), 0, 0},
    {"forget-missed", NULL, "what was due before it started is not fired", ALK__OPTION_FLAG, offsetof(struct alk__arguments, forget_missed), 0, 0},
    {"check", NULL, "read the configuration, print it and end", ALK__OPTION_FLAG, offsetof(struct alk__arguments, is_check), 0, 0},
    {"log-level", "L", "debug, info, warning or error", ALK__OPTION_TEXT, offsetof(struct alk__arguments, log_level), 0, 0},
    {"log-format", "F", "logfmt or json", ALK__OPTION_TEXT, offsetof(struct alk__arguments, log_format), 0, 0},
    {.name = NULL},
};
/* clang-format on */

const struct alk__command alk__command_run = {
    .name = "run",
    .summary = "fire schedules, and run the workers and commands of a configuration file",
    .usage = "[--config FILE] [--once] [--check] [--forget-missed]",
    .details =
        "[store] url, schema, pool_max, durability   [log] level, format\n"
        "[scheduler] enabled, name, ttl, batch, set  [worker NAME] queues, command, concurrency, "
        "timeout\n"
        "[schedule NAME] spec, and what alk schedule put knows, with _ for -; command, "
        "concurrency,\n"
        "timeout. The file's schedules are stated at the start and at HUP, as by alk schedule "
        "apply;\n"
        "a command is run for each job of its schedule, from a queue schedule:NAME unless given.\n"
        "An option wins over the environment, that over the file. Any number may run on one "
        "store.\n"
        "TERM and INT: nothing new, 30 s for what runs; once more: what runs is killed.\n"
        "HUP: the file is read again; a bad one is reported and the old one stays in force.\n"
        "Sections that went: the schedule is removed, what its command runs is finished; new ones "
        "start.",
    .examples = {{"alk run --config /etc/alk.conf", "a service"},
                 {"alk run --once", "one look, for a timer that exists already"}},
    .options = options,
    .run = run,
};
