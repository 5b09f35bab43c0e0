/* The configuration: what a file may say, and which of four places wins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "program/config.h"
#include "program/config_file.h"

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

static int clear_environment(void **state) {
    (void)state;
    unsetenv("ALK_STORE");
    unsetenv("ALK_LOG_LEVEL");
    unsetenv("ALK_LOG_FORMAT");
    return 0;
}

static void write_bytes(const char *bytes, size_t length) {
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
}

/* The configuration of a file with this text; the caller frees it. */
static struct alk__config *load(const char *text) {
    struct alk__config *config = NULL;
    alk_error error = ALK_ERROR_INIT;

    write_bytes(text, strlen(text));
    if (alk__config_load(path, NULL, 0, &config, &error) != ALK_OK)
        fail_msg("%s", error.message);
    return config;
}

/* The message with which the text is refused, without the file's name where it begins with that. */
static const char *refused(const char *text) {
    static alk_error error;
    struct alk__config *config = NULL;

    error = (alk_error)ALK_ERROR_INIT;
    write_bytes(text, strlen(text));
    assert_int_equal(alk__config_load(path, NULL, 0, &config, &error), ALK_INVALID);
    assert_null(config);
    if (strncmp(error.message, path, strlen(path)) == 0)
        return error.message + strlen(path);
    return error.message;
}

static void without_a_file_everything_has_its_default(void **state) {
    struct alk__config *config = NULL;

    (void)state;
    assert_int_equal(alk__config_load(NULL, NULL, 0, &config, NULL), ALK_OK);
    assert_string_equal(config->store_url, "alk.db");
    assert_null(config->schema);
    assert_int_equal(config->durability, ALK_DURABILITY_FULL);
    assert_int_equal(config->log_level, ALK_LEVEL_INFO);
    assert_int_equal(config->log_format, ALK__LOG_LOGFMT);
    assert_true(config->is_scheduler);
    assert_string_equal(config->scheduler_name, ALK_SCHEDULER_LEASE_DEFAULT);
    assert_int_equal(config->ttl_us, ALK_SCHEDULER_TTL_DEFAULT_US);
    assert_int_equal(config->batch, ALK_SCHEDULER_BATCH_DEFAULT);
    assert_int_equal(config->worker_count, 0);
    alk__config_free(config);
}

static void a_file_sets_everything(void **state) {
    struct alk__config *config = load("# a comment\n"
                                      "; another\n"
                                      "\n"
                                      "[store]\n"
                                      "url = postgresql://db/app?a=b\n"
                                      "schema=jobs\n"
                                      "pool_max = 12\n"
                                      "durability = normal\n"
                                      "  [log]  \r\n"
                                      "level = debug\n"
                                      "format = json\n"
                                      "[scheduler]\n"
                                      "enabled = no\n"
                                      "name = night\n"
                                      "ttl = 30s\n"
                                      "batch = 50\n"
                                      "[worker mail and more]\n"
                                      "queues = urgent, mail 'big jobs'\n"
                                      "command = sh -c 'echo \"$ALK_JOB_ID\" # not a comment'\n"
                                      "concurrency = 4\n"
                                      "timeout = 1m500ms\n"
                                      "[worker two]\n"
                                      "queues = x\n"
                                      "command = true");

    (void)state;
    assert_string_equal(config->store_url, "postgresql://db/app?a=b");
    assert_string_equal(config->schema, "jobs");
    assert_int_equal(config->pool_max, 12);
    assert_int_equal(config->durability, ALK_DURABILITY_NORMAL);
    assert_int_equal(config->log_level, ALK_LEVEL_DEBUG);
    assert_int_equal(config->log_format, ALK__LOG_JSON);
    assert_false(config->is_scheduler);
    assert_string_equal(config->scheduler_name, "night");
    assert_int_equal(config->ttl_us, 30000000);
    assert_int_equal(config->batch, 50);
    assert_int_equal(config->worker_count, 2);
    assert_string_equal(config->workers[0].name, "mail and more");
    assert_int_equal(config->workers[0].queues.count, 3);
    assert_string_equal(config->workers[0].queues.items[2], "big jobs");
    assert_int_equal(config->workers[0].command.count, 3);
    assert_string_equal(config->workers[0].command.items[2],
                        "echo \"$ALK_JOB_ID\" # not a comment");
    assert_int_equal(config->workers[0].concurrency, 4);
    assert_int_equal(config->workers[0].timeout_us, 60500000);
    assert_string_equal(config->workers[1].name, "two");
    assert_int_equal(config->workers[1].concurrency, 1);
    assert_int_equal(config->workers[1].timeout_us, ALK__COMMAND_TIMEOUT_US);
    alk__config_free(config);
}

static void an_unknown_word_is_refused_with_file_line_and_a_guess(void **state) {
    (void)state;
    assert_string_equal(refused("[store]\nurl = x\n[sheduler]\n"),
                        ":3: unknown section 'sheduler' (did you mean 'scheduler'?)");
    assert_string_equal(refused("[plugins]\n"), ":1: unknown section 'plugins'");
    assert_string_equal(refused("[worker a]\nqueues = q\nconcurency = 2\n"),
                        ":3: unknown key 'concurency' (did you mean 'concurrency'?)");
    assert_string_equal(refused("[log]\ncolour = red\n"), ":2: unknown key 'colour'");
    assert_string_equal(refused("[log]\nqueues = q\n"), ":2: unknown key 'queues'");
}

static void a_line_that_is_nothing_is_refused(void **state) {
    (void)state;
    assert_string_equal(refused("[store]\nhello\n"),
                        ":2: 'hello' is neither [section] nor key = value");
    assert_string_equal(refused("[store]\n= x\n"),
                        ":2: '= x' is neither [section] nor key = value");
    assert_string_equal(refused("url = x\n"), ":1: 'url' stands before the first [section]");
    assert_string_equal(refused("[store\n"),
                        ":1: a section is written [section] or [section NAME]");
    assert_string_equal(refused("\n[log]\nlevel = \xff\n"), ":3: is not UTF-8");
}

static void nothing_may_be_said_twice(void **state) {
    (void)state;
    assert_string_equal(refused("[log]\nlevel = info\nlevel = debug\n"),
                        ":3: 'level' stands here a second time");
    assert_string_equal(refused("[worker a]\nqueues = q\ncommand = c\n[worker a]\n"),
                        ":4: [worker a] stands here a second time");
}

static void a_section_has_its_name_or_none(void **state) {
    (void)state;
    assert_string_equal(refused("[log x]\n"), ":1: [log] has no name");
    assert_string_equal(refused("[worker]\n"), ":1: worker name is empty");
}

static void a_worker_needs_queues_and_a_command(void **state) {
    (void)state;
    assert_string_equal(refused("[worker a]\ncommand = c\n"), ": [worker a] has no queues");
    assert_string_equal(refused("[worker a]\nqueues = q\n"), ": [worker a] has no command");
    assert_string_equal(refused("[worker a]\nqueues =\n"), ":2: queues is empty");
    assert_string_equal(refused("[worker a]\ncommand = 'x\n"),
                        ":2: command: the ''' at column 1 has no end");
}

static void a_value_out_of_its_range_is_refused(void **state) {
    (void)state;
    assert_string_equal(refused("[store]\npool_max = 0\n"),
                        ":2: pool_max is a number from 1 to 1000, not '0'");
    assert_string_equal(refused("[store]\npool_max = 8x\n"),
                        ":2: pool_max is a number from 1 to 1000, not '8x'");
    assert_string_equal(refused("[store]\npool_max = 99999999999999999999999\n"),
                        ":2: pool_max is a number from 1 to 1000, not '99999999999999999999999'");
    assert_string_equal(refused("[scheduler]\nttl = 2s\n"), ":2: ttl is from 3s to 1d, not '2s'");
    assert_string_equal(refused("[log]\nlevel = loud\n"),
                        ":2: level is one of debug, info, warning, error, not 'loud'");
    assert_string_equal(refused("[scheduler]\nenabled = maybe\n"),
                        ":2: enabled is one of no, yes, not 'maybe'");
    assert_string_equal(refused("[store]\nurl =\n"), ":2: url is empty");
}

static void a_file_that_is_not_there_is_absent(void **state) {
    struct alk__config *config = NULL;
    alk_error error = ALK_ERROR_INIT;

    (void)state;
    assert_int_equal(alk__config_load("/nowhere/alk.conf", NULL, 0, &config, &error), ALK_ABSENT);
    assert_string_equal(error.message,
                        "cannot read '/nowhere/alk.conf': No such file or directory");
}

static void a_file_that_is_no_text_is_refused(void **state) {
    struct alk__config *config = NULL;
    alk_error error = ALK_ERROR_INIT;

    (void)state;
    write_bytes("[log]\n\0", 7);
    assert_int_equal(alk__config_load(path, NULL, 0, &config, &error), ALK_INVALID);
    assert_non_null(strstr(error.message, "it has a NUL byte"));
}

static void a_file_that_is_too_large_is_refused(void **state) {
    char *bytes = malloc(ALK__CONFIG_BYTES_MAX + 1);
    struct alk__config *config = NULL;
    alk_error error = ALK_ERROR_INIT;

    (void)state;
    memset(bytes, '#', ALK__CONFIG_BYTES_MAX + 1);
    write_bytes(bytes, ALK__CONFIG_BYTES_MAX);
    assert_int_equal(alk__config_load(path, NULL, 0, &config, &error), ALK_OK);
    alk__config_free(config);
    write_bytes(bytes, ALK__CONFIG_BYTES_MAX + 1);
    assert_int_equal(alk__config_load(path, NULL, 0, &config, &error), ALK_INVALID);
    assert_non_null(strstr(error.message, "is larger than 1,048,576 bytes"));
    free(bytes);
}

static void an_option_wins_over_the_environment_that_over_the_file(void **state) {
    const struct alk__override given = {"log-level", "error"};
    const struct alk__override not_given = {"log-level", NULL};
    struct alk__config *config = load("[log]\nlevel = debug\n[store]\nurl = file.db\n");

    (void)state;
    assert_int_equal(config->log_level, ALK_LEVEL_DEBUG);
    assert_string_equal(config->store_url, "file.db");
    alk__config_free(config);

    setenv("ALK_LOG_LEVEL", "warning", 1);
    setenv("ALK_STORE", "environment.db", 1);
    assert_int_equal(alk__config_load(path, &not_given, 1, &config, NULL), ALK_OK);
    assert_int_equal(config->log_level, ALK_LEVEL_WARNING);
    assert_string_equal(config->store_url, "environment.db");
    alk__config_free(config);

    assert_int_equal(alk__config_load(path, &given, 1, &config, NULL), ALK_OK);
    assert_int_equal(config->log_level, ALK_LEVEL_ERROR);
    assert_string_equal(config->store_url, "environment.db");
    alk__config_free(config);
}

static void an_empty_variable_counts_as_none(void **state) {
    struct alk__config *config = NULL;

    (void)state;
    setenv("ALK_STORE", "", 1);
    assert_int_equal(alk__config_load(NULL, NULL, 0, &config, NULL), ALK_OK);
    assert_string_equal(config->store_url, "alk.db");
    alk__config_free(config);
}

static void the_place_of_a_wrong_value_is_named(void **state) {
    const struct alk__override given = {"log-format", "xml"};
    struct alk__config *config = NULL;
    alk_error error = ALK_ERROR_INIT;

    (void)state;
    setenv("ALK_LOG_LEVEL", "loud", 1);
    assert_int_equal(alk__config_load(NULL, NULL, 0, &config, &error), ALK_INVALID);
    assert_string_equal(error.message, "ALK_LOG_LEVEL: level is one of debug, info, warning, "
                                       "error, not 'loud'");
    unsetenv("ALK_LOG_LEVEL");
    assert_int_equal(alk__config_load(NULL, &given, 1, &config, &error), ALK_INVALID);
    assert_string_equal(error.message, "--log-format: format is one of logfmt, json, not 'xml'");
}

/* S213: of a secret is told only that there is one. */
static void what_is_in_force_can_be_printed_and_read_again(void **state) {
    static const char command[] = "sh -c 'echo \"it'\\''s $X\"; cat' ''";
    struct alk__config *config, *again;
    char text[1024], *printed = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&printed, &length);

    (void)state;
    snprintf(text, sizeof(text),
             "[store]\nurl = postgresql://u:secret@h/d\npool_max = 4\n"
             "[scheduler]\nttl = 1m30s\nenabled = no\n"
             "[worker a]\nqueues = 'big jobs' mail\ncommand = %s\n",
             command);
    config = load(text);
    alk__config_print(config, stream);
    fclose(stream);
    assert_null(strstr(printed, "secret"));
    assert_null(strstr(printed, "schema"));
    assert_non_null(strstr(printed, command));
    again = load(printed);
    assert_string_equal(again->store_url, "(hidden)");
    assert_int_equal(again->pool_max, 4);
    assert_int_equal(again->ttl_us, 90000000);
    assert_false(again->is_scheduler);
    assert_true(alk__worker_config_equal(&config->workers[0], &again->workers[0]));
    alk__config_free(config);
    alk__config_free(again);
    free(printed);
}

/* Every setting that may hold a secret is marked, and the table has no two of one name. */
static void the_table_is_sound(void **state) {
    (void)state;
    for (size_t i = 0; i < alk__config_table_count; i++) {
        const struct alk__setting *setting = &alk__config_table[i];

        assert_int_equal(setting->is_secret, strcmp(setting->key, "url") == 0);
        for (size_t j = 0; j < i; j++)
            assert_false(strcmp(setting->section, alk__config_table[j].section) == 0 &&
                         strcmp(setting->key, alk__config_table[j].key) == 0);
    }
}

static void workers_are_equal_when_they_do_the_same(void **state) {
    struct alk__config *config = load("[worker a]\nqueues = x y\ncommand = c d\n");
    struct alk__config *same = load("[worker a]\nqueues = x,y\ncommand = 'c' d\ntimeout = 60m\n");
    struct alk__config *other = load("[worker a]\nqueues = x y\ncommand = c\n");

    (void)state;
    assert_true(alk__worker_config_equal(&config->workers[0], &same->workers[0]));
    assert_false(alk__worker_config_equal(&config->workers[0], &other->workers[0]));
    alk__config_free(config);
    alk__config_free(same);
    alk__config_free(other);
}

static void the_end_of_memory_is_an_error(void **state) {
    struct alk__config *config = NULL;
    alk_status st = ALK_NOMEM;

    (void)state;
    write_bytes("[worker a]\nqueues = x\ncommand = c\n", 34);
    for (long n = 1; st != ALK_OK; n++) {
        alk__alloc_fail_at(n);
        st = alk__config_load(path, NULL, 0, &config, NULL);
        alk__alloc_fail_at(0);
        assert_true(st == ALK_OK || st == ALK_NOMEM);
        assert_true(n < 100);
    }
    alk__config_free(config);
}

int main(void) {
#define TEST(body) cmocka_unit_test_setup(body, clear_environment)
    const struct CMUnitTest tests[] = {
        TEST(without_a_file_everything_has_its_default),
        TEST(a_file_sets_everything),
        TEST(an_unknown_word_is_refused_with_file_line_and_a_guess),
        TEST(a_line_that_is_nothing_is_refused),
        TEST(nothing_may_be_said_twice),
        TEST(a_section_has_its_name_or_none),
        TEST(a_worker_needs_queues_and_a_command),
        TEST(a_value_out_of_its_range_is_refused),
        TEST(a_file_that_is_not_there_is_absent),
        TEST(a_file_that_is_no_text_is_refused),
        TEST(a_file_that_is_too_large_is_refused),
        TEST(an_option_wins_over_the_environment_that_over_the_file),
        TEST(an_empty_variable_counts_as_none),
        TEST(the_place_of_a_wrong_value_is_named),
        TEST(what_is_in_force_can_be_printed_and_read_again),
        TEST(the_table_is_sound),
        TEST(workers_are_equal_when_they_do_the_same),
        TEST(the_end_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, make_file, remove_file);
}
