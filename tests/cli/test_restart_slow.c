/* A server that goes away and comes back, under `alk run` and `alk work` that go on by themselves.
 */
#include <signal.h>
#include <unistd.h>

#include "support/program.h"

/* A server of this test's own, which it may stop. */
static char server[64];

static int do_server(const char *verb) {
    char command[512];

    snprintf(command, sizeof(command), "%s/scripts/private-postgres %s %s", ALK_TEST_SOURCE_DIR,
             verb, server);
    return system(command);
}

static int start_server(void **state) {
    const char *required = getenv("ALK_TEST_REQUIRE");
    static char url[256];

    (void)state;
    if (system(ALK_TEST_SOURCE_DIR "/scripts/private-postgres find >/dev/null 2>&1") != 0) {
        unsetenv(
            "ALK_TEST_POSTGRES"); /* the tests skip themselves, or fail where one is required */
        return required != NULL && strstr(required, "postgres") != NULL ? -1 : 0;
    }
    snprintf(server, sizeof(server), "/tmp/alk-restart.XXXXXX");
    if (mkdtemp(server) == NULL || do_server("start") != 0)
        return -1;
    snprintf(url, sizeof(url), "postgresql://alk@/postgres?host=%s", server);
    return setenv("ALK_TEST_POSTGRES", url, 1);
}

static int stop_server(void **state) {
    char command[128];

    (void)state;
    if (server[0] == '\0')
        return 0;
    do_server("stop");
    snprintf(command, sizeof(command), "rm -rf %s", server);
    return system(command);
}

/* S78: after the database was down every loop works again without a restart of the process. */
static void loops_go_on_after_the_server_was_down(void **state) {
    struct place *place = *state;
    pid_t run, work;
    int fired, worked;

    assert_int_equal(alk(place, "schedule", "put", "beat", "@every 1s", "--queue", "q"), 0);
    run = alk_start(place, "run.log", "run", "--log-level", "debug");
    work = alk_start(place, "work.log", "work", "q", "--", "echo", "beat");
    place_await(place, "work.log", "detail=beat", 2);

    do_server("kill");
    place_await(place, "run.log", "event=\"loop failed\"", 1);
    place_await(place, "work.log", "event=\"loop failed\"", 1);
    sleep(5);
    assert_int_equal(alk(place, "enqueue", "q"), 69);
    fired = count_of(place_read(place, "run.log"), "event=\"schedule fired\"");
    worked = count_of(place_read(place, "work.log"), "detail=beat");
    assert_int_equal(do_server("start"), 0);
    place_await(place, "run.log", "event=\"schedule fired\"", fired + 3);
    place_await(place, "work.log", "detail=beat", worked + 3);

    /* a fault that repeats is one line a minute, not one an attempt */
    assert_in_range(count_of(place_read(place, "work.log"), "event=\"loop failed\""), 1, 4);
    kill(run, SIGTERM);
    kill(work, SIGTERM);
    assert_int_equal(place_wait(place, run), 0);
    assert_int_equal(place_wait(place, work), 0);
}

static void they_start_before_their_server_does(void **state) {
    struct place *place = *state;
    pid_t work;

    assert_int_equal(alk(place, "enqueue", "q"), 0);
    do_server("stop");
    work = alk_start(place, "work.log", "work", "q", "--", "echo", "beat");
    place_await(place, "work.log", "event=\"waiting for the database\"", 1);
    assert_int_equal(do_server("start"), 0);
    place_await(place, "work.log", "detail=beat", 1);
    kill(work, SIGTERM);
    assert_int_equal(place_wait(place, work), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_POSTGRES(loops_go_on_after_the_server_was_down),
        ON_POSTGRES(they_start_before_their_server_does),
    };

    return cmocka_run_group_tests(tests, start_server, stop_server);
}
