/* Commands as children: what they read and write, how they end, and how they are ended. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/error.h"
#include "program/child.h"

/* What a child wrote: its lines, each with a | behind it. */
struct heard {
    char lines[65536];
    size_t length;
    int count;
    size_t longest;
    alk_stop *set_by_line; /* told when a line came */
};

static void hear(const char *line, size_t length, void *context) {
    struct heard *heard = context;

    heard->count++;
    heard->longest = length > heard->longest ? length : heard->longest;
    if (heard->length + length + 2 < sizeof(heard->lines)) {
        memcpy(heard->lines + heard->length, line, length);
        heard->length += length;
        heard->lines[heard->length++] = '|';
        heard->lines[heard->length] = '\0';
    }
    alk_stop_set(heard->set_by_line);
}

static struct heard heard;
static struct alk__child_end end;

static int forget(void **state) {
    (void)state;
    memset(&heard, 0, sizeof(heard));
    return 0;
}

static alk_status run_with(const char *script, struct alk__child child, alk_error *error) {
    char sh[] = "sh", option[] = "-c";
    char *argv[] = {sh, option, strdup(script), NULL};
    alk_status st;

    child.argv = child.argv != NULL ? child.argv : argv;
    child.environment = environ;
    child.line = hear;
    child.context = &heard;
    st = alk__child_run(&child, &end, error);
    free(argv[2]);
    return st;
}

static const struct alk__child alone = {
    .end_fds = {-1, -1}, .kill_fd = -1, .grace_us = 30 * ALK__SECOND};

static void run(const char *script) {
    assert_int_equal(run_with(script, alone, NULL), ALK_OK);
}

static void the_exit_code_is_told(void **state) {
    (void)state;
    run("exit 0");
    assert_int_equal(end.exit_code, 0);
    run("exit 69");
    assert_int_equal(end.exit_code, 69);
    assert_int_equal(end.signal, 0);
    assert_false(end.was_told);
}

static void a_signal_that_ended_it_is_told(void **state) {
    (void)state;
    run("kill -9 $$");
    assert_int_equal(end.exit_code, -1);
    assert_int_equal(end.signal, SIGKILL);
}

static void a_command_that_is_not_there_is_named(void **state) {
    char name[] = "no-such-command";
    char *argv[] = {name, NULL};
    struct alk__child child = alone;
    alk_error error = ALK_ERROR_INIT;

    (void)state;
    child.argv = argv;
    assert_int_equal(run_with("", child, &error), ALK_ABSENT);
    assert_string_equal(error.message, "command 'no-such-command' not found");
}

static void a_command_that_cannot_run_says_why(void **state) {
    char name[] = "/etc/passwd";
    char *argv[] = {name, NULL};
    struct alk__child child = alone;
    alk_error error = ALK_ERROR_INIT;

    (void)state;
    child.argv = argv;
    assert_int_equal(run_with("", child, &error), ALK_FAILED);
    assert_string_equal(error.message,
                        "command '/etc/passwd' cannot be started: Permission denied");
}

static void words_reach_it_as_they_are(void **state) {
    char name[] = "printf", format[] = "%s\\n", text[] = "$HOME; *", empty[] = "";
    char *argv[] = {name, format, text, empty, NULL};
    struct alk__child child = alone;

    (void)state;
    child.argv = argv;
    assert_int_equal(run_with("", child, NULL), ALK_OK);
    assert_string_equal(heard.lines, "$HOME; *||");
}

static void the_input_is_its_stdin(void **state) {
    struct alk__child child = alone;

    (void)state;
    child.input = "{\"a\":1}";
    child.input_length = 7;
    assert_int_equal(run_with("cat; echo; wc -c </dev/stdin", child, NULL), ALK_OK);
    assert_string_equal(heard.lines, "{\"a\":1}|7|");
}

static void an_input_that_nobody_reads_does_no_harm(void **state) {
    const size_t length = 1 << 20;
    char *input = malloc(length);
    struct alk__child child = alone;

    (void)state;
    memset(input, 'x', length);
    child.input = input;
    child.input_length = length;
    assert_int_equal(run_with("exit 3", child, NULL), ALK_OK);
    assert_int_equal(end.exit_code, 3);
    assert_int_equal(run_with("wc -c", child, NULL), ALK_OK);
    assert_string_equal(heard.lines, "1048576|");
    free(input);
}

static void stdout_comes_by_line(void **state) {
    (void)state;
    run("echo one; printf 'two\\n\\nthree'");
    assert_string_equal(heard.lines, "one|two||three|");
}

static void a_line_is_bounded(void **state) {
    (void)state;
    run("head -c 10000 /dev/zero | tr '\\0' x");
    assert_int_equal(heard.count, 3);
    assert_int_equal(heard.longest, ALK__CHILD_LINE_BYTES);
}

static void the_last_4_kib_of_stderr_are_kept(void **state) {
    (void)state;
    run("head -c 100000 /dev/zero | tr '\\0' x >&2; echo ' the end' >&2");
    assert_int_equal(end.tail_length, ALK__CHILD_TAIL_BYTES - 1);
    assert_string_equal(end.tail + end.tail_length - 8, " the end");
    assert_int_equal(end.tail[0], 'x');
}

static void the_tail_begins_with_a_whole_character(void **state) {
    (void)state;
    /* 4,502 bytes, of which the first 406 are dropped: 135 characters of 3 bytes, and one byte */
    run("for i in $(seq 1500); do printf '\\342\\202\\254'; done >&2; printf xx >&2");
    assert_int_equal((unsigned char)end.tail[0], 0xE2);
    assert_int_equal(end.tail[end.tail_length - 1], 'x');
}

static void more_than_a_pipe_holds_does_not_stall_it(void **state) {
    (void)state;
    run("head -c 3000000 /dev/zero | tr '\\0' '\\n'; head -c 3000000 /dev/zero >&2; echo end");
    assert_int_equal(heard.count, 3000001);
}

static void a_grandchild_that_holds_the_pipes_is_not_waited_for(void **state) {
    (void)state;
    run("sleep 90 & echo $!");
    assert_int_equal(end.exit_code, 0);
    assert_int_equal(kill((pid_t)strtol(heard.lines, NULL, 10), SIGKILL), 0);
}

static void signals_are_as_usual_in_it(void **state) {
    sigset_t blocked, before;

    (void)state;
    sigfillset(&blocked);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    signal(SIGTERM, SIG_IGN);
    run("kill $$; sleep 90");
    assert_int_equal(end.signal, SIGTERM);
    signal(SIGTERM, SIG_DFL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- ending it ---- */

static alk_stop *token;

static int make_token(void **state) {
    forget(state);
    assert_int_equal(alk_stop_new(&token, NULL), ALK_OK);
    heard.set_by_line = token;
    return 0;
}

static int free_token(void **state) {
    (void)state;
    alk_stop_free(token);
    return 0;
}

/* Tells a script to end when it has written a line. */
static void run_told(const char *script, int64_t grace_us) {
    struct alk__child child = alone;

    child.end_fds[0] = alk_stop_fd(token);
    child.grace_us = grace_us;
    assert_int_equal(run_with(script, child, NULL), ALK_OK);
    assert_true(end.was_told);
}

/* S84: TERM first. */
static void it_is_told_to_end_by_term(void **state) {
    (void)state;
    run_told("trap 'echo bye; exit 5' TERM; echo up; while :; do sleep 0.01; done",
             60 * ALK__SECOND);
    assert_int_equal(end.exit_code, 5);
    assert_string_equal(heard.lines, "up|bye|");
}

/* S84: KILL after the grace. */
static void who_does_not_end_is_killed_after_the_grace(void **state) {
    int64_t started_us = alk__monotonic_us();

    (void)state;
    run_told("trap '' TERM; echo up; while :; do sleep 0.01; done", 300 * ALK__MS);
    assert_int_equal(end.signal, SIGKILL);
    assert_true(alk__monotonic_us() - started_us >= 300 * ALK__MS);
}

/* S84: to its process group. */
static void its_whole_group_is_told(void **state) {
    (void)state;
    run_told("sh -c 'trap \"echo child; exit\" TERM; echo up; while :; do sleep 0.01; done' & "
             "trap '' TERM; wait $!; exit 6",
             60 * ALK__SECOND);
    assert_int_equal(end.exit_code, 6);
    assert_string_equal(heard.lines, "up|child|");
}

/* Waits until a process is gone, or dead and not yet asked for its status. */
static void assert_gone(pid_t pid) {
    char path[64];

    assert_true(pid > 0);
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    for (int64_t until_us = alk__monotonic_us() + 30 * ALK__SECOND;;) {
        char line[256] = "";
        FILE *file = fopen(path, "re");
        bool is_there = file != NULL && fgets(line, sizeof(line), file) != NULL;

        if (file != NULL)
            fclose(file);
        if (!is_there || strstr(line, ") Z ") != NULL)
            return;
        assert_true(alk__monotonic_us() < until_us);
    }
}

/* A child of the command that says its number when it no longer hears TERM, does then what more
 * says, and goes on. */
#define STUBBORN(more)                                                                             \
    "sh -c 'trap \"\" TERM; echo $$; " more "while :; do sleep 0.01; done' & wait"

/* S84: and killed: nobody of it is left, even if the command itself is gone at once. */
static void nobody_of_its_group_is_left(void **state) {
    (void)state;
    run_told(STUBBORN(""), 300 * ALK__MS);
    assert_gone((pid_t)strtol(heard.lines, NULL, 10));
}

static void who_holds_none_of_its_output_is_killed_with_it(void **state) {
    (void)state;
    run_told(STUBBORN("exec >/dev/null 2>&1; "), 60 * ALK__SECOND);
    assert_gone((pid_t)strtol(heard.lines, NULL, 10));
}

static void who_is_stopped_is_woken_to_end(void **state) {
    (void)state;
    run_told("trap 'exit 5' TERM; echo up; kill -STOP $$; sleep 90", 60 * ALK__SECOND);
    assert_int_equal(end.exit_code, 5);
}

static void it_is_killed_at_once_when_that_is_wanted(void **state) {
    struct alk__child child = alone;

    (void)state;
    child.kill_fd = alk_stop_fd(token);
    child.grace_us = 3600 * ALK__SECOND;
    assert_int_equal(run_with("trap '' TERM; echo up; while :; do sleep 0.01; done", child, NULL),
                     ALK_OK);
    assert_true(end.was_told);
    assert_int_equal(end.signal, SIGKILL);
}

int main(void) {
#define TEST(body) cmocka_unit_test_setup(body, forget)
#define TOLD(body) cmocka_unit_test_setup_teardown(body, make_token, free_token)
    const struct CMUnitTest tests[] = {
        TEST(the_exit_code_is_told),
        TEST(a_signal_that_ended_it_is_told),
        TEST(a_command_that_is_not_there_is_named),
        TEST(a_command_that_cannot_run_says_why),
        TEST(words_reach_it_as_they_are),
        TEST(the_input_is_its_stdin),
        TEST(an_input_that_nobody_reads_does_no_harm),
        TEST(stdout_comes_by_line),
        TEST(a_line_is_bounded),
        TEST(the_last_4_kib_of_stderr_are_kept),
        TEST(the_tail_begins_with_a_whole_character),
        TEST(more_than_a_pipe_holds_does_not_stall_it),
        TEST(a_grandchild_that_holds_the_pipes_is_not_waited_for),
        TEST(signals_are_as_usual_in_it),
        TOLD(it_is_told_to_end_by_term),
        TOLD(who_does_not_end_is_killed_after_the_grace),
        TOLD(its_whole_group_is_told),
        TOLD(nobody_of_its_group_is_left),
        TOLD(who_holds_none_of_its_output_is_killed_with_it),
        TOLD(who_is_stopped_is_woken_to_end),
        TOLD(it_is_killed_at_once_when_that_is_wanted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
