/* loops/scheduler: leadership, waits and ticks, step by step. */
#include "support/leaders.h"
#include <unistd.h>

/* S147, S157: while another holds the lease nothing is fired; the standby looks again after a time
 * with jitter, soon enough to take over within two seconds of the lease's end (S153). */
static void a_standby_fires_nothing_until_the_lease_is_over(struct scene *scene) {
    struct leader first;
    struct leader second;
    bool is_jittered = false;
    int64_t last_us = 0;

    leader_new(scene, &first, "scheduler", "first");
    leader_new(scene, &second, "scheduler", "second");
    leader_settle(scene, &first);
    put(scene, "often", "@every 10s");
    make_due(scene, "often", 0);
    for (int i = 0; i < 20; i++) {
        ok(scene, leader_step(scene, &second));
        assert_false(second.scheduler.is_leader);
        assert_in_range(second.wait_us, ALK__SECOND / 2, ALK__SECOND);
        is_jittered = is_jittered || (i > 0 && second.wait_us != last_us);
        last_us = second.wait_us;
    }
    assert_true(is_jittered);
    assert_int_equal(job_count(scene, "often"), 0);
    assert_int_equal(record_count(second.record, "standing by", NULL), 1);

    scene_pass(scene, LEADER_TTL_US + ALK__SECOND);
    leader_settle(scene, &second);
    assert_true(second.scheduler.is_leader);
    assert_true(job_count(scene, "often") > 0);
    leader_free(&first);
    leader_free(&second);
}

/* S147, S158: the TTL has a floor, and options that make no sense are refused before anything is
 * done. */
static void options_are_checked(struct scene *scene) {
    alk_scheduler_options options[5];
    struct faults faults;

    for (int i = 0; i < 5; i++)
        options[i] = (alk_scheduler_options)ALK_SCHEDULER_OPTIONS_INIT;
    options[0].ttl_us = ALK_SCHEDULER_TTL_MIN_US - 1;
    options[1].batch = 0;
    options[2].batch = 10001;
    options[3].lease_name = "";
    options[4].owner = "a\nb";
    faults_install(&faults, scene->store);
    for (int i = 0; i < 5; i++)
        expect(scene, ALK_INVALID,
               alk_scheduler_run(scene->store, &options[i], NULL, &scene->error));
    assert_int_equal(faults_count(&faults, NULL), 0);
    faults_remove(&faults);
    assert_int_equal(ALK_SCHEDULER_TTL_DEFAULT_US, 15 * ALK__SECOND);
    assert_int_equal(ALK_SCHEDULER_TTL_MIN_US, 3 * ALK__SECOND);
    assert_true(ALK__LEASE_RENEW_PARTS >= 3);
}

/* Notes whether each tick came directly behind a renewal. */
struct order {
    bool is_renewed;
    int ticks;
    int unrenewed;
};

static alk_status note_renewal(void *context, alk_error *error) {
    (void)error;
    ((struct order *)context)->is_renewed = true;
    return ALK_OK;
}

static alk_status note_tick(void *context, alk_error *error) {
    struct order *order = context;

    (void)error;
    order->ticks++;
    order->unrenewed += !order->is_renewed;
    order->is_renewed = false;
    return ALK_OK;
}

/* S132, S148, S161, S169: a renewal before every tick: one that was due, each of a backlog's
 * batches, which follow each other at once, and each retry. */
static void the_lease_is_renewed_before_every_tick(struct scene *scene) {
    struct leader leader;
    struct faults faults;
    struct order order = {0};
    char name[16];

    leader_new(scene, &leader, "scheduler", "test");
    leader.scheduler.options.batch = 2;
    leader_settle(scene, &leader);
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof(name), "s%d", i);
        put(scene, name, "@every 1h");
        make_due(scene, name, 0);
    }
    faults_install(&faults, scene->store);
    faults_add(&faults, "tick_advance", 2, ALK__BEFORE, ALK_AGAIN);
    faults_call(&faults, "lease_renew", 0, ALK__AFTER, note_renewal, &order);
    faults_call(&faults, "tick_due", 0, ALK__BEFORE, note_tick, &order);
    for (int i = 0; i < 4; i++) {
        ok(scene, leader_step(scene, &leader));
        if (i == 1)
            assert_in_range(leader.wait_us, 1, ALK__TICK_RETRY_US);
        else
            assert_int_equal(leader.wait_us, 0);
    }
    leader_settle(scene, &leader);
    faults_remove(&faults);
    assert_int_equal(order.ticks, 4);
    assert_int_equal(order.unrenewed, 0);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_job"), 5);
    leader_free(&leader);
}

/* S149: a renewal that finds the lease gone ends the loop, and nothing is fired any more. */
static void a_lost_lease_ends_the_loop_without_a_tick(struct scene *scene) {
    struct leader leader;
    struct faults faults;

    leader_new(scene, &leader, "scheduler", "test");
    leader_settle(scene, &leader);
    put(scene, "often", "@every 10s");
    make_due(scene, "often", 0);
    ok(scene, alk_lease_break(scene->conn, "scheduler", NULL, &scene->error));
    faults_install(&faults, scene->store);
    expect(scene, ALK_LOST, leader_step(scene, &leader));
    assert_int_equal(faults_count(&faults, "tick_due"), 0);
    faults_remove(&faults);
    assert_int_equal(scene->error.phase, ALK_PHASE_RENEW);
    assert_int_equal(scene->error.error_class, ALK_CLASS_LOST);
    assert_false(leader.scheduler.is_leader);
    assert_int_equal(record_count(leader.record, "leadership lost", "scheduler"), 1);
    assert_int_equal(job_count(scene, "often"), 0);
    leader_free(&leader);
}

/* S154: so does one that is found while there is nothing to do. */
static void a_lease_lost_in_an_idle_wait_is_noticed_at_the_next_renewal(struct scene *scene) {
    struct leader leader;

    leader_new(scene, &leader, "scheduler", "test");
    leader_settle(scene, &leader);
    ok(scene, alk_lease_break(scene->conn, "scheduler", NULL, &scene->error));
    leader_age(&leader, LEADER_TTL_US / 3);
    expect(scene, ALK_LOST, leader_step(scene, &leader));
    assert_int_equal(scene->error.phase, ALK_PHASE_RENEW);
    leader_free(&leader);
}

/* S150, S151, S156, S161: nothing is due, all is paused, or there is nothing at all: it waits until
 * the next renewal, a third of the TTL; woken early it reads and writes nothing. */
static void idle_it_waits_and_renews_every_third_of_the_ttl(struct scene *scene) {
    struct leader leader;
    struct faults faults;

    leader_new(scene, &leader, "scheduler", "test");
    for (int state = 0; state < 3; state++) {
        if (state == 1)
            put(scene, "rare", "@every 365d");
        if (state == 2) {
            ok(scene, alk_schedule_pause(scene->conn, "rare", &scene->error)); /* S116 */
            sql(scene, "UPDATE alk_schedule SET next_fire_at = created_at");
        }
        leader_settle(scene, &leader);
        leader_age(&leader, LEADER_TTL_US / 3);
        faults_install(&faults, scene->store);
        ok(scene, leader_step(scene, &leader));
        int64_t least_us = leader.wait_us;
        assert_in_range(leader.wait_us, 1, LEADER_TTL_US / 3);
        for (int i = 0; i < 20; i++) { /* woken, again and again */
            ok(scene, leader_step(scene, &leader));
            assert_in_range(leader.wait_us, 1, least_us);
            assert_true(leader.scheduler.is_idle && leader.scheduler.may_wake);
        }
        assert_int_equal(faults_count(&faults, "lease_renew"), 1);
        assert_int_equal(faults_count(&faults, "tick_due"), 0);
        faults_remove(&faults);
    }
    leader_free(&leader);
}

/* S151: a schedule that is due in 0.3 s is waited for so long, and then fired. */
static void it_waits_for_the_next_due_time_and_no_longer(struct scene *scene) {
    struct leader leader;

    leader_new(scene, &leader, "scheduler", "test");
    leader_settle(scene, &leader);
    put(scene, "soon", "@every 10s");
    make_due(scene, "soon", 0);
    sql(scene, "UPDATE alk_schedule SET next_fire_at = %s",
        sql_time(scene, scene_now(scene) + 300 * ALK__MS));
    ok(scene, leader_step(scene, &leader));
    if (scene->engine == ALK_ENGINE_SQLITE) /* elsewhere the time may have come by now */
        assert_int_equal(leader.wait_us, 300 * ALK__MS);
    assert_true(leader.wait_us <= 300 * ALK__MS);
    leader_free(&leader);
}

/* S157: once means at once: it fires what is due and ends, or says who leads. */
static void once_it_fires_what_is_due_or_says_who_leads(struct scene *scene) {
    alk_scheduler_options options = ALK_SCHEDULER_OPTIONS_INIT;
    alk_lease lease;

    options.is_once = true;
    options.batch = 1;
    put(scene, "a", "@every 1h");
    put(scene, "b", "@every 1h");
    make_due(scene, "a", 0);
    make_due(scene, "b", 0);
    ok(scene, alk_scheduler_run(scene->store, &options, NULL, &scene->error));
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_job"), 2);
    expect(scene, ALK_ABSENT, alk_lease_get(scene->conn, "scheduler", &lease, &scene->error));

    ok(scene,
       alk_lease_acquire(scene->conn, "scheduler", "somebody", ALK__HOUR, &lease, &scene->error));
    expect(scene, ALK_HELD, alk_scheduler_run(scene->store, &options, NULL, &scene->error));
    assert_string_equal(scene->error.subject, lease.owner);
    assert_contains(scene->error.message, "somebody");
}

/* S159: a leader whose last good renewal is older than TTL less a second fires nothing, whatever
 * the database would say. */
static alk_status age_leader(void *context, alk_error *error) {
    (void)error;
    leader_age(context, LEADER_TTL_US - ALK__SECOND);
    return ALK_OK;
}

static void a_leader_that_renewed_too_long_ago_fires_nothing(struct scene *scene) {
    struct leader leader;
    struct faults faults;

    leader_new(scene, &leader, "scheduler", "test");
    ok(scene, leader_step(scene, &leader)); /* elected, nothing looked at yet */
    put(scene, "often", "@every 10s");
    make_due(scene, "often", 0);
    faults_install(&faults, scene->store);
    faults_call(&faults, "schedule_repair", 1, ALK__BEFORE, age_leader, &leader);
    expect(scene, ALK_LOST, leader_step(scene, &leader));
    assert_int_equal(faults_count(&faults, "lease_renew"), 1);
    assert_int_equal(faults_count(&faults, "tick_due"), 0);
    faults_remove(&faults);
    assert_int_equal(job_count(scene, "often"), 0);
    assert_contains(scene->error.message, "too long ago");
    leader_free(&leader);
}

/* S127, S162: leases of different names make several leaders; all serve all schedules, and still
 * each boundary has one job. */
static void several_leaders_still_fire_each_boundary_once(struct scene *scene) {
    struct leader leaders[3];
    const char *leases[] = {"one", "two", "three"};

    put(scene, "a", "@every 10s");
    put(scene, "b", "@every 10s");
    make_due(scene, "a", 0);
    make_due(scene, "b", 0);
    for (int i = 0; i < 3; i++)
        leader_new(scene, &leaders[i], leases[i], "test");
    for (int round = 0; round < 12; round++) {
        for (int i = 0; i < 3; i++)
            ok(scene, leader_step(scene, &leaders[(i + round) % 3]));
        if (round % 4 == 3)
            scene_pass(scene, ALK__SECOND);
    }
    for (int i = 0; i < 3; i++)
        assert_true(leaders[i].scheduler.is_leader);
    assert_int_equal(job_count(scene, "a"), ledger_count(scene, "a", "fired"));
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM (SELECT DISTINCT schedule_id, fire_at"
                                       " FROM alk_job) x"),
                     sql_number(scene, "SELECT count(*) FROM alk_job"));
    assert_true(job_count(scene, "b") > 0);
    for (int i = 0; i < 3; i++)
        leader_free(&leaders[i]);
}

/* S163: who leads is told with owner, which is host, process and a token, with fence and count. */
static void leadership_changes_are_told_with_owner_and_fence(struct scene *scene) {
    struct leader leader;

    leader_new(scene, &leader, "scheduler", NULL);
    leader_settle(scene, &leader);
    const struct recorded *elected = record_last(leader.record, "leader elected");
    int64_t count = elected->count;
    assert_int_equal(elected->level, ALK_LEVEL_INFO);
    assert_int_equal(elected->fence, leader.scheduler.lease.fence);
    assert_string_equal(elected->owner, leader.scheduler.lease.owner);
    char pid[32];
    snprintf(pid, sizeof(pid), "/%d/", (int)getpid());
    assert_contains(elected->owner, pid);
    alk__scheduler_release(&leader.scheduler);
    assert_int_equal(record_count(leader.record, "leadership released", "scheduler"), 1);
    leader_settle(scene, &leader);
    assert_int_equal(record_last(leader.record, "leader elected")->count, count + 1);
    assert_true(record_last(leader.record, "leader elected")->fence > 0);
    leader_free(&leader);
}

/* S152: a stop is success, and the lease is free behind it. */
static void stop_when_elected(const alk_event *event, void *stop) {
    if (strcmp(event->name, "leader elected") == 0)
        alk_stop_set(stop);
}

static void a_stop_releases_the_lease(struct scene *scene) {
    alk_scheduler_options options = ALK_SCHEDULER_OPTIONS_INIT;
    alk_stop *stop;
    alk_lease lease;

    ok(scene, alk_stop_new(&stop, &scene->error));
    options.event = stop_when_elected;
    options.event_context = stop;
    ok(scene, alk_scheduler_run(scene->store, &options, stop, &scene->error));
    expect(scene, ALK_ABSENT, alk_lease_get(scene->conn, "scheduler", &lease, &scene->error));
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_lease"), 1);
    alk_stop_free(stop);
}

/* What is due and in somebody's hands is looked for after waits that grow: it neither fires nor
 * spins (S156). */
static void a_held_row_is_waited_for_without_spinning(struct scene *scene) {
    struct leader leader;
    int64_t waited_us = 0;

    leader_new(scene, &leader, "scheduler", "test");
    leader_settle(scene, &leader);
    put(scene, "often", "@every 1h");
    make_due(scene, "often", 0);
    sql(scene, "BEGIN; SELECT id FROM alk_schedule FOR UPDATE");
    for (int i = 0; i < 10; i++) {
        ok(scene, leader_step(scene, &leader));
        assert_true(leader.wait_us > 0);
        waited_us += leader.wait_us;
    }
    assert_true(waited_us > 2 * ALK__SECOND);
    sql(scene, "COMMIT");
    ok(scene, leader_step(scene, &leader));
    assert_int_equal(job_count(scene, "often"), 1);
    leader_free(&leader);
}

/* S145: what would never be due is looked for when leadership begins, and every minute after. */
static void times_that_never_come_are_looked_for(struct scene *scene) {
    struct leader leader;

    put(scene, "lost", "@every 10s");
    sql(scene, "UPDATE alk_schedule SET next_fire_at = NULL");
    leader_new(scene, &leader, "scheduler", "test");
    leader_settle(scene, &leader);
    assert_int_equal(record_count(leader.record, "schedule quarantined", "lost"), 1);
    assert_int_equal(record_count(leader.record, "schedule recovered", "lost"), 1);
    sql(scene, "UPDATE alk_schedule SET next_fire_at = NULL");
    leader_settle(scene, &leader);
    assert_int_equal(record_count(leader.record, "schedule quarantined", "lost"), 1);
    leader.scheduler.repaired_us -= ALK__MINUTE;
    leader_age(&leader, LEADER_TTL_US / 3);
    leader_settle(scene, &leader);
    assert_int_equal(record_count(leader.record, "schedule quarantined", "lost"), 2);
    assert_int_equal(schedule_state(scene, "lost"), ALK_SCHEDULE_ACTIVE);
    leader_free(&leader);
}

static const struct scene_test tests[] = {
    BOTH(a_standby_fires_nothing_until_the_lease_is_over),
    BOTH(options_are_checked),
    BOTH(the_lease_is_renewed_before_every_tick),
    BOTH(a_lost_lease_ends_the_loop_without_a_tick),
    BOTH(a_lease_lost_in_an_idle_wait_is_noticed_at_the_next_renewal),
    BOTH(idle_it_waits_and_renews_every_third_of_the_ttl),
    BOTH(it_waits_for_the_next_due_time_and_no_longer),
    BOTH(once_it_fires_what_is_due_or_says_who_leads),
    BOTH(a_leader_that_renewed_too_long_ago_fires_nothing),
    BOTH(several_leaders_still_fire_each_boundary_once),
    BOTH(leadership_changes_are_told_with_owner_and_fence),
    BOTH(a_stop_releases_the_lease),
    POSTGRES(a_held_row_is_waited_for_without_spinning),
    BOTH(times_that_never_come_are_looked_for),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
