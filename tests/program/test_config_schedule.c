/* Sections [schedule NAME] of a configuration: what they may say, and which loops run their
 * commands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "program/config.h"
#include "program/declare.h"
#include "program/schedule_settings.h"

static char path[] = "/tmp/alk-config.XXXXXX";

static int make_file(void **state) {
    int fd = mkstemp(path);

    (void)state;
    if (fd >= 0)
        close(fd);
    return fd < 0 ? -1 : 0;
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

static void write_file(const char *text) {
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    fclose(file);
}

/* The configuration of a file with this text; the caller frees it. */
static struct alk__config *load(const char *text) {
    struct alk__config *config = NULL;
    alk_error error = ALK_ERROR_INIT;

    write_file(text);
    if (alk__config_load(path, NULL, 0, &config, &error) != ALK_OK)
        fail_msg("%s", error.message);
    return config;
}

/* The message with which the text is refused, behind the file's name. */
static const char *refused(const char *text) {
    static alk_error error;
    struct alk__config *config = NULL;

    error = (alk_error)ALK_ERROR_INIT;
    write_file(text);
    assert_int_equal(alk__config_load(path, NULL, 0, &config, &error), ALK_INVALID);
    assert_null(config);
    assert_memory_equal(error.message, path, strlen(path));
    return error.message + strlen(path);
}

/* ---- the table ---- */

/* One table of words: each field but those that only a program sets has a row, and an option and a
 * key are the same word. */
static void every_field_has_its_words(void **state) {
    static const char *const options[] = {
#define OPTION(FIELD, member, option, key, argument, kind, least, most, choices, help) option,
        ALK__SCHEDULE_SETTINGS(OPTION)
#undef OPTION
    };
    unsigned fields = 0;

    (void)state;
    for (size_t i = 0; i < ALK__SCHEDULE_PLACES; i++) {
        const struct alk__schedule_setting *setting = &alk__schedule_settings[i];
        size_t length = strlen(setting->key);

        assert_int_equal(fields & setting->field, 0);
        fields |= setting->field;
        assert_ptr_equal(alk__schedule_setting_find(setting->key), setting);
        assert_int_equal(strlen(options[i]), length);
        for (size_t j = 0; j < length; j++)
            assert_int_equal(setting->key[j], options[i][j] == '-' ? '_' : options[i][j]);
    }
    assert_null(alk__schedule_setting_find("owner_set"));
    assert_int_equal(fields, (ALK_SCHEDULE_REANCHOR - 1) & ~ALK_SCHEDULE_OWNER_SET);
}

/* ---- one section ---- */

static const char everything[] = "[schedule night run]\n"
                                 "spec = 30 2 * * *\n"
                                 "zone = Europe/Rome\n"
                                 "queue = q\n"
                                 "payload = {\"a\": 1}\n"
                                 "priority = -3\n"
                                 "max_attempts = 2\n"
                                 "expires = 1h\n"
                                 "anchor = 2027-01-01T00:00:00Z\n"
                                 "gap = skip\n"
                                 "fold = both\n"
                                 "not_before = 2027-01-02T00:00:00Z\n"
                                 "not_after = 2028-01-01T00:00:00Z\n"
                                 "max_fires = 100\n"
                                 "catchup = all\n"
                                 "catchup_max = 5\n"
                                 "catchup_window = 2d\n"
                                 "grace = 0s\n"
                                 "max_lateness = 3d\n"
                                 "jitter = 30s\n"
                                 "overlap = buffer_one\n"
                                 "pause_until = 2027-01-03T00:00:00Z\n";

static void assert_everything(const alk_schedule *schedule) {
    const int64_t day_us = INT64_C(86400000000), start_us = INT64_C(1798761600000000);

    assert_string_equal(schedule->name, "night run");
    assert_string_equal(schedule->spec, "30 2 * * *");
    assert_string_equal(schedule->zone, "Europe/Rome");
    assert_string_equal(schedule->queue, "q");
    assert_string_equal(schedule->payload, "{\"a\": 1}");
    assert_int_equal(schedule->payload_length, 8);
    assert_int_equal(schedule->priority, -3);
    assert_int_equal(schedule->max_attempts, 2);
    assert_int_equal(schedule->expires_us, day_us / 24);
    assert_int_equal(schedule->anchor_us, start_us);
    assert_int_equal(schedule->dst_gap, ALK_DST_GAP_SKIP);
    assert_int_equal(schedule->dst_fold, ALK_DST_FOLD_BOTH);
    assert_int_equal(schedule->not_before_us, start_us + day_us);
    assert_int_equal(schedule->not_after_us, start_us + 365 * day_us);
    assert_int_equal(schedule->max_fires, 100);
    assert_int_equal(schedule->catchup, ALK_CATCHUP_ALL);
    assert_int_equal(schedule->catchup_max, 5);
    assert_int_equal(schedule->catchup_window_us, 2 * day_us);
    assert_int_equal(schedule->grace_us, 0);
    assert_int_equal(schedule->max_lateness_us, 3 * day_us);
    assert_int_equal(schedule->jitter_us, 30000000);
    assert_int_equal(schedule->overlap, ALK_OVERLAP_BUFFER_ONE);
    assert_int_equal(schedule->pause_until_us, start_us + 2 * day_us);
}

static void a_section_sets_everything_and_is_printed_the_same(void **state) {
    struct alk__config *config = load(everything), *again;
    char *printed = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&printed, &length);

    (void)state;
    assert_int_equal(config->schedule_count, 1);
    assert_everything(&config->schedules[0]);
    assert_int_equal(config->worker_count, 0);
    alk__config_print(config, stream);
    fclose(stream);
    again = load(printed);
    assert_everything(&again->schedules[0]);
    alk__config_free(config);
    alk__config_free(again);
    free(printed);
}

#define SAME(field) assert_true(schedule->field == preset.field)

static void what_is_empty_or_not_said_is_the_default(void **state) {
    const alk_schedule preset = ALK_SCHEDULE_INIT;
    struct alk__config *config = load("[schedule s]\nspec = @daily\nqueue = q\njitter =\ngap =\n"
                                      "max_fires =\nzone =\n");
    const alk_schedule *schedule = &config->schedules[0];

    (void)state;
    assert_string_equal(schedule->name, "s");
    SAME(zone);
    SAME(payload);
    SAME(payload_length);
    SAME(priority);
    SAME(max_attempts);
    SAME(expires_us);
    SAME(catchup_max);
    SAME(dst_gap);
    SAME(dst_fold);
    SAME(catchup);
    SAME(catchup_window_us);
    SAME(grace_us);
    SAME(max_lateness_us);
    SAME(overlap);
    SAME(jitter_us);
    SAME(not_before_us);
    SAME(not_after_us);
    SAME(max_fires);
    SAME(anchor_us);
    SAME(pause_until_us);
    SAME(allow_late);
    alk__config_free(config);
}

static void what_is_wrong_is_refused_with_file_and_line(void **state) {
    (void)state;
    assert_string_equal(refused("[schedule s]\nspec = @daily\nqueue = q\ncatchup = some\n"),
                        ":4: catchup is one of last, skip, all, not 'some'");
    assert_string_equal(refused("[schedule s]\ncatchup_max = 0\n"),
                        ":2: catchup_max is a number from 1 to 1000, not '0'");
    assert_string_equal(
        refused("[schedule s]\njitter = 1x\n"),
        ":2: jitter: '1x' is not a duration at column 2: no such unit (w, d, h, m, s, ms)");
    assert_string_equal(refused("[schedule s]\ncatchup_maxx = 1\n"),
                        ":2: unknown key 'catchup_maxx' (did you mean 'catchup_max'?)");
    assert_string_equal(refused("[schedule s]\nspec = @daily\nspec = @daily\n"),
                        ":3: 'spec' stands here a second time");
    assert_string_equal(refused("[schedule s]\npayload = {\n"),
                        ":2: payload is not JSON at column 2: an object is not closed");
    assert_string_equal(refused("[schedule s]\npayload =\n"),
                        ":2: payload is empty (null is written null)");
    assert_string_equal(refused("[schedule s]\nspec = @daily\nqueue = q\n[schedule s]\n"),
                        ":4: [schedule s] stands here a second time");
    assert_string_equal(refused("[schedule]\n"), ":1: schedule name is empty");
    assert_string_equal(refused("\n[schedule s]\nqueue = q\n"),
                        ":2: schedule 's': there is no spec");
    assert_string_equal(refused("[schedule s]\nspec = @daily\n"),
                        ":1: schedule 's': there is neither a queue nor a command");
    assert_string_equal(refused("[schedule s]\nspec = @daily\nqueue = q\ntimeout = 5s\n"),
                        ":1: schedule 's': there is a timeout but no command");
    assert_string_equal(refused("[schedule s]\nspec = @daily\nqueue =\n"), ":3: queue is empty");
    assert_string_equal(refused("[schedule s]\nallow_late = yes\n"),
                        ":2: unknown key 'allow_late'");
}

/* S112: the message names schedule and column. */
static void a_bad_spec_names_line_schedule_and_column(void **state) {
    (void)state;
    assert_string_equal(refused("[schedule a]\nspec = @daily\nqueue = q\n"
                                "[schedule s]\nqueue = q\nspec = 0 61 * * *\nzone = UTC\n"),
                        ":6: schedule 's': hour 61 is out of range 0-23 at column 3");
    assert_non_null(strstr(refused("[schedule s]\nqueue = q\nspec = @daily\nzone = Mars/Base\n"),
                           ":3: schedule 's': "));
}

static void what_is_surprising_about_a_spec_is_known(void **state) {
    struct alk__config *config = load(
        "[schedule a]\nspec = 0 9 13 * 5\nqueue = q\n[schedule b]\nspec = @daily\nqueue = q\n");

    (void)state;
    assert_non_null(strstr(config->sections[0].warning, "also on each of these days"));
    assert_string_equal(config->sections[1].warning, "");
    alk__config_free(config);
}

/* S123: what a file states, and under which name. */
static void a_file_without_schedules_states_nothing_unless_it_names_a_set(void **state) {
    static const struct {
        const char *text;
        const char *set;
    } rows[] = {
        {"[scheduler]\nbatch = 5\n", NULL},
        {"[scheduler]\nset = mine\n", "mine"},
        {"[schedule s]\nspec = @daily\nqueue = q\n", "config"},
        {"[schedule s]\nspec = @daily\nqueue = q\n[scheduler]\nset = mine\n", "mine"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct alk__config *config = load(rows[i].text);

        if (rows[i].set == NULL)
            assert_null(alk__declared_set(config));
        else
            assert_string_equal(alk__declared_set(config), rows[i].set);
        alk__config_free(config);
    }
}

/* ---- commands ---- */

static void a_command_has_a_queue_and_a_loop_of_its_own(void **state) {
    struct alk__config *config =
        load("[worker w]\nqueues = mail\ncommand = send\n"
             "[schedule a]\nspec = @daily\ncommand = sh -c 'echo a'\n"
             "[schedule b]\nspec = @daily\nqueue = own\ncommand = b\ntimeout = 5m\n"
             "concurrency = 3\n"
             "[schedule c]\nspec = @daily\nqueue = mail\n");

    (void)state;
    assert_string_equal(config->schedules[0].queue, "schedule:a");
    assert_string_equal(config->schedules[1].queue, "own");
    assert_string_equal(config->schedules[2].queue, "mail");
    assert_int_equal(config->worker_count, 3);
    assert_null(config->workers[0].commands);
    assert_string_equal(config->workers[1].name, "a");
    assert_int_equal(config->workers[1].queues.count, 1);
    assert_string_equal(config->workers[1].queues.items[0], "schedule:a");
    assert_string_equal(config->workers[1].commands[0].items[2], "echo a");
    assert_int_equal(config->workers[1].timeout_us, ALK__COMMAND_TIMEOUT_US);
    assert_int_equal(config->workers[1].concurrency, 1);
    assert_string_equal(config->workers[2].queues.items[0], "own");
    assert_int_equal(config->workers[2].timeout_us, 300000000);
    assert_int_equal(config->workers[2].concurrency, 3);
    alk__config_free(config);
}

/* Two commands for the jobs of one queue would be a matter of chance. */
static void a_queue_with_a_command_is_nobody_elses(void **state) {
    char text[512], name[201];

    (void)state;
    assert_string_equal(
        refused("[schedule a]\nspec = @daily\ncommand = a\nqueue = q\n"
                "[schedule b]\nspec = @daily\ncommand = b\nqueue = q\n"),
        ":5: schedule 'b': queue 'q' has a command here, but 'a' serves it already");
    assert_string_equal(
        refused("[schedule b]\nspec = @daily\ncommand = b\nqueue = q\n"
                "[worker w]\nqueues = p q\ncommand = w\n"),
        ":1: schedule 'b': queue 'q' has a command here, but 'w' serves it already");
    memset(name, 'x', 200);
    name[200] = '\0';
    snprintf(text, sizeof(text), "[schedule %s]\nspec = @daily\ncommand = a\n", name);
    assert_non_null(strstr(refused(text), ": a name so long needs a queue"));
}

/* count schedules with a command, every tenth with another time-out. */
static struct alk__config *load_many(int count) {
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    struct alk__config *config;

    for (int i = 0; i < count; i++)
        fprintf(stream, "[schedule s%d]\nspec = @daily\ncommand = c%d\ntimeout = %s\n", i, i,
                i % 10 == 0 ? "1m" : "2m");
    fclose(stream);
    config = load(text);
    free(text);
    return config;
}

static void beyond_a_bound_commands_share_loops_each_with_its_place(void **state) {
    struct alk__config *config = load_many(ALK__COMMAND_LOOPS_MAX);
    size_t queues = 0;

    (void)state;
    assert_int_equal(config->worker_count, ALK__COMMAND_LOOPS_MAX);
    alk__config_free(config);
    config = load_many(1000);
    assert_int_equal(config->worker_count, ALK__COMMAND_LOOPS_MAX);
    for (size_t i = 0; i < config->worker_count; i++) {
        const struct alk__worker_config *loop = &config->workers[i];

        queues += loop->queues.count;
        assert_int_equal(loop->concurrency, loop->queues.count);
        for (size_t j = 0; j < loop->queues.count; j++) {
            long number = strtol(loop->queues.items[j] + strlen("schedule:s"), NULL, 10);

            assert_int_equal(loop->timeout_us, number % 10 == 0 ? 60000000 : 120000000);
            assert_int_equal(strtol(loop->commands[j].items[0] + 1, NULL, 10), number);
        }
    }
    assert_int_equal(queues, 1000);
    alk__config_free(config);
}

/* A loop goes on at HUP while it does the same. */
static void loops_with_other_commands_are_not_the_same(void **state) {
    struct alk__config *one = load("[schedule a]\nspec = @daily\ncommand = a\n");
    struct alk__config *same = load("[schedule a]\nspec = @hourly\ncommand = a\n");
    struct alk__config *other = load("[schedule a]\nspec = @daily\ncommand = b\n");

    (void)state;
    assert_true(alk__worker_config_equal(&one->workers[0], &same->workers[0]));
    assert_false(alk__worker_config_equal(&one->workers[0], &other->workers[0]));
    alk__config_free(one);
    alk__config_free(same);
    alk__config_free(other);
}

/* S218 */
static void the_end_of_memory_is_an_error(void **state) {
    struct alk__config *config = NULL;
    alk_status st = ALK_NOMEM;
    long n = 0;

    (void)state;
    write_file("[schedule a]\nspec = H * * * *\ncommand = a b\n"
               "[schedule b]\nspec = 0 9 13 * 5\nqueue = q\n");
    while (st == ALK_NOMEM) {
        alk__alloc_fail_at(++n);
        st = alk__config_load(path, NULL, 0, &config, NULL);
        alk__alloc_fail_at(0);
    }
    assert_int_equal(st, ALK_OK);
    assert_true(n > 3);
    alk__config_free(config);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_has_its_words),
        cmocka_unit_test(a_section_sets_everything_and_is_printed_the_same),
        cmocka_unit_test(what_is_empty_or_not_said_is_the_default),
        cmocka_unit_test(what_is_wrong_is_refused_with_file_and_line),
        cmocka_unit_test(a_bad_spec_names_line_schedule_and_column),
        cmocka_unit_test(what_is_surprising_about_a_spec_is_known),
        cmocka_unit_test(a_file_without_schedules_states_nothing_unless_it_names_a_set),
        cmocka_unit_test(a_command_has_a_queue_and_a_loop_of_its_own),
        cmocka_unit_test(a_queue_with_a_command_is_nobody_elses),
        cmocka_unit_test(beyond_a_bound_commands_share_loops_each_with_its_place),
        cmocka_unit_test(loops_with_other_commands_are_not_the_same),
        cmocka_unit_test(the_end_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, make_file, remove_file);
}
