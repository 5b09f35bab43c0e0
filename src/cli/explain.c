/* cli/explain.c: `alk explain`: a spec in plain words, without a database. */
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/output.h"

static void print(const struct alk__arguments *arguments, const alk_when *when) {
    const char *warning = alk_when_warning(when);
    struct alk__record record;

    if (!arguments->is_json) {
        printf("%s\n", alk_when_explain(when));
        alk__say_warning(warning);
        return;
    }
    alk__record_start(&record);
    alk__record_text(&record, "spec", arguments->operands.items[0]);
    alk__record_text(&record, "zone", alk_when_zone(when));
    alk__record_text(&record, "meaning", alk_when_explain(when));
    alk__record_text(&record, "warning", warning);
    alk__record_end(&record);
}

static int run(const struct alk__arguments *arguments) {
    alk_when_options options = ALK_WHEN_OPTIONS_INIT;
    alk_error error = ALK_ERROR_INIT;
    alk_when *when = NULL;
    alk_status st;

    options.zone = arguments->zone;
    options.name = arguments->name != NULL ? arguments->name : "";
    st = alk_when_parse(arguments->operands.items[0], &options, &when, &error);
    if (st != ALK_OK)
        return alk__exit_report(st, &error);
    print(arguments, when);
    alk_when_free(when);
    return ALK__EXIT_OK;
}

/* clang-format off */
static const struct alk__option options[] = {
    {"zone", "Z", "an IANA name; UTC unless given", ALK__OPTION_TEXT, offsetof(struct alk__arguments, zone), 0, 0},
    {"name", "NAME", "of the schedule, for H", ALK__OPTION_TEXT, offsetof(struct alk__arguments, name), 0, 0},
    {.name = NULL},
};
/* clang-format on */

const struct alk__command alk__command_explain = {
    .name = "explain",
    .summary = "a spec in plain words, and what is surprising about it",
    .usage = "SPEC [--zone Z]",
    .details = "Needs no store. alk next lists the times themselves.",
    .examples = {{"alk explain '0 9 13 * 5'", "on day 13, and also on Friday"},
                 {"alk explain '30 2 * * *' --zone Europe/Berlin", "and where clocks change"}},
    .options = options,
    .least = 1,
    .most = 1,
    .is_offline = true,
    .run = run,
};
