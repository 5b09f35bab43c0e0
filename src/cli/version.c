/* cli/version.c: `alk version` and `alk --version`. */
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/output.h"

static int run(const struct alk__arguments *arguments) {
    struct alk__record record;

    if (!arguments->is_json) {
        printf("alk %s\n", alk_version());
        return ALK__EXIT_OK;
    }
    alk__record_start(&record);
    alk__record_text(&record, "version", alk_version());
    alk__record_end(&record);
    return ALK__EXIT_OK;
}

const struct alk__command alk__command_version = {
    .name = "version",
    .summary = "the version",
    .usage = "",
    .examples = {{"alk version", "for people"}, {"alk version --json", "for programs"}},
    .is_offline = true,
    .run = run,
};
