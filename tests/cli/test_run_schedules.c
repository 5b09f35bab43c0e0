/* `alk run` with the schedules of its configuration: a crontab in one file. */
#include <signal.h>
#include <sqlite3.h>
#include <unistd.h>

#include "support/program.h"

static pid_t start(struct place *place) {
    pid_t child = alk_start(place, "log", "run", "--config", "alk.conf");

    place_await(place, "log", "event=started", 1);
    return child;
}

static void stop(struct place *place, pid_t child) {
    kill(child, SIGTERM);
    assert_int_equal(place_wait(place, child), 0);
}

static void read_again(struct place *place, pid_t child, const char *text) {
    int count = count_of(place_read(place, "log"), "event=\"configuration read\"");

    place_write(place, "alk.conf", text);
    kill(child, SIGHUP);
    place_await(place, "log", "event=\"configuration read\"", count + 1);
}

static void assert_listed(struct place *place, const char *name, int count) {
    char part[64];

    snprintf(part, sizeof(part), "{\"name\":\"%s\",", name);
    assert_int_equal(alk(place, "schedule", "list", "--json"), 0);
    assert_int_equal(count_of(place->out, part), count);
}

/* ---- a crontab ---- */

static const char crontab[] = "# a crontab of ten kinds of lines\n"
                              "SHELL=/bin/sh\n"
                              "PATH=/usr/bin:/bin\n"
                              "GREETING='hello there'\n"
                              "MAILTO=\"\"\n"
                              "* * * * * /bin/echo every \"it's a minute\"\n"
                              "*/5 8-18 * * mon-fri exec echo \"greeting: $GREETING\"\n"
                              "@hourly date +said\\%Y\n"
                              "@daily cat%line one%line two\n"
                              "CRON_TZ=Europe/Berlin\n"
                              "30 2 1,15 * * cd /tmp && pwd\n"
                              "0 0 * * 7 test -t 0 || wc -c\n"
                              "15 14 1 * * A=b; echo \"A is $A\" | tr a-z A-Z\n";

/* What each of them writes. */
static const struct {
    const char *name;
    const char *output;
} entries[] = {
    {"echo", "detail=\"every it's a minute\""},
    {"exec", "detail=\"greeting: hello there\""},
    {"date", "detail=said20"},
    {"cat", "detail=\"line two\""},
    {"pwd", "detail=/tmp"},
    {"wc", "detail=0"},
    {"echo-13", "detail=\"A IS B\""},
};

static void a_real_crontab_is_imported_and_runs(void **state) {
    struct place *place = *state;
    pid_t child;

    place_write(place, "mine", crontab);
    assert_int_equal(alk(place, "schedule", "import", "mine", "--zone", "UTC"), 0);
    place_write(place, "alk.conf", place->out);
    child = start(place);
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        assert_int_equal(alk(place, "schedule", "fire", entries[i].name), 0);
        place_await(place, "log", entries[i].output, 1);
    }
    assert_int_equal(alk(place, "schedule", "show", "pwd", "--json"), 0);
    assert_has(place->out, "\"zone\":\"Europe/Berlin\"");
    stop(place, child);
    assert_int_equal(count_of(place_read(place, "log"), "level=error"), 0);
    assert_int_equal(alk(place, "job", "list", "--json"), 0);
    assert_true(count_of(place->out, "\"state\":\"done\"") >= 7);
    assert_int_equal(count_of(place->out, "\"state\":\"done\""), count_of(place->out, "\n"));
}

/* ---- firing ---- */

static void a_section_fires_and_its_command_runs(void **state) {
    struct place *place = *state;
    pid_t child;

    place_write(place, "alk.conf",
                "[schedule beat]\nspec = @every 1s\npayload = {\"n\": 7}\n"
                "command = sh -c 'echo \"$ALK_SCHEDULE got $(cat)\"'\n");
    child = start(place);
    place_await(place, "log", "detail=\"beat got {\\\"n\\\": 7}\"", 2);
    assert_has(place_read(place, "log"), "event=\"schedule added\" component=program subject=beat");
    stop(place, child);
    /* the same file again changes nothing (S114) */
    child = alk_start(place, "again", "run", "--config", "alk.conf");
    place_await(place, "again", "event=started", 1);
    stop(place, child);
    assert_int_equal(count_of(place_read(place, "again"), "event=\"schedule "), 0);
}

/* A command that takes long is waited for by its own schedule alone. */
static void schedules_do_not_wait_for_each_other(void **state) {
    struct place *place = *state;
    pid_t child;

    place_write(place, "alk.conf",
                "[schedule slow]\nspec = @every 1s\ncommand = sh -c 'echo slow; exec sleep 600'\n"
                "[schedule beat]\nspec = @every 1s\ncommand = echo beat\n");
    child = start(place);
    place_await(place, "log", "detail=slow", 1);
    place_await(place, "log", "detail=beat", count_of(place_read(place, "log"), "detail=beat") + 3);
    assert_int_equal(count_of(place_read(place, "log"), "detail=slow"), 1);
    kill(child, SIGTERM);
    place_await(place, "log", "event=stopping", 1);
    usleep(200000); /* a second signal this soon after the first would count as the same one */
    kill(child, SIGTERM);
    assert_int_equal(place_wait(place, child), 0);
}

/* S84 */
static void a_command_of_a_schedule_has_its_own_time(void **state) {
    struct place *place = *state;
    pid_t child;

    place_write(place, "alk.conf",
                "[schedule slow]\nspec = @daily\ncommand = sleep 600\ntimeout = 100ms\n"
                "max_attempts = 1\n");
    child = start(place);
    assert_int_equal(alk(place, "schedule", "fire", "slow"), 0);
    place_await(place, "log", "not done in 100ms", 1);
    stop(place, child);
}

/* Whatever a row says, only the file's commands run. */
static void a_row_brings_no_command(void **state) {
    struct place *place = *state;
    pid_t child;

    assert_int_equal(alk(place, "schedule", "put", "row", "@daily", "--queue", "schedule:row",
                         "--payload", "{\"command\":\"echo evil\"}"),
                     0);
    assert_int_equal(alk(place, "schedule", "fire", "row"), 0);
    assert_int_equal(
        alk(place, "enqueue", "schedule:own", "\"echo evil\"", "--header", "command=echo evil"), 0);
    place_write(place, "alk.conf", "[schedule own]\nspec = @daily\ncommand = cat\n");
    child = start(place);
    place_await(place, "log", "event=\"job done\"", 1);
    stop(place, child);
    assert_has(place_read(place, "log"), "detail=\"\\\"echo evil\\\"\"");
    assert_int_equal(count_of(place_read(place, "log"), "detail=evil"), 0);
    assert_int_equal(alk(place, "job", "list", "--json"), 0);
    assert_int_equal(count_of(place->out, "\"queue\":\"schedule:row\""), 1);
}

/* ---- HUP ---- */

/* S123 */
static void hup_adds_changes_and_removes(void **state) {
    struct place *place = *state;
    pid_t child;

    assert_int_equal(alk(place, "schedule", "put", "mine", "@daily", "--queue", "q"), 0);
    place_write(place, "alk.conf",
                "[schedule a]\nspec = @daily\ncommand = echo old\n"
                "[schedule b]\nspec = @daily\ncommand = echo b\n");
    child = start(place);
    assert_int_equal(alk(place, "schedule", "fire", "a"), 0);
    place_await(place, "log", "detail=old", 1);
    read_again(place, child,
               "[schedule a]\nspec = @daily\ncommand = echo new\n"
               "[schedule c]\nspec = @daily\ncommand = echo more\n");
    assert_listed(place, "b", 0);
    assert_listed(place, "mine", 1);
    assert_int_equal(alk(place, "schedule", "fire", "a"), 0);
    assert_int_equal(alk(place, "schedule", "fire", "c"), 0);
    place_await(place, "log", "detail=new", 1);
    place_await(place, "log", "detail=more", 1);
    /* the last section, too, and without a set that is named */
    read_again(place, child, "");
    assert_listed(place, "a", 0);
    assert_listed(place, "mine", 1);
    stop(place, child);
    assert_int_equal(count_of(place_read(place, "log"), "event=\"schedule removed\""), 3);
    assert_int_equal(count_of(place_read(place, "log"), "detail=old"), 1);
}

/* What a command that went still runs is finished. */
static void what_runs_when_its_section_goes_is_finished(void **state) {
    struct place *place = *state;
    pid_t child;

    place_write(place, "alk.conf",
                "[schedule a]\nspec = @daily\n"
                "command = sh -c 'echo begun; until [ -e go ]; do sleep 0.1; done; echo ended'\n");
    child = start(place);
    assert_int_equal(alk(place, "schedule", "fire", "a"), 0);
    place_await(place, "log", "detail=begun", 1);
    read_again(place, child, "");
    place_write(place, "go", "");
    place_await(place, "log", "detail=ended", 1);
    place_await(place, "log", "event=\"job done\"", 1);
    stop(place, child);
}

static void a_file_that_is_refused_changes_nothing(void **state) {
    static const char *const texts[] = {
        /* by the reader, and by the store: loops and rows stay as they were */
        "[schedule b]\nspec = 61 * * * *\ncommand = echo b\n",
        "[schedule b]\nspec = @daily\ncommand = echo b\n"
        "[schedule c]\nspec = @at 2020-01-01T00:00:00Z\nqueue = q\n",
    };
    struct place *place = *state;
    pid_t child;

    place_write(place, "alk.conf", "[schedule a]\nspec = @daily\ncommand = echo old\n");
    child = start(place);
    for (int i = 0; i < 2; i++) {
        place_write(place, "alk.conf", texts[i]);
        kill(child, SIGHUP);
        place_await(place, "log", "event=\"configuration not read\"", i + 1);
        assert_listed(place, "a", 1);
        assert_listed(place, "b", 0);
        assert_int_equal(alk(place, "schedule", "fire", "a"), 0);
        place_await(place, "log", "detail=old", i + 1);
    }
    assert_has(place_read(place, "log"), "alk.conf:2: schedule 'b': minute 61 is out of range");
    assert_has(place_read(place, "log"), "schedule 'c': spec '@at 2020-01-01T00:00:00Z' has no");
    stop(place, child);
}

/* A file that is read while another one waits for the database takes its place. */
static void the_last_file_counts(void **state) {
    struct place *place = *state;
    char path[128];
    sqlite3 *handle;
    pid_t child;

    place_write(place, "alk.conf", "[schedule a]\nspec = @daily\ncommand = echo a\n");
    child = start(place);
    snprintf(path, sizeof(path), "%s/alk.db", place->folder);
    assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
    sqlite3_busy_timeout(handle, 30000);
    assert_int_equal(sqlite3_exec(handle, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    place_write(place, "alk.conf", "[schedule b]\nspec = @daily\ncommand = echo b\n");
    kill(child, SIGHUP);
    usleep(200000); /* so that it is likely read; whether it was makes no difference in the end */
    place_write(place, "alk.conf", "[schedule c]\nspec = @daily\ncommand = echo c\n");
    kill(child, SIGHUP);
    usleep(200000);
    assert_int_equal(count_of(place_read(place, "log"), "event=\"configuration read\""), 0);
    assert_int_equal(sqlite3_exec(handle, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(handle);
    place_await(place, "log", "event=\"schedule added\" component=program subject=c", 1);
    place_await(place, "log", "event=\"worker started\" component=worker subject=schedule:c", 1);
    assert_listed(place, "a", 0);
    assert_listed(place, "b", 0);
    stop(place, child);
    assert_int_equal(count_of(place_read(place, "log"), "subject=schedule:b "), 0);
}

/* Each loop has a connection; those that a HUP brings find theirs. */
static void hup_may_bring_many_commands(void **state) {
    struct place *place = *state;
    char text[4096] = "";
    pid_t child;

    place_write(place, "alk.conf", "");
    child = start(place);
    for (size_t i = 0, length = 0; i < 60; i++, length = strlen(text))
        snprintf(text + length, sizeof(text) - length,
                 "[schedule s%zu]\nspec = @daily\ncommand = echo ran-%zu\n", i, i);
    read_again(place, child, text);
    assert_int_equal(alk(place, "schedule", "fire", "s31"), 0);
    assert_int_equal(alk(place, "schedule", "fire", "s59"), 0);
    place_await(place, "log", "detail=ran-31", 1);
    place_await(place, "log", "detail=ran-59", 1);
    stop(place, child);
    assert_int_equal(count_of(place_read(place, "log"), "level=error"), 0);
}

/* ---- starting ---- */

static void a_file_that_is_refused_does_not_start(void **state) {
    struct place *place = *state;

    place_write(place, "alk.conf", "[schedule c]\nspec = @at 2020-01-01T00:00:00Z\nqueue = q\n");
    assert_int_equal(alk(place, "run", "--config", "alk.conf"), 2);
    assert_has(place->err, "alk: ");
    assert_has(place->err, "schedule 'c': spec '@at 2020-01-01T00:00:00Z' has no boundary");
    assert_int_equal(alk(place, "run", "--config", "alk.conf", "--once"), 2);
    assert_has(place->err, "schedule 'c': spec '@at 2020-01-01T00:00:00Z' has no boundary");
}

/* S123: a file of workers alone is no statement about schedules. */
static void a_file_without_schedules_removes_none(void **state) {
    struct place *place = *state;
    pid_t child;

    place_write(place, "alk.conf", "[schedule a]\nspec = @daily\nqueue = q\n");
    assert_int_equal(alk(place, "run", "--config", "alk.conf", "--once"), 0);
    assert_listed(place, "a", 1);
    place_write(place, "alk.conf", "[worker w]\nqueues = q\ncommand = true\n");
    child = start(place);
    assert_listed(place, "a", 1);
    stop(place, child);
    place_write(place, "alk.conf", "[scheduler]\nset = config\n");
    assert_int_equal(alk(place, "run", "--config", "alk.conf", "--once"), 0);
    assert_listed(place, "a", 0);
}

static void check_prints_the_schedules(void **state) {
    struct place *place = *state;

    place_write(place, "alk.conf",
                "[schedule a]\nspec = @daily\ncatchup_max = 3\ncommand = echo 'a b'\n");
    assert_int_equal(alk(place, "run", "--config", "alk.conf", "--check"), 0);
    assert_has(place->out, "\n[schedule a]\nspec = @daily\nqueue = schedule:a\ncatchup_max = 3\n"
                           "command = echo 'a b'\nconcurrency = 1\ntimeout = 1h\n");
    assert_int_equal(alk(place, "run", "--config", "alk.conf", "--check", "--json"), 0);
    assert_has(place->out, "\"workers\":1,\"schedules\":1}\n");
}

/* Part 9 */
static void what_was_missed_can_be_forgotten(void **state) {
    struct place *place = *state;

    for (int i = 0; i < 2; i++) {
        assert_int_equal(alk(place, "schedule", "put", "s", "@every 1h", "--queue", "q"), 0);
        place_sql(place, place->is_postgres
                             ? "UPDATE alk_schedule SET next_fire_at = next_fire_at - interval "
                               "'10 h', anchor_at = anchor_at - interval '20 h'"
                             : "UPDATE alk_schedule SET next_fire_at = next_fire_at - 36000000000, "
                               "anchor_at = anchor_at - 72000000000");
        assert_int_equal(i == 0 ? alk(place, "run", "--once", "--forget-missed")
                                : alk(place, "run", "--once"),
                         0);
        assert_int_equal(alk(place, "schedule", "history", "s", "--json"), 0);
        assert_int_equal(count_of(place->out, "\"outcome\":\"fired\""), i);
        assert_int_equal(count_of(place->out, "\"outcome\":\"missed\""), 1);
        assert_int_equal(alk(place, "schedule", "remove", "s"), 0);
    }
}

/* A loop that is started again later forgets nothing more. */
static void it_is_forgotten_once(void **state) {
    static const char off[] = "[scheduler]\nenabled = no\n[worker w]\nqueues = w\ncommand = true\n";
    static const char on[] = "[worker w]\nqueues = w\ncommand = true\n";
    struct place *place = *state;
    pid_t child;

    assert_int_equal(alk(place, "schedule", "put", "s", "@every 1h", "--queue", "q"), 0);
    place_write(place, "alk.conf", on);
    child = alk_start(place, "log", "run", "--config", "alk.conf", "--forget-missed");
    place_await(place, "log", "event=\"missed boundaries forgotten\"", 1);
    read_again(place, child, off);
    place_await(place, "log", "event=\"leadership released\"", 1);
    place_sql(place, "UPDATE alk_schedule SET next_fire_at = next_fire_at - 36000000000, "
                     "anchor_at = anchor_at - 72000000000");
    read_again(place, child, on);
    place_await(place, "log", "event=\"boundaries missed\"", 1);
    stop(place, child);
    assert_int_equal(alk(place, "schedule", "history", "s", "--json"), 0);
    assert_int_equal(count_of(place->out, "\"outcome\":\"fired\""), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_BOTH(a_real_crontab_is_imported_and_runs),
        ON_BOTH(a_section_fires_and_its_command_runs),
        ON_BOTH(schedules_do_not_wait_for_each_other),
        ON_SQLITE(a_command_of_a_schedule_has_its_own_time),
        ON_BOTH(a_row_brings_no_command),
        ON_BOTH(hup_adds_changes_and_removes),
        ON_SQLITE(what_runs_when_its_section_goes_is_finished),
        ON_BOTH(a_file_that_is_refused_changes_nothing),
        ON_SQLITE(the_last_file_counts),
        ON_BOTH(hup_may_bring_many_commands),
        ON_BOTH(a_file_that_is_refused_does_not_start),
        ON_BOTH(a_file_without_schedules_removes_none),
        EMPTY(check_prints_the_schedules),
        ON_BOTH(what_was_missed_can_be_forgotten),
        ON_SQLITE(it_is_forgotten_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
