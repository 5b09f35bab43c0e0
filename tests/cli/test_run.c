/* `alk run`: schedules, workers of a configuration file, signals, and a database that goes away. */
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "program/config.h"
#include "program/schedule_settings.h"
#include "support/program.h"

static void schedules_fire_and_workers_run(void **state) {
    struct place *place = *state;
    pid_t child;

    assert_int_equal(alk(place, "schedule", "put", "beat", "@every 1s", "--queue", "q"), 0);
    place_write(place, "alk.conf",
                "[worker one]\n"
                "queues = q\n"
                "command = sh -c 'echo \"ran $ALK_SCHEDULE\"'\n");
    child = alk_start(place, "log", "run", "--config", "alk.conf");
    place_await(place, "log", "detail=\"ran beat\"", 2);
    assert_int_equal(alk(place, "health"), 0);
    assert_has(place->out, " leads; ");
    kill(child, SIGTERM);
    assert_int_equal(place_wait(place, child), 0);
    assert_int_equal(alk(place, "lease", "list"), 0); /* S152: released */
    assert_string_equal(place->out, "");
}

/* S157 */
static void once_fires_what_is_due_and_ends(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "schedule", "put", "s", "* * * * *", "--queue", "q"), 0);
    assert_int_equal(alk(place, "schedule", "put", "t", "@every 1h", "--queue", "q"), 0);
    place_sql(place, place->is_postgres
                         ? "UPDATE alk_schedule SET next_fire_at = now() - interval '61 s' "
                           "WHERE name = 's'"
                         : "UPDATE alk_schedule SET next_fire_at = (unixepoch() - 61) * 1000000 "
                           "WHERE name = 's'");
    assert_int_equal(alk(place, "run", "--once"), 0);
    assert_int_equal(alk(place, "job", "list", "--json"), 0);
    assert_true(count_of(place->out, "\"schedule\":\"s\"") >= 1);
    assert_int_equal(count_of(place->out, "\"schedule\":\"t\""), 0);
    assert_int_equal(alk(place, "schedule", "history", "s", "--json"), 0);
    assert_has(place->out, "{\"outcome\":\"fired\",");
}

/* S157: saying who holds the lease. */
static void once_beside_a_leader_is_exit_4(void **state) {
    struct place *place = *state;

    alk_start(place, "log", "run");
    do
        assert_int_equal(alk(place, "lease", "list"), 0);
    while (strstr(place->out, "scheduler") == NULL);
    assert_int_equal(alk(place, "run", "--once"), 4);
    assert_has(strstr(place->err, "alk: "), "/");
}

static void check_reads_the_file_and_touches_no_store(void **state) {
    struct place *place = *state;

    place_write(place, "alk.conf", "[worker a]\nqueues = q\ncommand = true\n");
    assert_int_equal(alk(place, "run", "--check", "--config", "alk.conf"), 0);
    assert_has(place->out, "# the configuration is good\n[store]\nurl = (hidden)\n");
    assert_has(place->out, "[worker a]\nqueues = q\ncommand = true\n");
    assert_int_equal(alk(place, "run", "--check", "--config", "alk.conf", "--json"), 0);
    assert_string_equal(place->out,
                        "{\"ok\":true,\"scheduler\":true,\"workers\":1,\"schedules\":0}\n");
    place_write(place, "alk.conf", "[worker a]\nqueues = q\ncomand = true\n");
    assert_int_equal(alk(place, "run", "--check", "--config", "alk.conf"), 2);
    assert_string_equal(place->err,
                        "alk: alk.conf:3: unknown key 'comand' (did you mean 'command'?)\n");
    place_write(place, "alk.conf", "[scheduler]\nenabled = no\n");
    assert_int_equal(alk(place, "run", "--config", "alk.conf"), 2);
    assert_string_equal(place->err, "alk: alk.conf: no scheduler and no worker: nothing to run\n");
    assert_int_equal(access("alk.db", F_OK), -1);
}

/* Every setting stands in the example, with its default where it has one. */
static void the_example_of_a_configuration_is_whole(void **state) {
    static char text[PLACE_BYTES];
    struct place *place = *state;
    FILE *file = fopen(ALK_TEST_SOURCE_DIR "/examples/alk.conf", "re");
    char line[128];

    place->extra = "ALK_STORE=";
    assert_int_equal(
        alk(place, "run", "--check", "--config", ALK_TEST_SOURCE_DIR "/examples/alk.conf"), 0);
    assert_has(place->out, "\n[worker mail]\nqueues = urgent mail\n");
    assert_non_null(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    for (size_t i = 0; i < alk__config_table_count; i++) {
        const struct alk__setting *setting = &alk__config_table[i];
        bool is_default = setting->preset != NULL && strcmp(setting->key, "url") != 0;

        snprintf(line, sizeof(line), "%s = %s", setting->key, is_default ? setting->preset : "");
        assert_has(text, line);
    }
    for (size_t i = 0; i < ALK__SCHEDULE_PLACES; i++) {
        snprintf(line, sizeof(line), "%s = ", alk__schedule_settings[i].key);
        assert_has(text, line);
    }
}

/* S213: a secret that is wrong is not quoted. */
static void a_secret_in_a_file_is_not_told(void **state) {
    struct place *place = *state;

    if (!ALK_WITH_POSTGRES)
        skip();
    place->extra = "ALK_STORE=";
    place_write(place, "alk.conf",
                "[store]\nurl = postgresql://u:secret@127.0.0.1:1/x\npool_max = 0\n");
    assert_int_equal(alk(place, "run", "--config", "alk.conf"), 2);
    assert_int_equal(count_of(place->err, "secret"), 0);
    place_write(place, "alk.conf", "[store]\nurl = postgresql://u:secret@127.0.0.1:1/x\n");
    alk_start(place, "log", "run", "--config", "alk.conf");
    place_await(place, "log", "event=\"waiting for the database\"", 1);
    assert_int_equal(count_of(place_read(place, "log"), "secret"), 0);
}

/* ---- HUP ---- */

static void hup_reads_the_file_again(void **state) {
    struct place *place = *state;
    pid_t child;

    place_write(place, "alk.conf", "[worker a]\nqueues = q\ncommand = echo old\n");
    child = alk_start(place, "log", "run", "--config", "alk.conf");
    place_await(place, "log", "event=\"worker started\"", 1);
    assert_int_equal(alk(place, "enqueue", "q"), 0);
    place_await(place, "log", "detail=old", 1);

    place_write(place, "alk.conf",
                "[worker a]\nqueues = q\ncommand = echo new\n"
                "[worker b]\nqueues = r\ncommand = echo more\n");
    kill(child, SIGHUP);
    place_await(place, "log", "event=\"configuration read\"", 1);
    place_await(place, "log", "event=\"worker stopped\"", 1);
    place_await(place, "log", "event=\"worker started\"", 3);
    assert_int_equal(alk(place, "enqueue", "q"), 0);
    assert_int_equal(alk(place, "enqueue", "r"), 0);
    place_await(place, "log", "detail=new", 1);
    place_await(place, "log", "detail=more", 1);
    kill(child, SIGTERM);
    assert_int_equal(place_wait(place, child), 0);
    assert_int_equal(count_of(place_read(place, "log"), "detail=old"), 1);
}

static void a_bad_file_is_reported_and_the_old_one_stays(void **state) {
    struct place *place = *state;
    pid_t child;

    place_write(place, "alk.conf", "[worker a]\nqueues = q\ncommand = echo old\n");
    child = alk_start(place, "log", "run", "--config", "alk.conf");
    place_await(place, "log", "event=\"worker started\"", 1);
    place_write(place, "alk.conf", "[worker a]\nqueues = q\nnonsense\n");
    kill(child, SIGHUP);
    place_await(place, "log", "event=\"configuration not read\"", 1);
    assert_has(place_read(place, "log"), "alk.conf:3: 'nonsense' is neither");
    place_write(place, "alk.conf", "[store]\nschema = s\n[worker a]\nqueues = q\ncommand = true\n");
    kill(child, SIGHUP);
    place_await(place, "log", "a schema is for PostgreSQL only", 1);
    assert_int_equal(alk(place, "enqueue", "q"), 0);
    place_await(place, "log", "detail=old", 1);
    kill(child, SIGTERM);
    assert_int_equal(place_wait(place, child), 0);
}

static void what_hup_does_not_change_goes_on(void **state) {
    struct place *place = *state;
    pid_t child;

    place_write(place, "alk.conf", "[worker a]\nqueues = q\ncommand = echo old\n");
    child = alk_start(place, "log", "run", "--config", "alk.conf");
    place_await(place, "log", "event=\"worker started\"", 1);
    place_write(place, "alk.conf",
                "[log]\nformat = json\n[worker a]\nqueues = q\ncommand = echo old\n");
    kill(child, SIGHUP);
    place_await(place, "log", "\"event\":\"configuration read\"", 1);
    kill(child, SIGTERM);
    assert_int_equal(place_wait(place, child), 0);
    assert_int_equal(count_of(place_read(place, "log"), "worker started"), 1);
}

/* ---- readiness ---- */

static void whoever_supervises_it_is_told(void **state) {
    struct place *place = *state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    static char extra[128];
    char text[64] = "";
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct timeval limit = {30, 0};
    pid_t child;

    snprintf(address.sun_path, sizeof(address.sun_path), "%s/notify", place->folder);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    snprintf(extra, sizeof(extra), "NOTIFY_SOCKET=%s", address.sun_path);
    place->extra = extra;
    child = alk_start(place, "log", "run");
    assert_int_equal(recv(fd, text, sizeof(text), 0), 7);
    assert_memory_equal(text, "READY=1", 7);
    kill(child, SIGHUP);
    assert_true(recv(fd, text, sizeof(text), 0) > 11);
    assert_memory_equal(text, "RELOADING=1", 11);
    assert_int_equal(recv(fd, text, sizeof(text), 0), 7);
    kill(child, SIGTERM);
    assert_int_equal(recv(fd, text, sizeof(text), 0), 10);
    assert_memory_equal(text, "STOPPING=1", 10);
    assert_int_equal(place_wait(place, child), 0);
    close(fd);
}

/* ---- a database that is not there (yet) ---- */

static void a_server_that_does_not_answer_is_waited_for(void **state) {
    struct place *place = *state;
    pid_t child;

    if (!ALK_WITH_POSTGRES)
        skip();
    place->extra = "ALK_STORE=postgresql://u@127.0.0.1:1/x";
    child = alk_start(place, "log", "work", "q", "--", "true");
    place_await(place, "log", "event=\"waiting for the database\"", 1);
    kill(child, SIGTERM);
    assert_int_equal(place_wait(place, child), 0);
    /* more than one attempt was made or not: one line a minute */
    assert_true(count_of(place_read(place, "log"), "waiting for the database") <= 2);
}

/* S78: every loop works again after its connections were cut. */
static void loops_go_on_after_their_connections_were_cut(void **state) {
    struct place *place = *state;
    char sql[256];
    pid_t child;

    assert_int_equal(alk(place, "schedule", "put", "beat", "@every 1s", "--queue", "q"), 0);
    place_write(place, "alk.conf", "[worker a]\nqueues = q\ncommand = echo beat\n");
    child = alk_start(place, "log", "run", "--config", "alk.conf");
    place_await(place, "log", "detail=beat", 1);
    snprintf(sql, sizeof(sql),
             "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%%%s%%' "
             "AND pid <> pg_backend_pid()",
             place->schema);
    for (int i = 1; i <= 3; i++) {
        int count = count_of(place_read(place, "log"), "detail=beat");

        place_sql(place, sql);
        place_await(place, "log", "detail=beat", count + 2);
    }
    kill(child, SIGTERM);
    assert_int_equal(place_wait(place, child), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_BOTH(schedules_fire_and_workers_run),
        ON_BOTH(once_fires_what_is_due_and_ends),
        ON_BOTH(once_beside_a_leader_is_exit_4),
        EMPTY(check_reads_the_file_and_touches_no_store),
        EMPTY(the_example_of_a_configuration_is_whole),
        EMPTY(a_secret_in_a_file_is_not_told),
        ON_BOTH(hup_reads_the_file_again),
        ON_SQLITE(a_bad_file_is_reported_and_the_old_one_stays),
        ON_SQLITE(what_hup_does_not_change_goes_on),
        ON_SQLITE(whoever_supervises_it_is_told),
        EMPTY(a_server_that_does_not_answer_is_waited_for),
        ON_POSTGRES(loops_go_on_after_their_connections_were_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
