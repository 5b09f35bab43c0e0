/* `alk work`: a job's command, from its environment to its outcome, on both engines. */
#include <signal.h>
#include <unistd.h>

#include "support/program.h"

static void assert_state(struct place *place, const char *id, const char *state, const char *more) {
    char part[64];

    assert_int_equal(alk(place, "job", "show", id, "--json"), 0);
    snprintf(part, sizeof(part), "\"state\":\"%s\"", state);
    assert_has(place->out, part);
    assert_has(place->out, more);
}

/* Runs the due jobs of q with a shell script. */
static void drain(struct place *place, const char *script) {
    assert_int_equal(alk(place, "work", "q", "--drain", "--", "sh", "-c", script), 0);
}

static void a_command_gets_the_job(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "enqueue", "q", "{\"n\": 1}", "--header", "trace=t 1"), 0);
    drain(place,
          "cat; echo; echo \"$ALK_JOB_ID $ALK_JOB_QUEUE $ALK_JOB_ATTEMPT $ALK_HEADER_TRACE\"");
    /* S205: the lines of a command are events with its job */
    assert_has(place->err, "level=info event=output component=command subject=q job=1 attempt=1 "
                           "detail=\"{\\\"n\\\": 1}\"\n");
    assert_has(place->err, " detail=\"1 q 1 t 1\"\n");
    assert_state(place, "1", "done", "\"attempt\":1");
}

/* S118 */
static void the_command_of_a_fired_job_knows_its_schedule(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "schedule", "put", "s", "* * * * *", "--queue", "q"), 0);
    place_sql(place, place->is_postgres
                         ? "UPDATE alk_schedule SET next_fire_at = now() - interval '61 s'"
                         : "UPDATE alk_schedule SET next_fire_at = (unixepoch() - 61) * 1000000");
    assert_int_equal(alk(place, "run", "--once"), 0);
    drain(place, "echo \"<$ALK_SCHEDULE> <$ALK_FIRE_AT>\"");
    assert_has(place->err, " detail=\"<s> <2");
}

/* S205, S213: what a job carries is not in the log unless its command says it. */
static void payloads_are_not_in_the_log(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "enqueue", "q", "\"my-payload\"", "--header", "h=my-header",
                         "--max-attempts", "1"),
                     0);
    assert_int_equal(alk(place, "work", "q", "--drain", "--log-level", "debug", "--", "false"), 0);
    assert_has(place->err, "job=1");
    assert_int_equal(count_of(place->err, "my-payload"), 0);
    assert_int_equal(count_of(place->err, "my-header"), 0);
}

static void exit_codes_are_outcomes(void **state) {
    struct place *place = *state;

    for (int i = 0; i < 4; i++)
        assert_int_equal(alk(place, "enqueue", "q"), 0);
    drain(place, "case $ALK_JOB_ID in 1) exit 0;; 2) echo no use >&2; exit 65;; 3) exit 69;; "
                 "*) exit 1;; esac");
    assert_state(place, "1", "done", "\"errors\":[]");
    assert_state(place, "2", "dead", "\"error\":\"no use\"");
    assert_state(place, "3", "delayed", "\"error\":\"exit code 69\"");
    assert_state(place, "4", "delayed", "\"error\":\"exit code 1\"");
}

/* S52 */
static void the_end_of_stderr_is_the_error_of_the_attempt(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "enqueue", "q"), 0);
    drain(place, "head -c 9000 /dev/zero | tr '\\0' x >&2; echo ' the end' >&2; exit 1");
    assert_state(place, "1", "delayed", "xxx the end\"");
    assert_in_range(count_of(place->out, "x"), 4080, 4096);
    assert_int_equal(alk(place, "enqueue", "q"), 0);
    drain(place, "printf 'before\\0behind' >&2; exit 1");
    assert_state(place, "2", "delayed", "before behind\"");
}

static void a_signal_and_a_missing_command_are_retries_that_say_so(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "enqueue", "q"), 0);
    drain(place, "kill -9 $$");
    assert_state(place, "1", "delayed", "\"error\":\"ended by signal 9\"");
    assert_int_equal(alk(place, "enqueue", "q"), 0);
    assert_int_equal(alk(place, "work", "q", "--drain", "--", "no-such-command"), 0);
    assert_state(place, "2", "delayed", "\"error\":\"command 'no-such-command' not found\"");
}

/* S84: told to stop, and retried after it ended. */
static void a_command_past_its_time_is_ended_and_tried_again(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "enqueue", "q"), 0);
    assert_int_equal(
        alk(place, "work", "q", "--drain", "--timeout", "300ms", "--", "sh", "-c",
            "trap 'echo told; echo why >&2; exit 0' TERM; while :; do sleep 0.01; done"),
        0);
    assert_has(place->err, " detail=told\n");
    assert_state(place, "1", "delayed", "\"error\":\"not done in 300ms: ");
    assert_has(place->out, "why\"");
}

static void queues_are_served_in_the_order_named(void **state) {
    struct place *place = *state;

    /* S86 */
    assert_int_equal(alk(place, "enqueue", "a", "1"), 0);
    assert_int_equal(alk(place, "enqueue", "b", "2"), 0);
    assert_int_equal(alk(place, "enqueue", "c", "3"), 0);
    assert_int_equal(alk(place, "work", "b", "a", "--drain", "--", "cat"), 0);
    assert_true(strstr(place->err, "detail=2") < strstr(place->err, "detail=1"));
    assert_int_equal(count_of(place->err, "detail=3"), 0);
    assert_state(place, "3", "ready", "");
}

static void many_jobs_are_drained_by_eight(void **state) {
    struct place *place = *state;
    char text[2 * 300 + 1];

    for (int i = 0; i < 300; i++)
        memcpy(text + 2 * i, "1\n", 3);
    place->input = text;
    assert_int_equal(alk(place, "enqueue", "q", "--many", "-"), 0);
    assert_int_equal(alk(place, "work", "q", "--drain", "--concurrency", "8", "--log-level",
                         "warning", "--", "true"),
                     0);
    assert_string_equal(place->err, "");
    assert_int_equal(alk(place, "job", "list", "--state", "done", "--limit", "1000"), 0);
    assert_int_equal(count_of(place->out, " done "), 300);
}

static void the_log_may_be_json(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "enqueue", "q"), 0);
    assert_int_equal(alk(place, "work", "q", "--drain", "--log-format=json", "--", "echo", "hi"),
                     0);
    assert_has(place->err, "\"event\":\"output\",\"component\":\"command\",\"subject\":\"q\","
                           "\"job\":1,\"attempt\":1,\"detail\":\"hi\"}\n");
    assert_int_equal(count_of(place->err, "\n"), count_of(place->err, "{\"time\":"));
    assert_int_equal(alk(place, "work", "q", "--drain", "--json", "--", "true"), 0);
    assert_has(place->err, "\"event\":\"worker stopped\"");
    assert_int_equal(
        alk(place, "work", "q", "--drain", "--json", "--log-format", "logfmt", "--", "true"), 0);
    assert_has(place->err, "event=\"worker stopped\"");
}

/* ---- stopping ---- */

static pid_t start_work(struct place *place, const char *script) {
    pid_t child;

    assert_int_equal(alk(place, "enqueue", "q"), 0);
    child = alk_start(place, "log", "work", "q", "--", "sh", "-c", script);
    place_await(place, "log", "detail=up", 1);
    return child;
}

/* S79: what runs may finish. */
static void a_stop_lets_the_command_finish(void **state) {
    struct place *place = *state;
    pid_t child = start_work(place, "echo up; until [ -e go ]; do sleep 0.01; done");

    assert_int_equal(alk(place, "enqueue", "q"), 0);
    kill(child, SIGTERM);
    place_await(place, "log", "event=stopping", 1);
    place_write(place, "go", "");
    assert_int_equal(place_wait(place, child), 0);
    assert_state(place, "1", "done", "");
    assert_state(place, "2", "ready", "\"attempt\":0"); /* nothing new is taken */
}

/* S75, S79: a second signal kills, and the job is given back with its attempt. */
static void a_second_signal_ends_it_at_once(void **state) {
    struct place *place = *state;
    pid_t child = start_work(place, "trap '' TERM; echo up; while :; do sleep 0.01; done");

    kill(child, SIGINT);
    place_await(place, "log", "event=stopping", 1);
    usleep(150000); /* a repeat within 100 ms would be the same signal */
    kill(child, SIGINT);
    assert_int_equal(place_wait(place, child), 0);
    assert_has(place_read(place, "log"), "event=\"stopping at once\"");
    assert_state(place, "1", "ready", "\"attempt\":0");
}

static void an_idle_worker_ends_when_it_is_told(void **state) {
    struct place *place = *state;
    pid_t child = alk_start(place, "log", "work", "q", "--", "true");

    place_await(place, "log", "event=\"worker started\"", 1);
    kill(child, SIGTERM);
    assert_int_equal(place_wait(place, child), 0);
}

static void a_job_enqueued_later_is_run_by_an_idle_worker(void **state) {
    struct place *place = *state;
    pid_t child = alk_start(place, "log", "work", "q", "--", "cat");

    place_await(place, "log", "event=\"worker started\"", 1);
    assert_int_equal(alk(place, "enqueue", "q", "\"later\""), 0);
    place_await(place, "log", "later", 1);
    kill(child, SIGTERM);
    assert_int_equal(place_wait(place, child), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_BOTH(a_command_gets_the_job),
        ON_BOTH(the_command_of_a_fired_job_knows_its_schedule),
        ON_BOTH(payloads_are_not_in_the_log),
        ON_BOTH(exit_codes_are_outcomes),
        ON_SQLITE(the_end_of_stderr_is_the_error_of_the_attempt),
        ON_SQLITE(a_signal_and_a_missing_command_are_retries_that_say_so),
        ON_BOTH(a_command_past_its_time_is_ended_and_tried_again),
        ON_BOTH(queues_are_served_in_the_order_named),
        ON_BOTH(many_jobs_are_drained_by_eight),
        ON_SQLITE(the_log_may_be_json),
        ON_BOTH(a_stop_lets_the_command_finish),
        ON_BOTH(a_second_signal_ends_it_at_once),
        ON_BOTH(an_idle_worker_ends_when_it_is_told),
        ON_BOTH(a_job_enqueued_later_is_run_by_an_idle_worker),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
