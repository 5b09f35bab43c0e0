/* cli/commands.c: the table of commands, and how one is found. */
#include <string.h>

#include "base/error.h"
#include "base/guess.h"
#include "base/text.h"
#include "cli/command.h"

/* Every command once, in the order of the help: its name in C and nothing else; the entry is in its
 * own file. */
#define COMMANDS(X)                                                                                \
    X(init)                                                                                        \
    X(enqueue)                                                                                     \
    X(work)                                                                                        \
    X(job_list)                                                                                    \
    X(job_show)                                                                                    \
    X(schedule_put)                                                                                \
    X(schedule_set)                                                                                \
    X(schedule_list)                                                                               \
    X(schedule_show)                                                                               \
    X(schedule_history)                                                                            \
    X(schedule_pause)                                                                              \
    X(schedule_resume)                                                                             \
    X(schedule_remove)                                                                             \
    X(schedule_fire)                                                                               \
    X(schedule_backfill)                                                                           \
    X(schedule_apply)                                                                              \
    X(schedule_import)                                                                             \
    X(next)                                                                                        \
    X(explain)                                                                                     \
    X(run)                                                                                         \
    X(lease_list)                                                                                  \
    X(lease_break)                                                                                 \
    X(lease_run)                                                                                   \
    X(health)                                                                                      \
    X(version)                                                                                     \
    X(help)

#define DECLARE(name) extern const struct alk__command alk__command_##name;
COMMANDS(DECLARE)
#undef DECLARE

#define POINT(name) &alk__command_##name,
const struct alk__command *const alk__commands[] = {COMMANDS(POINT)};
#undef POINT
const size_t alk__commands_count = sizeof(alk__commands) / sizeof(alk__commands[0]);

#define NAME_BYTES 64

static const struct alk__command *find_name(const char *name) {
    for (size_t i = 0; i < alk__commands_count; i++) {
        if (strcmp(alk__commands[i]->name, name) == 0)
            return alk__commands[i];
    }
    return NULL;
}

static bool is_group(const char *word) {
    size_t length = strlen(word);

    for (size_t i = 0; i < alk__commands_count; i++) {
        if (strncmp(alk__commands[i]->name, word, length) == 0 &&
            alk__commands[i]->name[length] == ' ')
            return true;
    }
    return false;
}

static const char *guess_command(const char *words) {
    const char *names[sizeof(alk__commands) / sizeof(alk__commands[0])];
    size_t count = 0;
    const char *guess;

    for (size_t i = 0; i < alk__commands_count; i++)
        names[count++] = alk__commands[i]->name;
    guess = alk__guess(words, names, count);
    if (guess != NULL || strchr(words, ' ') != NULL)
        return guess;
    for (size_t i = 0; i < count; i++) { /* "shedule": the first word of several commands */
        static char group[NAME_BYTES];
        const char *only = group;

        snprintf(group, sizeof(group), "%.*s", (int)strcspn(names[i], " "), names[i]);
        if (alk__guess(words, &only, 1) != NULL)
            return group;
    }
    return NULL;
}

static void refuse(const char *words, const char *first, const char *second, alk_error *error) {
    struct alk__excerpt shown = alk__excerpt_of(alk__text_of(words));
    const char *guess;

    if (first[0] == '-') {
        alk__fail(error, ALK_INVALID, "option '%s' stands before its command (alk COMMAND %s)",
                  shown.text, shown.text);
        return;
    }
    if (second == NULL && is_group(first)) {
        alk__fail(error, ALK_INVALID, "alk %s does what? (alk help %s lists it)", first, first);
        return;
    }
    guess = guess_command(words);
    if (guess != NULL)
        alk__fail(error, ALK_INVALID, "unknown command '%s' (did you mean '%s'?)", shown.text,
                  guess);
    else
        alk__fail(error, ALK_INVALID, "unknown command '%s' (alk help lists them)", shown.text);
}

const struct alk__command *alk__command_find(char *const *words, size_t count, size_t *ret_words,
                                             alk_error *error) {
    const char *second = count > 1 && words[1][0] != '-' ? words[1] : NULL;
    const struct alk__command *command = find_name(words[0]);
    char name[4 * NAME_BYTES];

    *ret_words = 1;
    if (command != NULL)
        return command;
    if (second != NULL && is_group(words[0]))
        *ret_words = 2;
    snprintf(name, sizeof(name), *ret_words == 2 ? "%s %s" : "%s", words[0], second);
    command = find_name(name);
    if (command == NULL)
        refuse(name, words[0], second, error);
    return command;
}
