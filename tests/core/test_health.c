/* core/health: one look at a store. */
#include "support/fault.h"
#include "support/jobs.h"

static alk_health_report look(struct scene *scene) {
    alk_health_report report;

    ok(scene, alk_health(scene->conn, NULL, &report, &scene->error));
    return report;
}

/* S18: of a store that nobody uses. */
static void a_fresh_store_is_healthy(struct scene *scene) {
    alk_health_report report = look(scene);

    assert_contains(report.engine_version,
                    scene->engine == ALK_ENGINE_SQLITE ? "SQLite 3." : "PostgreSQL 1");
    assert_int_equal(report.schema_version, 1);
    assert_int_equal(report.schema_oldest, 1);
    assert_int_equal(report.oldest_due_job_us, ALK_NO_TIME);
    assert_int_equal(report.oldest_due_schedule_us, ALK_NO_TIME);
    assert_string_equal(report.leader, "");
    assert_int_equal(report.leader_fence, 0);
    assert_int_equal(report.quarantined_count, 0);
    assert_int_equal(report.newer_count, 0);
    alk_health_free(&report);
}

/* S18: the job that has been due for longest, of any queue and lane; running and delayed ones do
 * not count. */
static void the_oldest_due_job_is_found(struct scene *scene) {
    int64_t now = scene_now(scene);

    put_job_at(scene, "b", now + 5 * ALK__SECOND, 3);
    put_job_at(scene, "a", now + 9 * ALK__SECOND, 0);
    put_job_at(scene, "c", now + ALK__HOUR, 0);
    put_job(scene, "d");
    take_one(scene, "d", "w");
    alk_health_report report = look(scene);
    assert_int_equal(report.oldest_due_job_us, ALK_NO_TIME);
    alk_health_free(&report);
    scene_pass(scene, 20 * ALK__SECOND);
    report = look(scene);
    /* on PostgreSQL passing time means that the rows moved back */
    assert_int_equal(report.oldest_due_job_us,
                     now + 5 * ALK__SECOND -
                         (scene->engine == ALK_ENGINE_SQLITE ? 0 : 20 * ALK__SECOND));
    assert_true(report.now_us >= report.oldest_due_job_us + 15 * ALK__SECOND);
    alk_health_free(&report);
}

static void put_schedule(struct scene *scene, const char *name) {
    alk_schedule schedule = ALK_SCHEDULE_INIT;

    schedule.name = name;
    schedule.spec = "@every 10s";
    schedule.queue = "mail";
    ok(scene, alk_schedule_put(scene->conn, &schedule, &scene->error));
}

/* S18: schedules that are due; a quarantined one is named and does not count as due. */
static void quarantined_schedules_are_named_and_not_due(struct scene *scene) {
    put_schedule(scene, "good");
    put_schedule(scene, "bad");
    sql(scene, "UPDATE alk_schedule SET quarantined_at = created_at, next_fire_at = created_at "
               "WHERE name = 'bad'");
    sql(scene, "UPDATE alk_schedule SET spec_version = 1");
    put_schedule(scene, "newer");
    sql(scene, "UPDATE alk_schedule SET spec_version = 99, next_fire_at = created_at WHERE name = "
               "'newer'");

    alk_health_report report = look(scene);
    assert_int_equal(report.quarantined_count, 1);
    assert_string_equal(report.quarantined[0], "bad");
    assert_int_equal(report.newer_count, 1);
    assert_int_equal(report.oldest_due_schedule_us, ALK_NO_TIME);
    alk_health_free(&report);
    scene_pass(scene, ALK__MINUTE);
    report = look(scene);
    assert_true(report.oldest_due_schedule_us > ALK_NO_TIME);
    assert_true(report.oldest_due_schedule_us <= report.now_us);
    alk_health_free(&report);
}

/* S18: who leads, and until when. */
static void the_leader_is_named(struct scene *scene) {
    alk_lease lease;

    ok(scene, alk_lease_acquire(scene->conn, "scheduler", "host/7", 15 * ALK__SECOND, &lease,
                                &scene->error));
    alk_health_report report = look(scene);
    assert_string_equal(report.leader, lease.owner);
    assert_int_equal(report.leader_fence, lease.fence);
    assert_int_equal(report.leader_expires_at_us, lease.expires_at_us);
    alk_health_free(&report);
    ok(scene, alk_health(scene->conn, "another", &report, &scene->error));
    assert_string_equal(report.leader, "");
    alk_health_free(&report);
    scene_pass(scene, 16 * ALK__SECOND);
    report = look(scene);
    assert_string_equal(report.leader, "");
    alk_health_free(&report);
}

/* S18: skew is the process's clock minus the database's. */
static void skew_is_measured(struct scene *scene) {
    alk_store_options options = scene_options(scene);
    struct fake_clock ahead = {scene_now(scene) + ALK__HOUR};
    alk_health_report report;
    alk_store *store;
    alk_conn *conn;

    options.now = fake_now;
    options.now_context = &ahead;
    ok(scene, scene_open(scene, &options, &store));
    ok(scene, alk_conn_get(store, &conn, &scene->error));
    ok(scene, alk_health(conn, NULL, &report, &scene->error));
    assert_in_range(report.skew_us, 50 * ALK__MINUTE, ALK__HOUR);
    alk_health_free(&report);
    alk_conn_put(conn);
    alk_close(store);
}

/* S18: read-only: no transaction is begun. */
static void it_writes_nothing(struct scene *scene) {
    struct faults faults;

    faults_install(&faults, scene->store);
    alk_health_report report = look(scene);
    assert_int_equal(faults_count(&faults, "begin"), 0);
    assert_int_equal(faults_count(&faults, NULL), 2);
    faults_remove(&faults);
    alk_health_free(&report);
}

static const struct scene_test tests[] = {
    BOTH(a_fresh_store_is_healthy),
    BOTH(the_oldest_due_job_is_found),
    BOTH(quarantined_schedules_are_named_and_not_due),
    BOTH(the_leader_is_named),
    POSTGRES(skew_is_measured),
    BOTH(it_writes_nothing),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
