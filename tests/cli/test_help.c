/* The help, the table of exit codes and the completion: each made from, or compared with, the
 * tables of the program. */
#include "cli/command.h"
#include "cli/exit.h"
#include "support/program.h"

/* alk with the words of a command's name and two more. */
static int run_named(struct place *place, const char *before, const char *name, const char *after) {
    char words[64];
    const char *list[5] = {NULL};
    size_t count = 0;
    char *blank;

    snprintf(words, sizeof(words), "%s", name);
    if (before != NULL)
        list[count++] = before;
    list[count++] = words;
    blank = strchr(words, ' ');
    if (blank != NULL) {
        *blank = '\0';
        list[count++] = blank + 1;
    }
    if (after != NULL)
        list[count++] = after;
    return place_run(place, list);
}

/* S208: what every command's help has. */
static void every_command_explains_itself(void **state) {
    struct place *place = *state;
    char kept[PLACE_BYTES];

    for (size_t i = 0; i < alk__commands_count; i++) {
        const struct alk__command *command = alk__commands[i];
        const struct alk__option *option = command->options;

        assert_int_equal(run_named(place, "help", command->name, NULL), 0);
        assert_has(place->out, "usage: alk ");
        assert_has(place->out, command->name);
        assert_has(place->out, command->summary);
        assert_has(place->out, "--json");
        for (; option != NULL && option->name != NULL; option++)
            assert_has(place->out, option->name);
        for (size_t j = 0; j < 2; j++) {
            assert_int_equal(strncmp(command->examples[j].line, "alk ", 4), 0);
            assert_has(command->examples[j].line, command->name);
            assert_has(place->out, command->examples[j].line);
            assert_has(place->out, command->examples[j].meaning);
        }
        for (char *line = place->out; line != NULL && *line != '\0';) {
            char *end = strchr(line, '\n');

            assert_true(end - line <= 100);
            line = end + 1;
        }
        strcpy(kept, place->out);
        assert_int_equal(run_named(place, NULL, command->name, "--help"), 0);
        assert_string_equal(place->out, kept);
        assert_int_equal(run_named(place, NULL, command->name, "-h"), 0);
        assert_string_equal(place->out, kept);
        assert_string_equal(place->err, "");
    }
}

static void alk_alone_lists_all_commands(void **state) {
    static const char *const none[] = {NULL};
    struct place *place = *state;

    assert_int_equal(place_run(place, none), 0);
    for (size_t i = 0; i < alk__commands_count; i++) {
        assert_has(place->out, alk__commands[i]->name);
        assert_has(place->out, alk__commands[i]->summary);
    }
    assert_int_equal(alk(place, "help", "--json"), 0);
    assert_int_equal(count_of(place->out, "\n"), (int)alk__commands_count);
}

static void a_group_lists_its_commands(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "help", "schedule"), 0);
    assert_int_equal(count_of(place->out, "alk schedule "), 12);
    assert_int_equal(alk(place, "schedule", "--help"), 0);
    assert_int_equal(count_of(place->out, "alk schedule "), 12);
}

static void the_version_is_the_librarys(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "version"), 0);
    assert_string_equal(place->out, "alk " ALK_VERSION "\n");
    assert_int_equal(alk(place, "--version"), 0);
    assert_string_equal(place->out, "alk " ALK_VERSION "\n");
    assert_int_equal(alk(place, "version", "--json"), 0);
    assert_string_equal(place->out, "{\"version\":\"" ALK_VERSION "\"}\n");
}

static void every_status_has_its_exit_code(void **state) {
    (void)state;
#define CHECK(name, number, class_, text)                                                          \
    assert_in_range(alk__exit_code(name), 0, 69);                                                  \
    assert_true((alk_status_class(name) == ALK_CLASS_NONE) ==                                      \
                (alk__exit_code(name) == 0 || name == ALK_HELD || name == ALK_ABSENT));
    ALK_STATUS_MAP(CHECK)
#undef CHECK
    assert_int_equal(alk__exit_code(ALK_FAILED), 1);
    assert_int_equal(alk__exit_code(ALK_INVALID), 2);
    assert_int_equal(alk__exit_code(ALK_NO_STORE), 3);
    assert_int_equal(alk__exit_code(ALK_ABSENT), 3);
    assert_int_equal(alk__exit_code(ALK_HELD), 4);
    assert_int_equal(alk__exit_code(ALK_AGAIN), 69);
    assert_int_equal(alk__exit_code(ALK_POOL_TIMEOUT), 69);
}

/* The answers of dist/alk.bash for a line that ends in an empty word. */
static const char *complete(struct place *place, const char *line) {
    char script[512];

    snprintf(
        script, sizeof(script),
        ". " ALK_TEST_SOURCE_DIR "/dist/alk.bash; COMP_WORDS=(%s ''); "
        "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _alk; printf ' %%s' \"${COMPREPLY[@]}\"; echo ' '",
        line);
    assert_int_equal(alk(place, "lease", "run", "x", "--", "bash", "-c", script), 0);
    return place->out;
}

static void the_completion_knows_every_command_and_option(void **state) {
    struct place *place = *state;
    char line[128], part[64];

    for (size_t i = 0; i < alk__commands_count; i++) {
        const struct alk__command *command = alk__commands[i];
        const char *blank = strchr(command->name, ' ');
        int options = 3;

        snprintf(line, sizeof(line), "alk %.*s", blank != NULL ? (int)(blank - command->name) : 0,
                 command->name);
        snprintf(part, sizeof(part), " %s ", blank != NULL ? blank + 1 : command->name);
        assert_has(complete(place, line), part);
        if (strcmp(command->name, "help") == 0)
            continue;
        snprintf(line, sizeof(line), "alk %s", command->name);
        complete(place, line);
        for (const struct alk__option *option = command->options;
             option != NULL && option->name != NULL; option++, options++) {
            snprintf(part, sizeof(part), " %s%s ", alk__option_dashes(option), option->name);
            assert_has(place->out, part);
        }
        assert_int_equal(count_of(place->out, " -"), options);
    }
}

static void the_manual_names_every_command_and_setting(void **state) {
    static char page[PLACE_BYTES];
    FILE *file = fopen(ALK_TEST_SOURCE_DIR "/man/alk.1.scd", "re");
    char part[64];

    (void)state;
    assert_non_null(file);
    page[fread(page, 1, sizeof(page) - 1, file)] = '\0';
    fclose(file);
    for (size_t i = 0; i < alk__commands_count; i++) {
        snprintf(part, sizeof(part), "%s*", alk__commands[i]->name);
        assert_has(page, part);
    }
    for (size_t i = 0; i < alk__config_table_count; i++) {
        snprintf(part, sizeof(part), "*%s*", alk__config_table[i].key);
        assert_has(page, part);
        if (alk__config_table[i].environment != NULL)
            assert_has(page, alk__config_table[i].environment);
    }
    for (size_t i = 0; i < ALK__SCHEDULE_PLACES; i++) {
        snprintf(part, sizeof(part), "*%s*", alk__schedule_settings[i].key);
        assert_has(page, part);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        EMPTY(every_command_explains_itself),
        EMPTY(alk_alone_lists_all_commands),
        EMPTY(a_group_lists_its_commands),
        EMPTY(the_version_is_the_librarys),
        cmocka_unit_test(every_status_has_its_exit_code),
        cmocka_unit_test(the_manual_names_every_command_and_setting),
        ON_SQLITE(the_completion_knows_every_command_and_option),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
