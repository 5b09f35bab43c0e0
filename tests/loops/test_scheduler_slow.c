/* loops/scheduler with other processes: kill -9, suspension, handing over, wake-ups. The children
 * and the test look at the real clock. */
#include "base/duration.h"
#include "base/error.h"
#include "support/leaders.h"
#include "support/relay.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Exit codes of a child beside 0, a stop. */
enum { CHILD_LOST = 10, CHILD_FAILED = 11, CHILD_BROKEN = 12 };

/* ---- children ---- */

static alk_stop *child_stop;

static void stop_child(int number) {
    (void)number;
    alk_stop_set(child_stop);
}

/* Says that it stands by, by a file that the test looks for. */
static void mark_standby(const alk_event *event, void *folder) {
    char path[256];

    if (strcmp(event->name, "standing by") != 0)
        return;
    snprintf(path, sizeof(path), "%s/standby.%d", (const char *)folder, (int)getpid());
    FILE *file = fopen(path, "w");
    if (file != NULL)
        fclose(file);
}

static alk_status suspend_self(void *context, alk_error *error) {
    (void)context;
    (void)error;
    raise(SIGSTOP);
    return ALK_OK;
}

static alk_status kill_self(void *context, alk_error *error) {
    (void)context;
    (void)error;
    raise(SIGKILL);
    return ALK_OK;
}

/* "LEASE TTL_MS WHAT N": a scheduler until SIGTERM. WHAT: run; once; suspend (in its first tick);
 * fail (in every tick); before or after (die at the N-th step of all); deaf (without wake-ups). */
static int run_scheduler(struct scene *scene, const char *argument) {
    alk_scheduler_options options = ALK_SCHEDULER_OPTIONS_INIT;
    alk_store_options store_options = ALK_STORE_OPTIONS_INIT;
    struct faults faults;
    char lease[64];
    char what[16];
    char url[640];
    long ttl_ms = 0;
    int n = 0;
    alk_store *store;

    if (sscanf(argument, "%63s %ld %15s %d", lease, &ttl_ms, what, &n) != 4)
        return CHILD_BROKEN;
    snprintf(url, sizeof(url), "%s%s", scene->url, strcmp(what, "deaf") == 0 ? "&listen=off" : "");
    if (alk_stop_new(&child_stop, NULL) < 0 ||
        alk_open(url, &store_options, &store, &scene->error) < 0)
        return CHILD_BROKEN;
    signal(SIGTERM, stop_child);
    faults_install(&faults, store);
    if (strcmp(what, "suspend") == 0)
        faults_call(&faults, "tick_ledger", 1, ALK__BEFORE, suspend_self, NULL);
    if (strcmp(what, "fail") == 0)
        faults_add(&faults, "tick_advance", 0, ALK__BEFORE, ALK_FAILED);
    if (strcmp(what, "before") == 0)
        faults_call(&faults, NULL, n, ALK__BEFORE, kill_self, NULL);
    if (strcmp(what, "after") == 0)
        faults_call(&faults, NULL, n, ALK__AFTER, kill_self, NULL);
    if (strcmp(what, "run") == 0 || strcmp(what, "deaf") == 0)
        faults_remove(&faults); /* as it is without tests */
    options.lease_name = lease;
    options.ttl_us = ttl_ms * ALK__MS;
    options.is_once = n > 0;
    options.event = mark_standby;
    options.event_context = (void *)(uintptr_t)scene->folder;
    alk_status status = alk_scheduler_run(store, &options, child_stop, &scene->error);
    if (status < 0 && getenv("ALK_TEST_VERBOSE") != NULL)
        fprintf(stderr, "%s: %s\n", argument, scene->error.message);
    alk_close(store);
    alk_stop_free(child_stop);
    return status == ALK_OK ? 0 : status == ALK_LOST ? CHILD_LOST : CHILD_FAILED;
}

static const struct role roles[] = {{"scheduler", run_scheduler}, {NULL, NULL}};

static pid_t start(struct scene *scene, const char *lease, int64_t ttl_us, const char *what,
                   int n) {
    char argument[128];

    snprintf(argument, sizeof(argument), "%s %lld %s %d", lease, (long long)(ttl_us / ALK__MS),
             what, n);
    return spawn(scene, "scheduler", argument);
}

static void end(pid_t child, int number, int code) {
    assert_int_equal(kill(child, number), 0);
    assert_int_equal(reap(child), code);
}

static bool is_standing_by(struct scene *scene, pid_t child) {
    struct stat about;
    char path[256];

    snprintf(path, sizeof(path), "%s/standby.%d", scene->folder, (int)child);
    return stat(path, &about) == 0;
}

/* ---- the test's side ---- */

/* The scene's store by the real clock, with rows that nobody made before that. */
static void use_real_clock(struct scene *scene) {
    alk_store_options options = ALK_STORE_OPTIONS_INIT;

    scene_close(scene);
    ok(scene, scene_open(scene, &options, &scene->store));
    ok(scene, alk_conn_get(scene->store, &scene->conn, &scene->error));
}

static int64_t fired(struct scene *scene) {
    return sql_number(scene, "SELECT count(*) FROM alk_schedule_event WHERE outcome = 'fired'");
}

static int64_t fence(struct scene *scene, const char *lease) {
    return sql_number(scene, "SELECT coalesce(max(fence), 0) FROM alk_lease WHERE name = '%s'",
                      lease);
}

/* Every boundary between the first and the last of each schedule is in the ledger once, fired or
 * missed, and has a job if it fired. */
static void every_boundary_is_there_once(struct scene *scene) {
    const char *seconds = scene->engine == ALK_ENGINE_SQLITE
                              ? "(max(coalesce(to_at, fire_at)) - min(fire_at)) / 1000000"
                              : "extract(epoch FROM max(coalesce(to_at, fire_at)) - min(fire_at))";

    assert_int_equal(sql_number(scene,
                                "SELECT count(*) FROM (SELECT schedule_id FROM alk_schedule_event"
                                " GROUP BY schedule_id HAVING sum(count) <> %s + 1) x",
                                seconds),
                     0);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_job"), fired(scene));
    assert_int_equal(sql_number(scene,
                                "SELECT count(*) FROM (SELECT DISTINCT schedule_id, fire_at FROM"
                                " alk_job) x"),
                     fired(scene));
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_schedule_event e WHERE outcome ="
                                       " 'fired' AND NOT EXISTS (SELECT 1 FROM alk_job j"
                                       " WHERE j.id = e.job_id AND j.fire_at = e.fire_at)"),
                     0);
}

/* S125, S127: five schedulers that all believe to lead, killed one after the other: each boundary
 * has one job. */
static void five_leaders_and_kill_9_leave_one_job_a_boundary(struct scene *scene) {
    static const char *const leases[] = {"one", "two", "three", "four", "five"};
    pid_t children[5];

    use_real_clock(scene);
    put(scene, "a", "@every 1s");
    put(scene, "b", "* * * * * *");
    put(scene, "c", "@every 1s");
    for (int i = 0; i < 5; i++)
        children[i] = start(scene, leases[i], 3 * ALK__SECOND, "run", 0);
    for (int i = 0; i < 5; i++) {
        int64_t before = fired(scene);
        wait_until(fired(scene) >= before + 3);
        end(children[i], SIGKILL, 128 + SIGKILL);
        children[i] = start(scene, leases[i], 3 * ALK__SECOND, "run", 0);
    }
    int64_t before = fired(scene);
    wait_until(fired(scene) >= before + 6);
    for (int i = 0; i < 5; i++)
        end(children[i], SIGTERM, 0);
    every_boundary_is_there_once(scene);
}

/* S125, S172: a process that dies at any step of a tick leaves the boundary with no job or one, and
 * whoever comes next with one. */
static void death_at_any_step_leaves_none_or_one(struct scene *scene) {
    static const char *const moments[] = {"before", "after"};
    int finished = 0;
    int steps = 0;
    char lease[32];

    use_real_clock(scene);
    put(scene, "often", "@every 1h");
    for (int m = 0; m < 2; m++) {
        finished = 0;
        for (int n = 1; finished == 0; n++, steps++) {
            sql(scene, "DELETE FROM alk_job; DELETE FROM alk_schedule_event");
            make_due(scene, "often", 0);
            snprintf(lease, sizeof(lease), "%s.%d", moments[m], n);
            int code = reap(start(scene, lease, ALK__MINUTE, moments[m], n));
            assert_true(code == 0 || code == 128 + SIGKILL);
            finished = code == 0;
            wait_until(sql_number(scene, "SELECT count(*) FROM alk_schedule_event") ==
                       sql_number(scene, "SELECT count(*) FROM alk_job"));
            assert_in_range(job_count(scene, "often"), 0, 1);
            assert_int_equal(reap(start(scene, "last", ALK__MINUTE, "once", 1)), 0);
            assert_int_equal(job_count(scene, "often"), 1);
            assert_int_equal(ledger_count(scene, "often", "fired"), 1);
        }
    }
    assert_true(steps > 24);
}

/* S152: a leader that is stopped ends well, and a standby takes over long before its TTL is over.
 */
static void a_stopped_leader_hands_over_at_once(struct scene *scene) {
    use_real_clock(scene);
    put(scene, "often", "@every 1s");
    pid_t first = start(scene, "scheduler", ALK__DAY, "run", 0);
    wait_until(fired(scene) > 0);
    int64_t first_fence = fence(scene, "scheduler");
    pid_t second = start(scene, "scheduler", ALK__DAY, "run", 0);
    wait_until(is_standing_by(scene, second));
    end(first, SIGTERM, 0);
    wait_until(sql_number(scene, "SELECT count(*) FROM alk_schedule_event WHERE fence > %lld",
                          (long long)first_fence) > 0);
    end(second, SIGTERM, 0);
    every_boundary_is_there_once(scene);
}

/* S153: a leader that was killed, or ended with an error, leaves its lease to lapse: nobody ticks
 * before, a standby does after. */
static void a_dead_leader_is_followed_when_its_lease_is_over(struct scene *scene) {
    use_real_clock(scene);
    for (int is_error = 0; is_error < 2; is_error++) {
        const char *lease = is_error ? "error" : "killed";
        pid_t first = start(scene, lease, 3 * ALK__SECOND, is_error ? "fail" : "run", 0);
        wait_until(fence(scene, lease) > 0);
        int64_t first_fence = fence(scene, lease);
        pid_t second = start(scene, lease, 3 * ALK__SECOND, "run", 0);
        wait_until(is_standing_by(scene, second));
        if (is_error) {
            put(scene, "error", "@every 1s"); /* its first tick ends it */
            assert_int_equal(reap(first), CHILD_FAILED);
        } else {
            put(scene, "killed", "@every 1s");
            wait_until(fired(scene) > 0);
            end(first, SIGKILL, 128 + SIGKILL);
        }
        char over[64];
        snprintf(over, sizeof(over), "%s",
                 sql_text(scene, "SELECT expires_at FROM alk_lease WHERE name = '%s'", lease));
        assert_int_equal(fence(scene, lease), first_fence);
        wait_until(fence(scene, lease) > first_fence);
        assert_int_equal(
            sql_number(scene,
                       "SELECT count(*) FROM alk_lease WHERE name = '%s' AND acquired_at >= '%s'",
                       lease, over),
            1);
        wait_until(sql_number(scene, "SELECT count(*) FROM alk_schedule_event WHERE fence > %lld",
                              (long long)first_fence) > 0);
        assert_int_equal(
            sql_number(scene,
                       "SELECT count(*) FROM alk_schedule_event WHERE fence > %lld AND at <"
                       " '%s'",
                       (long long)first_fence, over),
            0);
        end(second, SIGTERM, 0);
    }
    every_boundary_is_there_once(scene);
}

/* S150, S151, S155: a schedule that another process puts is noticed by the wake-up, hours before
 * the leader would look by itself, and fires at its time. */
static void a_new_schedule_wakes_the_leader(struct scene *scene) {
    use_real_clock(scene);
    put(scene, "rare", "@every 365d");
    pid_t child = start(scene, "scheduler", ALK__DAY, "run", 0);
    wait_until(fence(scene, "scheduler") > 0);
    for (int i = 1; i <= 3; i++) {
        /* the leader is to be idle; were it not yet, the test would only ask for less */
        int64_t idle_us = alk__monotonic_us() + ALK__SECOND / 2;
        wait_until(alk__monotonic_us() > idle_us);
        char name[16];
        char spec[ALK__TIME_BYTES + 8] = "@at ";
        int64_t now_us = 0;
        ok(scene, alk__db_now(scene->conn, &now_us, &scene->error));
        alk__time_format((now_us / ALK__SECOND + 2) * ALK__SECOND, spec + 4, ALK__TIME_BYTES);
        snprintf(name, sizeof(name), "s%d", i);
        put(scene, name, spec);
        wait_until(ledger_count(scene, name, "fired") == 1);
    }
    put(scene, "often", "@every 1s");
    wait_until(ledger_count(scene, "often", "fired") > 0);
    ok(scene, alk_schedule_pause(scene->conn, "often", &scene->error));
    ok(scene, alk_schedule_resume(scene->conn, "often", NULL, &scene->error));
    int64_t before = ledger_count(scene, "often", "fired");
    wait_until(ledger_count(scene, "often", "fired") > before);
    end(child, SIGTERM, 0);
    every_boundary_is_there_once(scene);
}

/* S150: without wake-ups it is noticed at the next look, within a third of the TTL. */
static void without_wake_ups_a_new_schedule_is_noticed_at_the_next_look(struct scene *scene) {
    use_real_clock(scene);
    pid_t child = start(scene, "scheduler", 3 * ALK__SECOND, "deaf", 0);
    wait_until(fence(scene, "scheduler") > 0);
    put(scene, "often", "@every 1s");
    wait_until(ledger_count(scene, "often", "fired") >= 2);
    end(child, SIGTERM, 0);
    every_boundary_is_there_once(scene);
}

/* S160: a leader that is suspended in the middle of a tick, beyond its TTL: another fires its
 * boundaries, it blocks nobody, and when it goes on it commits nothing. */
static void a_suspended_leader_blocks_nobody_and_commits_nothing(struct scene *scene) {
    int status;

    use_real_clock(scene);
    put(scene, "often", "@every 1s");
    pid_t first = start(scene, "scheduler", 3 * ALK__SECOND, "suspend", 0);
    assert_int_equal(waitpid(first, &status, WUNTRACED), first);
    assert_true(WIFSTOPPED(status));
    int64_t first_fence = fence(scene, "scheduler");
    pid_t second = start(scene, "scheduler", 3 * ALK__SECOND, "run", 0);
    wait_until(ledger_count(scene, "often", "fired") >= 4);
    assert_int_equal(kill(first, SIGCONT), 0);
    int code = reap(first);
    assert_true(code == CHILD_LOST || code == CHILD_FAILED);
    int64_t before = fired(scene);
    wait_until(fired(scene) > before);
    end(second, SIGTERM, 0);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_schedule_event WHERE fence = %lld",
                                (long long)first_fence),
                     0);
    every_boundary_is_there_once(scene);
}

#if ALK_WITH_POSTGRES
/* S159, S170: behind a connection on which nothing comes back every call ends by itself, after a
 * fifth of the TTL, and is tried again until the lease is over; then leadership is lost. Once
 * answers come again a new leader fires. */
static void a_server_that_does_not_answer_holds_nobody(struct scene *scene) {
    alk_store_options options = scene_options(scene);
    alk_store *own = scene->store;
    alk_status status = ALK_OK;
    struct leader leader;
    char url[512];

    struct relay *relay = relay_start(getenv("ALK_TEST_POSTGRES"));
    assert_non_null(relay);
    snprintf(url, sizeof(url), "%s%cschema=%s", relay_url(relay),
             strchr(relay_url(relay), '?') == NULL ? '?' : '&',
             strstr(scene->url, "schema=") + strlen("schema="));
    options.connect_timeout_us = ALK__SECOND / 2;
    put(scene, "often", "@every 1h");
    ok(scene, alk_open(url, &options, &scene->store, &scene->error));
    leader_new(scene, &leader, "scheduler", "test");
    leader.scheduler.options.ttl_us = 3 * ALK__SECOND;
    leader_settle(scene, &leader);
    make_due(scene, "often", 0);

    relay_hold(relay, true);
    int64_t started_us = alk__monotonic_us();
    for (int i = 0; status == ALK_OK && i < 1000; i++) {
        status = leader_step(scene, &leader);
        assert_int_equal(job_count(scene, "often"), 0);
    }
    assert_int_equal(status, ALK_LOST);
    assert_true(alk__monotonic_us() - started_us > ALK__SECOND);
    assert_true(record_count(leader.record, "renewal failed, trying again", NULL) >= 1);
    relay_hold(relay, false);
    wait_until(leader_step(scene, &leader) == ALK_OK && leader.scheduler.is_leader);
    leader_settle(scene, &leader);
    assert_int_equal(job_count(scene, "often"), 1);
    leader_free(&leader);
    alk_close(scene->store);
    scene->store = own;
    relay_stop(relay);
}
#endif

static const struct scene_test tests[] = {
    BOTH(five_leaders_and_kill_9_leave_one_job_a_boundary),
    BOTH(death_at_any_step_leaves_none_or_one),
    BOTH(a_stopped_leader_hands_over_at_once),
    BOTH(a_dead_leader_is_followed_when_its_lease_is_over),
    BOTH(a_new_schedule_wakes_the_leader),
    POSTGRES(without_wake_ups_a_new_schedule_is_noticed_at_the_next_look),
#if ALK_WITH_POSTGRES
    POSTGRES(a_server_that_does_not_answer_holds_nobody),
#endif
    POSTGRES(a_suspended_leader_blocks_nobody_and_commits_nothing),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, roles);
}
