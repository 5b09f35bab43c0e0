/* What is wrong is said in one line, with the right exit code, and nothing is half done. */
#include <sys/stat.h>

#include "support/program.h"

/* 201 bytes */
#define TEN "nnnnnnnnnn"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define LONG_NAME HUNDRED HUNDRED "n"

struct refusal {
    const char *words[10];
    int code;
    const char *message; /* the whole line behind "alk: " */
};

/* clang-format off */
static const struct refusal refusals[] = {
    /* commands and options */
    {{"enqueu", "q"}, 2, "unknown command 'enqueu' (did you mean 'enqueue'?)"},
    {{"shedule", "put"}, 2, "unknown command 'shedule' (did you mean 'schedule'?)"},
    {{"schedule", "pt", "x"}, 2, "unknown command 'schedule pt' (did you mean 'schedule put'?)"},
    {{"schedule"}, 2, "alk schedule does what? (alk help schedule lists it)"},
    {{"frobnicate"}, 2, "unknown command 'frobnicate' (alk help lists them)"},
    {{"-x"}, 2, "option '-x' stands before its command (alk COMMAND -x)"},
    {{"--store", "a.db", "init"}, 2, "option '--store' stands before its command (alk COMMAND --store)"},
    {{"enqueue", "q", "--dely", "3s"}, 2, "unknown option '--dely' (did you mean --delay?)"},
    {{"enqueue", "q", "--dely=3s"}, 2, "unknown option '--dely=3s' (did you mean --delay?)"},
    {{"job", "list", "--jsno"}, 2, "unknown option '--jsno' (did you mean --json?)"},
    {{"enqueue", "q", "-x"}, 2, "unknown option '-x' (alk help enqueue lists them)"},
    {{"enqueue", "q", "--delay"}, 2, "--delay needs a value (D)"},
    {{"enqueue", "q", "--json=1"}, 2, "--json takes no value"},
    {{"enqueue"}, 2, "usage: alk enqueue QUEUE [PAYLOAD|-]"},
    {{"enqueue", "q", "1", "2"}, 2, "'2' is one word too many (usage: alk enqueue QUEUE [PAYLOAD|-])"},
    {{"init", "x"}, 2, "'x' is one word too many (usage: alk init)"},
    {{"work", "q"}, 2, "usage: alk work QUEUE... [--drain] -- COMMAND [ARG...]"},
    {{"lease", "run", "x"}, 2, "usage: alk lease run NAME [--ttl D] -- COMMAND [ARG...]"},
    {{"help", "enqueu"}, 2, "unknown command 'enqueu' (did you mean 'enqueue'?)"},
    /* names */
    {{"enqueue", "q", "--unique", ""}, 2, "unique key name is empty"},
    {{"enqueue", "q", "--unique-for", "1h"}, 2, "--unique-for needs --unique"},
    {{"enqueue", "q", "--unique-until", "started"}, 2, "--unique-until needs --unique"},
    {{"enqueue", "q", "--unique", "k", "--unique-until", "ended"}, 2, "--unique-until is started or finished, not 'ended'"},
    {{"enqueue", "q", "--unique", "k", "--unique-until", "started", "--unique-for", "1h"}, 2, "either --unique-for or --unique-until, not both"},
    {{"enqueue", "q", "--unique", "k", "--many", "-"}, 2, "either --unique or --many, not both"},
    {{"enqueue", "", "1"}, 2, "queue name is empty"},
    {{"enqueue", LONG_NAME, "1"}, 2, "queue name '" TEN TEN TEN TEN "nnnn...' is 201 bytes, above the limit of 200"},
    {{"work", LONG_NAME, "--", "true"}, 2, "queue name '" TEN TEN TEN TEN "nnnn...' is 201 bytes, above the limit of 200"},
    /* payloads */
    {{"enqueue", "q", "hello"}, 2, "payload is not JSON at column 1: 'hello' (a string is written '\"hello\"')"},
    {{"enqueue", "q", "{\"a\":}"}, 2, "payload is not JSON at column 6: '}' (a value is missing before the bracket)"},
    {{"enqueue", "q", ""}, 2, "payload is empty (null is written null)"},
    {{"enqueue", "q", "-"}, 2, "payload is empty (null is written null)"},
    {{"schedule", "put", "x", "@daily", "--queue", "q", "--payload", ""}, 2, "--payload is empty (null is written null)"},
    {{"enqueue", "q", "1\n2"}, 2, "payload is not JSON at column 3: '2' (the text goes on after the value)"},
    {{"schedule", "put", "x", "@daily", "--queue", "q", "--payload", "x"}, 2, "schedule 'x': payload is not JSON at column 1: 'x' (a string is written '\"x\"')"},
    /* values */
    {{"enqueue", "q", "--delay", "5"}, 2, "--delay: '5' is not a duration at column 2: a unit is missing (w, d, h, m, s, ms)"},
    {{"enqueue", "q", "--delay=-5s"}, 2, "--delay: '-5s' is not a duration at column 1: a duration has no sign"},
    {{"enqueue", "q", "--at", "tomorrow"}, 2, "--at: 'tomorrow' is not a time at column 1: a time looks like 2026-12-01T08:30:00Z or 2026-12-01T08:30:00+01:00"},
    {{"enqueue", "q", "--at", "2027-01-01T00:00:00"}, 2, "--at: '2027-01-01T00:00:00' is not a time at column 20: an offset is missing (Z, or as in +01:00)"},
    {{"enqueue", "q", "--priority", "40000"}, 2, "--priority is a number from -32768 to 32767, not '40000'"},
    {{"enqueue", "q", "--priority", "1e3"}, 2, "--priority is a number from -32768 to 32767, not '1e3'"},
    {{"enqueue", "q", "--max-attempts", "0"}, 2, "--max-attempts is a number from 1 to 2147483647, not '0'"},
    {{"enqueue", "q", "--expires", "0s"}, 2, "--expires is from 1ms to 521w3d, not '0s'"},
    {{"enqueue", "q", "--header", "x"}, 2, "--header is written NAME=VALUE, not 'x'"},
    {{"enqueue", "q", "--header", "a=1", "--header", "a=2"}, 2, "header 'a' is given twice"},
    {{"enqueue", "q", "1", "--many", "f"}, 2, "either a payload or --many, not both"},
    {{"job", "show", "abc"}, 2, "a job's id is a number, not 'abc'"},
    {{"job", "list", "--limit", "0"}, 2, "--limit is a number from 1 to 10000, not '0'"},
    {{"work", "q", "--concurrency", "0", "--", "true"}, 2, "--concurrency is a number from 1 to 1000, not '0'"},
    {{"lease", "run", "x", "--ttl", "0s", "--", "true"}, 2, "--ttl is from 1s to 521w3d, not '0s'"},
    {{"run", "--log-level", "loud"}, 2, "--log-level: level is one of debug, info, warning, error, not 'loud'"},
    /* specs: the column, and what would be right */
    {{"schedule", "put", "x", "61 * * * *", "--queue", "q"}, 2, "schedule 'x': minute 61 is out of range 0-59 at column 1"},
    {{"schedule", "put", "x", "0 3 * *", "--queue", "q"}, 2, "schedule 'x': field 5, day of week, is missing at column 8 (minute, hour, day of month, month, day of week, as in 0 6 * * MON-FRI)"},
    {{"schedule", "put", "x", "*/90 * * * *", "--queue", "q"}, 2, "schedule 'x': step 90 is longer than the range 0-59 of the minute at column 3 (use @every 90m)"},
    {{"schedule", "put", "x", "@daily"}, 2, "schedule put needs --queue Q"},
    {{"schedule", "set", "x"}, 2, "schedule set needs something to set (alk help schedule set lists it)"},
    /* things that are not there */
    {{"enqueue", "q", "--many", "none"}, 3, "cannot read 'none': No such file or directory"},
    {{"run", "--config", "none"}, 3, "cannot read 'none': No such file or directory"},
    {{"health", "--store", "none.db"}, 3, "no store at 'none.db' (alk init makes one)"},
    {{"init", "--store", "/no/where/a.db"}, 3, "no folder '/no/where' for the store '/no/where/a.db'"},
    /* stores */
    {{"enqueue", "q", "--store", "mysql://x"}, 2, "store 'mysql://x': no such scheme 'mysql:' (sqlite:PATH or postgresql://HOST/DATABASE)"},
    {{"enqueue", "q", "--store", "sqlite:alk.db?foo=1"}, 2, "store 'sqlite:alk.db?foo=1': no such parameter 'foo'"},
    {{"enqueue", "q", "--many", "/"}, 1, "cannot read '/': Is a directory"},
    {{"enqueue", "q", "--store", "/"}, 1, "'/' is a folder"},
    {{"init", "--store", ":memory:"}, 2, "a store in memory ends with the command that made it (name a file)"},
    {{"init", "--store", "sqlite::memory:"}, 2, "a store in memory ends with the command that made it (name a file)"},
    {{"run", "--check", "--store", "mysql:x"}, 2, "store 'mysql:x': no such scheme 'mysql:' (sqlite:PATH or postgresql://HOST/DATABASE)"},
    {{"enqueue", "q", "--store", ""}, 2, "--store: url is empty"},
};
/* clang-format on */

static void a_refusal_is_one_line_with_its_code(void **state) {
    struct place *place = *state;
    char line[1024];

    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        snprintf(line, sizeof(line), "alk: %s\n", refusals[i].message);
        assert_int_equal(place_run(place, refusals[i].words), refusals[i].code);
        assert_string_equal(place->err, line);
        assert_string_equal(place->out, "");
    }
    assert_int_equal(alk(place, "job", "list"), 0);
    assert_string_equal(place->out, "");
    assert_int_equal(alk(place, "schedule", "list"), 0);
    assert_string_equal(place->out, "");
}

static void a_state_is_one_of_those_there_are(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "job", "list", "--state", "dad"), 2);
    assert_has(place->err, "alk: 'dad' is no state (ready, ");
}

/* S39 */
static void delay_and_time_exclude_each_other(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "enqueue", "q", "--delay", "1s", "--at", "2099-01-01T00:00:00Z"),
                     2);
    assert_int_equal(count_of(place->err, "\n"), 1);
    assert_int_equal(alk(place, "job", "list"), 0);
    assert_string_equal(place->out, "");
}

/* ---- many ---- */

static void a_bad_line_is_named_and_none_is_enqueued(void **state) {
    struct place *place = *state;

    place->input = "1\n2\nx\n4\n";
    assert_int_equal(alk(place, "enqueue", "q", "--many", "-"), 2);
    assert_string_equal(place->err, "alk: line 3 of stdin: payload is not JSON at column 1: 'x' "
                                    "(a string is written '\"x\"')\n");
    assert_string_equal(place->out, "");
    place_write(place, "jobs", "1\n\n");
    assert_int_equal(alk(place, "enqueue", "q", "--many", "jobs"), 2);
    assert_string_equal(place->err, "alk: line 2 of jobs: is empty (null is written null)\n");
    assert_int_equal(alk(place, "job", "list"), 0);
    assert_string_equal(place->out, "");
}

/* Beyond 10,000 lines the batches before the bad one stay, and the message says so. */
static void a_bad_line_far_behind_says_what_is_done(void **state) {
    struct place *place = *state;
    char *text = calloc(1, 3 * 10004);

    for (int i = 0; i < 10001; i++)
        memcpy(text + 2 * i, "1\n", 2);
    strcpy(text + 2 * 10001, "x\n");
    place_write(place, "jobs", text);
    free(text);
    assert_int_equal(alk(place, "enqueue", "q", "--many", "jobs"), 2);
    assert_has(place->err, "alk: the first 10,000 jobs are enqueued, the others are not: "
                           "line 10002 of jobs: ");
    assert_int_equal(count_of(place->out, "\n"), 10000);
    assert_int_equal(alk(place, "job", "list", "--limit", "10000"), 0);
    assert_int_equal(count_of(place_read(place, ".out"), " ready "), 10000);
}

static void a_payload_above_the_limit_is_refused(void **state) {
    struct place *place = *state;
    char *text = malloc((1 << 20) + 16);

    memset(text, '1', (1 << 20) + 1);
    text[(1 << 20) + 1] = '\0';
    place->input = text;
    assert_int_equal(alk(place, "enqueue", "q", "-"), 2);
    assert_int_equal(count_of(place->err, "\n"), 1);
    place->input = text;
    assert_int_equal(alk(place, "enqueue", "q", "--many", "-"), 2);
    assert_has(place->err, "alk: line 1 of stdin: ");
    free(text);
    assert_int_equal(alk(place, "job", "list"), 0);
    assert_string_equal(place->out, "");
}

/* ---- stores that cannot be used ---- */

/* S213: a password is in no message. */
static void a_server_that_is_not_there_is_69_and_tells_no_password(void **state) {
    struct place *place = *state;

    if (!ALK_WITH_POSTGRES)
        skip();
    assert_int_equal(alk(place, "enqueue", "q", "--store", "postgresql://u:secret@127.0.0.1:1/x"),
                     69);
    assert_int_equal(count_of(place->err, "\n"), 1);
    assert_has(place->err, "alk: ");
    assert_int_equal(count_of(place->err, "secret"), 0);
    assert_int_equal(alk(place, "health", "--store", "postgresql://u:secret@127.0.0.1:1/x"), 1);
    assert_int_equal(count_of(place->err, "secret"), 0);
    assert_int_equal(alk(place, "enqueue", "q", "--store", "mysql://u:secret@h/x"), 2);
    assert_int_equal(count_of(place->err, "secret"), 0);
    assert_int_equal(alk(place, "enqueue", "q", "--store", "postgresql://u:secret@h:port/x"), 2);
    assert_int_equal(count_of(place->err, "secret"), 0);
}

/* S10 */
static void a_file_that_is_no_database_is_left_alone(void **state) {
    struct place *place = *state;

    place_write(place, "note.txt", "do not touch this file, it is not a database\n");
    assert_int_equal(alk(place, "init", "--store", "note.txt"), 1);
    assert_string_equal(place->err, "alk: open 'note.txt': sqlite: file is not a database (26)\n");
    assert_int_equal(alk(place, "enqueue", "q", "--store", "note.txt"), 1);
    assert_string_equal(place_read(place, "note.txt"),
                        "do not touch this file, it is not a database\n");
}

/* S10 */
static void a_file_that_may_not_be_written_says_so(void **state) {
    struct place *place = *state;
    char path[128];

    snprintf(path, sizeof(path), "%s/alk.db", place->folder);
    chmod(path, 0444);
    chmod(place->folder, 0755);
    place->as_nobody = true;
    if (alk(place, "version") == 121)
        skip(); /* the build is where only root may look */
    assert_int_equal(alk(place, "enqueue", "q"), 1);
    assert_has(place->err, "'alk.db' is read-only");
    assert_int_equal(count_of(place->err, "\n"), 1);
    chmod(path, 0400);
    assert_int_equal(alk(place, "enqueue", "q"), 1);
    assert_string_equal(place->err, "alk: open 'alk.db': Permission denied (14)\n");
    assert_int_equal(alk(place, "init", "--store", "new.db"), 1);
    assert_string_equal(place->err, "alk: open 'new.db': Permission denied (14)\n");
}

/* S4 */
static void a_newer_schema_is_refused(void **state) {
    struct place *place = *state;

    place_sql(place, "UPDATE alk_meta SET version = 99, oldest = 98");
    assert_int_equal(alk(place, "enqueue", "q"), 1);
    assert_has(place->err, " has version 99, which needs a library of version 98 or later; this "
                           "one has version 1 (a newer alk is needed)\n");
    assert_int_equal(alk(place, "init"), 1);
    assert_int_equal(alk(place, "health", "--json"), 1);
    assert_has(place->out, "{\"ok\":false,\"why\":\"");
}

static void a_full_stdout_is_an_error(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "lease", "run", "x", "--", "sh", "-c",
                         "exec " ALK_TEST_BUILD_DIR "/alk version >/dev/full"),
                     1);
    assert_string_equal(place->err, "alk: cannot write to stdout: No space left on device\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_SQLITE(a_refusal_is_one_line_with_its_code),
        ON_SQLITE(a_state_is_one_of_those_there_are),
        ON_BOTH(delay_and_time_exclude_each_other),
        ON_BOTH(a_bad_line_is_named_and_none_is_enqueued),
        ON_BOTH(a_bad_line_far_behind_says_what_is_done),
        ON_BOTH(a_payload_above_the_limit_is_refused),
        ON_SQLITE(a_server_that_is_not_there_is_69_and_tells_no_password),
        EMPTY(a_file_that_is_no_database_is_left_alone),
        ON_SQLITE(a_file_that_may_not_be_written_says_so),
        ON_BOTH(a_newer_schema_is_refused),
        ON_SQLITE(a_full_stdout_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
