/* cli/work.c: `alk work`: one worker, from the command line. */
#include "base/clock.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/exit.h"
#include "program/service.h"

/* The worker that the words describe is the only loop of the service. */
static alk_status describe(const struct alk__arguments *arguments, struct alk__config *config,
                           alk_error *error) {
    for (size_t i = 0; i < arguments->operands.count; i++) {
        alk_status st = alk__name_check("queue", arguments->operands.items[i], error);

        if (st != ALK_OK)
            return st;
    }
    config->is_scheduler = false;
    config->worker_count = 1;
    config->workers[0] = (struct alk__worker_config){
        .name = arguments->operands.items[0],
        .queues = arguments->operands,
        .command = arguments->tail,
        .concurrency = alk__given(arguments->concurrency, 1),
        .timeout_us = alk__given(arguments->timeout_us, ALK__COMMAND_TIMEOUT_US),
    };
    return ALK_OK;
}

static int run(const struct alk__arguments *arguments) {
    struct alk__service_options options = {.is_drain = arguments->is_drain};
    alk_error error = ALK_ERROR_INIT;
    alk_status st = alk__command_config(arguments, NULL, &options.config, &error);

    if (st != ALK_OK)
        return alk__exit_report(st, &error);
    st = describe(arguments, options.config, &error);
    if (st == ALK_OK)
        st = alk__service_run(&options, &error);
    else
        alk__config_free(options.config);
    return st < 0 ? alk__exit_report(st, &error) : ALK__EXIT_OK;
}

/* clang-format off */
static const struct alk__option options[] = {
    {"concurrency", "N", "how many commands at once; 1 unless given", ALK__OPTION_INTEGER, offsetof(struct alk__arguments, concurrency), 1, ALK__CONCURRENCY_MAX},
    {"timeout", "D", "of one command; 1h unless given", ALK__OPTION_DURATION, offsetof(struct alk__arguments, timeout_us), ALK__MS, 3650 * ALK__DAY},
    {"drain", NULL, "end when nothing is due any more", ALK__OPTION_FLAG, offsetof(struct alk__arguments, is_drain), 0, 0},
    {"log-level", "L", "debug, info, warning or error", ALK__OPTION_TEXT, offsetof(struct alk__arguments, log_level), 0, 0},
    {"log-format", "F", "logfmt or json", ALK__OPTION_TEXT, offsetof(struct alk__arguments, log_format), 0, 0},
    {.name = NULL},
};
/* clang-format on */

const struct alk__command alk__command_work = {
    .name = "work",
    .summary = "run a command for each job of one or more queues",
    .usage = "QUEUE... [--drain] -- COMMAND [ARG...]",
    .details =
        "Queues are served in the order named. No shell: the command gets its words as they are,\n"
        "the payload on stdin, and in its environment ALK_JOB_ID, ALK_JOB_QUEUE, ALK_JOB_ATTEMPT,\n"
        "ALK_SCHEDULE, ALK_FIRE_AT, ALK_PREVIOUS_FIRE_AT, ALK_CATCHUP and ALK_HEADER_... .\n"
        "Exit 0 is done, 65 dead, 69 unavailable, all else is tried again. Its stdout goes to the\n"
        "log, the last 4 KiB of its stderr are kept as the error of the attempt.\n"
        "TERM and INT: nothing new, 30 s for what runs; once more: what runs is killed.\n"
        "--drain does not wait for delayed jobs nor for those that run elsewhere.",
    .examples = {{"alk work mail --concurrency 4 -- ./send-mail", "until it is stopped"},
                 {"alk work urgent mail --drain -- sh -c 'cat >>sent'", "what is due, then end"}},
    .options = options,
    .least = 1,
    .most = 64,
    .has_tail = true,
    .run = run,
};
