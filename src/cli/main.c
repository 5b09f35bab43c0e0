/* cli/main.c: the program `alk`: finds the command, reads its words, runs it. */
#include <errno.h>
#include <locale.h>
#include <string.h>

#include "base/error.h"
#include "cli/command.h"
#include "cli/exit.h"

/* What was said may still be on its way to a full disk. */
static int finish_output(int code) {
    alk_error error = ALK_ERROR_INIT;

    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    alk__fail(&error, ALK_FAILED, "cannot write to stdout: %s", alk__reason_of(errno).text);
    return alk__exit_report(ALK_FAILED, &error);
}

static int run_command(const struct alk__command *command, char **words, size_t count) {
    struct alk__arena memory = {NULL};
    struct alk__arguments arguments;
    alk_error error = ALK_ERROR_INIT;
    int code = ALK__EXIT_OK;
    alk_status st = alk__arguments_read(command, words, count, &memory, &arguments, &error);

    if (st != ALK_OK)
        code = alk__exit_report(st, &error);
    else if (arguments.is_help)
        alk__help_command(command);
    else
        code = command->run(&arguments);
    alk__arena_free(&memory);
    return code;
}

int main(int argc, char **argv) {
    const struct alk__command *command;
    alk_error error = ALK_ERROR_INIT;
    size_t taken;

    setlocale(LC_CTYPE, ""); /* how wide a character is on the terminal */
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        alk__help_all();
        return finish_output(ALK__EXIT_OK);
    }
    if (strcmp(argv[1], "--version") == 0)
        argv[1] += 2;
    if (argc == 3 && strcmp(argv[2], "--help") == 0 && alk__help_group(argv[1]))
        return finish_output(ALK__EXIT_OK);
    command = alk__command_find(argv + 1, (size_t)argc - 1, &taken, &error);
    if (command == NULL)
        return alk__exit_report(error.status, &error);
    return finish_output(run_command(command, argv + 1 + taken, (size_t)argc - 1 - taken));
}
