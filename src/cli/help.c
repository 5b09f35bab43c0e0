/* cli/help.c: `alk`, `alk help` and --help, made from the table of commands. */
#include <string.h>

#include "base/error.h"
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/output.h"

static void print_options(const struct alk__option *options) {
    for (; options != NULL && options->name != NULL; options++) {
        int length = printf("  --%s%s%s", options->name, options->argument != NULL ? " " : "",
                            options->argument != NULL ? options->argument : "");

        printf("%*s%s\n", length < 24 ? 24 - length : 1, "", options->help);
    }
}

void alk__help_command(const struct alk__command *command) {
    printf("usage: alk %s%s%s\n\n%s.\n", command->name, command->usage[0] != '\0' ? " " : "",
           command->usage, command->summary);
    if (command->details != NULL)
        printf("%s\n", command->details);
    printf("\noptions:\n");
    print_options(command->options);
    print_options(alk__common_options);
    printf("\nexamples:\n");
    for (size_t i = 0; i < 2; i++)
        printf("  %s\n      %s\n", command->examples[i].line, command->examples[i].meaning);
}

static void print_summary(const struct alk__command *command) {
    printf("  alk %-18s %s\n", command->name, command->summary);
}

void alk__help_all(void) {
    printf("alk %s: leases, jobs and schedules in SQLite or PostgreSQL\n\n", alk_version());
    for (size_t i = 0; i < alk__commands_count; i++)
        print_summary(alk__commands[i]);
    printf("\nThe store is --store URL, else $ALK_STORE, else " ALK__STORE_DEFAULT ".\n"
           "A duration is written 1h30m or 500ms, a time 2027-01-31T06:00:00Z.\n"
           "Exit codes: 0 ok, 1 failed, 2 usage, 3 not there, 4 held, 69 no database.\n"
           "alk help COMMAND says more.\n");
}

bool alk__help_group(const char *word) {
    size_t length = strlen(word);
    bool is_found = false;

    for (size_t i = 0; i < alk__commands_count; i++) {
        const char *name = alk__commands[i]->name;

        if (strncmp(name, word, length) != 0 || name[length] != ' ')
            continue;
        print_summary(alk__commands[i]);
        is_found = true;
    }
    return is_found;
}

/* Every command as an object, for whoever completes words or writes a manual. */
static void print_json(void) {
    for (size_t i = 0; i < alk__commands_count; i++) {
        const struct alk__command *command = alk__commands[i];
        struct alk__record record;

        alk__record_start(&record);
        alk__record_text(&record, "command", command->name);
        alk__record_text(&record, "usage", command->usage);
        alk__record_text(&record, "summary", command->summary);
        alk__record_end(&record);
    }
}

static int run(const struct alk__arguments *arguments) {
    const struct alk__words *words = &arguments->operands;
    const struct alk__command *command;
    alk_error error = ALK_ERROR_INIT;
    size_t taken;

    if (arguments->is_json) {
        print_json();
        return ALK__EXIT_OK;
    }
    if (words->count == 0) {
        alk__help_all();
        return ALK__EXIT_OK;
    }
    if (words->count == 1 && alk__help_group(words->items[0]))
        return ALK__EXIT_OK;
    command = alk__command_find(words->items, words->count, &taken, &error);
    if (command == NULL)
        return alk__exit_report(error.status, &error);
    alk__help_command(command);
    return ALK__EXIT_OK;
}

const struct alk__command alk__command_help = {
    .name = "help",
    .summary = "what there is, and how it is used",
    .usage = "[COMMAND]",
    .examples = {{"alk help enqueue", "the options of one command"},
                 {"alk help --json", "all commands, an object a line"}},
    .most = 2,
    .is_offline = true,
    .run = run,
};
