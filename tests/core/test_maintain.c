/* core/maintain: what happens to a store by itself. */
#include "core/maintain.h"

#include "support/fault.h"
#include "support/jobs.h"

static struct alk__maintain_result maintain(struct scene *scene) {
    struct alk__maintain_result result;

    ok(scene, alk__maintain_step(scene->conn, "host/1", &result, &scene->error));
    return result;
}

static int64_t put_expiring(struct scene *scene, const char *queue, int64_t expires_us) {
    alk_enqueue_options options = ALK_ENQUEUE_OPTIONS_INIT;
    int64_t id;

    options.expires_us = expires_us;
    ok(scene, alk_enqueue(scene->conn, queue, "1", 1, &options, &id, &scene->error));
    return id;
}

/* S209: with nothing to do no lease is taken and nothing is written. */
static void with_nothing_to_do_nothing_is_written(struct scene *scene) {
    struct faults faults;

    put_jobs(scene, "mail", 10);
    take_one(scene, "mail", "w");
    put_expiring(scene, "mail", ALK__HOUR);
    settle_one(scene, take_one(scene, "mail", "w"), ALK_DONE);
    settle_one(scene, take_one(scene, "mail", "w"), ALK_DEAD);
    faults_install(&faults, scene->store);
    struct alk__maintain_result result = maintain(scene);
    assert_int_equal(faults_count(&faults, "lease_acquire"), 0);
    assert_int_equal(faults_count(&faults, "begin"), 0);
    faults_remove(&faults);
    assert_int_equal(result.touched, 0);
    assert_false(result.has_more || result.is_held);
    assert_int_equal(count_rows(scene, "alk_lease", "1 = 1"), 0);
    assert_int_equal(count_rows(scene, "alk_maintenance", "1 = 1"), 0);
}

/* S54, S209: waiting jobs past their time become dead without any worker, under the lease, with a
 * line for people. */
static void expired_jobs_become_dead_by_themselves(struct scene *scene) {
    int64_t expired = put_expiring(scene, "mail", ALK__MINUTE);
    int64_t delayed_too = put_job_at(scene, "mail", scene_now(scene) + ALK__HOUR, 2);
    int64_t waiting = put_expiring(scene, "mail", ALK__HOUR);
    alk_job_list list;

    sql(scene, "UPDATE alk_job SET expires_at = enqueued_at WHERE id = %lld",
        (long long)delayed_too);
    scene_pass(scene, 2 * ALK__MINUTE);
    struct alk__maintain_result result = maintain(scene);
    assert_int_equal(result.touched, 2);
    assert_string_equal(result.steps[0].name, "expired");
    ok(scene, alk_job_get(scene->conn, expired, &list, &scene->error));
    assert_int_equal(list.jobs[0].state, ALK_JOB_DEAD);
    assert_string_equal(list.jobs[0].reason, "expired");
    assert_int_equal(list.jobs[0].attempt, 0);
    alk_job_list_free(&list);
    assert_int_equal(state_of(scene, delayed_too), ALK_JOB_DEAD);
    assert_int_equal(state_of(scene, waiting), ALK_JOB_READY);
    assert_int_equal(count_rows(scene, "alk_lease", "owner IS NOT NULL"), 0);
    assert_int_equal(count_rows(scene, "alk_maintenance", "step = 'expired' AND touched = 2"), 1);
    check_store(scene);
}

/* S54: one that expired while it runs is left to its claim until that lapses. */
static void a_running_job_is_left_to_its_claim(struct scene *scene) {
    put_expiring(scene, "mail", ALK__SECOND);
    alk_settlement claim = take_one(scene, "mail", "w");

    scene_pass(scene, 10 * ALK__SECOND);
    assert_int_equal(maintain(scene).touched, 0);
    scene_pass(scene, 21 * ALK__SECOND);
    assert_int_equal(maintain(scene).touched, 1);
    assert_int_equal(state_of(scene, claim.id), ALK_JOB_DEAD);
}

/* S48, S209: in a queue that nobody serves any more, a job whose last attempt died becomes dead, a
 * cancelled one cancelled; one with attempts left stays. */
static void lapsed_jobs_of_unserved_queues_come_to_rest(struct scene *scene) {
    alk_enqueue_options once = ALK_ENQUEUE_OPTIONS_INIT;
    int64_t last, cancelled, again;
    alk_job_list list;

    once.max_attempts = 1;
    ok(scene, alk_enqueue(scene->conn, "left", "1", 1, &once, &last, &scene->error));
    cancelled = put_job(scene, "left");
    again = put_job(scene, "left");
    list = take_jobs(scene, "left", 3, "w");
    alk_job_list_free(&list);
    sql(scene, "UPDATE alk_job SET cancel_requested_at = claimed_at WHERE id = %lld",
        (long long)cancelled);
    scene_pass(scene, 31 * ALK__SECOND);
    struct alk__maintain_result result = maintain(scene);
    assert_int_equal(result.touched, 2);
    assert_string_equal(result.steps[0].name, "exhausted");
    ok(scene, alk_job_get(scene->conn, last, &list, &scene->error));
    assert_string_equal(list.jobs[0].reason, "attempts_exhausted");
    assert_int_equal(list.jobs[0].attempt, 1);
    alk_job_list_free(&list);
    assert_int_equal(state_of(scene, cancelled), ALK_JOB_CANCELLED);
    assert_int_equal(state_of(scene, again), ALK_JOB_READY);
    check_store(scene);

    struct faults faults;
    faults_install(&faults, scene->store);
    assert_int_equal(maintain(scene).touched, 0);
    assert_int_equal(faults_count(&faults, "lease_acquire"), 0);
    faults_remove(&faults);
}

/* Between the look and the taking a worker may have claimed the job: then it is left alone. */
static void a_job_claimed_meanwhile_is_left_alone(struct scene *scene) {
    struct alk__rows rows = {0};
    int64_t id = put_expiring(scene, "mail", 10 * ALK__SECOND);

    take_one(scene, "mail", "w");
    scene_pass(scene, 20 * ALK__SECOND);
    ok(scene, alk__do(scene->conn, ALK__JOB_TAKE, &rows, &scene->error, ALK__IS(&id, 1),
                      ALK__Z("maintenance"), ALK__D(ALK__SECOND)));
    assert_int_equal(rows.count, 0);
    alk__rows_free(&rows);
}

/* S56, S209: done jobs go after 24 h or what their queue says, dead ones after 30 days. */
static void finished_jobs_go_when_their_time_is_over(struct scene *scene) {
    sql(scene, scene->engine == ALK_ENGINE_SQLITE
                   ? "INSERT INTO alk_queue (name, keep_done) VALUES ('long', 259200000000)"
                   : "INSERT INTO alk_queue (name, keep_done) VALUES ('long', interval '3 days')");
    put_jobs(scene, "mail", 3);
    put_jobs(scene, "long", 1);
    put_jobs(scene, "zoo", 1);
    for (int i = 0; i < 2; i++)
        settle_one(scene, take_one(scene, "mail", "w"), ALK_DONE);
    settle_one(scene, take_one(scene, "mail", "w"), ALK_DEAD);
    settle_one(scene, take_one(scene, "long", "w"), ALK_DONE);
    settle_one(scene, take_one(scene, "zoo", "w"), ALK_DONE);
    scene_pass(scene, 23 * ALK__HOUR);
    assert_int_equal(maintain(scene).touched, 0);
    scene_pass(scene, 2 * ALK__HOUR);
    struct alk__maintain_result result = maintain(scene);
    assert_int_equal(result.touched, 3);
    assert_string_equal(result.steps[0].name, "done");
    assert_int_equal(count_rows(scene, "alk_job_done", "queue <> 'long'"), 0);
    scene_pass(scene, 2 * ALK__DAY);
    assert_int_equal(maintain(scene).touched, 1);
    scene_pass(scene, 28 * ALK__DAY);
    assert_int_equal(maintain(scene).touched, 1);
    assert_int_equal(count_rows(scene, "alk_job_dead", "1 = 1"), 0);
}

/* Lines of the ledger as a schedule leaves them. */
static void put_lines(struct scene *scene, int schedule, int count) {
    sql(scene,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
        " INSERT INTO alk_schedule_event (schedule_id, outcome, at) SELECT %d, 'manual', %s FROM n",
        count, schedule, sql_time(scene, scene_now(scene)));
}

static void put_schedule(struct scene *scene, const char *name) {
    alk_schedule schedule = ALK_SCHEDULE_INIT;

    schedule.name = name;
    schedule.spec = "@every 1h";
    schedule.queue = "mail";
    ok(scene, alk_schedule_put(scene->conn, &schedule, &scene->error));
}

/* S209: the ledger keeps 1,000 lines of a schedule and 30 days. */
static void the_ledger_keeps_a_thousand_lines_and_thirty_days(struct scene *scene) {
    put_schedule(scene, "a");
    put_schedule(scene, "b");
    put_lines(scene, 1, 1010);
    put_lines(scene, 2, 20);
    struct alk__maintain_result result = maintain(scene);
    assert_int_equal(result.touched, 10);
    assert_string_equal(result.steps[0].name, "ledger");
    assert_int_equal(count_rows(scene, "alk_schedule_event", "schedule_id = 1"), 1000);
    assert_int_equal(sql_number(scene, "SELECT min(id) FROM alk_schedule_event"), 11);
    assert_int_equal(maintain(scene).touched, 0);
    scene_pass(scene, 31 * ALK__DAY);
    assert_int_equal(maintain(scene).touched, 1020);
}

/* S137: lines of boundaries that are still to come stay, however old or many: they keep what fired
 * under a clock that ran ahead from firing again. */
static void lines_of_boundaries_to_come_stay(struct scene *scene) {
    int64_t now_us = scene_now(scene);

    put_schedule(scene, "a");
    put_lines(scene, 1, 1010);
    sql(scene,
        "UPDATE alk_schedule_event SET outcome = 'fired', fire_at = %s, at = %s WHERE id = 1",
        sql_time(scene, now_us + 40 * ALK__DAY), sql_time(scene, now_us));
    assert_int_equal(maintain(scene).touched, 9);
    scene_pass(scene, 31 * ALK__DAY);
    assert_int_equal(maintain(scene).touched, 1000);
    assert_int_equal(sql_number(scene, "SELECT max(id) FROM alk_schedule_event"), 1);
    scene_pass(scene, 10 * ALK__DAY);
    assert_int_equal(maintain(scene).touched, 1);
}

/* S104: a schedule that is done goes with its history after 30 days, unless a set names it. */
static void done_schedules_go_with_their_history(struct scene *scene) {
    put_schedule(scene, "alive");
    put_schedule(scene, "done");
    put_schedule(scene, "in a set");
    sql(scene, "UPDATE alk_schedule SET done_at = %s, next_fire_at = NULL WHERE name <> 'alive'",
        sql_time(scene, scene_now(scene)));
    sql(scene, "UPDATE alk_schedule SET owner_set = 'ops' WHERE name = 'in a set'");
    scene_pass(scene, 29 * ALK__DAY);
    put_lines(scene, 2, 5);
    assert_int_equal(maintain(scene).touched, 0);
    scene_pass(scene, 2 * ALK__DAY);
    struct alk__maintain_result result = maintain(scene);
    assert_int_equal(result.touched, 1);
    assert_string_equal(result.steps[0].name, "schedules");
    assert_int_equal(count_rows(scene, "alk_schedule", "name = 'done'"), 0);
    assert_int_equal(count_rows(scene, "alk_schedule", "1 = 1"), 2);
    assert_int_equal(count_rows(scene, "alk_schedule_event", "1 = 1"), 0);
}

/* S209: in bounded batches; a full one says that there is more. */
static void a_full_batch_says_that_there_is_more(struct scene *scene) {
    put_jobs(scene, "mail", 1500);
    sql(scene, "UPDATE alk_job SET expires_at = enqueued_at");
    scene_pass(scene, ALK__SECOND);
    struct alk__maintain_result result = maintain(scene);
    assert_int_equal(result.touched, 1000);
    assert_true(result.has_more);
    result = maintain(scene);
    assert_int_equal(result.touched, 500);
    assert_false(result.has_more);
}

/* S209: one at a time: who finds the lease held does nothing and says so. */
static void maintenance_is_done_by_one_at_a_time(struct scene *scene) {
    alk_lease lease;

    put_expiring(scene, "mail", ALK__SECOND);
    scene_pass(scene, ALK__MINUTE);
    ok(scene, alk_lease_acquire(scene->conn, "maintenance", "other", 30 * ALK__SECOND, &lease,
                                &scene->error));
    struct alk__maintain_result result = maintain(scene);
    assert_true(result.is_held);
    assert_int_equal(result.touched, 0);
    scene_pass(scene, 31 * ALK__SECOND);
    assert_int_equal(maintain(scene).touched, 1);
}

static void refuse_dead_below(struct scene *scene, int64_t id) {
    if (scene->engine == ALK_ENGINE_POSTGRES)
        sql(scene, "ALTER TABLE alk_job_dead ADD CHECK (id > %lld)", (long long)id);
    else
        sql(scene,
            "CREATE TRIGGER refuse BEFORE INSERT ON alk_job_dead WHEN new.id <= %lld BEGIN"
            " SELECT raise(ABORT, 'refused'); END",
            (long long)id);
}

/* DESIGN 5: rows that cannot be handled do not fill the batch for ever, not even a whole batch of
 * them. */
static void rows_that_are_refused_hold_up_no_others(struct scene *scene) {
    put_jobs(scene, "mail", 1010);
    sql(scene, "UPDATE alk_job SET expires_at = enqueued_at");
    refuse_dead_below(scene, 1000);
    scene_pass(scene, ALK__SECOND);
    struct alk__maintain_result result = maintain(scene);
    assert_int_equal(result.touched, 0);
    assert_int_equal(result.refused_count, 1000);
    assert_int_equal(result.refused_ids[0], 1);
    assert_int_equal(maintain(scene).touched, 10);
    result = maintain(scene);
    assert_int_equal(result.refused_count, 0);
    assert_false(result.has_more);
    scene_pass(scene, 31 * ALK__SECOND);
    assert_int_equal(maintain(scene).refused_count, 1000);
}

/* S9: a job that cannot be read is dead, with its id for the log; so is one that no claim can see.
 */
static void unreadable_jobs_are_dead_with_their_ids(struct scene *scene) {
    int64_t expired = put_expiring(scene, "mail", ALK__SECOND);
    int64_t hidden = put_job(scene, "mail");

    if (scene->engine == ALK_ENGINE_POSTGRES)
        sql(scene,
            "ALTER TABLE alk_job ALTER COLUMN payload DROP NOT NULL;"
            "ALTER TABLE alk_job ALTER COLUMN run_at DROP NOT NULL;"
            "UPDATE alk_job SET payload = NULL WHERE id = %lld;"
            "UPDATE alk_job SET run_at = NULL WHERE id = %lld",
            (long long)expired, (long long)hidden);
    else
        sql(scene,
            "PRAGMA writable_schema = on;"
            "UPDATE sqlite_schema SET sql = replace(sql, 'STRICT', '') WHERE name = 'alk_job';"
            "PRAGMA writable_schema = reset;"
            "UPDATE alk_job SET payload = x'00' WHERE id = %lld;"
            "UPDATE alk_job SET run_at = 'soon' WHERE id = %lld",
            (long long)expired, (long long)hidden);
    scene_close(scene);
    scene_reopen(scene);
    scene_pass(scene, ALK__MINUTE);
    struct alk__maintain_result result = maintain(scene);
    assert_int_equal(result.unreadable_count, 2);
    assert_int_equal(result.unreadable_ids[0], expired);
    assert_int_equal(result.unreadable_ids[1], hidden);
    assert_int_equal(count_rows(scene, "alk_job_dead", "reason = 'undecodable'"), 2);
    check_store(scene);
}

/* A step that fails does not keep the others from their work, and is the call's failure. */
static void a_failing_step_keeps_no_other_from_its_work(struct scene *scene) {
    struct alk__maintain_result result;
    struct faults faults;

    put_job(scene, "mail");
    settle_one(scene, take_one(scene, "mail", "w"), ALK_DONE);
    put_expiring(scene, "mail", ALK__SECOND);
    scene_pass(scene, 25 * ALK__HOUR);
    faults_install(&faults, scene->store);
    faults_add(&faults, "job_take", 0, ALK__BEFORE, ALK_FAILED);
    expect(scene, ALK_FAILED, alk__maintain_step(scene->conn, "host/1", &result, &scene->error));
    assert_contains(scene->error.message, "maintenance: expired: ");
    faults_remove(&faults);
    assert_int_equal(count_rows(scene, "alk_job_done", "1 = 1"), 0);
    assert_int_equal(count_rows(scene, "alk_lease", "owner IS NOT NULL"), 0);
    assert_int_equal(maintain(scene).touched, 1);
}

/* Nor does a look that fails, whichever it is. */
static void a_failing_look_keeps_no_other_step_from_its_work(struct scene *scene) {
    static const char *const looks[] = {"maintain_lapsed", "job_done_old", "event_old"};
    struct alk__maintain_result result;
    struct faults faults;

    for (size_t i = 0; i < sizeof(looks) / sizeof(*looks); i++) {
        int64_t id = put_expiring(scene, "mail", ALK__SECOND);
        scene_pass(scene, 10 * ALK__SECOND);
        faults_install(&faults, scene->store);
        faults_add(&faults, looks[i], 0, ALK__BEFORE, ALK_FAILED);
        expect(scene, ALK_FAILED,
               alk__maintain_step(scene->conn, "host/1", &result, &scene->error));
        assert_contains(scene->error.message, looks[i]);
        faults_remove(&faults);
        assert_int_equal(state_of(scene, id), ALK_JOB_DEAD);
    }
}

/* PostgreSQL: two first users of a lane may write it twice; one row stays. Waiters whose backend is
 * gone go. */
static void doubles_and_dead_waiters_go(struct scene *scene) {
    put_job(scene, "mail");
    sql(scene, "INSERT INTO alk_lane VALUES ('mail', 0), ('mail', 0), ('mail', 1)");
    sql(scene, "INSERT INTO alk_waiter VALUES ('mail', 'gone', 1, now()),"
               " ('mail', 'here', pg_backend_pid(), (SELECT backend_start FROM pg_stat_activity"
               " WHERE pid = pg_backend_pid()))");
    struct alk__maintain_result result = maintain(scene);
    assert_int_equal(result.touched, 3);
    assert_int_equal(count_rows(scene, "alk_lane", "priority = 0"), 1);
    assert_int_equal(count_rows(scene, "alk_lane", "priority = 1"), 1);
    assert_int_equal(count_rows(scene, "alk_waiter", "worker = 'here'"), 1);
    assert_int_equal(count_rows(scene, "alk_waiter", "1 = 1"), 1);
    take_one(scene, "mail", "w");
}

static void maintenance_inside_a_transaction_is_refused(struct scene *scene) {
    struct alk__maintain_result result;

    ok(scene, alk_begin(scene->conn, &scene->error));
    expect(scene, ALK_USAGE, alk__maintain_step(scene->conn, "host/1", &result, &scene->error));
    alk_rollback(scene->conn);
}

static const struct scene_test tests[] = {
    BOTH(with_nothing_to_do_nothing_is_written),
    BOTH(expired_jobs_become_dead_by_themselves),
    BOTH(a_running_job_is_left_to_its_claim),
    BOTH(lapsed_jobs_of_unserved_queues_come_to_rest),
    BOTH(a_job_claimed_meanwhile_is_left_alone),
    BOTH(finished_jobs_go_when_their_time_is_over),
    BOTH(the_ledger_keeps_a_thousand_lines_and_thirty_days),
    BOTH(lines_of_boundaries_to_come_stay),
    BOTH(done_schedules_go_with_their_history),
    BOTH(a_full_batch_says_that_there_is_more),
    BOTH(maintenance_is_done_by_one_at_a_time),
    BOTH(rows_that_are_refused_hold_up_no_others),
    BOTH(unreadable_jobs_are_dead_with_their_ids),
    BOTH(a_failing_step_keeps_no_other_from_its_work),
    BOTH(a_failing_look_keeps_no_other_step_from_its_work),
    POSTGRES(doubles_and_dead_waiters_go),
    BOTH(maintenance_inside_a_transaction_is_refused),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
