/* loops/schedulers: several schedulers on one database, killed, suspended beyond their TTL, cut off
 * and with a server that restarts under them; then the ledger is asked whether every boundary has
 * its one job. ALK_TEST_SECONDS says for how long each (scripts/chaos). */
#include "base/clock.h"
#include "base/error.h"
#include "support/schedules.h"
#if ALK_WITH_POSTGRES
#include "support/relay.h"
#endif

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define SECONDS 12
#define TTL_US (3 * ALK__SECOND)
#define GAP_US (700 * ALK__MS) /* between two misfortunes */
#define CROWD_MAX 10

/* ---- a scheduler, in a process of its own ---- */

static alk_stop *child_stop;

static void stop_child(int number) {
    (void)number;
    alk_stop_set(child_stop);
}

static void run_once(struct scene *scene, const char *url) {
    alk_scheduler_options options = ALK_SCHEDULER_OPTIONS_INIT;
    alk_store_options store_options = ALK_STORE_OPTIONS_INIT;
    char owner[32];
    alk_store *store;

    store_options.connect_timeout_us = 2 * ALK__SECOND;
    snprintf(owner, sizeof(owner), "pid %d.", (int)getpid());
    options.owner = owner;
    options.ttl_us = TTL_US;
    if (alk_open(url, &store_options, &store, &scene->error) < 0)
        return;
    (void)alk_scheduler_run(store, &options, child_stop, &scene->error);
    alk_close(store);
}

/* As a supervisor would have it: whatever ends a scheduler, it is started again. */
static int run_scheduler(struct scene *scene, const char *url) {
    if (alk_stop_new(&child_stop, NULL) < 0)
        return 1;
    signal(SIGTERM, stop_child);
    while (!alk_stop_is_set(child_stop)) {
        struct pollfd fd = {.fd = alk_stop_fd(child_stop), .events = POLLIN};
        run_once(scene, url);
        (void)poll(&fd, 1, 100);
    }
    return 0;
}

static const struct role roles[] = {{"scheduler", run_scheduler}, {NULL, NULL}};

/* ---- a server of the test's own, which may be restarted ---- */

#define SCRIPT ALK_TEST_SOURCE_DIR "/scripts/private-postgres"
static char server_folder[32];

static int control(const char *word) {
    char command[512];

    snprintf(command, sizeof(command), "%s %s %s >/dev/null", SCRIPT, word, server_folder);
    return system(command);
}

static void server_remove(void) {
    char command[64];

    if (server_folder[0] == '\0')
        return;
    (void)control("stop");
    snprintf(command, sizeof(command), "rm -rf %s", server_folder);
    if (system(command) != 0)
        fprintf(stderr, "%s is left\n", server_folder);
}

/* The scenes, too, then use this one. */
static void server_start(void) {
    char url[128];

    if (!ALK_WITH_POSTGRES || system(SCRIPT " find >/dev/null 2>&1") != 0)
        return;
    snprintf(server_folder, sizeof(server_folder), "/tmp/alk-pg.XXXXXX");
    if (mkdtemp(server_folder) == NULL || control("start") != 0)
        abort();
    atexit(server_remove);
    snprintf(url, sizeof(url), "postgresql://alk@/postgres?host=%s", server_folder);
    setenv("ALK_TEST_POSTGRES", url, 1);
}

/* ---- the crowd ---- */

struct crowd {
    struct scene *scene;
    struct relay *relay; /* between the schedulers and the server; NULL on SQLite */
    char url[640];       /* as the schedulers have it */
    int count;
    pid_t children[CROWD_MAX];
    int64_t wakes_us[CROWD_MAX]; /* suspended until then; 0: it runs */
    struct alk__random random;
    int kills, suspensions, cuts, restarts;
};

static int64_t pick(struct crowd *crowd, int64_t count) {
    return alk__random_between(&crowd->random, 0, count - 1);
}

static void start(struct crowd *crowd, int64_t i) {
    crowd->children[i] = spawn(crowd->scene, "scheduler", crowd->url);
    crowd->wakes_us[i] = 0;
}

/* Half of the time the leader, else anybody. */
static int64_t pick_victim(struct crowd *crowd) {
    int64_t i = pick(crowd, crowd->count);

    if (pick(crowd, 2) == 0)
        return i;
    int leader = 0;
    (void)sscanf(sql_text(crowd->scene, "SELECT owner FROM alk_lease WHERE name = '%s'",
                          ALK_SCHEDULER_LEASE_DEFAULT),
                 "pid %d.", &leader);
    for (int64_t k = 0; k < crowd->count; k++) {
        if (crowd->children[k] == leader)
            return k;
    }
    return i;
}

static void kill_one(struct crowd *crowd) {
    int64_t i = pick_victim(crowd);

    assert_int_equal(kill(crowd->children[i], SIGKILL), 0);
    assert_int_equal(reap(crowd->children[i]), 128 + SIGKILL);
    start(crowd, i);
    crowd->kills++;
}

static void suspend_one(struct crowd *crowd) {
    int64_t i = pick_victim(crowd);

    if (crowd->wakes_us[i] != 0)
        return;
    assert_int_equal(kill(crowd->children[i], SIGSTOP), 0);
    crowd->wakes_us[i] = alk__monotonic_us() + TTL_US + ALK__SECOND;
    crowd->suspensions++;
}

static void wake_those_over(struct crowd *crowd, int64_t now_us) {
    for (int i = 0; i < crowd->count; i++) {
        if (crowd->wakes_us[i] == 0 || crowd->wakes_us[i] > now_us)
            continue;
        assert_int_equal(kill(crowd->children[i], SIGCONT), 0);
        crowd->wakes_us[i] = 0;
    }
}

#if ALK_WITH_POSTGRES
static void put_relay_between(struct crowd *crowd) {
    const char *schema = strstr(crowd->scene->url, "schema=");

    crowd->relay = relay_start(getenv("ALK_TEST_POSTGRES"));
    assert_non_null(crowd->relay);
    assert_non_null(schema);
    snprintf(crowd->url, sizeof(crowd->url), "%s%c%s", relay_url(crowd->relay),
             strchr(relay_url(crowd->relay), '?') == NULL ? '?' : '&', schema);
}

/* At once, or behind a COMMIT whose answer is lost then. */
static void cut(struct crowd *crowd) {
    if (pick(crowd, 2) == 0)
        relay_cut(crowd->relay);
    else
        relay_cut_behind(crowd->relay, "COMMIT");
    crowd->cuts++;
}

static void restart_server(struct crowd *crowd) {
    if (server_folder[0] == '\0')
        return;
    sql_close(crowd->scene);
    assert_int_equal(control("kill"), 0);
    assert_int_equal(control("start"), 0);
    crowd->restarts++;
}
#endif

static void misfortune(struct crowd *crowd) {
    int64_t which = pick(crowd, crowd->relay != NULL ? 6 : 3);

    if (which < 2)
        kill_one(crowd);
    else if (which == 2)
        suspend_one(crowd);
#if ALK_WITH_POSTGRES
    else
        cut(crowd);
#endif
}

static void storm(struct crowd *crowd, int64_t span_us) {
    int64_t end_us = alk__monotonic_us() + span_us;
    int64_t next_us = alk__monotonic_us() + ALK__SECOND;

    for (int64_t now_us; (now_us = alk__monotonic_us()) < end_us; nap()) {
        wake_those_over(crowd, now_us);
        if (now_us < next_us)
            continue;
        misfortune(crowd);
#if ALK_WITH_POSTGRES
        if (crowd->relay != NULL && crowd->restarts == 0 && end_us - now_us < span_us / 2)
            restart_server(crowd);
#endif
        next_us = alk__monotonic_us() + GAP_US;
    }
    wake_those_over(crowd, INT64_MAX);
}

/* ---- the verdict ---- */

static int64_t ledger_sum(struct scene *scene, const char *what, const char *outcome) {
    return sql_number(scene, "SELECT coalesce(sum(%s), 0) FROM alk_schedule_event WHERE outcome %s",
                      what, outcome);
}

/* Boundaries come every second, without a gap from a schedule's first to its last. */
static int64_t boundaries(struct scene *scene) {
    return sql_number(
        scene,
        "SELECT sum(n) FROM (SELECT 1 + %s AS n FROM alk_schedule_event GROUP BY"
        " schedule_id) x",
        scene->engine == ALK_ENGINE_SQLITE
            ? "(max(coalesce(to_at, fire_at)) - min(fire_at)) / 1000000"
            : "extract(epoch FROM max(coalesce(to_at, fire_at)) - min(fire_at))::bigint");
}

static void judge(struct crowd *crowd, int64_t seconds) {
    struct scene *scene = crowd->scene;
    int64_t all = boundaries(scene);
    int64_t fired = ledger_sum(scene, "1", "= 'fired'");
    int64_t missed = ledger_sum(scene, "count", "= 'missed'");
    int64_t jobs = sql_number(scene, "SELECT count(*) FROM alk_job");
    int64_t different = sql_number(
        scene, "SELECT count(*) FROM (SELECT DISTINCT schedule_id, fire_at FROM alk_job) x");
    int64_t strays = sql_number(
        scene, "SELECT count(*) FROM alk_job j WHERE NOT EXISTS (SELECT 1 FROM alk_schedule_event e"
               " WHERE e.job_id = j.id AND e.fire_at = j.fire_at AND e.outcome = 'fired')");
    int64_t leaders = sql_number(scene, "SELECT count(DISTINCT fence) FROM alk_schedule_event");

    print_message(
        "# %s: %d schedulers for %lld s: %d killed, %d suspended, %d cut off, %d restarts of"
        " the server, %lld leaders\n",
        scene->engine == ALK_ENGINE_SQLITE ? "SQLite" : "PostgreSQL", crowd->count,
        (long long)seconds, crowd->kills, crowd->suspensions, crowd->cuts, crowd->restarts,
        (long long)leaders);
    print_message(
        "# the ledger: %lld boundaries: %lld fired, %lld recorded as missed, %lld without a"
        " line; %lld jobs, %lld of a boundary that has another, %lld without a line\n",
        (long long)all, (long long)fired, (long long)missed, (long long)(all - fired - missed),
        (long long)jobs, (long long)(jobs - different), (long long)strays);
    assert_int_equal(fired + missed, all);
    assert_int_equal(jobs, fired);
    assert_int_equal(different, jobs);
    assert_int_equal(strays, 0);
    /* Only the schedule that lets old boundaries go has missed any. */
    assert_int_equal(ledger_sum(scene, "count",
                                "= 'missed' AND schedule_id <> (SELECT id FROM alk_schedule WHERE"
                                " name = 'skip')"),
                     0);
}

/* ---- the tests ---- */

static void put_with(struct scene *scene, const char *name, const char *spec, alk_catchup catchup) {
    alk_schedule schedule = ALK_SCHEDULE_INIT;

    schedule.name = name;
    schedule.spec = spec;
    schedule.queue = "work";
    schedule.payload = "1";
    schedule.payload_length = 1;
    schedule.catchup = catchup;
    schedule.catchup_max = 1000;
    if (catchup == ALK_CATCHUP_SKIP)
        schedule.grace_us = 0;
    ok(scene, alk_schedule_put(scene->conn, &schedule, &scene->error));
}

static void open_for_all(struct scene *scene, struct crowd *crowd, int count) {
    alk_store_options options = ALK_STORE_OPTIONS_INIT; /* by the real clock */

    *crowd = (struct crowd){.scene = scene, .count = count, .random = {fixed_bits, &scene->random}};
    scene_close(scene);
    ok(scene, scene_open(scene, &options, &scene->store));
    ok(scene, alk_conn_get(scene->store, &scene->conn, &scene->error));
    put_with(scene, "every", "@every 1s", ALK_CATCHUP_ALL);
    put_with(scene, "cron", "* * * * * *", ALK_CATCHUP_ALL);
    put_with(scene, "zone", "CRON_TZ=Europe/Berlin * * * * * *", ALK_CATCHUP_ALL);
    put_with(scene, "skip", "@every 1s", ALK_CATCHUP_SKIP);
    scene_close(scene);
    snprintf(crowd->url, sizeof(crowd->url), "%s", scene->url);
#if ALK_WITH_POSTGRES
    if (scene->engine == ALK_ENGINE_POSTGRES)
        put_relay_between(crowd);
#endif
}

/* When it is over one scheduler fires what is left. */
static void let_go(struct crowd *crowd) {
    struct scene *scene = crowd->scene;

    for (int i = 1; i < crowd->count; i++) {
        assert_int_equal(kill(crowd->children[i], SIGTERM), 0);
        assert_int_equal(reap(crowd->children[i]), 0);
    }
    int64_t before = ledger_sum(scene, "1", "= 'fired'");
    wait_until(ledger_sum(scene, "1", "= 'fired'") >= before + 8);
    assert_int_equal(kill(crowd->children[0], SIGTERM), 0);
    assert_int_equal(reap(crowd->children[0]), 0);
}

static void run_crowd(struct scene *scene, int count) {
    const char *text = getenv("ALK_TEST_SECONDS");
    int64_t seconds = text != NULL ? strtoll(text, NULL, 10) : SECONDS;
    struct crowd crowd;

    open_for_all(scene, &crowd, count);
    for (int i = 0; i < count; i++)
        start(&crowd, i);
    wait_until(ledger_sum(scene, "1", "= 'fired'") > 0);
    storm(&crowd, seconds * ALK__SECOND);
    let_go(&crowd);
    judge(&crowd, seconds);
#if ALK_WITH_POSTGRES
    if (crowd.relay != NULL)
        relay_stop(crowd.relay);
#endif
}

/* S125, S127, S160, S172: exactly one job a boundary, whatever becomes of whom. */
static void two_schedulers_leave_one_job_a_boundary(struct scene *scene) {
    run_crowd(scene, 2);
}

static void five_schedulers_leave_one_job_a_boundary(struct scene *scene) {
    run_crowd(scene, 5);
}

static void ten_schedulers_leave_one_job_a_boundary(struct scene *scene) {
    run_crowd(scene, 10);
}

static const struct scene_test tests[] = {
    BOTH(two_schedulers_leave_one_job_a_boundary),
    BOTH(five_schedulers_leave_one_job_a_boundary),
    BOTH(ten_schedulers_leave_one_job_a_boundary),
};

int main(int argc, char **argv) {
    if (argc < 2 || strcmp(argv[1], "--role") != 0)
        server_start();
    return RUN_SCENES(argc, argv, tests, roles);
}
