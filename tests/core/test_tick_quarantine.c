/* core/tick: rows that cannot be fired are put aside, named, and stop nothing else. */
#include "base/duration.h"
#include "support/fault.h"
#include "support/schedules.h"

static int64_t time_of(struct scene *scene, const char *name, const char *column) {
    return sql_number(scene,
                      scene->engine == ALK_ENGINE_SQLITE
                          ? "SELECT %s FROM alk_schedule WHERE name = '%s'"
                          : "SELECT (extract(epoch FROM %s) * 1000000)::bigint FROM alk_schedule"
                            " WHERE name = '%s'",
                      column, name);
}

static void make_bad(struct scene *scene, const char *name) {
    sql(scene, "UPDATE alk_schedule SET spec = 'every now and then' WHERE name = '%s'", name);
}

/* S138, S139, S140: wherever the bad rows stand, first, last, several or all, they fire nothing,
 * are named, and the others fire. */
static void bad_rows_stop_nothing_wherever_they_are(struct scene *scene) {
    char name[16];

    for (unsigned bad = 1; bad < 1U << 4; bad++) {
        struct ticker ticker;
        for (unsigned i = 0; i < 4; i++) {
            snprintf(name, sizeof(name), "s%u.%u", i, bad);
            put(scene, name, "@every 10s");
            make_due(scene, name, 0);
            sql(scene, "UPDATE alk_schedule SET next_fire_at = %s WHERE name = '%s'",
                sql_time(scene, time_of(scene, name, "next_fire_at") - 4 + i), name);
            if ((bad & 1U << i) != 0)
                make_bad(scene, name);
        }
        ticker_start(scene, &ticker);
        ok(scene, ticker_tick(scene, &ticker));
        assert_int_equal(ticker.result.seen, 4);
        for (unsigned i = 0; i < 4; i++) {
            snprintf(name, sizeof(name), "s%u.%u", i, bad);
            bool is_bad = (bad & 1U << i) != 0;
            assert_int_equal(job_count(scene, name), is_bad ? 0 : 1);
            assert_int_equal(schedule_state(scene, name),
                             is_bad ? ALK_SCHEDULE_QUARANTINED : ALK_SCHEDULE_ACTIVE);
            assert_int_equal(record_count(ticker.record, "schedule quarantined", name), is_bad);
        }
        ok(scene, ticker_tick(scene, &ticker));
        assert_int_equal(ticker.result.seen, 0);
        ok(scene, alk_lease_release(scene->conn, &ticker.lease, &scene->error));
        ticker_end(&ticker);
        sql(scene, "DELETE FROM alk_schedule");
    }
}

/* S141: every kind of badness ends in quarantine with its reason, and the row beside it fires. */
static void every_kind_of_badness_is_put_aside(struct scene *scene) {
    static const struct {
        const char *change;
        const char *reason;
        bool is_sqlite_only;
    } kinds[] = {
        {"spec = 'nonsense'", "spec", false},
        {"spec = ''", "spec", false},
        {"spec = '@every 0s'", "spec", false},
        {"spec = '@every 999999999w'", "spec", false},
        {"spec = '0 0 31 2 *'", "spec", false},
        {"spec = NULL", "column 'spec'", false},
        {"zone = 'Nowhere/Land'", "zone", false},
        {"queue = NULL", "column 'queue'", false},
        {"queue = ''", "queue", false},
        {"payload = NULL", "column 'payload'", false},
        {"anchor_at = NULL", "column 'anchor_at'", false},
        {"version = NULL", "column 'version'", false},
        {"catchup_max = 0", "catchup_max", false},
        {"catchup_max = 100000", "catchup_max", false},
        {"quarantine_count = NULL", "column 'quarantine_count'", false},
        {"payload = 'hello'", "payload is not JSON", true},
        {"spec = x'00'", "column 'spec' holds a blob", true},
        {"name = CAST(x'ff' AS TEXT)", "column 'name' holds bytes that are not UTF-8", true},
        {"name = x'ff'", "column 'name' holds a blob", true},
        {"catchup_max = 'many'", "column 'catchup_max' holds text", true},
        {"anchor_at = 'then'", "column 'anchor_at' holds text", true},
        {"version = 'new'", "column 'version' holds text", true},
        {"fired_total = x'01'", "column 'fired_total' holds a blob", true},
        {"quarantine_count = 'x'", "column 'quarantine_count' holds text", true},
        {"next_fire_at = next_fire_at - 0.5", "column 'next_fire_at' holds", true},
        {"quarantined_at = 'x', quarantine_from = 'y'", "column 'quarantined_at'", true},
    };
    struct ticker ticker;

    drop_guards(scene);
    ticker_start(scene, &ticker);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        if (kinds[i].is_sqlite_only && scene->engine != ALK_ENGINE_SQLITE)
            continue;
        put(scene, "good", "@every 10s");
        put(scene, "bad", "@every 10s");
        make_due(scene, "bad", 10 * ALK__SECOND);
        make_due(scene, "good", 0);
        sql(scene, "UPDATE alk_schedule SET %s WHERE name = 'bad'", kinds[i].change);
        expect(scene, ALK_OK, ticker_tick(scene, &ticker));
        if (ticker.result.quarantined != 1)
            fail_msg("not put aside: %s", kinds[i].change);
        assert_int_equal(ticker.result.fired, 1);
        assert_int_equal(job_count(scene, "good"), 1);
        assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_job"), 1);
        assert_contains(record_last(ticker.record, "schedule quarantined")->detail,
                        kinds[i].reason);
        ok(scene, ticker_tick(scene, &ticker));
        assert_int_equal(ticker.result.seen, 0);
        assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_schedule WHERE"
                                           " quarantined_at IS NOT NULL AND last_error <> ''"),
                         1);
        sql(scene, "DELETE FROM alk_schedule; DELETE FROM alk_schedule_event; DELETE FROM alk_job");
    }
    ticker_end(&ticker);
}

/* S142: 60 s, twice that each time in a row, at most an hour; one warning each time, none in
 * between. */
static void quarantine_doubles_up_to_an_hour(struct scene *scene) {
    struct ticker ticker;
    int64_t span_us = 60 * ALK__SECOND;

    put(scene, "bad", "@every 10s");
    make_due(scene, "bad", 0);
    make_bad(scene, "bad");
    ticker_start(scene, &ticker);
    for (int i = 1; i <= 9; i++) {
        ok(scene, ticker_tick(scene, &ticker));
        assert_int_equal(ticker.result.quarantined, 1);
        const char *expression = "next_fire_at";
        int64_t rest_us = time_of(scene, "bad", expression) - scene_now(scene);
        assert_true(rest_us <= span_us && rest_us > span_us - 30 * ALK__SECOND);
        ok(scene, ticker_tick(scene, &ticker));
        assert_int_equal(ticker.result.seen, 0);
        assert_int_equal(record_count(ticker.record, "schedule quarantined", "bad"), i);
        assert_int_equal(schedule_number(scene, "bad", "quarantined_total"), i);
        scene_pass(scene, span_us + ALK__SECOND);
        span_us = 2 * span_us < ALK__HOUR ? 2 * span_us : ALK__HOUR;
    }
    ticker_end(&ticker);
}

/* S142: a row found good again goes on at the first boundary after now; what passed is one
 * missed line and fires nothing. */
static void a_row_found_good_again_resumes_like_a_paused_one(struct scene *scene) {
    struct ticker ticker;
    alk_schedule_history history;

    put(scene, "mended", "@every 10s");
    make_due(scene, "mended", 0);
    int64_t due_us = time_of(scene, "mended", "next_fire_at");
    make_bad(scene, "mended");
    ticker_start(scene, &ticker);
    ok(scene, ticker_tick(scene, &ticker));
    sql(scene, "UPDATE alk_schedule SET spec = '@every 10s'");
    scene_pass(scene, 65 * ALK__SECOND);
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(ticker.result.seen, 1);
    assert_int_equal(ticker.result.fired, 0);
    assert_int_equal(job_count(scene, "mended"), 0);
    assert_int_equal(schedule_state(scene, "mended"), ALK_SCHEDULE_ACTIVE);
    assert_int_equal(record_count(ticker.record, "schedule recovered", "mended"), 1);
    assert_int_equal(time_of(scene, "mended", "quarantined_at"), INT64_MIN);

    ok(scene, alk_schedule_history_get(scene->conn, "mended", 10, &history, &scene->error));
    assert_int_equal(history.count, 1);
    assert_string_equal(history.events[0].outcome, "missed");
    assert_in_range(history.events[0].count, 7, 9);
    int64_t moved_us = scene->engine == ALK_ENGINE_POSTGRES ? 65 * ALK__SECOND : 0;
    assert_int_equal(history.events[0].fire_at_us, due_us - moved_us);
    assert_int_equal(time_of(scene, "mended", "next_fire_at"),
                     history.events[0].to_us + 10 * ALK__SECOND);
    alk_schedule_history_free(&history);

    scene_pass(scene, 10 * ALK__SECOND);
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(job_count(scene, "mended"), 1);
    assert_int_equal(schedule_number(scene, "mended", "quarantine_count"), 0);
    ticker_end(&ticker);
}

/* S143: a list shows why and since when; put and change end it at once. */
static void put_and_change_end_a_quarantine_at_once(struct scene *scene) {
    alk_schedule schedule = ALK_SCHEDULE_INIT;
    struct ticker ticker;
    alk_schedule_list list;

    schedule.name = "bad";
    schedule.spec = "@every 10s";
    schedule.queue = "work";
    ticker_start(scene, &ticker);
    for (int i = 0; i < 3; i++) {
        put(scene, "bad", "@every 10s");
        make_due(scene, "bad", 0);
        if (i < 2)
            make_bad(scene, "bad");
        else /* the spec is good, only its payload was not */
            sql(scene,
                "UPDATE alk_schedule SET quarantined_at = next_fire_at, quarantine_count = 1,"
                " quarantine_from = next_fire_at, next_fire_at = %s, last_error = 'why'",
                sql_time(scene, scene_now(scene) + ALK__HOUR));
        ok(scene, ticker_tick(scene, &ticker));
        ok(scene, alk_schedule_list_get(scene->conn, NULL, 10, &list, &scene->error));
        assert_int_equal(list.schedules[0].state, ALK_SCHEDULE_QUARANTINED);
        assert_true(list.schedules[0].quarantined_at_us != NEVER);
        assert_int_equal(list.schedules[0].quarantine_count, 1);
        assert_string_not_equal(list.schedules[0].last_error, "");
        alk_schedule_list_free(&list);

        schedule.payload = "null";
        schedule.payload_length = 4;
        ok(scene, i == 0 ? alk_schedule_put(scene->conn, &schedule, &scene->error)
                         : alk_schedule_change(scene->conn, &schedule,
                                               i == 1 ? ALK_SCHEDULE_SPEC : ALK_SCHEDULE_PAYLOAD,
                                               &scene->error));
        ok(scene, alk_schedule_get(scene->conn, "bad", &list, &scene->error));
        assert_int_equal(list.schedules[0].state, ALK_SCHEDULE_ACTIVE);
        assert_int_equal(list.schedules[0].quarantine_count, 0);
        assert_string_equal(list.schedules[0].last_error, "");
        assert_true(list.schedules[0].next_fire_at_us <= scene_now(scene) + 10 * ALK__SECOND);
        assert_int_equal(list.schedules[0].missed_total, i == 2 ? 1 : 0);
        alk_schedule_list_free(&list);
        ok(scene, alk_schedule_remove(scene->conn, "bad", &scene->error));
    }
    ticker_end(&ticker);
}

/* ---- data errors (S144) ---- */

/* The database takes no job of priority 13. */
static void refuse_thirteen(struct scene *scene) {
    if (scene->engine == ALK_ENGINE_SQLITE)
        sql(scene, "CREATE TRIGGER thirteen BEFORE INSERT ON alk_job WHEN NEW.priority = 13"
                   " BEGIN SELECT RAISE(ABORT, 'no thirteen'); END");
    else
        sql(scene, "ALTER TABLE alk_job ADD CONSTRAINT no_thirteen CHECK (priority <> 13)");
}

static void make_many(struct scene *scene, int count) {
    char name[16];

    ok(scene, alk_begin(scene->conn, &scene->error));
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "s%03d", i);
        put(scene, name, "@every 1h");
    }
    ok(scene, alk_commit(scene->conn, &scene->error));
    int64_t due_us = scene_now(scene) / ALK__SECOND * ALK__SECOND;
    sql(scene, "UPDATE alk_schedule SET anchor_at = %s, next_fire_at = %s",
        sql_time(scene, due_us - ALK__HOUR), sql_time(scene, due_us));
}

/* S144: one refused job among 500 is found by halving, in about 20 tries, and only its schedule
 * is put aside. */
static void the_culprit_of_500_is_found_by_halves(struct scene *scene) {
    struct ticker ticker;
    struct faults faults;

    make_many(scene, 500);
    refuse_thirteen(scene);
    sql(scene, "UPDATE alk_schedule SET priority = 13 WHERE name = 's321'");
    ticker_start(scene, &ticker);
    faults_install(&faults, scene->store);
    ok(scene, ticker_tick(scene, &ticker));
    assert_in_range(faults_count(&faults, "job_enqueue"), 10, 24);
    faults_remove(&faults);
    assert_int_equal(ticker.result.fired, 499);
    assert_int_equal(ticker.result.quarantined, 1);
    assert_int_equal(record_count(ticker.record, "schedule quarantined", "s321"), 1);
    assert_contains(record_last(ticker.record, "schedule quarantined")->detail, "thirteen");
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_job"), 499);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_schedule_event"), 499);
    assert_int_equal(job_count(scene, "s321"), 0);
    assert_int_equal(schedule_state(scene, "s321"), ALK_SCHEDULE_QUARANTINED);
    ticker_end(&ticker);
}

/* S144: several culprits, side by side and apart, and one whose payload its queue does not take. */
static void several_culprits_are_found(struct scene *scene) {
    struct ticker ticker;

    make_many(scene, 32);
    refuse_thirteen(scene);
    sql(scene,
        "UPDATE alk_schedule SET priority = 13 WHERE name IN ('s000', 's007', 's008', 's031');"
        "UPDATE alk_schedule SET queue = 'small' WHERE name = 's020';"
        "INSERT INTO alk_queue (name, payload_bytes) VALUES ('small', 2)");
    ticker_start(scene, &ticker);
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(ticker.result.fired, 27);
    assert_int_equal(ticker.result.quarantined, 5);
    assert_int_equal(schedule_state(scene, "s020"), ALK_SCHEDULE_QUARANTINED);
    assert_int_equal(schedule_state(scene, "s031"), ALK_SCHEDULE_QUARANTINED);
    ticker_end(&ticker);
}

/* S142, S144: a schedule whose jobs are refused at every boundary is tried less and less often,
 * until one is taken. */
static void refused_at_each_boundary_it_is_tried_ever_less_often(struct scene *scene) {
    struct ticker ticker;

    make_many(scene, 1);
    refuse_thirteen(scene);
    sql(scene, "UPDATE alk_schedule SET priority = 13, spec = '@every 10s'");
    ticker_start(scene, &ticker);
    for (int i = 1; i <= 3; i++) {
        ok(scene, ticker_tick(scene, &ticker));
        assert_int_equal(ticker.result.quarantined, 1);
        assert_int_equal(schedule_number(scene, "s000", "quarantine_count"), i);
        scene_pass(scene, (60 << (i - 1)) * ALK__SECOND + ALK__SECOND);
        ok(scene, ticker_tick(scene, &ticker)); /* its spec is good */
        assert_int_equal(schedule_state(scene, "s000"), ALK_SCHEDULE_ACTIVE);
        scene_pass(scene, 10 * ALK__SECOND);
    }
    sql(scene, "UPDATE alk_schedule SET priority = 12");
    ok(scene, ticker_tick(scene, &ticker));
    assert_in_range(ticker.result.fired, 1, 2);
    assert_int_equal(schedule_number(scene, "s000", "quarantine_count"), 0);
    ticker_end(&ticker);
}

/* S144: what is wrong with the connection or the server is no schedule's fault. */
static void an_error_of_the_server_is_no_schedules_fault(struct scene *scene) {
    static const alk_status errors[] = {ALK_AGAIN, ALK_FAILED, ALK_NOMEM};
    static const char *const steps[] = {"tick_fired", "job_enqueue", "tick_ledger", "tick_advance"};
    struct ticker ticker;
    struct faults faults;

    make_many(scene, 3);
    ticker_start(scene, &ticker);
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < 4; k++) {
            faults_install(&faults, scene->store);
            faults_add(&faults, steps[k], 1, ALK__BEFORE, errors[i]);
            expect(scene, errors[i], ticker_tick(scene, &ticker));
            assert_int_equal(faults_happened(&faults), 1);
            faults_remove(&faults);
            assert_int_equal(scene->error.phase, k < 3 ? ALK_PHASE_ENQUEUE : ALK_PHASE_ADVANCE);
        }
    }
    assert_int_equal(sql_number(scene, "SELECT sum(quarantined_total) FROM alk_schedule"), 0);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_job"), 0);
    ticker_end(&ticker);
}

/* S144, S218: no memory, wherever it ends, is no schedule's fault either, and nothing is left
 * half done. */
static void no_memory_puts_nothing_aside(struct scene *scene) {
    struct ticker ticker;
    alk_status status = ALK_NOMEM;
    int failed = 0;

    put(scene, "often", "@every 10s");
    make_due(scene, "often", 0);
    ticker_start(scene, &ticker);
    for (long n = 1; status == ALK_NOMEM; n++) {
        assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_job"), 0);
        alk__specs_free(ticker.specs);
        ok(scene, alk__specs_new(8, &ticker.specs, &scene->error));
        ticker.options.specs = ticker.specs;
        alk__alloc_fail_at(n);
        status = ticker_tick(scene, &ticker);
        alk__alloc_fail_at(0);
        failed += status == ALK_NOMEM;
    }
    assert_int_equal(status, ALK_OK);
    assert_in_range(failed, 8, 1000);
    assert_int_equal(job_count(scene, "often"), 1);
    assert_int_equal(schedule_number(scene, "often", "quarantined_total"), 0);
    ticker_end(&ticker);
}

/* S145: a next_fire_at that would never be due is found, named, and the schedule goes on; what
 * passed is a missed line. */
static void a_time_that_never_comes_is_found(struct scene *scene) {
    static const char *const sqlite_times[] = {"NULL", "7258118400000000", "'soon'", "x'00'"};
    static const char *const postgres_times[] = {"NULL", "'2200-01-01T00:00:00Z'", "'infinity'"};
    bool is_sqlite = scene->engine == ALK_ENGINE_SQLITE;
    struct ticker ticker;

    drop_guards(scene);
    ticker_start(scene, &ticker);
    for (size_t i = 0; i < (is_sqlite ? 4 : 3); i++) {
        size_t count = 9;
        put(scene, "lost", "@every 10s");
        put(scene, "fine", "@every 10s");
        put(scene, "paused", "@every 10s");
        make_due(scene, "lost", 30 * ALK__SECOND);
        int64_t due_us = time_of(scene, "lost", "next_fire_at");
        sql(scene,
            "UPDATE alk_schedule SET next_fire_at = %s, last_fire_at = %s WHERE name = 'lost'",
            is_sqlite ? sqlite_times[i] : postgres_times[i],
            sql_time(scene, due_us - 10 * ALK__SECOND));
        sql(scene, "UPDATE alk_schedule SET next_fire_at = NULL, done_at = created_at"
                   " WHERE name = 'paused'");
        ok(scene, alk__tick_repair(scene->conn, &ticker.reporter, &count, &scene->error));
        assert_int_equal(count, 1);
        assert_string_equal(record_last(ticker.record, "schedule quarantined")->subject, "lost");
        assert_int_equal(schedule_state(scene, "lost"), ALK_SCHEDULE_QUARANTINED);
        ok(scene, ticker_tick(scene, &ticker));
        assert_int_equal(job_count(scene, "lost"), 0);
        assert_int_equal(schedule_state(scene, "lost"), ALK_SCHEDULE_ACTIVE);
        assert_in_range(schedule_number(scene, "lost", "missed_total"), 4, 6);
        ok(scene, alk__tick_repair(scene->conn, &ticker.reporter, &count, &scene->error));
        assert_int_equal(count, 0);
        sql(scene, "DELETE FROM alk_schedule; DELETE FROM alk_schedule_event");
    }
    ticker_end(&ticker);
}

/* schedules.md, part 8: a row of a newer version is not touched, whatever its next_fire_at says. */
static void a_newer_versions_row_is_left_alone(struct scene *scene) {
    struct ticker ticker;
    size_t count = 9;

    put(scene, "newer", "@every 10s");
    sql(scene, "UPDATE alk_schedule SET next_fire_at = NULL, spec_version = 2");
    ticker_start(scene, &ticker);
    ok(scene, alk__tick_repair(scene->conn, &ticker.reporter, &count, &scene->error));
    assert_int_equal(count, 0);
    assert_int_equal(schedule_number(scene, "newer", "quarantined_total"), 0);
    ticker_end(&ticker);
}

/* S138, S145: counters at their ends, and a last fire at the end of time, keep no row from being
 * put aside. */
static void counters_at_their_ends_stop_nothing(struct scene *scene) {
    bool is_sqlite = scene->engine == ALK_ENGINE_SQLITE;
    struct ticker ticker;
    size_t count = 9;

    put(scene, "bad", "@every 10s");
    put(scene, "good", "@every 10s");
    make_due(scene, "bad", 0);
    make_due(scene, "good", 0);
    make_bad(scene, "bad");
    sql(scene,
        "UPDATE alk_schedule SET quarantine_count = %s, quarantined_total = 9223372036854775807,"
        " last_fire_at = %s WHERE name = 'bad'",
        is_sqlite ? "9223372036854775807" : "2147483647",
        is_sqlite ? "9223372036854775807" : "'294276-12-31T23:59:59.9Z'");
    ticker_start(scene, &ticker);
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(ticker.result.quarantined, 1);
    assert_int_equal(job_count(scene, "good"), 1);
    assert_int_equal(schedule_state(scene, "bad"), ALK_SCHEDULE_QUARANTINED);
    sql(scene, "UPDATE alk_schedule SET next_fire_at = NULL, quarantine_from = NULL"
               " WHERE name = 'bad'");
    ok(scene, alk__tick_repair(scene->conn, &ticker.reporter, &count, &scene->error));
    assert_int_equal(count, 1);
    ticker_end(&ticker);
}

/* S145: times far in the past, before there was a clock, are nothing but due. */
static void a_time_before_all_times_is_due(struct scene *scene) {
    struct ticker ticker;

    put(scene, "old", "@every 10s");
    sql(scene, scene->engine == ALK_ENGINE_SQLITE
                   ? "UPDATE alk_schedule SET next_fire_at = -9223372036854775807"
                   : "UPDATE alk_schedule SET next_fire_at = '4700-01-01 BC'");
    ticker_start(scene, &ticker);
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(ticker.result.seen, 1);
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(ticker.result.seen, 0);
    if (scene->engine == ALK_ENGINE_POSTGRES) {
        sql(scene, "UPDATE alk_schedule SET next_fire_at = '-infinity'");
        ok(scene, ticker_tick(scene, &ticker));
        assert_int_equal(ticker.result.seen, 1);
        assert_true(time_of(scene, "old", "next_fire_at") > scene_now(scene));
    }
    ticker_end(&ticker);
}

/* S146: a bad row that cannot even be put aside fails the tick, which names it; nothing of the
 * tick stays. */
static void a_row_that_cannot_be_put_aside_fails_the_tick(struct scene *scene) {
    struct ticker ticker;

    put(scene, "bad", "@every 10s");
    put(scene, "good", "@every 10s");
    make_due(scene, "bad", 0);
    make_due(scene, "good", 0);
    make_bad(scene, "bad");
    if (scene->engine == ALK_ENGINE_SQLITE)
        sql(scene, "CREATE TRIGGER stuck BEFORE UPDATE ON alk_schedule WHEN OLD.name = 'bad'"
                   " BEGIN SELECT RAISE(ABORT, 'stuck'); END");
    else
        sql(scene, "ALTER TABLE alk_schedule ADD CONSTRAINT stuck CHECK"
                   " (name <> 'bad' OR quarantined_at IS NULL)");
    ticker_start(scene, &ticker);
    expect(scene, ALK_DATA, ticker_tick(scene, &ticker));
    assert_string_equal(scene->error.subject, "bad");
    assert_int_equal(scene->error.phase, ALK_PHASE_ADVANCE);
    assert_contains(scene->error.message, "tick: advance 'bad': ");
    assert_contains(scene->error.message, "stuck");
    assert_int_equal(job_count(scene, "good"), 0);
    assert_int_equal(record_count(ticker.record, "schedule quarantined", NULL), 0);
    ticker_end(&ticker);
}

static const struct scene_test tests[] = {
    BOTH(bad_rows_stop_nothing_wherever_they_are),
    BOTH(every_kind_of_badness_is_put_aside),
    BOTH(quarantine_doubles_up_to_an_hour),
    BOTH(a_row_found_good_again_resumes_like_a_paused_one),
    BOTH(put_and_change_end_a_quarantine_at_once),
    BOTH(the_culprit_of_500_is_found_by_halves),
    BOTH(several_culprits_are_found),
    BOTH(refused_at_each_boundary_it_is_tried_ever_less_often),
    BOTH(an_error_of_the_server_is_no_schedules_fault),
    SQLITE(no_memory_puts_nothing_aside),
    BOTH(a_time_that_never_comes_is_found),
    BOTH(a_newer_versions_row_is_left_alone),
    BOTH(counters_at_their_ends_stop_nothing),
    BOTH(a_time_before_all_times_is_due),
    BOTH(a_row_that_cannot_be_put_aside_fails_the_tick),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
