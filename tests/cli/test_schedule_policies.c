/* What can be set of a schedule, from its options to the row; and the commands that act on one
 * beyond pausing it. */
#include "support/program.h"

/* ---- put and set ---- */

/* S109, S121, S122, S131 */
static void put_takes_every_policy(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "schedule", "put", "s", "30 2 * * *", "--queue", "q", "--zone",
                         "Europe/Rome", "--payload", "[1]", "--priority", "-3", "--max-attempts",
                         "2", "--expires", "1h", "--anchor", "2026-01-01T00:00:00Z", "--gap",
                         "skip", "--fold", "both", "--not-before", "2100-01-02T00:00:00Z",
                         "--not-after", "2101-01-01T00:00:00Z", "--max-fires", "100", "--catchup",
                         "all", "--catchup-max", "5", "--catchup-window", "2d", "--grace", "0s",
                         "--max-lateness", "3d", "--jitter", "30s", "--overlap", "buffer_one",
                         "--pause-until", "2099-01-01T00:00:00Z", "--json"),
                     0);
    assert_has(place->out, "\"next_fire_at\":\"2100-01-02T01:30:00Z\"");
    assert_has(place->out, "\"pause_until\":\"2099-01-01T00:00:00Z\"");
    assert_has(place->out, "\"priority\":-3,\"max_attempts\":2,\"expires_us\":3600000000,");
    assert_has(place->out, "\"catchup\":\"all\",\"catchup_max\":5,"
                           "\"catchup_window_us\":172800000000,\"grace_us\":0,"
                           "\"max_lateness_us\":259200000000,\"overlap\":\"buffer_one\","
                           "\"jitter_us\":30000000,\"gap\":\"skip\",\"fold\":\"both\","
                           "\"not_before\":\"2100-01-02T00:00:00Z\","
                           "\"not_after\":\"2101-01-01T00:00:00Z\",\"max_fires\":100,");
    assert_has(place->out, "\"anchor_at\":\"2026-01-01T00:00:00Z\"");
    assert_int_equal(alk(place, "schedule", "show", "s"), 0);
    assert_has(place->out, "\ncatchup_window 2d\n");
    assert_has(place->out, "\noverlap        buffer_one\n");
}

/* S115: "set null" and "leave" are different. */
static void an_empty_value_is_set_and_one_that_is_not_given_is_left(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "schedule", "put", "s", "@daily", "--queue", "q", "--zone",
                         "Asia/Tokyo", "--jitter", "5s", "--max-fires", "9", "--overlap", "skip",
                         "--expires", "1h", "--payload", "1", "--pause-until",
                         "2099-01-01T00:00:00Z"),
                     0);
    assert_has(place->out, ", but it is paused until 2099-01-01T00:00:00Z (in ");
    assert_int_equal(alk(place, "schedule", "set", "s", "--jitter", "", "--overlap", "", "--zone",
                         "", "--expires=", "--payload", "null", "--pause-until", "", "--json"),
                     0);
    assert_has(place->out, "\"jitter_us\":null");
    assert_has(place->out, "\"overlap\":\"allow\"");
    assert_has(place->out, "\"zone\":null");
    assert_has(place->out, "\"expires_us\":null");
    assert_has(place->out, "\"payload\":null");
    assert_has(place->out, "\"pause_until\":null");
    assert_has(place->out, "\"max_fires\":9");
    assert_int_equal(alk(place, "schedule", "set", "s", "--queue", ""), 2);
    assert_string_equal(place->err, "alk: --queue is empty\n");
    assert_int_equal(alk(place, "schedule", "set", "s", "--spec", ""), 2);
}

/* S104: one-shots. */
static void a_time_that_has_passed_is_refused_unless_late_is_allowed(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "schedule", "put", "s", "@at 2020-01-01T00:00:00Z", "--queue", "q"),
                     2);
    assert_has(place->err, "alk: schedule 's': spec '@at 2020-01-01T00:00:00Z' has no boundary");
    assert_int_equal(alk(place, "schedule", "list"), 0);
    assert_string_equal(place->out, "");
    assert_int_equal(alk(place, "schedule", "put", "s", "@at 2020-01-01T00:00:00Z", "--queue", "q",
                         "--allow-late", "--catchup", "last"),
                     0);
    assert_has(place->out, "s: next at 2020-01-01T00:00:00Z (");
    assert_int_equal(alk(place, "run", "--once"), 0);
    assert_int_equal(alk(place, "schedule", "show", "s", "--json"), 0);
    assert_has(place->out, "\"state\":\"done\",\"next_fire_at\":null,"
                           "\"last_fire_at\":\"2020-01-01T00:00:00Z\",\"fired\":1,");
    assert_int_equal(alk(place, "schedule", "set", "s", "--priority", "1"), 0);
    assert_string_equal(place->out, "s: done\n");
}

/* Part 10: an @every keeps its anchor unless asked for another. */
static void the_grid_starts_anew_only_when_asked(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "schedule", "put", "s", "@every 1h", "--queue", "q", "--anchor",
                         "2026-01-01T00:00:00Z"),
                     0);
    assert_int_equal(alk(place, "schedule", "set", "s", "--spec", "@every 2h", "--json"), 0);
    assert_has(place->out, "\"anchor_at\":\"2026-01-01T00:00:00Z\"");
    assert_int_equal(alk(place, "schedule", "set", "s", "--reanchor", "--json"), 0);
    assert_int_equal(count_of(place->out, "\"anchor_at\":\"2026-01-01T00:00:00Z\""), 0);
    assert_int_equal(
        alk(place, "schedule", "set", "s", "--reanchor", "--anchor", "2026-01-01T00:00:00Z"), 2);
    assert_string_equal(place->err, "alk: either --anchor or --reanchor, not both\n");
}

/* Part 2, rule 4 */
static void what_is_legal_but_surprising_is_said(void **state) {
    static const char warning[] = "alk: it runs on each of these days of the month and also on";
    struct place *place = *state;

    assert_int_equal(alk(place, "schedule", "put", "s", "0 9 13 * 5", "--queue", "q"), 0);
    assert_has(place->err, warning);
    assert_int_equal(alk(place, "schedule", "set", "s", "--priority", "1"), 0);
    assert_has(place->err, warning);
    assert_int_equal(alk(place, "schedule", "set", "s", "--spec", "0 9 13 * +5"), 0);
    assert_string_equal(place->err, "");
}

static void a_wrong_value_is_refused_before_the_store_is_asked(void **state) {
    static const char *const rows[][3] = {
        {"--gap", "x", "alk: --gap is one of shift, skip, not 'x'\n"},
        {"--fold", "x", "alk: --fold is one of auto, first, last, both, not 'x'\n"},
        {"--catchup", "x", "alk: --catchup is one of last, skip, all, not 'x'\n"},
        {"--overlap", "x",
         "alk: --overlap is one of allow, skip, buffer_one, replace_pending, not 'x'\n"},
        {"--catchup-max", "1001", "alk: --catchup-max is a number from 1 to 1000, not '1001'\n"},
        {"--max-fires", "0", "alk: --max-fires is a number from 1 to 999999999999, not '0'\n"},
        {"--jitter", "0s", "alk: --jitter is from 1ms to "},
        {"--not-after", "soon", "alk: --not-after: "},
    };
    struct place *place = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(
            alk(place, "schedule", "put", "s", "@daily", "--queue", "q", rows[i][0], rows[i][1]),
            2);
        assert_has(place->err, rows[i][2]);
    }
}

/* ---- resume, fire, backfill ---- */

/* S117 */
static void resume_catches_up_when_asked(void **state) {
    struct place *place = *state;

    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            alk(place, "schedule", "put", "s", "@every 1m", "--queue", "q", "--catchup", "last"),
            0);
        assert_int_equal(alk(place, "schedule", "pause", "s"), 0);
        place_sql(place, place->is_postgres
                             ? "UPDATE alk_schedule SET next_fire_at = date_trunc('minute', now()) "
                               "- interval '1 h', anchor_at = date_trunc('minute', now()) "
                               "- interval '2 h', paused_at = now() - interval '1 h'"
                             : "UPDATE alk_schedule SET next_fire_at = (unixepoch() / 60 - 60) * "
                               "60000000, anchor_at = (unixepoch() / 60 - 120) * 60000000, "
                               "paused_at = (unixepoch() - 3600) * 1000000");
        assert_int_equal(i == 0 ? alk(place, "schedule", "resume", "s")
                                : alk(place, "schedule", "resume", "s", "--catchup"),
                         0);
        assert_int_equal(alk(place, "run", "--once"), 0);
        assert_int_equal(alk(place, "schedule", "history", "s", "--json"), 0);
        assert_int_equal(count_of(place->out, "\"outcome\":\"fired\"") > 0, i == 1);
        assert_has(place->out, "\"outcome\":\"missed\"");
        assert_int_equal(alk(place, "schedule", "remove", "s"), 0);
    }
}

/* S120, S122 */
static void fire_can_respect_the_overlap_policy(void **state) {
    struct place *place = *state;

    assert_int_equal(
        alk(place, "schedule", "put", "s", "@daily", "--queue", "q", "--overlap", "skip"), 0);
    assert_int_equal(alk(place, "schedule", "fire", "s", "--respect-overlap"), 0);
    assert_int_equal(alk(place, "schedule", "fire", "s", "--respect-overlap"), 4);
    assert_string_equal(place->err, "alk: schedule 's' has a job that is unfinished\n");
    assert_string_equal(place->out, "");
    assert_int_equal(alk(place, "schedule", "fire", "s"), 0);
    assert_int_equal(alk(place, "job", "list", "--json"), 0);
    assert_int_equal(count_of(place->out, "\n"), 2);
}

#define OCTOBER "--from", "2026-10-01T00:00:00Z", "--to", "2026-10-03T12:00:00Z"

/* Part 5 */
static void a_backfill_fires_what_did_not_fire(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "schedule", "put", "s", "@daily", "--queue", "q"), 0);
    assert_int_equal(alk(place, "schedule", "backfill", "s", OCTOBER, "--dry-run"), 0);
    assert_string_equal(place->out,
                        "2026-10-01T00:00:00Z\n2026-10-02T00:00:00Z\n2026-10-03T00:00:00Z\n");
    assert_string_equal(place->err, "alk: 3 would fire, 0 fired before\n");
    assert_int_equal(alk(place, "job", "list"), 0);
    assert_string_equal(place->out, "");
    assert_int_equal(alk(place, "schedule", "backfill", "s", OCTOBER, "--max", "2"), 0);
    assert_has(place->out, "2026-10-01T00:00:00Z  job 1\n");
    assert_string_equal(place->err, "alk: 2 fired, 0 fired before; there are more, call it again "
                                    "(or --max N)\n");
    assert_int_equal(alk(place, "schedule", "backfill", "s", OCTOBER, "--json"), 0);
    assert_string_equal(place->out, "{\"fire_at\":\"2026-10-03T00:00:00Z\",\"job_id\":3}\n");
    assert_string_equal(place->err, "alk: 1 fired, 2 fired before\n");
    assert_int_equal(alk(place, "schedule", "backfill", "t", OCTOBER), 3);
    assert_string_equal(place->err, "alk: no schedule 't'\n");
    assert_int_equal(alk(place, "schedule", "backfill", "s", "--from", "2026-10-01T00:00:00Z"), 2);
    assert_string_equal(place->err, "alk: schedule backfill needs --from T and --to T\n");
}

/* ---- history ---- */

/* Lets the first boundary that is due have been that long ago, one an hour, and fires. */
static void make_due(struct place *place, int minutes_ago) {
    char sql[512];

    snprintf(sql, sizeof(sql),
             place->is_postgres
                 ? "UPDATE alk_schedule SET anchor_at = date_trunc('second', now()) - interval '%d "
                   "m', next_fire_at = date_trunc('second', now()) - interval '%d m'"
                 : "UPDATE alk_schedule SET anchor_at = (unixepoch() - %d * 60) * 1000000, "
                   "next_fire_at = (unixepoch() - %d * 60) * 1000000",
             minutes_ago + 6000, minutes_ago);
    place_sql(place, sql);
    assert_int_equal(alk(place, "run", "--once"), 0);
}

/* S124: what became of each boundary, and the counts of it. */
static void history_has_every_outcome_and_show_the_counts(void **state) {
    struct place *place = *state;

    assert_int_equal(
        alk(place, "schedule", "put", "s", "@every 1h", "--queue", "q", "--overlap", "skip"), 0);
    make_due(place, 210); /* four were missed, and the newest of them fires */
    assert_int_equal(alk(place, "schedule", "history", "s", "--json"), 0);
    assert_int_equal(count_of(place->out, "\"outcome\":\"fired\""), 1);
    assert_int_equal(count_of(place->out, "\"outcome\":\"missed\""), 1);
    assert_has(place->out, "\"count\":3,");
    make_due(place, 0); /* its first job is unfinished */
    assert_int_equal(alk(place, "schedule", "fire", "s"), 0);
    assert_int_equal(alk(place, "schedule", "history", "s", "--json"), 0);
    assert_int_equal(strncmp(place->out, "{\"outcome\":\"manual\",", 20), 0);
    assert_int_equal(count_of(place->out, "\"outcome\":\"skipped_overlap\""), 1);
    assert_int_equal(alk(place, "schedule", "show", "s", "--json"), 0);
    assert_has(place->out, "\"fired\":1,\"missed\":3,\"skipped\":1,\"quarantined\":0,"
                           "\"last_missed_at\":\"2");
}

/* ---- list --bad ---- */

/* S143, S145 */
static void list_bad_has_what_needs_somebody(void **state) {
    struct place *place = *state;

    for (const char *name = "abcdefg"; *name != '\0'; name++)
        assert_int_equal(
            alk(place, "schedule", "put", (const char[]){*name, '\0'}, "@every 1h", "--queue", "q"),
            0);
    assert_int_equal(alk(place, "schedule", "list", "--bad"), 0);
    assert_string_equal(place->out, "");
    place_sql(place, place->is_postgres
                         ? "UPDATE alk_schedule SET spec = 'nonsense', next_fire_at = now() "
                           "WHERE name = 'b'"
                         : "UPDATE alk_schedule SET spec = 'nonsense', next_fire_at = 1000000 "
                           "WHERE name = 'b'");
    assert_int_equal(alk(place, "run", "--once"), 0);
    place_sql(place, "UPDATE alk_schedule SET next_fire_at = NULL WHERE name = 'd'");
    place_sql(place, place->is_postgres
                         ? "UPDATE alk_schedule SET next_fire_at = '2300-01-01' WHERE name = 'f'"
                         : "UPDATE alk_schedule SET next_fire_at = 10413792000000000 "
                           "WHERE name = 'f'");
    assert_int_equal(alk(place, "schedule", "list", "--bad", "--json"), 0);
    assert_int_equal(count_of(place->out, "\n"), 3);
    assert_has(place->out, "{\"name\":\"b\",");
    assert_has(place->out, "{\"name\":\"d\",");
    assert_has(place->out, "{\"name\":\"f\",");
    assert_int_equal(alk(place, "schedule", "list", "--bad", "--limit", "2"), 0);
    assert_has(place->err, "alk: there may be more than these 2 (--limit N)\n");
    assert_has(place->out, "nonsense");
}

/* S9: pages end at a name that can be read. */
static void list_bad_goes_over_all_of_them(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "schedule", "put", "a", "@every 1h", "--queue", "q"), 0);
    place_sql(place, "INSERT INTO alk_schedule (name, spec, queue, payload, anchor_at, "
                     "next_fire_at, created_at) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT "
                     "i + 1 FROM n WHERE i < 2500) SELECT CASE WHEN i % 1000 = 7 THEN CAST(('n' || "
                     "printf('%05d', i) || x'ff') AS TEXT) ELSE 'n' || printf('%05d', i) END, "
                     "spec, queue, payload, anchor_at, next_fire_at, created_at "
                     "FROM n, alk_schedule");
    assert_int_equal(alk(place, "schedule", "list", "--bad", "--json"), 0);
    assert_int_equal(count_of(place->out, "\n"), 3);
    assert_int_equal(count_of(place->out, "\"state\":\"unreadable\""), 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_BOTH(put_takes_every_policy),
        ON_BOTH(an_empty_value_is_set_and_one_that_is_not_given_is_left),
        ON_BOTH(a_time_that_has_passed_is_refused_unless_late_is_allowed),
        ON_BOTH(the_grid_starts_anew_only_when_asked),
        ON_SQLITE(what_is_legal_but_surprising_is_said),
        EMPTY(a_wrong_value_is_refused_before_the_store_is_asked),
        ON_BOTH(resume_catches_up_when_asked),
        ON_BOTH(fire_can_respect_the_overlap_policy),
        ON_BOTH(a_backfill_fires_what_did_not_fire),
        ON_BOTH(history_has_every_outcome_and_show_the_counts),
        ON_BOTH(list_bad_has_what_needs_somebody),
        ON_SQLITE(list_bad_goes_over_all_of_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
