/* core/schedule: put, change, remove, pause, resume, fire, list and history, as their callers
 * see them. */
#include "support/fault.h"
#include "support/schedules.h"

static alk_schedule schedule_of(const char *name, const char *spec) {
    alk_schedule schedule = ALK_SCHEDULE_INIT;

    schedule.name = name;
    schedule.spec = spec;
    schedule.queue = "work";
    return schedule;
}

static alk_schedule_row row_of(struct scene *scene, const char *name, alk_schedule_list *list) {
    ok(scene, alk_schedule_get(scene->conn, name, list, &scene->error));
    assert_int_equal(list->count, 1);
    return list->schedules[0];
}

/* S111: a schedule is a row with name, spec and next_fire_at, and its name is its own. */
static void a_schedule_is_a_row_with_a_name_of_its_own(struct scene *scene) {
    alk_schedule_list list;

    put(scene, "nightly", "0 3 * * *");
    put(scene, "hourly", "@hourly");
    alk_schedule_row row = row_of(scene, "nightly", &list);
    assert_string_equal(row.spec, "0 3 * * *");
    assert_string_equal(row.payload, "\"nightly\"");
    assert_string_equal(row.queue, "work");
    assert_string_equal(row.zone, "");
    assert_int_equal(row.state, ALK_SCHEDULE_ACTIVE);
    assert_int_equal(row.next_fire_at_us % ALK__DAY, 3 * ALK__HOUR);
    assert_int_equal(row.last_fire_at_us, NEVER);
    assert_int_equal(row.catchup_max, 64);
    alk_schedule_list_free(&list);

    alk_schedule other = schedule_of("nightly", "0 4 * * *");
    ok(scene, alk_schedule_put(scene->conn, &other, &scene->error));
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_schedule"), 2);
}

/* S112: a spec that is refused stores nothing, and the error names the schedule. */
static void a_bad_spec_stores_nothing_and_names_the_schedule(struct scene *scene) {
    static const char *const bad[] = {"60 * * * *", "",           "@every 0s",
                                      "0 0 31 2 *", "@every -1s", "nonsense"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        alk_schedule schedule = schedule_of("nightly", bad[i]);
        expect(scene, ALK_INVALID, alk_schedule_put(scene->conn, &schedule, &scene->error));
        assert_contains(scene->error.message, "schedule 'nightly'");
        assert_string_equal(scene->error.subject, "nightly");
    }
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_schedule"), 0);

    put(scene, "nightly", "0 3 * * *");
    alk_schedule schedule = schedule_of("nightly", "60 * * * *");
    expect(scene, ALK_INVALID, alk_schedule_put(scene->conn, &schedule, &scene->error));
    expect(scene, ALK_INVALID,
           alk_schedule_change(scene->conn, &schedule, ALK_SCHEDULE_SPEC, &scene->error));
    assert_string_equal(sql_text(scene, "SELECT spec FROM alk_schedule"), "0 3 * * *");
}

/* S112: every other field is looked at too, and a caller's transaction is usable afterwards. */
static void a_refused_field_leaves_the_transaction_usable(struct scene *scene) {
    alk_schedule bad[7];

    for (size_t i = 0; i < 7; i++)
        bad[i] = schedule_of("nightly", "@daily");
    bad[0].queue = "";
    bad[1].payload = "{";
    bad[1].payload_length = 1;
    bad[2].priority = 32768;
    bad[3].max_attempts = -1;
    bad[4].expires_us = 0;
    bad[5].catchup_max = 1001;
    bad[6].zone = "Nowhere/Land";
    ok(scene, alk_begin(scene->conn, &scene->error));
    for (size_t i = 0; i < 7; i++)
        expect(scene, ALK_INVALID, alk_schedule_put(scene->conn, &bad[i], &scene->error));
    bad[0] = schedule_of("", "@daily");
    expect(scene, ALK_INVALID, alk_schedule_put(scene->conn, &bad[0], &scene->error));
    put(scene, "nightly", "@daily");
    ok(scene, alk_commit(scene->conn, &scene->error));
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_schedule"), 1);
}

/* S113: the first boundary is later than the database's clock, also when a boundary is this very
 * second. */
static void the_first_fire_is_later_than_now(struct scene *scene) {
    for (int i = 0; i < 3; i++) {
        int64_t now_us = scene_now(scene);
        put(scene, i == 0 ? "a" : i == 1 ? "b" : "c", "* * * * * *");
        int64_t next = sql_number(scene, scene->engine == ALK_ENGINE_SQLITE
                                             ? "SELECT min(next_fire_at) FROM alk_schedule"
                                             : "SELECT (extract(epoch FROM max(next_fire_at)) * "
                                               "1000000)::bigint FROM alk_schedule");
        assert_true(next > now_us);
        assert_int_equal(next % ALK__SECOND, 0);
    }
}

/* S114: a service that states its schedules at each start, every 50 minutes, does not stop an
 * hourly one. */
static void stating_it_again_leaves_its_timing_alone(struct scene *scene) {
    alk_schedule_list list;
    alk_schedule schedule = schedule_of("hourly", "@every 1h");

    ok(scene, alk_schedule_put(scene->conn, &schedule, &scene->error));
    int64_t first_us = row_of(scene, "hourly", &list).next_fire_at_us;
    alk_schedule_list_free(&list);
    for (int i = 1; i <= 6; i++) {
        scene_pass(scene, 50 * ALK__MINUTE);
        expect(scene, ALK_UNCHANGED, alk_schedule_put(scene->conn, &schedule, &scene->error));
    }
    int64_t moved_us = scene->engine == ALK_ENGINE_POSTGRES ? 300 * ALK__MINUTE : 0;
    assert_int_equal(row_of(scene, "hourly", &list).next_fire_at_us, first_us - moved_us);
    alk_schedule_list_free(&list);
}

/* S114: another payload moves nothing; another spec starts anew from now, on the old grid. */
static void only_another_spec_moves_the_next_fire(struct scene *scene) {
    alk_schedule_list list;
    alk_schedule schedule = schedule_of("hourly", "@every 1h");

    ok(scene, alk_schedule_put(scene->conn, &schedule, &scene->error));
    alk_schedule_row before = row_of(scene, "hourly", &list);
    alk_schedule_list_free(&list);
    schedule.payload = "[1]";
    schedule.payload_length = 3;
    ok(scene, alk_schedule_put(scene->conn, &schedule, &scene->error));
    alk_schedule_row after = row_of(scene, "hourly", &list);
    assert_int_equal(after.next_fire_at_us, before.next_fire_at_us);
    assert_string_equal(after.payload, "[1]");
    alk_schedule_list_free(&list);

    schedule.spec = "@every 10m";
    ok(scene, alk_schedule_put(scene->conn, &schedule, &scene->error));
    after = row_of(scene, "hourly", &list);
    assert_int_equal(after.anchor_at_us, before.anchor_at_us);
    assert_int_equal(after.next_fire_at_us, before.anchor_at_us + 10 * ALK__MINUTE);
    alk_schedule_list_free(&list);
}

/* S115: put states the whole; change sets the named fields, null too, and nothing else. */
static void change_sets_only_the_named_fields(struct scene *scene) {
    alk_schedule_list list;
    alk_schedule schedule = schedule_of("nightly", "@daily");

    schedule.priority = 7;
    schedule.max_attempts = 3;
    schedule.expires_us = ALK__HOUR;
    schedule.catchup_max = 5;
    ok(scene, alk_schedule_put(scene->conn, &schedule, &scene->error));

    alk_schedule change = ALK_SCHEDULE_INIT;
    change.name = "nightly";
    change.priority = -7;
    ok(scene, alk_schedule_change(scene->conn, &change, ALK_SCHEDULE_PRIORITY, &scene->error));
    alk_schedule_row row = row_of(scene, "nightly", &list);
    assert_int_equal(row.priority, -7);
    assert_int_equal(row.max_attempts, 3);
    assert_int_equal(row.expires_us, ALK__HOUR);
    assert_int_equal(row.catchup_max, 5);
    assert_string_equal(row.spec, "@daily");
    alk_schedule_list_free(&list);

    ok(scene, alk_schedule_change(scene->conn, &change,
                                  ALK_SCHEDULE_EXPIRES | ALK_SCHEDULE_MAX_ATTEMPTS, &scene->error));
    row = row_of(scene, "nightly", &list);
    assert_int_equal(row.expires_us, NEVER);
    assert_int_equal(row.max_attempts, 0);
    assert_int_equal(row.priority, -7);
    alk_schedule_list_free(&list);

    ok(scene, alk_schedule_put(scene->conn, &schedule, &scene->error));
    row = row_of(scene, "nightly", &list);
    assert_int_equal(row.priority, 7);
    assert_int_equal(row.expires_us, ALK__HOUR);
    alk_schedule_list_free(&list);
}

/* S115: where there is nothing to change nothing is written. */
static void nothing_to_change_writes_nothing(struct scene *scene) {
    alk_schedule schedule = schedule_of("nightly", "@daily");
    struct faults faults;

    ok(scene, alk_schedule_put(scene->conn, &schedule, &scene->error));
    int64_t version = schedule_number(scene, "nightly", "version");
    faults_install(&faults, scene->store);
    expect(scene, ALK_UNCHANGED, alk_schedule_put(scene->conn, &schedule, &scene->error));
    expect(scene, ALK_UNCHANGED,
           alk_schedule_change(scene->conn, &schedule, ALK_SCHEDULE_SPEC | ALK_SCHEDULE_QUEUE,
                               &scene->error));
    expect(scene, ALK_UNCHANGED, alk_schedule_change(scene->conn, &schedule, 0, &scene->error));
    assert_int_equal(faults_count(&faults, "schedule_update"), 0);
    faults_remove(&faults);
    assert_int_equal(schedule_number(scene, "nightly", "version"), version);

    schedule.name = "other";
    expect(scene, ALK_ABSENT,
           alk_schedule_change(scene->conn, &schedule, ALK_SCHEDULE_QUEUE, &scene->error));
}

/* S31, S115: what a rolled-back transaction did to a schedule never was. */
static void a_rolled_back_put_never_was(struct scene *scene) {
    put(scene, "nightly", "@daily");
    ok(scene, alk_begin(scene->conn, &scene->error));
    put(scene, "hourly", "@hourly");
    put(scene, "nightly", "@weekly");
    alk_rollback(scene->conn);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_schedule"), 1);
    assert_string_equal(sql_text(scene, "SELECT spec FROM alk_schedule"), "@daily");
}

/* S116: pause, resume, remove, list and get do what they say, once. */
static void pause_resume_remove_list_and_get(struct scene *scene) {
    alk_schedule_list list;

    put(scene, "b", "@daily");
    put(scene, "a", "@daily");
    put(scene, "B", "@daily");
    ok(scene, alk_schedule_pause(scene->conn, "b", &scene->error));
    expect(scene, ALK_UNCHANGED, alk_schedule_pause(scene->conn, "b", &scene->error));
    assert_int_equal(schedule_state(scene, "b"), ALK_SCHEDULE_PAUSED);

    ok(scene, alk_schedule_list_get(scene->conn, NULL, 10, &list, &scene->error));
    assert_int_equal(list.count, 3);
    assert_string_equal(list.schedules[0].name, "B"); /* by bytes, on both engines */
    assert_string_equal(list.schedules[1].name, "a");
    assert_int_equal(list.schedules[2].state, ALK_SCHEDULE_PAUSED);
    alk_schedule_list_free(&list);
    ok(scene, alk_schedule_list_get(scene->conn, "a", 1, &list, &scene->error));
    assert_int_equal(list.count, 1);
    assert_string_equal(list.schedules[0].name, "b");
    alk_schedule_list_free(&list);
    expect(scene, ALK_INVALID, alk_schedule_list_get(scene->conn, NULL, 0, &list, &scene->error));

    ok(scene, alk_schedule_resume(scene->conn, "b", NULL, &scene->error));
    expect(scene, ALK_UNCHANGED, alk_schedule_resume(scene->conn, "b", NULL, &scene->error));
    assert_int_equal(schedule_state(scene, "b"), ALK_SCHEDULE_ACTIVE);
    ok(scene, alk_schedule_remove(scene->conn, "b", &scene->error));
    expect(scene, ALK_ABSENT, alk_schedule_remove(scene->conn, "b", &scene->error));
    expect(scene, ALK_ABSENT, alk_schedule_get(scene->conn, "b", &list, &scene->error));
    expect(scene, ALK_ABSENT, alk_schedule_pause(scene->conn, "b", &scene->error));
    expect(scene, ALK_ABSENT, alk_schedule_resume(scene->conn, "b", NULL, &scene->error));
}

/* S117: what passed during a pause is one missed line, and the next fire is the first boundary
 * after now. */
static void a_resume_counts_what_passed_and_fires_none_of_it(struct scene *scene) {
    alk_schedule_history history;
    struct ticker ticker;

    put(scene, "often", "@every 10m");
    ok(scene, alk_schedule_pause(scene->conn, "often", &scene->error));
    scene_pass(scene, 65 * ALK__MINUTE);
    ok(scene, alk_schedule_resume(scene->conn, "often", NULL, &scene->error));
    assert_int_equal(schedule_number(scene, "often", "missed_total"), 6);
    ok(scene, alk_schedule_history_get(scene->conn, "often", 10, &history, &scene->error));
    assert_int_equal(history.count, 1);
    assert_string_equal(history.events[0].outcome, "missed");
    assert_int_equal(history.events[0].count, 6);
    assert_int_equal(history.events[0].to_us - history.events[0].fire_at_us, 50 * ALK__MINUTE);
    alk_schedule_history_free(&history);

    ticker_start(scene, &ticker);
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(job_count(scene, "often"), 0);
    scene_pass(scene, 5 * ALK__MINUTE);
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(job_count(scene, "often"), 1);
    ticker_end(&ticker);
}

/* S120: a run asked for by hand is one job and one line, and moves nothing; also when it is
 * paused or quarantined. */
static void a_run_by_hand_moves_nothing(struct scene *scene) {
    alk_job_list jobs;
    alk_schedule_history history;
    int64_t id = 0;

    put(scene, "nightly", "@daily");
    int64_t due = sql_number(scene, "SELECT version FROM alk_schedule");
    const char *next = sql_text(scene, "SELECT next_fire_at FROM alk_schedule");
    char before[64];
    snprintf(before, sizeof(before), "%s", next);
    ok(scene, alk_schedule_fire(scene->conn, "nightly", NULL, &id, &scene->error));
    ok(scene, alk_schedule_pause(scene->conn, "nightly", &scene->error));
    ok(scene, alk_schedule_fire(scene->conn, "nightly", NULL, NULL, &scene->error));
    sql(scene, "UPDATE alk_schedule SET paused_at = NULL, quarantined_at = created_at");
    ok(scene, alk_schedule_fire(scene->conn, "nightly", NULL, NULL, &scene->error));
    assert_int_equal(job_count(scene, "nightly"), 3);
    assert_int_equal(ledger_count(scene, "nightly", "manual"), 3);
    assert_string_equal(sql_text(scene, "SELECT next_fire_at FROM alk_schedule"), before);
    assert_int_equal(sql_number(scene, "SELECT version FROM alk_schedule"), due + 1);

    ok(scene, alk_job_get(scene->conn, id, &jobs, &scene->error));
    assert_string_equal(jobs.jobs[0].payload, "\"nightly\"");
    assert_string_equal(jobs.jobs[0].headers, "{\"schedule\":\"nightly\"}");
    assert_int_equal(jobs.jobs[0].fire_at_us, NEVER);
    alk_job_list_free(&jobs);
    ok(scene, alk_schedule_history_get(scene->conn, "nightly", 10, &history, &scene->error));
    assert_int_equal(history.events[2].job_id, id);
    alk_schedule_history_free(&history);
    expect(scene, ALK_ABSENT, alk_schedule_fire(scene->conn, "other", NULL, NULL, &scene->error));
}

/* S120: while a run by hand is not committed, a tick of the same schedule does not wait for it. */
static void a_run_by_hand_holds_up_no_tick(struct scene *scene) {
    struct ticker ticker;
    alk_store *store;
    alk_conn *other;

    put(scene, "often", "@every 10s");
    make_due(scene, "often", 0);
    ticker_start(scene, &ticker);
    ok(scene, scene_open(scene, NULL, &store));
    ok(scene, alk_conn_get(store, &other, &scene->error));
    ok(scene, alk_begin(other, &scene->error));
    ok(scene, alk_schedule_fire(other, "often", NULL, NULL, &scene->error));
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(ticker.result.fired, 1);
    ok(scene, alk_commit(other, &scene->error));
    alk_conn_put(other);
    alk_close(store);
    assert_int_equal(job_count(scene, "often"), 2);
    ticker_end(&ticker);
}

/* S116: its history goes with a schedule, its jobs stay; one of the same name later is another. */
static void a_removed_schedule_takes_its_history_along(struct scene *scene) {
    put(scene, "nightly", "@daily");
    put(scene, "other", "@daily");
    ok(scene, alk_schedule_fire(scene->conn, "nightly", NULL, NULL, &scene->error));
    ok(scene, alk_schedule_fire(scene->conn, "other", NULL, NULL, &scene->error));
    int64_t id = schedule_number(scene, "nightly", "id");
    ok(scene, alk_schedule_remove(scene->conn, "nightly", &scene->error));
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_schedule_event"), 1);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_job"), 2);
    put(scene, "nightly", "@daily");
    assert_true(schedule_number(scene, "nightly", "id") > id);
    assert_int_equal(ledger_count(scene, "nightly", "manual"), 0);
}

/* The stored zone counts, and a spec with H keeps the numbers it was stored with. */
static void zone_and_name_are_part_of_the_spec(struct scene *scene) {
    alk_schedule schedule = schedule_of("report-7", "H H * * *");

    ok(scene, alk_schedule_put(scene->conn, &schedule, &scene->error));
    assert_string_equal(sql_text(scene, "SELECT spec_resolved FROM alk_schedule"), "50 7 * * *");
    assert_string_equal(sql_text(scene, "SELECT spec_resolved_from FROM alk_schedule"),
                        "H H * * *");
    schedule.spec = "0 6 * * *";
    schedule.zone = "Asia/Tokyo";
    ok(scene, alk_schedule_put(scene->conn, &schedule, &scene->error));
    assert_string_equal(sql_text(scene, "SELECT zone FROM alk_schedule"), "Asia/Tokyo");
    assert_string_equal(sql_text(scene, "SELECT coalesce(spec_resolved, 'none') FROM alk_schedule"),
                        "none");
    alk_schedule_list list;
    assert_int_equal(row_of(scene, "report-7", &list).next_fire_at_us % ALK__DAY, 21 * ALK__HOUR);
    alk_schedule_list_free(&list);
}

/* S9, S143: get names table and id of a row that cannot be read, a list shows it, and put, which
 * states the whole, mends it. */
static void put_mends_a_row_that_cannot_be_read(struct scene *scene) {
    alk_schedule_list list;
    alk_schedule schedule = schedule_of("b", "@daily");

    put(scene, "a", "@daily");
    put(scene, "b", "@daily");
    if (scene->engine == ALK_ENGINE_POSTGRES)
        sql(scene, "ALTER TABLE alk_schedule ALTER COLUMN spec DROP NOT NULL;"
                   "UPDATE alk_schedule SET spec = NULL WHERE name = 'b'");
    else
        sql(scene, "UPDATE alk_schedule SET spec = CAST(x'ff' AS TEXT) WHERE name = 'b'");
    expect(scene, ALK_UNREADABLE, alk_schedule_get(scene->conn, "b", &list, &scene->error));
    assert_contains(scene->error.message, "row 2 of table schedule");
    ok(scene, alk_schedule_list_get(scene->conn, NULL, 10, &list, &scene->error));
    assert_int_equal(list.count, 2);
    assert_null(list.schedules[0].unreadable);
    assert_contains(list.schedules[1].unreadable, "spec");
    alk_schedule_list_free(&list);
    expect(scene, ALK_UNREADABLE,
           alk_schedule_change(scene->conn, &schedule, ALK_SCHEDULE_QUEUE, &scene->error));
    expect(scene, ALK_UNREADABLE, alk_schedule_fire(scene->conn, "b", NULL, NULL, &scene->error));
    ok(scene, alk_schedule_put(scene->conn, &schedule, &scene->error));
    assert_int_equal(schedule_state(scene, "b"), ALK_SCHEDULE_ACTIVE);
}

/* S108, S114: a one-shot that has fired may be stated again; one in the past is refused. */
static void a_one_shot_in_the_past_is_refused_and_a_done_one_is_not(struct scene *scene) {
    alk_schedule schedule = schedule_of("once", "@at 2020-01-01T00:00:00Z");

    expect(scene, ALK_INVALID, alk_schedule_put(scene->conn, &schedule, &scene->error));
    assert_contains(scene->error.message, "no boundary after now");
    schedule.spec = "@at 2100-01-01T00:00:00Z";
    ok(scene, alk_schedule_put(scene->conn, &schedule, &scene->error));
    sql(scene, "UPDATE alk_schedule SET done_at = created_at, next_fire_at = NULL");
    expect(scene, ALK_UNCHANGED, alk_schedule_put(scene->conn, &schedule, &scene->error));
    assert_int_equal(schedule_state(scene, "once"), ALK_SCHEDULE_DONE);
    schedule.spec = "@at 2101-01-01T00:00:00Z";
    ok(scene, alk_schedule_put(scene->conn, &schedule, &scene->error));
    assert_int_equal(schedule_state(scene, "once"), ALK_SCHEDULE_ACTIVE);
}

/* S218: whichever allocation fails, the answer is an error and the row is as it was. */
static void no_memory_is_an_error_at_every_place(struct scene *scene) {
    alk_schedule schedule = schedule_of("nightly", "@daily");
    alk_status status = ALK_NOMEM;

    if (scene->engine != ALK_ENGINE_SQLITE)
        return;
    for (long n = 1; status == ALK_NOMEM; n++) {
        assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_schedule"), 0);
        assert_true(n < 1000);
        alk__alloc_fail_at(n);
        status = alk_schedule_put(scene->conn, &schedule, &scene->error);
        alk__alloc_fail_at(0);
    }
    assert_int_equal(status, ALK_OK);
}

static const struct scene_test tests[] = {
    BOTH(a_schedule_is_a_row_with_a_name_of_its_own),
    BOTH(a_bad_spec_stores_nothing_and_names_the_schedule),
    BOTH(a_refused_field_leaves_the_transaction_usable),
    BOTH(the_first_fire_is_later_than_now),
    BOTH(stating_it_again_leaves_its_timing_alone),
    BOTH(only_another_spec_moves_the_next_fire),
    BOTH(change_sets_only_the_named_fields),
    BOTH(nothing_to_change_writes_nothing),
    BOTH(a_rolled_back_put_never_was),
    BOTH(pause_resume_remove_list_and_get),
    BOTH(a_resume_counts_what_passed_and_fires_none_of_it),
    BOTH(a_run_by_hand_moves_nothing),
    POSTGRES(a_run_by_hand_holds_up_no_tick),
    BOTH(a_removed_schedule_takes_its_history_along),
    BOTH(zone_and_name_are_part_of_the_spec),
    BOTH(put_mends_a_row_that_cannot_be_read),
    BOTH(a_one_shot_in_the_past_is_refused_and_a_done_one_is_not),
    SQLITE(no_memory_is_an_error_at_every_place),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
