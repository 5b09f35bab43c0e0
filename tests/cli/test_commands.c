/* Every command once, as a person or a script meets it, on both engines (S208). */
#include <jansson.h>

#include "support/program.h"

/* The n-th line of text as an object; the caller gives it back. */
static json_t *object_of(const char *text, int n) {
    json_t *object;

    for (; n > 0; n--) {
        text = strchr(text, '\n');
        assert_non_null(text);
        text++;
    }
    object = json_loads(text, JSON_DISABLE_EOF_CHECK, NULL);
    assert_true(json_is_object(object));
    return object;
}

static void assert_field(const char *text, int n, const char *name, const char *value) {
    json_t *object = object_of(text, n);
    char *found = json_dumps(json_object_get(object, name), JSON_ENCODE_ANY | JSON_COMPACT);

    assert_non_null(found);
    assert_string_equal(found, value);
    free(found);
    json_decref(object);
}

/* ---- init ---- */

/* S2: init creates; again changes nothing. */
static void init_makes_the_store(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "init"), 0);
    assert_has(place->out, " is ready (");
    assert_int_equal(alk(place, "enqueue", "q", "1"), 0);
    assert_int_equal(alk(place, "init", "--json"), 0);
    assert_field(place->out, 0, "schema", "1");
    assert_int_equal(alk(place, "job", "list", "--json"), 0);
    assert_int_equal(count_of(place->out, "\n"), 1);
}

/* S2: every other command on a missing store. */
static void other_commands_make_no_store(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "enqueue", "q", "1"), 3);
    assert_int_equal(alk(place, "health"), 3);
    assert_has(place->err, "(alk init makes one)\n");
    assert_int_equal(alk(place, "schedule", "list"), 3);
    assert_int_equal(alk(place, "work", "q", "--", "true"), 3);
    assert_int_equal(alk(place, "run"), 3);
    assert_int_equal(alk(place, "lease", "run", "x", "--", "true"), 3);
    assert_int_equal(count_of(place->err, "\n"), 1);
}

/* ---- enqueue, job ---- */

static void enqueue_prints_only_the_id(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "enqueue", "q", "{\"a\": 1}"), 0);
    assert_string_equal(place->out, "1\n");
    assert_int_equal(alk(place, "enqueue", "q", "--json"), 0);
    assert_string_equal(place->out, "{\"id\":2}\n");
    assert_string_equal(place->err, "");
    assert_int_equal(alk(place, "job", "show", "2", "--json"), 0);
    assert_field(place->out, 0, "payload", "null");
}

static void a_payload_comes_from_stdin_byte_for_byte(void **state) {
    struct place *place = *state;

    place->input = "[1,\n 2]";
    assert_int_equal(alk(place, "enqueue", "q", "-"), 0);
    assert_int_equal(alk(place, "work", "q", "--drain", "--", "sh", "-c", "wc -c; cat >&2"), 0);
    assert_has(place->err, "detail=7");
    assert_int_equal(alk(place, "job", "list", "--json"), 0);
    assert_int_equal(count_of(place->out, "\n"), 1);
    assert_field(place->out, 0, "payload", "[1,2]");
}

static void every_option_of_enqueue_reaches_the_job(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "enqueue", "q", "-5", "--delay", "1h30m", "--priority=-7",
                         "--max-attempts", "3", "--expires", "2d", "--header", "a=b=c", "--header",
                         "d="),
                     0);
    assert_int_equal(alk(place, "enqueue", "--at", "2099-01-01T02:00:00+02:00", "q", "1"), 0);
    assert_int_equal(alk(place, "job", "show", "1", "--json"), 0);
    assert_field(place->out, 0, "payload", "-5");
    assert_field(place->out, 0, "state", "\"delayed\"");
    assert_field(place->out, 0, "priority", "-7");
    assert_field(place->out, 0, "max_attempts", "3");
    assert_field(place->out, 0, "headers", "{\"a\":\"b=c\",\"d\":\"\"}");
    assert_has(place->out, "\"expires_at\":\"2");
    assert_int_equal(alk(place, "job", "show", "2", "--json"), 0);
    assert_field(place->out, 0, "run_at", "\"2099-01-01T00:00:00Z\"");
    assert_int_equal(alk(place, "job", "show", "2"), 0);
    assert_has(place->out, "2099-01-01T00:00:00Z (in ");
}

/* S58: the id of the job that has the key on stdout, a word on stderr, and success. */
static void a_duplicate_prints_the_existing_id(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "enqueue", "q", "--unique", "k", "--unique-until", "started"), 0);
    assert_string_equal(place->out, "1\n");
    assert_string_equal(place->err, "");
    assert_int_equal(alk(place, "enqueue", "q", "--unique", "k", "--unique-for", "1h"), 0);
    assert_string_equal(place->out, "1\n");
    assert_string_equal(place->err, "alk: not enqueued: job 1 has the unique key 'k'\n");
    assert_int_equal(alk(place, "enqueue", "q", "--unique", "k", "--json"), 0);
    assert_string_equal(place->out, "{\"id\":1,\"duplicate\":true}\n");
    assert_string_equal(place->err, "");
    assert_int_equal(alk(place, "work", "q", "--drain", "--", "true"), 0);
    assert_int_equal(alk(place, "enqueue", "q", "--unique", "k", "--unique-for", "1h", "--json"),
                     0);
    assert_has(place->out, ",\"duplicate\":false}\n");
    assert_int_equal(alk(place, "work", "q", "--drain", "--", "true"), 0);
    assert_int_equal(alk(place, "enqueue", "q", "--unique", "k"), 0);
    assert_has(place->err, "not enqueued");
    assert_int_equal(alk(place, "job", "list", "--json", "--state", "done"), 0);
    assert_int_equal(count_of(place->out, "\n"), 2);
}

/* S58: until it is finished, unless something else is said. */
static void a_schedule_fired_by_hand_heeds_a_key(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "schedule", "put", "s", "@daily", "--queue", "q"), 0);
    assert_int_equal(alk(place, "schedule", "fire", "s", "--unique", "k"), 0);
    assert_string_equal(place->out, "1\n");
    assert_int_equal(alk(place, "schedule", "fire", "s", "--unique", "k"), 0);
    assert_string_equal(place->out, "1\n");
    assert_has(place->err, "not enqueued: job 1");
    assert_int_equal(alk(place, "work", "q", "--drain", "--", "true"), 0);
    assert_int_equal(alk(place, "schedule", "fire", "s", "--unique", "k"), 0);
    assert_string_equal(place->err, "");
}

/* S64 */
static void many_lines_are_many_jobs(void **state) {
    struct place *place = *state;

    place->input = "1\n{\"a\":2}\n\"three\"";
    assert_int_equal(alk(place, "enqueue", "q", "--many", "-"), 0);
    assert_string_equal(place->out, "1\n2\n3\n");
    assert_int_equal(alk(place, "job", "list", "--queue", "q", "--json"), 0);
    assert_field(place->out, 0, "payload", "1");
    assert_field(place->out, 2, "payload", "\"three\"");
    place->input = "";
    assert_int_equal(alk(place, "enqueue", "q", "--many", "-"), 0);
    assert_string_equal(place->out, "");
}

static void lists_are_filtered(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "enqueue", "a", "1"), 0);
    assert_int_equal(alk(place, "enqueue", "b", "1", "--delay", "1h"), 0);
    assert_int_equal(alk(place, "enqueue", "b", "1"), 0);
    assert_int_equal(alk(place, "job", "list", "--queue", "b", "--state", "delayed", "--json"), 0);
    assert_int_equal(count_of(place->out, "\n"), 1);
    assert_field(place->out, 0, "id", "2");
    assert_int_equal(alk(place, "job", "list", "--limit", "2"), 0);
    assert_int_equal(count_of(place->out, "\n"), 3); /* the names of the columns, too */
    assert_string_equal(place->err, "alk: there may be more than these 2 (--limit N)\n");
    assert_int_equal(alk(place, "job", "list", "--state", "dead"), 0);
    assert_string_equal(place->out, "");
}

static void tables_have_no_colour_and_no_width_in_a_pipe(void **state) {
    struct place *place = *state;
    char name[201];

    memset(name, 'n', 200);
    name[200] = '\0';
    assert_int_equal(alk(place, "enqueue", name, "1"), 0);
    assert_int_equal(alk(place, "job", "list"), 0);
    assert_has(place->out, name);
    assert_int_equal(count_of(place->out, "\033"), 0);
}

/* ---- schedules ---- */

static void a_schedule_is_put_shown_and_listed(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "schedule", "put", "nightly", "0 3 * * *", "--queue", "reports",
                         "--payload", "{\"n\":1}", "--priority", "4", "--max-attempts", "2",
                         "--expires", "1h"),
                     0);
    assert_has(place->out, "nightly: next at ");
    assert_has(place->out, "T03:00:00Z (in ");
    assert_int_equal(alk(place, "schedule", "show", "nightly", "--json"), 0);
    assert_field(place->out, 0, "spec", "\"0 3 * * *\"");
    assert_field(place->out, 0, "queue", "\"reports\"");
    assert_field(place->out, 0, "state", "\"active\"");
    assert_field(place->out, 0, "payload", "{\"n\":1}");
    assert_field(place->out, 0, "priority", "4");
    assert_field(place->out, 0, "max_attempts", "2");
    assert_field(place->out, 0, "expires_us", "3600000000");
    assert_field(place->out, 0, "last_fire_at", "null");
    assert_int_equal(alk(place, "schedule", "put", "a", "@every 1h", "--queue", "q", "--json"), 0);
    assert_field(place->out, 0, "name", "\"a\"");
    assert_int_equal(alk(place, "schedule", "list", "--json"), 0);
    assert_int_equal(count_of(place->out, "\n"), 2);
    assert_field(place->out, 0, "name", "\"a\"");
    assert_int_equal(alk(place, "schedule", "list"), 0);
    assert_has(place->out, "nightly");
}

/* S115: set changes only what is given. */
static void a_schedule_is_changed_in_parts(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "schedule", "put", "s", "@every 1h", "--queue", "q", "--payload",
                         "1", "--priority", "4"),
                     0);
    assert_int_equal(alk(place, "schedule", "set", "s", "--queue", "r", "--json"), 0);
    assert_field(place->out, 0, "queue", "\"r\"");
    assert_field(place->out, 0, "payload", "1");
    assert_field(place->out, 0, "priority", "4");
    assert_int_equal(alk(place, "schedule", "set", "s", "--spec", "@daily", "--json"), 0);
    assert_field(place->out, 0, "spec", "\"@daily\"");
    assert_field(place->out, 0, "queue", "\"r\"");
}

static void a_schedule_is_paused_resumed_and_removed(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "schedule", "put", "s", "@every 1h", "--queue", "q"), 0);
    assert_int_equal(alk(place, "schedule", "pause", "s"), 0);
    assert_string_equal(place->out, "s: paused\n");
    assert_int_equal(alk(place, "schedule", "pause", "s", "--json"), 0);
    assert_string_equal(place->out, "{\"name\":\"s\",\"done\":\"paused\",\"changed\":false}\n");
    assert_int_equal(alk(place, "schedule", "show", "s"), 0);
    assert_has(place->out, "paused");
    assert_int_equal(alk(place, "schedule", "resume", "s"), 0);
    assert_has(place->out, "s: next at ");
    assert_int_equal(alk(place, "schedule", "remove", "s"), 0);
    assert_string_equal(place->out, "s: removed\n");
    assert_int_equal(alk(place, "schedule", "list"), 0);
    assert_string_equal(place->out, "");
}

/* S120: fire enqueues one job and leaves the next fire alone, also while paused. */
static void a_schedule_is_fired_by_hand(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "schedule", "put", "s", "@every 1h", "--queue", "q"), 0);
    assert_int_equal(alk(place, "schedule", "pause", "s"), 0);
    assert_int_equal(alk(place, "schedule", "fire", "s"), 0);
    assert_string_equal(place->out, "1\n");
    assert_int_equal(alk(place, "schedule", "fire", "s", "--json"), 0);
    assert_string_equal(place->out, "{\"id\":2}\n");
    assert_int_equal(alk(place, "schedule", "history", "s", "--json"), 0);
    assert_int_equal(count_of(place->out, "\n"), 2);
    assert_field(place->out, 0, "outcome", "\"manual\"");
    assert_field(place->out, 0, "job_id", "2");
    assert_int_equal(alk(place, "schedule", "history", "s", "--limit", "1"), 0);
    assert_has(place->out, "manual");
}

static void a_schedule_that_is_not_there_is_exit_3(void **state) {
    static const char *const words[] = {"show", "history", "pause", "resume", "remove", "fire"};
    struct place *place = *state;

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        assert_int_equal(alk(place, "schedule", words[i], "no one"), 3);
        assert_string_equal(place->err, "alk: no schedule 'no one'\n");
    }
    assert_int_equal(alk(place, "schedule", "set", "no one", "--queue", "q"), 3);
    assert_string_equal(place->err, "alk: no schedule 'no one'\n");
    assert_int_equal(alk(place, "job", "show", "99"), 3);
    assert_string_equal(place->err, "alk: no job 99\n");
}

/* ---- health ---- */

/* S18 */
static void health_says_ok_in_one_line(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "health"), 0);
    assert_has(place->out, "ok: nobody leads; ");
    assert_int_equal(count_of(place->out, "\n"), 1);
    assert_int_equal(alk(place, "health", "--json"), 0);
    assert_field(place->out, 0, "ok", "true");
    assert_field(place->out, 0, "schema", "1");
    assert_field(place->out, 0, "leader", "null");
}

static void health_fails_when_nobody_fires(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "schedule", "put", "s", "@every 1h", "--queue", "q"), 0);
    place_sql(place, place->is_postgres
                         ? "UPDATE alk_schedule SET next_fire_at = now() - interval '40 s'"
                         : "UPDATE alk_schedule SET next_fire_at = (unixepoch() - 40) * 1000000");
    assert_int_equal(alk(place, "health"), 1);
    assert_has(place->out, "failed: a schedule has been due for 4");
    assert_int_equal(alk(place, "health", "--json"), 1);
    assert_field(place->out, 0, "ok", "false");
    place_sql(place, place->is_postgres
                         ? "UPDATE alk_schedule SET next_fire_at = now() - interval '2 s'"
                         : "UPDATE alk_schedule SET next_fire_at = (unixepoch() - 2) * 1000000");
    assert_int_equal(alk(place, "health"), 0);
}

/* S143: a quarantined schedule is named and is no failure of the whole. */
static void health_names_what_is_quarantined(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "schedule", "put", "bad one", "@every 1h", "--queue", "q"), 0);
    place_sql(place, place->is_postgres
                         ? "UPDATE alk_schedule SET spec = 'nonsense', next_fire_at = now()"
                         : "UPDATE alk_schedule SET spec = 'nonsense', next_fire_at = 1000000");
    assert_int_equal(alk(place, "run", "--once"), 0);
    assert_has(place->err, "\"bad one\"");
    assert_int_equal(alk(place, "health"), 0);
    assert_has(place->out, "; quarantined: bad one\n");
    assert_int_equal(alk(place, "schedule", "list", "--json"), 0);
    assert_field(place->out, 0, "state", "\"quarantined\"");
    assert_int_equal(alk(place, "schedule", "set", "bad one", "--spec", "@every 2h"), 0);
    assert_int_equal(alk(place, "health"), 0);
    assert_int_equal(count_of(place->out, "quarantined"), 0);
}

/* ---- terminals ---- */

/* What a command says on a terminal so many columns wide. */
static const char *on_terminal(struct place *place, int columns, const char *words) {
    char line[256];

    snprintf(line, sizeof(line), "stty cols %d; " ALK_TEST_BUILD_DIR "/alk %s", columns, words);
    assert_int_equal(
        alk(place, "lease", "run", "terminal", "--", "script", "-qec", line, "/dev/null"), 0);
    return place->out;
}

static void a_narrow_terminal_has_ages_and_no_half_times(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "schedule", "put", "s", "0 3 1 1 *", "--queue", "q"), 0);
    assert_has(on_terminal(place, 120, "schedule list"), "-01-01T03:00:00Z (in ");
    on_terminal(place, 60, "schedule list");
    assert_has(place->out, " active in ");
    assert_int_equal(count_of(place->out, "-01-01"), 0);
    assert_has(on_terminal(place, 60, "schedule show s"), "-01-01T03:00:00Z (in ");
    assert_int_equal(alk(place, "schedule", "list"), 0);
    assert_has(place->out, "-01-01T03:00:00Z (in ");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        EMPTY_BOTH(init_makes_the_store),
        EMPTY_BOTH(other_commands_make_no_store),
        ON_BOTH(enqueue_prints_only_the_id),
        ON_BOTH(a_payload_comes_from_stdin_byte_for_byte),
        ON_BOTH(every_option_of_enqueue_reaches_the_job),
        ON_BOTH(a_duplicate_prints_the_existing_id),
        ON_BOTH(a_schedule_fired_by_hand_heeds_a_key),
        ON_BOTH(many_lines_are_many_jobs),
        ON_BOTH(lists_are_filtered),
        ON_SQLITE(tables_have_no_colour_and_no_width_in_a_pipe),
        ON_BOTH(a_schedule_is_put_shown_and_listed),
        ON_BOTH(a_schedule_is_changed_in_parts),
        ON_BOTH(a_schedule_is_paused_resumed_and_removed),
        ON_BOTH(a_schedule_is_fired_by_hand),
        ON_BOTH(a_schedule_that_is_not_there_is_exit_3),
        ON_BOTH(health_says_ok_in_one_line),
        ON_BOTH(health_fails_when_nobody_fires),
        ON_BOTH(health_names_what_is_quarantined),
        ON_SQLITE(a_narrow_terminal_has_ages_and_no_half_times),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
