/* core/lease: one owner at a time, and fences that only grow. */
#include "core/lease.h"

#include "support/fault.h"
#include "support/jobs.h"

#define TTL (10 * ALK__SECOND)

static alk_lease acquire(struct scene *scene, const char *name) {
    alk_lease lease;

    ok(scene, alk_lease_acquire(scene->conn, name, "host/1", TTL, &lease, &scene->error));
    return lease;
}

/* S175: acquire, renew, inspect, release; the owner's text can be read in the owner. */
static void a_lease_is_acquired_renewed_and_released(struct scene *scene) {
    alk_lease lease = acquire(scene, "job"), seen;
    int64_t end = lease.expires_at_us;

    assert_string_equal(lease.name, "job");
    assert_int_equal(strncmp(lease.owner, "host/1/", 7), 0);
    assert_int_equal(lease.ttl_us, TTL);
    assert_int_equal(lease.expires_at_us, lease.acquired_at_us + TTL);
    scene_pass(scene, 6 * ALK__SECOND);
    ok(scene, alk_lease_renew(scene->conn, &lease, &scene->error));
    assert_true(scene->engine == ALK_ENGINE_POSTGRES || lease.expires_at_us > end);
    scene_pass(scene, 6 * ALK__SECOND);
    ok(scene, alk_lease_get(scene->conn, "job", &seen, &scene->error));
    assert_string_equal(seen.owner, lease.owner);
    assert_int_equal(seen.fence, lease.fence);
    ok(scene, alk_lease_release(scene->conn, &lease, &scene->error));
    expect(scene, ALK_ABSENT, alk_lease_get(scene->conn, "job", &seen, &scene->error));
}

/* S175, S212: what cannot be a lease is refused before the database is touched. */
static void odd_leases_are_refused(struct scene *scene) {
    alk_lease lease;
    struct faults faults;

    faults_install(&faults, scene->store);
    expect(scene, ALK_INVALID,
           alk_lease_acquire(scene->conn, "", "me", TTL, &lease, &scene->error));
    expect(scene, ALK_INVALID, alk_lease_acquire(scene->conn, "a", "", TTL, &lease, &scene->error));
    expect(scene, ALK_INVALID, alk_lease_acquire(scene->conn, "a", "me", 0, &lease, &scene->error));
    expect(scene, ALK_INVALID,
           alk_lease_acquire(scene->conn, "a", "me", -1, &lease, &scene->error));
    expect(scene, ALK_INVALID,
           alk_lease_acquire(scene->conn, "a", "me", INT64_MAX, &lease, &scene->error));
    expect(scene, ALK_INVALID, alk_lease_get(scene->conn, "", &lease, &scene->error));
    expect(scene, ALK_INVALID, alk_lease_break(scene->conn, "a\tb", &lease, &scene->error));
    assert_int_equal(faults_count(&faults, NULL), 0);
    faults_remove(&faults);
}

/* S175: the same text does not share a lease; who is refused hears who holds it, and writes
 * nothing. */
static void the_same_owner_text_does_not_share_a_lease(struct scene *scene) {
    alk_lease mine = acquire(scene, "job"), theirs;
    struct faults faults;

    faults_install(&faults, scene->store);
    expect(scene, ALK_HELD,
           alk_lease_acquire(scene->conn, "job", "host/1", TTL, &theirs, &scene->error));
    assert_int_equal(faults_count(&faults, "lease_acquire"), 0);
    faults_remove(&faults);
    assert_string_equal(theirs.owner, mine.owner);
    assert_int_equal(theirs.fence, mine.fence);
    snprintf(theirs.owner, sizeof(theirs.owner), "host/1");
    expect(scene, ALK_LOST, alk_lease_renew(scene->conn, &theirs, &scene->error));
    expect(scene, ALK_ABSENT, alk_lease_release(scene->conn, &theirs, &scene->error));
    theirs = mine;
    theirs.fence--;
    expect(scene, ALK_LOST, alk_lease_renew(scene->conn, &theirs, &scene->error));
    expect(scene, ALK_ABSENT, alk_lease_release(scene->conn, &theirs, &scene->error));
    ok(scene, alk_lease_renew(scene->conn, &mine, &scene->error));
}

/* S178: between the look and the taking somebody else may have been first: the statement that
 * takes has the last word. */
static void the_taking_itself_refuses_a_held_lease(struct scene *scene) {
    struct alk__rows rows = {0};

    acquire(scene, "job");
    ok(scene, alk__do(scene->conn, ALK__LEASE_ACQUIRE, &rows, &scene->error, ALK__Z("job"),
                      ALK__Z("other"), ALK__D(TTL)));
    assert_int_equal(rows.count, 0);
    alk__rows_free(&rows);
}

/* S176: a lapsed lease is not renewed though nobody took it, and never a successor's. */
static void only_a_valid_lease_is_renewed(struct scene *scene) {
    alk_lease old = acquire(scene, "job"), next;

    scene_pass(scene, TTL + ALK__SECOND);
    expect(scene, ALK_LOST, alk_lease_renew(scene->conn, &old, &scene->error));
    assert_string_equal(scene->error.subject, "job");
    next = acquire(scene, "job");
    int64_t end = next.expires_at_us;
    expect(scene, ALK_LOST, alk_lease_renew(scene->conn, &old, &scene->error));
    ok(scene, alk_lease_get(scene->conn, "job", &next, &scene->error));
    assert_int_equal(next.expires_at_us, end);
}

/* S177: each fence is above every earlier one of its name and not below the clock: after a release,
 * a lapse, and where the row has one ahead of the clock. */
static void fences_only_grow(struct scene *scene) {
    int64_t before = scene_now(scene);
    alk_lease first = acquire(scene, "job");

    assert_true(first.fence >= before);
    ok(scene, alk_lease_release(scene->conn, &first, &scene->error));
    alk_lease second = acquire(scene, "job");
    assert_true(second.fence > first.fence);
    scene_pass(scene, TTL + ALK__SECOND);
    alk_lease third = acquire(scene, "job");
    assert_true(third.fence > second.fence);
    ok(scene, alk_lease_break(scene->conn, "job", NULL, &scene->error));
    sql(scene, "UPDATE alk_lease SET fence = 9000000000000000000");
    assert_int_equal(acquire(scene, "job").fence, INT64_C(9000000000000000001));
}

/* S179: a former owner's release does nothing and says so. */
static void a_former_owner_releases_nothing(struct scene *scene) {
    alk_lease old = acquire(scene, "job"), next, seen;

    scene_pass(scene, TTL + ALK__SECOND);
    expect(scene, ALK_ABSENT, alk_lease_release(scene->conn, &old, &scene->error));
    next = acquire(scene, "job");
    expect(scene, ALK_ABSENT, alk_lease_release(scene->conn, &old, &scene->error));
    ok(scene, alk_lease_get(scene->conn, "job", &seen, &scene->error));
    assert_int_equal(seen.fence, next.fence);
}

/* An end far ahead was written by a clock that ran ahead: it holds up nobody. */
static void an_end_far_ahead_counts_as_lapsed(struct scene *scene) {
    alk_lease lease = acquire(scene, "job"), seen;

    sql(scene, "UPDATE alk_lease SET expires_at = %s",
        sql_time(scene, lease.expires_at_us + 5 * TTL));
    expect(scene, ALK_ABSENT, alk_lease_get(scene->conn, "job", &seen, &scene->error));
    assert_true(acquire(scene, "job").fence > lease.fence);
}

/* S9: a lease that has an owner and no end is held by nobody: it is taken, not asked for again and
 * again. */
static void a_lease_without_an_end_is_taken(struct scene *scene) {
    alk_lease lease = acquire(scene, "l");
    struct faults faults;

    if (scene->engine == ALK_ENGINE_POSTGRES)
        sql(scene, "ALTER TABLE alk_lease DROP CONSTRAINT lease_check");
    sql(scene, "%sUPDATE alk_lease SET expires_at = NULL",
        scene->engine == ALK_ENGINE_POSTGRES ? "" : "PRAGMA ignore_check_constraints = ON;");
    faults_install(&faults, scene->store);
    faults_add(&faults, "lease_acquire", 2, ALK__BEFORE, ALK_FAILED);
    ok(scene, alk_lease_acquire(scene->conn, "l", "you", TTL, &lease, &scene->error));
    faults_remove(&faults);
    assert_memory_equal(lease.owner, "you/", 4);
}

/* S181: held leases by name, with the clock to tell their age; a break ends one whoever holds it.
 */
static void leases_are_listed_and_broken(struct scene *scene) {
    alk_lease_list list;
    alk_lease mine = acquire(scene, "b"), was;

    acquire(scene, "lapsing");
    scene_pass(scene, TTL + ALK__SECOND);
    mine = acquire(scene, "b");
    acquire(scene, "a");
    ok(scene, alk_lease_list_get(scene->conn, &list, &scene->error));
    assert_int_equal(list.count, 2);
    assert_string_equal(list.leases[0].name, "a");
    assert_string_equal(list.leases[1].owner, mine.owner);
    assert_true(list.now_us >= list.leases[1].acquired_at_us);
    alk_lease_list_free(&list);

    ok(scene, alk_lease_break(scene->conn, "b", &was, &scene->error));
    assert_string_equal(was.owner, mine.owner);
    assert_int_equal(was.fence, mine.fence);
    expect(scene, ALK_LOST, alk_lease_renew(scene->conn, &mine, &scene->error));
    expect(scene, ALK_ABSENT, alk_lease_break(scene->conn, "b", &was, &scene->error));
    expect(scene, ALK_ABSENT, alk_lease_break(scene->conn, "lapsing", &was, &scene->error));
    expect(scene, ALK_ABSENT, alk_lease_break(scene->conn, "never", &was, &scene->error));
}

/* S31: in the caller's transaction. */
static void a_lease_that_is_rolled_back_never_was(struct scene *scene) {
    alk_lease lease;

    ok(scene, alk_begin(scene->conn, &scene->error));
    acquire(scene, "job");
    alk_rollback(scene->conn);
    expect(scene, ALK_ABSENT, alk_lease_get(scene->conn, "job", &lease, &scene->error));
}

/* S9: a lease that cannot be read is an error with its name, not a free one; a list shows it. */
static void an_unreadable_lease_is_named(struct scene *scene) {
    alk_lease lease;
    alk_lease_list list;

    acquire(scene, "good");
    acquire(scene, "odd");
    if (scene->engine == ALK_ENGINE_POSTGRES)
        sql(scene, "ALTER TABLE alk_lease ALTER COLUMN ttl DROP NOT NULL;"
                   "UPDATE alk_lease SET ttl = NULL WHERE name = 'odd'");
    else
        sql(scene,
            "PRAGMA writable_schema = on;"
            "UPDATE sqlite_schema SET sql = replace(sql, 'STRICT', '') WHERE name = 'alk_lease';"
            "PRAGMA writable_schema = reset;"
            "UPDATE alk_lease SET expires_at = 'soon' WHERE name = 'odd'");
    scene_close(scene);
    scene_reopen(scene);
    expect(scene, ALK_UNREADABLE, alk_lease_get(scene->conn, "odd", &lease, &scene->error));
    assert_contains(scene->error.message, "lease 'odd': column '");
    expect(scene, ALK_UNREADABLE,
           alk_lease_acquire(scene->conn, "odd", "me", TTL, &lease, &scene->error));
    ok(scene, alk_lease_list_get(scene->conn, &list, &scene->error));
    assert_int_equal(list.count, 2);
    assert_contains(list.leases[1].owner, "(unreadable: column '");
    alk_lease_list_free(&list);
}

/* S150: the renewal brings the soonest due time with it, in one round trip. */
static void a_renewal_says_what_is_due(struct scene *scene) {
    alk_schedule schedule = ALK_SCHEDULE_INIT;
    alk_lease lease = acquire(scene, "scheduler");
    int64_t due, now, behind, before = scene_now(scene);
    struct faults faults;

    faults_install(&faults, scene->store);
    ok(scene, alk__lease_renew_and_due(scene->conn, &lease, &due, &now, &behind, &scene->error));
    assert_int_equal(faults_count(&faults, "begin"), 1);
    assert_int_equal(faults_count(&faults, "commit"), 1);
    faults_remove(&faults);
    assert_int_equal(due, ALK_NO_TIME);
    assert_true(now >= before);

    schedule.name = "one";
    schedule.spec = "@every 1h";
    schedule.queue = "mail";
    ok(scene, alk_schedule_put(scene->conn, &schedule, &scene->error));
    schedule.name = "two";
    schedule.spec = "@every 1m";
    ok(scene, alk_schedule_put(scene->conn, &schedule, &scene->error));
    ok(scene, alk__lease_renew_and_due(scene->conn, &lease, &due, &now, &behind, &scene->error));
    assert_in_range(due, before + ALK__SECOND, now + 61 * ALK__SECOND);
    ok(scene, alk_schedule_pause(scene->conn, "two", &scene->error));
    ok(scene, alk__lease_renew_and_due(scene->conn, &lease, &due, &now, &behind, &scene->error));
    assert_true(due > now + 61 * ALK__SECOND || scene->engine == ALK_ENGINE_SQLITE);

    scene_pass(scene, TTL + ALK__SECOND);
    expect(scene, ALK_LOST,
           alk__lease_renew_and_due(scene->conn, &lease, &due, &now, &behind, &scene->error));
}

/* S9: a due time that is no integer is looked for as well where it is a number, for the tick to
 * put the schedule aside; text, which no tick finds, is passed over. */
static void an_odd_due_time_is_due_or_passed_over(struct scene *scene) {
    alk_schedule schedule = ALK_SCHEDULE_INIT;
    alk_lease lease = acquire(scene, "scheduler");
    int64_t due, now, behind;

    schedule.name = "one";
    schedule.spec = "@every 1h";
    schedule.queue = "mail";
    ok(scene, alk_schedule_put(scene->conn, &schedule, &scene->error));
    schedule.name = "odd";
    ok(scene, alk_schedule_put(scene->conn, &schedule, &scene->error));
    sql(scene,
        "PRAGMA writable_schema = on;"
        "UPDATE sqlite_schema SET sql = replace(sql, 'STRICT', '') WHERE name = 'alk_schedule';"
        "PRAGMA writable_schema = reset;"
        "UPDATE alk_schedule SET next_fire_at = %lld + 0.5 WHERE name = 'odd'",
        (long long)SCENE_START_US);
    scene_close(scene);
    scene_reopen(scene);
    ok(scene, alk__lease_renew_and_due(scene->conn, &lease, &due, &now, &behind, &scene->error));
    assert_int_equal(due, SCENE_START_US);
    sql(scene, "UPDATE alk_schedule SET next_fire_at = 'soon' WHERE name = 'odd'");
    ok(scene, alk__lease_renew_and_due(scene->conn, &lease, &due, &now, &behind, &scene->error));
    assert_true(due > now);
}

/* ---- races ---- */

static int race(struct scene *scene, const char *argument) {
    alk_lease lease;
    alk_status st;

    (void)argument;
    if (scene_open(scene, NULL, &scene->store) < 0 ||
        alk_conn_get(scene->store, &scene->conn, &scene->error) < 0)
        return 2;
    st = alk_lease_acquire(scene->conn, "prize", "racer", ALK__HOUR, &lease, &scene->error);
    if (st < 0)
        fprintf(stderr, "acquire: %s\n", scene->error.message);
    alk_conn_put(scene->conn);
    alk_close(scene->store);
    return st == ALK_OK ? 0 : st == ALK_HELD ? 1 : 3;
}

/* S178: of ten that race for a lapsed lease exactly one wins. */
static void one_of_ten_racers_wins_a_lapsed_lease(struct scene *scene) {
    pid_t racers[10];
    int won = 0;

    acquire(scene, "prize");
    scene_pass(scene, TTL + ALK__SECOND);
    for (int i = 0; i < 10; i++)
        racers[i] = spawn(scene, "race", "");
    for (int i = 0; i < 10; i++) {
        int code = reap(racers[i]);
        assert_in_range(code, 0, 1);
        won += code == 0;
    }
    assert_int_equal(won, 1);
}

static const struct role roles[] = {{"race", race}, {NULL, NULL}};

static const struct scene_test tests[] = {
    BOTH(a_lease_is_acquired_renewed_and_released),
    BOTH(odd_leases_are_refused),
    BOTH(the_same_owner_text_does_not_share_a_lease),
    BOTH(the_taking_itself_refuses_a_held_lease),
    BOTH(only_a_valid_lease_is_renewed),
    BOTH(fences_only_grow),
    BOTH(a_former_owner_releases_nothing),
    BOTH(an_end_far_ahead_counts_as_lapsed),
    BOTH(a_lease_without_an_end_is_taken),
    BOTH(leases_are_listed_and_broken),
    BOTH(a_lease_that_is_rolled_back_never_was),
    BOTH(an_unreadable_lease_is_named),
    BOTH(a_renewal_says_what_is_due),
    SQLITE(an_odd_due_time_is_due_or_passed_over),
    BOTH(one_of_ten_racers_wins_a_lapsed_lease),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, roles);
}
