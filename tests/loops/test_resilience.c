/* loops/scheduler: what becomes of failures: tried again, lost, or told with all that is known. */
#include "support/leaders.h"

#include "base/error.h"

static void due_leader(struct scene *scene, struct leader *leader) {
    leader_new(scene, leader, "scheduler", "test");
    leader_settle(scene, leader);
    put(scene, "often", "@every 1h");
    make_due(scene, "often", 0);
}

/* S164, S166: three more tries after 100, 200 and 400 ms, each jittered between half and whole;
 * then it ends. Each is a whole tick of its own, and nothing of a failed one stays. */
static void a_transient_failure_is_tried_three_times_more(struct scene *scene) {
    static const int64_t waits_us[] = {100 * ALK__MS, 200 * ALK__MS, 400 * ALK__MS};
    struct leader leader;
    struct faults faults;

    assert_int_equal(ALK__TICK_RETRIES, 3);
    assert_int_equal(ALK__TICK_RETRY_US, 100 * ALK__MS);
    due_leader(scene, &leader);
    faults_install(&faults, scene->store);
    faults_add(&faults, "tick_advance", 0, ALK__AFTER, ALK_AGAIN);
    for (int i = 0; i < 3; i++) {
        ok(scene, leader_step(scene, &leader));
        assert_in_range(leader.wait_us, waits_us[i] / 2, waits_us[i]);
        assert_false(leader.scheduler.may_wake);
        assert_int_equal(faults_count(&faults, "begin"),
                         faults_count(&faults, "rollback") + faults_count(&faults, "lease_renew"));
    }
    expect(scene, ALK_AGAIN, leader_step(scene, &leader));
    assert_int_equal(faults_count(&faults, "tick_due"), 4);
    assert_int_equal(faults_count(&faults, "job_enqueue"), 4);
    faults_remove(&faults);
    assert_int_equal(job_count(scene, "often"), 0);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_schedule_event"), 0);
    assert_int_equal(record_count(leader.record, "tick failed, trying again", NULL), 3);
    leader_free(&leader);
}

/* S164, S171: once a try succeeds all is as if nothing had happened: the next failure has its own
 * three. */
static void a_success_starts_the_count_anew(struct scene *scene) {
    struct leader leader;
    struct faults faults;

    due_leader(scene, &leader);
    for (int round = 0; round < 3; round++) {
        make_due(scene, "often", 0);
        sql(scene, "DELETE FROM alk_schedule_event; DELETE FROM alk_job");
        faults_install(&faults, scene->store);
        for (int i = 1; i <= 3; i++)
            faults_add(&faults, "tick_due", i, ALK__BEFORE, ALK_AGAIN);
        for (int i = 0; i < 3; i++) {
            ok(scene, leader_step(scene, &leader));
            assert_in_range(leader.wait_us, (ALK__TICK_RETRY_US << i) / 2, ALK__TICK_RETRY_US << i);
        }
        ok(scene, leader_step(scene, &leader));
        assert_int_equal(leader.scheduler.failures, 0);
        faults_remove(&faults);
        assert_int_equal(job_count(scene, "often"), 1);
    }
    leader_free(&leader);
}

/* S164, S171: failures of which each was followed by a step that worked are no row of failures,
 * also where there was nothing to fire, or another leads. */
static void a_failure_now_and_then_ends_nothing(struct scene *scene) {
    struct leader leader, standby;
    struct faults faults;

    leader_new(scene, &leader, "scheduler", "first");
    leader_settle(scene, &leader);
    leader_new(scene, &standby, "scheduler", "second");
    leader_settle(scene, &standby);
    faults_install(&faults, scene->store);
    for (int i = 0; i < 2 * ALK__TICK_RETRIES; i++) {
        faults_add(&faults, "schedule_soonest", 1, ALK__BEFORE, ALK_AGAIN);
        ok(scene, leader_step(scene, &leader));
        ok(scene, leader_step(scene, &leader));
        assert_true(leader.scheduler.is_idle);
        faults_add(&faults, "lease_acquire", 1, ALK__BEFORE, ALK_AGAIN);
        ok(scene, leader_step(scene, &standby));
        ok(scene, leader_step(scene, &standby));
        assert_true(standby.scheduler.is_idle);
    }
    faults_remove(&faults);
    leader_free(&standby);
    leader_free(&leader);
}

/* Runs the loop to its end, with a fault in each step of that name. */
static alk_status run_with_fault(struct scene *scene, const char *step, alk_status status) {
    alk_scheduler_options options = ALK_SCHEDULER_OPTIONS_INIT;
    struct faults faults;

    faults_install(&faults, scene->store);
    faults_add(&faults, step, 0, ALK__BEFORE, status);
    options.ttl_us = LEADER_TTL_US;
    status = alk_scheduler_run(scene->store, &options, NULL, &scene->error);
    faults_remove(&faults);
    return status;
}

/* S165, S167, S174: the loop's error has the phase in a field and in its words, the schedule's
 * name, the engine's words at its end, and says what to do. */
static void the_loops_error_says_all_that_is_known(struct scene *scene) {
    static const struct {
        const char *step;
        alk_phase phase;
        const char *words;
        const char *subject;
    } cases[] = {
        {"tick_due", ALK_PHASE_READ_DUE, "run scheduler: tick: read due: tick_due: made to fail",
         ""},
        {"savepoint", ALK_PHASE_ENQUEUE, "run scheduler: tick: enqueue: savepoint", ""},
        {"tick_fired", ALK_PHASE_ENQUEUE, "run scheduler: tick: enqueue 'often': tick_fired",
         "often"},
        {"job_enqueue", ALK_PHASE_ENQUEUE, "run scheduler: tick: enqueue 'often': ", "often"},
        {"tick_ledger", ALK_PHASE_ENQUEUE, "run scheduler: tick: enqueue 'often': ", "often"},
        {"tick_advance", ALK_PHASE_ADVANCE, "run scheduler: tick: advance 'often': ", "often"},
        {"tick_fence", ALK_PHASE_COMMIT, "run scheduler: tick: commit: ", ""},
        {"lease_acquire", ALK_PHASE_RENEW, "run scheduler: renew: ", NULL},
    };

    put(scene, "often", "@every 1h");
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        make_due(scene, "often", 0);
        sql(scene, "UPDATE alk_lease SET owner = NULL, expires_at = NULL");
        expect(scene, ALK_FAILED, run_with_fault(scene, cases[i].step, ALK_FAILED));
        assert_int_equal(scene->error.phase, cases[i].phase);
        assert_contains(scene->error.message, cases[i].words);
        if (cases[i].subject != NULL)
            assert_string_equal(scene->error.subject, cases[i].subject);
        assert_int_equal(scene->error.error_class, ALK_CLASS_PERMANENT);
    }
    make_due(scene, "often", 0);
    sql(scene, "UPDATE alk_lease SET owner = NULL, expires_at = NULL");
    expect(scene, ALK_AGAIN, run_with_fault(scene, "tick_advance", ALK_AGAIN));
    assert_int_equal(scene->error.error_class, ALK_CLASS_TRANSIENT);
    assert_int_equal(job_count(scene, "often"), 0);
}

/* S167: the words of the phases. */
static void phases_have_words(struct scene *scene) {
    static const char *const words[] = {"renew",   "begin",   "read due", "parse",
                                        "enqueue", "advance", "commit",   "sleep"};

    (void)scene;
    for (int i = 0; i < 8; i++)
        assert_string_equal(alk_phase_text((alk_phase)(ALK_PHASE_RENEW + i)), words[i]);
}

/* S168: what may go better is tried again; what needs a person ends the loop at once, and so does a
 * closed pool. */
static void only_what_may_go_better_is_tried_again(struct scene *scene) {
    static const struct {
        alk_status status;
        int ticks;
    } cases[] = {{ALK_AGAIN, 4},  {ALK_POOL_TIMEOUT, 4}, {ALK_NOMEM, 4},
                 {ALK_FAILED, 1}, {ALK_TOO_NEW, 1},      {ALK_CLOSED, 1}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct leader leader;
        struct faults faults;
        due_leader(scene, &leader);
        faults_install(&faults, scene->store);
        faults_add(&faults, "tick_due", 0, ALK__BEFORE, cases[i].status);
        for (int n = 1; n < cases[i].ticks; n++)
            ok(scene, leader_step(scene, &leader));
        expect(scene, cases[i].status, leader_step(scene, &leader));
        assert_int_equal(faults_count(&faults, "tick_due"), cases[i].ticks);
        faults_remove(&faults);
        alk__scheduler_release(&leader.scheduler);
        leader_free(&leader);
        ok(scene, alk_schedule_remove(scene->conn, "often", &scene->error));
    }
}

/* S168: a table that is not there, as the engine itself says it. */
static void a_missing_table_is_permanent(struct scene *scene) {
    struct leader leader;

    due_leader(scene, &leader);
    sql(scene, "ALTER TABLE alk_schedule_event RENAME TO %s",
        scene->engine == ALK_ENGINE_SQLITE ? "alk_gone" : "gone");
    expect(scene, ALK_FAILED, leader_step(scene, &leader));
    assert_int_equal(scene->error.error_class, ALK_CLASS_PERMANENT);
    assert_int_equal(scene->error.phase, ALK_PHASE_ENQUEUE);
    assert_string_not_equal(scene->error.engine_code, "");
    leader_free(&leader);
}

/* S168: a closed store ends the loop with that class. */
static void a_closed_store_ends_the_loop(struct scene *scene) {
    alk_store *store;
    alk_scheduler_options options = ALK_SCHEDULER_OPTIONS_INIT;

    ok(scene, scene_open(scene, NULL, &store));
    alk_shut(store);
    expect(scene, ALK_CLOSED, alk_scheduler_run(store, &options, NULL, &scene->error));
    assert_int_equal(scene->error.error_class, ALK_CLASS_CLOSED);
    alk_close(store);
}

/* S169: the lease is asked for before each try again; that it is lost wins over what the tick said.
 */
static void a_lost_lease_wins_over_the_ticks_failure(struct scene *scene) {
    struct leader leader;
    struct faults faults;

    due_leader(scene, &leader);
    faults_install(&faults, scene->store);
    faults_add(&faults, "tick_advance", 0, ALK__BEFORE, ALK_AGAIN);
    ok(scene, leader_step(scene, &leader));
    ok(scene, alk_lease_break(scene->conn, "scheduler", NULL, &scene->error));
    expect(scene, ALK_LOST, leader_step(scene, &leader));
    assert_int_equal(faults_count(&faults, "tick_due"), 1);
    faults_remove(&faults);
    assert_int_equal(scene->error.phase, ALK_PHASE_RENEW);
    leader_free(&leader);
}

/* S170: a stop ends the wait between tries, and is success. */
static void stop_when_failed(const alk_event *event, void *stop) {
    if (strcmp(event->name, "tick failed, trying again") == 0)
        alk_stop_set(stop);
}

static void a_stop_ends_the_wait_between_tries(struct scene *scene) {
    alk_scheduler_options options = ALK_SCHEDULER_OPTIONS_INIT;
    struct faults faults;
    alk_stop *stop;

    put(scene, "often", "@every 1h");
    make_due(scene, "often", 0);
    ok(scene, alk_stop_new(&stop, &scene->error));
    options.event = stop_when_failed;
    options.event_context = stop;
    faults_install(&faults, scene->store);
    faults_add(&faults, "tick_due", 0, ALK__BEFORE, ALK_AGAIN);
    ok(scene, alk_scheduler_run(scene->store, &options, stop, &scene->error));
    assert_int_equal(faults_count(&faults, "tick_due"), 1);
    faults_remove(&faults);
    alk_stop_free(stop);
}

/* S160, S170: a table that somebody locks is waited for a tenth of the TTL and is then a transient
 * failure. */
static void a_locked_table_is_a_transient_failure(struct scene *scene) {
    struct leader leader;

    due_leader(scene, &leader);
    sql(scene, "BEGIN; LOCK TABLE alk_schedule_event IN ACCESS EXCLUSIVE MODE");
    ok(scene, leader_step(scene, &leader));
    assert_string_equal(record_last(leader.record, "tick failed, trying again")->subject,
                        "scheduler");
    assert_contains(record_last(leader.record, "tick failed, trying again")->message, "55P03");
    sql(scene, "COMMIT");
    ok(scene, leader_step(scene, &leader));
    assert_int_equal(job_count(scene, "often"), 1);
    leader_free(&leader);
}

/* S172: when the answer to COMMIT is lost the retry reads the rows again: no boundary fires twice.
 */
static void an_unknown_commit_fires_nothing_twice(struct scene *scene) {
    struct leader leader;
    struct faults faults;

    due_leader(scene, &leader);
    faults_install(&faults, scene->store);
    faults_add(&faults, "tick_fence", 1, ALK__AFTER, ALK_AGAIN); /* before it */
    ok(scene, leader_step(scene, &leader));
    assert_int_equal(job_count(scene, "often"), 0);
    faults_clear(&faults);
    faults_add(&faults, "commit", 2, ALK__AFTER,
               ALK_AGAIN); /* behind it; the first is the renewal's */
    ok(scene, leader_step(scene, &leader));
    assert_in_range(leader.wait_us, 1, 2 * ALK__TICK_RETRY_US);
    assert_int_equal(faults_happened(&faults), 2);
    assert_int_equal(job_count(scene, "often"), 1);
    leader_settle(scene, &leader);
    faults_remove(&faults);
    assert_int_equal(job_count(scene, "often"), 1);
    assert_int_equal(ledger_count(scene, "often", "fired"), 1);
    leader_free(&leader);
}

/* S173: whatever keeps the renewal from working, it is tried again until the lease may be over, and
 * then leadership is lost; no tick runs meanwhile. */
static void a_renewal_that_fails_is_tried_until_the_lease_is_over(struct scene *scene) {
    static const alk_status errors[] = {ALK_AGAIN, ALK_FAILED, ALK_POOL_TIMEOUT};

    for (size_t i = 0; i < 3; i++) {
        struct leader leader;
        struct faults faults;
        due_leader(scene, &leader);
        faults_install(&faults, scene->store);
        faults_add(&faults, "lease_renew", 0, ALK__BEFORE, errors[i]);
        for (int n = 0; n < 10; n++) {
            ok(scene, leader_step(scene, &leader));
            assert_in_range(leader.wait_us, ALK__TICK_RETRY_US / 2, 4 * ALK__TICK_RETRY_US);
        }
        leader_age(&leader, LEADER_TTL_US - ALK__SECOND);
        expect(scene, ALK_LOST, leader_step(scene, &leader));
        assert_int_equal(scene->error.phase, ALK_PHASE_RENEW);
        assert_contains(scene->error.message, "made to fail");
        assert_int_equal(faults_count(&faults, "tick_due"), 0);
        faults_remove(&faults);
        leader_free(&leader);
        sql(scene, "UPDATE alk_lease SET owner = NULL, expires_at = NULL");
        ok(scene, alk_schedule_remove(scene->conn, "often", &scene->error));
    }
}

/* S173: once it works again all goes on. */
static void a_renewal_that_works_again_goes_on(struct scene *scene) {
    struct leader leader;
    struct faults faults;

    due_leader(scene, &leader);
    faults_install(&faults, scene->store);
    for (int i = 1; i <= 6; i++)
        faults_add(&faults, "lease_renew", i, ALK__BEFORE, ALK_AGAIN);
    for (int i = 0; i < 6; i++) {
        ok(scene, leader_step(scene, &leader));
        assert_true(leader.wait_us > 0);
    }
    ok(scene, leader_step(scene, &leader));
    faults_remove(&faults);
    assert_int_equal(job_count(scene, "often"), 1);
    assert_int_equal(leader.scheduler.renewal_failures, 0);
    leader_free(&leader);
}

/* S153: after an error the lease is left as it is: nobody ticks until it lapsed, and then a standby
 * does. */
static void after_an_error_the_lease_is_left_to_lapse(struct scene *scene) {
    struct leader standby;
    alk_lease lease;

    put(scene, "often", "@every 1h");
    make_due(scene, "often", 0);
    expect(scene, ALK_FAILED, run_with_fault(scene, "tick_advance", ALK_FAILED));
    ok(scene, alk_lease_get(scene->conn, "scheduler", &lease, &scene->error));

    leader_new(scene, &standby, "scheduler", "standby");
    ok(scene, leader_step(scene, &standby));
    assert_false(standby.scheduler.is_leader);
    assert_int_equal(job_count(scene, "often"), 0);
    scene_pass(scene, LEADER_TTL_US + ALK__SECOND);
    leader_settle(scene, &standby);
    assert_true(standby.scheduler.lease.fence > lease.fence);
    assert_int_equal(job_count(scene, "often"), 1);
    leader_free(&standby);
}

/* S168, S170: a broken connection is replaced, and the tick runs on the new one. */
static void a_broken_connection_is_replaced(struct scene *scene) {
    struct leader leader;

    due_leader(scene, &leader);
    sql(scene,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
        " AND query LIKE '%%%s%%'",
        strstr(scene->url, "test%20") + strlen("test%20"));
    for (int i = 0; i < 20 && job_count(scene, "often") == 0; i++)
        ok(scene, leader_step(scene, &leader));
    assert_int_equal(job_count(scene, "often"), 1);
    leader_free(&leader);
    alk_conn_put(scene->conn);
    ok(scene, alk_conn_get(scene->store, &scene->conn, &scene->error));
}

static const struct scene_test tests[] = {
    BOTH(a_transient_failure_is_tried_three_times_more),
    BOTH(a_success_starts_the_count_anew),
    BOTH(a_failure_now_and_then_ends_nothing),
    BOTH(the_loops_error_says_all_that_is_known),
    ALONE(phases_have_words),
    BOTH(only_what_may_go_better_is_tried_again),
    BOTH(a_missing_table_is_permanent),
    BOTH(a_closed_store_ends_the_loop),
    BOTH(a_lost_lease_wins_over_the_ticks_failure),
    BOTH(a_stop_ends_the_wait_between_tries),
    POSTGRES(a_locked_table_is_a_transient_failure),
    BOTH(an_unknown_commit_fires_nothing_twice),
    BOTH(a_renewal_that_fails_is_tried_until_the_lease_is_over),
    BOTH(a_renewal_that_works_again_goes_on),
    BOTH(after_an_error_the_lease_is_left_to_lapse),
    POSTGRES(a_broken_connection_is_replaced),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
