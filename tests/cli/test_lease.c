/* `alk lease`: a command that runs on one machine at a time (S180, S181). */
#include <signal.h>

#include "support/program.h"

static void a_command_runs_while_the_lease_is_held(void **state) {
    struct place *place = *state;

    place->input = "from stdin";
    assert_int_equal(alk(place, "lease", "run", "backup", "--ttl", "1m", "--", "sh", "-c",
                         "cat; echo \" $ALK_LEASE_NAME $ALK_LEASE_FENCE\"; exit 7"),
                     7);
    assert_has(place->out, "from stdin backup 1");
    assert_string_equal(place->err, "");
    assert_int_equal(alk(place, "lease", "list"), 0); /* released at the end */
    assert_string_equal(place->out, "");
    assert_int_equal(alk(place, "lease", "run", "backup", "--", "sh", "-c", "kill -9 $$"), 137);
    assert_int_equal(alk(place, "lease", "run", "backup", "--", "no-such-command"), 3);
    assert_string_equal(place->err, "alk: command 'no-such-command' not found\n");
    assert_int_equal(alk(place, "lease", "list"), 0);
    assert_string_equal(place->out, "");
}

/* Starts a command that holds the lease until it is told to end. */
static pid_t start_holder(struct place *place, const char *ttl) {
    pid_t child = alk_start(place, "log", "lease", "run", "backup", "--ttl", ttl, "--", "sh", "-c",
                            "trap 'echo told; exit 9' TERM; echo up; while :; do sleep 0.01; done");

    place_await(place, "log", "up\n", 1);
    return child;
}

static void a_held_lease_is_exit_4_and_runs_nothing(void **state) {
    struct place *place = *state;
    pid_t holder = start_holder(place, "1m");

    assert_int_equal(alk(place, "lease", "run", "backup", "--", "echo", "hi"), 4);
    assert_string_equal(place->out, "");
    assert_has(place->err, "alk: lease 'backup' is held by '");
    assert_int_equal(count_of(place->err, "\n"), 1);
    assert_int_equal(alk(place, "lease", "run", "other", "--", "echo", "hi"), 0);
    kill(holder, SIGTERM);
    assert_int_equal(place_wait(place, holder), 9);
    assert_has(place_read(place, "log"), "told\n");
    assert_int_equal(alk(place, "lease", "run", "backup", "--", "echo", "hi"), 0);
}

/* S181: age and owner. */
static void leases_are_listed_with_owner_and_age(void **state) {
    struct place *place = *state;
    pid_t holder = start_holder(place, "1m");

    assert_int_equal(alk(place, "lease", "list"), 0);
    assert_has(place->out, "backup");
    assert_has(place->out, "/");      /* host/pid */
    assert_has(place->out, "Z (in "); /* it lasts for */
    assert_int_equal(alk(place, "lease", "list", "--json"), 0);
    assert_has(place->out, "{\"name\":\"backup\",\"owner\":\"");
    assert_has(place->out, "\"ttl_us\":60000000}\n");
    kill(holder, SIGTERM);
    assert_int_equal(place_wait(place, holder), 9);
}

/* S180, S181: the command of a broken lease is told to end. */
static void a_broken_lease_ends_the_command(void **state) {
    struct place *place = *state;
    pid_t holder = start_holder(place, "1s");

    assert_int_equal(alk(place, "lease", "break", "backup"), 0);
    assert_has(place->out, "backup: taken from '");
    assert_int_equal(place_wait(place, holder), 1);
    assert_has(place_read(place, "log"), "told\n");
    assert_has(place_read(place, "log"), "alk: ");
    assert_int_equal(alk(place, "lease", "break", "backup"), 3);
    assert_string_equal(place->err, "alk: nobody holds the lease 'backup'\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_BOTH(a_command_runs_while_the_lease_is_held),
        ON_BOTH(a_held_lease_is_exit_4_and_runs_nothing),
        ON_BOTH(leases_are_listed_with_owner_and_age),
        ON_BOTH(a_broken_lease_ends_the_command),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
