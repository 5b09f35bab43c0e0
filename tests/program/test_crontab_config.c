/* What a crontab becomes: sections, names, commands that do what cron did, and nothing that is lost
 * without a word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "program/config_file.h"
#include "program/crontab_config.h"
#include "program/crontab_name.h"
#include "program/words.h"

/* What the last import said. */
static char config[65536];
static char told[4096];
static int schedules, left;

static void tell(int line, struct alk__text text, const char *reason, void *context) {
    size_t length = strlen(told);

    (void)context;
    snprintf(told + length, sizeof(told) - length, "%d|%.*s|%s\n", line, (int)text.length,
             text.bytes, reason);
}

static void import_from(const char *text, bool is_system, const char *zone) {
    struct alk__buffer buffer = ALK__BUFFER_INIT(sizeof(config) - 1);
    const struct alk__crontab_import import = {zone, is_system, tell, NULL};
    alk_error error = ALK_ERROR_INIT;

    told[0] = '\0';
    if (alk__crontab_convert(alk__text_of(text), &import, &buffer, &schedules, &left, &error) !=
        ALK_OK)
        fail_msg("%s", error.message);
    memcpy(config, buffer.bytes, buffer.length + 1);
    alk__buffer_release(&buffer);
}

static void import(const char *text) {
    import_from(text, false, "UTC");
}

static void assert_has(const char *text, const char *part) {
    if (strstr(text, part) == NULL)
        fail_msg("no '%s' in:\n%s", part, text);
}

static void assert_lacks(const char *text, const char *part) {
    if (strstr(text, part) != NULL)
        fail_msg("'%s' in:\n%s", part, text);
}

/* ---- sections ---- */

static void an_entry_becomes_a_section(void **state) {
    (void)state;
    import("# nightly\n0 3 * * *  /usr/local/bin/backup --all\n");
    assert_int_equal(schedules, 1);
    assert_int_equal(left, 0);
    assert_string_equal(told, "");
    assert_has(config, "\n\n# nightly\n"
                       "[schedule backup]\n"
                       "spec = 0 3 * * *\n"
                       "catchup = skip\n"
                       "max_attempts = 1\n"
                       "command = /bin/sh -c 'cd; exec </dev/null; /usr/local/bin/backup --all'\n");
}

static void words_with_an_at_are_carried_over(void **state) {
    (void)state;
    import("@hourly a\n@daily b\n@midnight c\n@weekly d\n@monthly e\n@yearly f\n@annually g\n");
    assert_int_equal(schedules, 7);
    assert_int_equal(left, 0);
    assert_has(config, "[schedule c]\nspec = @midnight\n");
    assert_has(config, "[schedule g]\nspec = @annually\n");
}

/* S105 */
static void the_zone_is_crons_unless_the_crontab_says_another(void **state) {
    (void)state;
    import_from("@daily a\nCRON_TZ=Asia/Tokyo\n@daily b\nCRON_TZ=\n@daily c\n", false,
                "Europe/Berlin");
    assert_has(config, "zone Europe/Berlin.\n");
    assert_has(config, "[schedule a]\nspec = @daily\nzone = Europe/Berlin\n");
    assert_has(config, "# CRON_TZ=Asia/Tokyo\n[schedule b]\nspec = @daily\nzone = Asia/Tokyo\n");
    assert_has(config, "[schedule c]\nspec = @daily\nzone = Europe/Berlin\n");
    assert_lacks(config, "/usr/bin/env");
    import("CRON_TZ=Mars/Base\n@daily a\n");
    assert_int_equal(schedules, 0);
    assert_int_equal(left, 1);
    assert_has(told, "2|@daily a|");
    assert_has(told, "Mars/Base");
}

static void tz_is_the_commands_and_moves_no_times(void **state) {
    (void)state;
    import("TZ=Asia/Tokyo\n@daily a\n");
    assert_int_equal(left, 0);
    assert_lacks(config, "zone = ");
    assert_has(config, "# TZ=Asia/Tokyo\n# (for the commands below; as with cron it moves no "
                       "times)\n");
    assert_has(config, "command = /usr/bin/env TZ=Asia/Tokyo /bin/sh -c ");
}

static void a_section_has_the_name_of_its_command(void **state) {
    static const struct {
        const char *command, *name;
    } cases[] = {
        {"/usr/bin/backup.sh -v", "backup.sh"},
        {"A=1 B='2; 3' make all", "make"},
        {"cd /srv/app && bin/rake clean", "rake"},
        {"cd /srv; ./run", "run"},
        {"test -x /usr/sbin/anacron || { cd / && run-parts /etc/x; }", "run-parts"},
        {"[ -x /usr/bin/php ] && /usr/bin/php x", "php"},
        {"\"$HOME/bin/my job\" now", "my-job"},
        {"( sleep 5; x )", "sleep"},
        {"$(which x)", "which"},
        {"'a b", "a-b"},
        {"/opt/\xc3\xa4\xc3\xb6x.py", "x.py"},
        {"/opt/a\xc3\xa4/", "job"},
        {"./.-", "job"},
        {"&& ! ()", "job"},
        {"cd /tmp", "job"},
        {"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz0123456789",
         "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuv"},
    };
    char name[ALK__CRONTAB_NAME_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        alk__crontab_name(cases[i].command, name);
        assert_string_equal(name, cases[i].name);
    }
}

static void names_are_told_apart_by_their_lines(void **state) {
    (void)state;
    import("@daily a\n@daily a\n@daily a-4\n@daily a\n");
    assert_has(config, "[schedule a]\n");
    assert_has(config, "[schedule a-2]\n");
    assert_has(config, "[schedule a-4]\n");
    assert_has(config, "[schedule a-4-4]\n");
    import("@dialy a\n@daily a\n");
    assert_has(config, "[schedule a]\n");
}

/* S103: H hashes the name that the schedule will have. */
static void a_schedule_may_hash_its_name(void **state) {
    (void)state;
    import("H H * * * a\n");
    assert_int_equal(schedules, 1);
    assert_has(config, "spec = H H * * *\n");
}

/* ---- what is left out ---- */

static void what_is_refused_is_listed_with_its_line_and_reason(void **state) {
    (void)state;
    import("\n*/90 * * * * /bin/x\n@reboot y\n5 0-99 * * * z\nnonsense\n");
    assert_int_equal(schedules, 0);
    assert_int_equal(left, 4);
    assert_has(told, "2|*/90 * * * * /bin/x|step 90 is longer than the range");
    assert_has(told, "3|@reboot y|@reboot has no meaning");
    assert_has(told, "4|5 0-99 * * * z|");
    assert_has(told, "5|nonsense|it has neither five fields");
    assert_has(config, "# Not carried over, line 2: step 90 is longer than");
    assert_has(config, "(use @every 90m):\n# */90 * * * * /bin/x\n");
    assert_has(config, "# nonsense\n");
    assert_lacks(config, "[schedule");
}

static void mail_is_listed_unless_there_was_to_be_none(void **state) {
    (void)state;
    import("MAILTO=root\nRANDOM_DELAY=5\nCONTENT_TYPE=text/plain\n@daily a\n");
    assert_int_equal(left, 3);
    assert_has(told, "1|MAILTO=root|alk run logs what commands write");
    assert_has(told, "2|RANDOM_DELAY=5|");
    assert_has(config, "# MAILTO=root\n");
    assert_lacks(config, "/usr/bin/env");
    import("MAILTO=\"\"\n@daily a\n");
    assert_int_equal(left, 0);
    assert_has(config, "# MAILTO=\"\"\n");
    assert_lacks(config, "/usr/bin/env");
}

static void a_user_is_listed_and_the_command_is_carried_over(void **state) {
    (void)state;
    import_from("17 * * * * www-data /bin/x\n", true, "UTC");
    assert_int_equal(schedules, 1);
    assert_int_equal(left, 1);
    assert_has(told, "1|www-data|the user");
    assert_has(config, "[schedule x]\n# Not carried over, line 1: the user");
    assert_has(config, "# www-data\nspec = 17 * * * *\n");
    assert_has(config, "exec </dev/null; /bin/x'");
}

static void more_variables_than_there_is_room_for_are_listed(void **state) {
    struct alk__buffer text = ALK__BUFFER_INIT(65536);

    (void)state;
    for (int i = 0; i <= ALK__CRONTAB_VARIABLES_MAX; i++)
        alk__buffer_addf(&text, "V%d=1\n", i);
    alk__buffer_add_text(&text, "V0=2\n");
    import(text.bytes);
    alk__buffer_release(&text);
    assert_int_equal(left, 1);
    assert_string_equal(told, "101|V100=1|there are too many variables above it\n");
}

static void comments_cannot_become_anything_else(void **state) {
    (void)state;
    import("  # \x1b[2Jx\ty\xc2\x9b\n#[schedule a]\n@reboot \x1b]0;x\x07\n");
    assert_has(config, "\n# ?[2Jx\ty?\n#[schedule a]\n");
    assert_has(config, "# @reboot ?]0;x?\n");
    import("\xff\xfe[schedule a]\n");
    assert_has(config, "# ??[schedule a]\n");
    assert_int_equal(left, 1);
}

/* ---- commands ---- */

/* Gives a section's entry, and keeps the command of the first. */
static alk_status keep_command(const struct alk__config_line *line, void *context,
                               alk_error *error) {
    char *command = context;

    (void)error;
    if (line->key != NULL && strcmp(line->key, "command") == 0 && command[0] == '\0')
        snprintf(command, 8192, "%s", line->value);
    return ALK_OK;
}

/* The first command of config as the reader of the configuration gives it. */
static void read_command(char *command) {
    struct alk__arena memory = {NULL};
    char path[] = "/tmp/alk-crontab.XXXXXX";
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, config, strlen(config)), (int)strlen(config));
    close(fd);
    command[0] = '\0';
    assert_int_equal(alk__config_file_read(path, &memory, keep_command, command, NULL), ALK_OK);
    unlink(path);
    alk__arena_free(&memory);
}

static void exec_words(char *const *words, int input, int output) {
    setenv("HOME", "/usr", 1);
    dup2(input, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    execv(words[0], words);
    _exit(127);
}

/* Imports the crontab, runs its first command with a payload for stdin as alk run would, and gives
 * what it wrote. */
static const char *output_of(const char *text) {
    static char output[4096];
    struct alk__arena memory = {NULL};
    struct alk__words words;
    char command[8192];
    int to[2], from[2], status;
    size_t length = 0;
    ssize_t got;

    import(text);
    read_command(command);
    assert_int_equal(alk__words_split(&memory, command, "", &words, NULL), ALK_OK);
    assert_int_equal(pipe(to), 0);
    assert_int_equal(pipe(from), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        exec_words(words.items, to[0], from[1]);
    assert_int_equal(write(to[1], "null\n", 5), 5);
    close(to[0]);
    close(to[1]);
    close(from[1]);
    while ((got = read(from[0], output + length, sizeof(output) - 1 - length)) > 0)
        length += (size_t)got;
    output[length] = '\0';
    close(from[0]);
    waitpid(child, &status, 0);
    snprintf(output + length, sizeof(output) - length, "exit %d",
             WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    alk__arena_free(&memory);
    return output;
}

static void a_command_runs_as_under_cron(void **state) {
    (void)state;
    assert_string_equal(output_of("@daily echo \"it's\" 'a  b' $((1+1)) # not this\n"),
                        "it's a  b 2\nexit 0");
    assert_string_equal(output_of("@daily date +\\%\\% -d @0; false | exit 3\n"), "%\nexit 3");
    assert_string_equal(output_of("@daily pwd\n"), "/usr\nexit 0");
}

static void stdin_is_empty_or_what_stands_behind_the_percent(void **state) {
    (void)state;
    assert_string_equal(output_of("@daily cat\n"), "exit 0");
    assert_string_equal(output_of("@daily cat%\n"), "exit 0");
    assert_string_equal(output_of("@daily cat; pwd; exit 4%it's%%a \\n \\\\ \\% \"$HOME\" `x`\n"),
                        "it's\n\na \\n \\\\ % \"$HOME\" `x`\n/usr\nexit 4");
}

static void variables_are_the_commands_and_are_not_expanded(void **state) {
    (void)state;
    assert_string_equal(
        output_of("A='b  $C'\nC=d\nE=\nC = \"it's\"\n@daily echo \"$A|$C|$E|${E+set}\"\n"
                  "A=2\n"),
        "b  $C|it's||set\nexit 0");
    assert_string_equal(output_of("HOME=/usr/bin\n@daily pwd\n"), "/usr/bin\nexit 0");
    assert_string_equal(output_of("A=1\n@daily cat; echo $A%x\n"), "x\n1\nexit 0");
}

static void the_shell_is_the_crontabs(void **state) {
    (void)state;
    assert_string_equal(output_of("SHELL=/bin/bash\n@daily echo ${BASH:+bash} $SHELL\n"),
                        "bash /bin/bash\nexit 0");
    assert_string_equal(output_of("SHELL=/bin/bash\n@daily cat; echo ${BASH:+bash}%x\n"),
                        "x\nbash\nexit 0");
    assert_string_equal(output_of("SHELL=/x/csh\nSHELL=\n@daily echo x\n"), "x\nexit 0");
    import("SHELL=/bin/csh\n@daily foreach\n");
    assert_has(config, "command = /usr/bin/env SHELL=/bin/csh /bin/sh -c 'cd; printf %b \"$1\" | "
                       "\"$0\" -c \"$2\"' /bin/csh '' 'foreach'\n");
}

/* ---- limits ---- */

/* The status of an import of count times this text. */
static alk_status import_many(const char *text, int count, size_t maximum, alk_error *error) {
    struct alk__buffer crontab = ALK__BUFFER_INIT((size_t)4 << 20);
    struct alk__buffer buffer = ALK__BUFFER_INIT(maximum);
    const struct alk__crontab_import import = {"UTC", false, NULL, NULL};
    alk_status st;

    for (int i = 0; i < count; i++)
        alk__buffer_add_text(&crontab, text);
    st = alk__crontab_convert((struct alk__text){crontab.bytes, crontab.length}, &import, &buffer,
                              &schedules, &left, error);
    alk__buffer_release(&crontab);
    alk__buffer_release(&buffer);
    return st;
}

static void sizes_have_limits(void **state) {
    alk_error error = ALK_ERROR_INIT;

    (void)state;
    assert_int_equal(import_many("", 0, ALK__CONFIG_BYTES_MAX, &error), ALK_OK);
    assert_int_equal(schedules, 0);
    assert_int_equal(import_many("@hourly x\n", 110000, ALK__CONFIG_BYTES_MAX, &error),
                     ALK_INVALID);
    assert_string_equal(error.message, "is larger than 1,048,576 bytes");
    assert_int_equal(import_many("@hourly x\n", 9900, ALK__CONFIG_BYTES_MAX, &error), ALK_INVALID);
    assert_string_equal(error.message, "becomes more than a configuration's 1,048,576 bytes");
    assert_int_equal(import_many("@hourly x\n", 10001, (size_t)8 << 20, &error), ALK_INVALID);
    assert_string_equal(error.message, "has more than 10000 entries");
}

/* S218 */
static void the_end_of_memory_is_an_error(void **state) {
    const struct alk__crontab_import import = {"UTC", true, NULL, NULL};
    long n = 0;
    alk_status st;

    (void)state;
    do {
        struct alk__buffer buffer = ALK__BUFFER_INIT(65536);
        int count = -1, none = -1;

        alk__alloc_fail_at(++n);
        st = alk__crontab_convert(ALK__TEXT("A=1\n@daily root x%y\n"), &import, &buffer, &count,
                                  &none, NULL);
        alk__alloc_fail_at(0);
        alk__buffer_release(&buffer);
        assert_true(st == ALK_OK || count == -1);
    } while (st != ALK_OK);
    assert_true(n > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entry_becomes_a_section),
        cmocka_unit_test(words_with_an_at_are_carried_over),
        cmocka_unit_test(the_zone_is_crons_unless_the_crontab_says_another),
        cmocka_unit_test(tz_is_the_commands_and_moves_no_times),
        cmocka_unit_test(a_section_has_the_name_of_its_command),
        cmocka_unit_test(names_are_told_apart_by_their_lines),
        cmocka_unit_test(a_schedule_may_hash_its_name),
        cmocka_unit_test(what_is_refused_is_listed_with_its_line_and_reason),
        cmocka_unit_test(mail_is_listed_unless_there_was_to_be_none),
        cmocka_unit_test(a_user_is_listed_and_the_command_is_carried_over),
        cmocka_unit_test(more_variables_than_there_is_room_for_are_listed),
        cmocka_unit_test(comments_cannot_become_anything_else),
        cmocka_unit_test(a_command_runs_as_under_cron),
        cmocka_unit_test(stdin_is_empty_or_what_stands_behind_the_percent),
        cmocka_unit_test(variables_are_the_commands_and_are_not_expanded),
        cmocka_unit_test(the_shell_is_the_crontabs),
        cmocka_unit_test(sizes_have_limits),
        cmocka_unit_test(the_end_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
