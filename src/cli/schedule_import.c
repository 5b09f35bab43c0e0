/* cli/schedule_import.c: `alk schedule import`: a crontab becomes a configuration on stdout. No
 * store is touched, and nothing is run. */
#include "base/error.h"
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/input.h"
#include "program/config_file.h"
#include "program/crontab_config.h"
#include "program/local_zone.h"

static void say_left(int line, struct alk__text text, const char *reason, void *context) {
    const struct alk__input *input = context;

    fprintf(stderr, "alk: %s:%d: '%s' is not carried over: %s\n", input->name, line,
            alk__excerpt_of(text).text, reason);
}

/* cron's clock is the machine's, unless the crontab is another machine's. */
static alk_status find_zone(const struct alk__arguments *arguments,
                            char name[ALK__LOCAL_ZONE_BYTES], alk_error *error) {
    alk_when_options options = ALK_WHEN_OPTIONS_INIT;
    alk_when *when = NULL;
    alk_status st = ALK_OK;

    options.zone = arguments->zone;
    if (options.zone == NULL) {
        st = alk__local_zone("/etc", name, error);
        options.zone = name;
    }
    if (st == ALK_OK)
        st = alk_when_parse("@daily", &options, &when, error);
    if (st == ALK_OK)
        snprintf(name, ALK__LOCAL_ZONE_BYTES, "%s", alk_when_zone(when));
    alk_when_free(when);
    if (st == ALK_OK)
        return ALK_OK;
    return alk__wrap(error, st, arguments->zone != NULL ? "--zone" : "give --zone");
}

static alk_status convert(struct alk__input *input, const struct alk__crontab_import *import,
                          struct alk__buffer *config, int *ret_left, alk_error *error) {
    struct alk__buffer text = ALK__BUFFER_INIT(ALK__CRONTAB_BYTES_MAX + 1);
    int schedules = 0;
    alk_status st = alk__input_all(input, &text, error);

    if (st == ALK_OK) {
        st = alk__crontab_convert((struct alk__text){text.bytes, text.length}, import, config,
                                  &schedules, ret_left, error);
        if (st != ALK_OK)
            st = alk__wrap(error, st, "%s", input->name);
    }
    alk__buffer_release(&text);
    if (st == ALK_OK)
        fprintf(stderr, "alk: %d schedule%s carried over, %d thing%s not\n", schedules,
                schedules == 1 ? "" : "s", *ret_left, *ret_left == 1 ? "" : "s");
    return st;
}

static int run(const struct alk__arguments *arguments) {
    struct alk__buffer config = ALK__BUFFER_INIT(ALK__CONFIG_BYTES_MAX);
    char zone[ALK__LOCAL_ZONE_BYTES];
    struct alk__input input;
    alk_error error = ALK_ERROR_INIT;
    alk_status st;
    int left = 0;

    if (arguments->is_json)
        st = alk__fail(&error, ALK_INVALID, "a configuration is no JSON");
    else
        st = find_zone(arguments, zone, &error);
    if (st == ALK_OK)
        st = alk__input_open(&input, arguments->operands.items[0], &error);
    if (st == ALK_OK) {
        const struct alk__crontab_import import = {zone, arguments->is_system, say_left, &input};

        st = convert(&input, &import, &config, &left, &error);
        alk__input_close(&input);
    }
    if (st == ALK_OK)
        fwrite(config.bytes, 1, config.length, stdout);
    alk__buffer_release(&config);
    if (st != ALK_OK)
        return alk__exit_report(st, &error);
    return left == 0 ? ALK__EXIT_OK : ALK__EXIT_FAILED;
}

/* clang-format off */
static const struct alk__option options[] = {
    {"system", NULL, "as in /etc/crontab: a user stands before each command", ALK__OPTION_FLAG, offsetof(struct alk__arguments, is_system), 0, 0},
    {"zone", "Z", "of cron's clock; this machine's unless given", ALK__OPTION_TEXT, offsetof(struct alk__arguments, zone), 0, 0},
    {.name = NULL},
};
/* clang-format on */

const struct alk__command alk__command_schedule_import = {
    .name = "schedule import",
    .summary = "write a crontab as a configuration with schedules",
    .usage = "CRONTAB|- [--system] [--zone Z]",
    .details =
        "Needs no store and touches none. What cannot be carried over stays as a comment with "
        "the\nreason, is listed on stderr, and makes the exit code 1.",
    .examples = {{"alk schedule import mine.cron > cron.conf", "what crontab -l printed"},
                 {"alk schedule import /etc/crontab --system", "with its column of users"}},
    .options = options,
    .least = 1,
    .most = 1,
    .is_offline = true,
    .run = run,
};
