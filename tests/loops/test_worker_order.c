/* tests/loops/test_worker_order.c: which jobs a worker takes, how many, in which order, each once,
 * and when it has drained its queues. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/rig.h"

/* ---- order and number ---- */

struct trace { /* of a worker with one thread */
    char text[256];
};

static alk_outcome trace_run(alk_attempt *attempt, void *context) {
    struct trace *trace = context;
    const alk_job *job = alk_attempt_job(attempt);
    size_t length = strlen(trace->text);

    snprintf(trace->text + length, sizeof(trace->text) - length, "%s%.*s ", job->queue,
             (int)job->payload_length, job->payload);
    return ALK_DONE;
}

// S86, S41
static void queues_are_served_in_the_order_named_and_no_other(struct scene *scene) {
    static const char *const queues[] = {"b", "a"};
    alk_enqueue_options high = ALK_ENQUEUE_OPTIONS_INIT;
    struct trace trace = {.text = ""};
    struct rig rig;

    high.priority = 5;
    put_work(scene, "a", "1", &high);
    put_work(scene, "b", "2", NULL);
    put_work(scene, "c", "3", &high);
    put_work(scene, "b", "4", &high);
    put_work(scene, "a", "5", NULL);
    rig_init(&rig, scene, trace_run, &trace);
    rig.options.queues = queues;
    rig.options.queue_count = 2;
    rig.options.is_drain = true;
    ok(scene, rig_run(&rig));
    rig_free(&rig);
    assert_string_equal(trace.text, "b4 b2 a1 a5 ");
    assert_int_equal(sql_number(scene, "SELECT attempt FROM alk_job WHERE queue = 'c'"), 0);
}

// S86: a lower queue is not looked into while the higher one has more than there is room for.
static void a_lower_queue_waits_for_a_full_higher_one(struct scene *scene) {
    static const char *const queues[] = {"b", "a"};
    struct trace trace = {.text = ""};
    struct rig rig;

    put_work(scene, "a", "9", NULL);
    put_numbers(scene, "b", 7);
    rig_init(&rig, scene, trace_run, &trace);
    rig.options.queues = queues;
    rig.options.queue_count = 2;
    rig.options.is_drain = true;
    ok(scene, rig_run(&rig));
    rig_free(&rig);
    assert_string_equal(trace.text, "b0 b1 b2 b3 b4 b5 b6 a9 ");
}

// S86: a batch may be full of jobs that may not run, with room left for those behind them.
static void a_lower_queue_waits_for_what_is_behind_expired_jobs(struct scene *scene) {
    static const char *const queues[] = {"b", "a"};
    alk_enqueue_options expiring = ALK_ENQUEUE_OPTIONS_INIT;
    struct trace trace = {.text = ""};
    struct rig rig;

    expiring.expires_us = ALK__SECOND;
    expiring.priority = 1;
    put_work(scene, "a", "9", NULL);
    put_work(scene, "b", "1", &expiring);
    put_work(scene, "b", "2", &expiring);
    put_work(scene, "b", "3", NULL);
    scene_pass(scene, 2 * ALK__SECOND);
    rig_init(&rig, scene, trace_run, &trace);
    rig.options.queues = queues;
    rig.options.queue_count = 2;
    rig.options.is_drain = true;
    ok(scene, rig_run(&rig));
    rig_free(&rig);
    assert_string_equal(trace.text, "b3 a9 ");
}

// S87
static void handlers_at_once_and_jobs_claimed_are_bounded(struct scene *scene) {
    struct gate gate = {.outcome = ALK_DONE};
    struct rig rig;

    put_numbers(scene, "mail", 20);
    rig_init(&rig, scene, wait_at_gate, &gate);
    rig.options.concurrency = 3;
    rig.options.prefetch = 2;
    rig.options.is_drain = true;
    rig_start(&rig);
    wait_until(gate.tally.at_once == 3 && running_jobs(scene) == 5);
    put_numbers(scene, "mail", 1); /* wakes it: it has no room */
    assert_int_equal(running_jobs(scene), 5);
    atomic_store(&gate.is_open, true);
    ok(scene, rig_join(&rig));
    assert_int_equal(gate.tally.most, 3);
    assert_int_equal(gate.tally.runs, 21);
    assert_int_equal(done_jobs(scene), 21);
    rig_free(&rig);
}

struct roll {
    _Atomic int runs[1000];
};

static alk_outcome call_roll(alk_attempt *attempt, void *context) {
    struct roll *roll = context;
    long number = strtol(alk_attempt_job(attempt)->payload, NULL, 10);

    atomic_fetch_add(&roll->runs[number], 1);
    return ALK_DONE;
}

// S44
static void two_loops_of_a_process_run_a_thousand_jobs_once(struct scene *scene) {
    static struct roll roll;
    struct rig rigs[2];

    roll = (struct roll){0};
    put_numbers(scene, "mail", 1000);
    for (int i = 0; i < 2; i++) {
        rig_init(&rigs[i], scene, call_roll, &roll);
        rigs[i].options.concurrency = 8;
        rigs[i].options.is_drain = true;
        rig_start(&rigs[i]);
    }
    for (int i = 0; i < 2; i++) {
        ok(scene, rig_join(&rigs[i]));
        rig_free(&rigs[i]);
    }
    for (int i = 0; i < 1000; i++)
        assert_int_equal(roll.runs[i], 1);
    assert_int_equal(done_jobs(scene), 1000);
}

/* ---- several processes ---- */

/* Writes a line for each run; one write to a file opened for appending is whole. */
static alk_outcome write_down(alk_attempt *attempt, void *context) {
    char line[32];
    int length = snprintf(line, sizeof(line), "%lld\n", (long long)alk_attempt_job(attempt)->id);

    return write(*(const int *)context, line, (size_t)length) == length ? ALK_DONE : ALK_DEAD;
}

static int drain_in_process(struct scene *scene, const char *path) {
    static const char *const mail[] = {"mail"};
    alk_worker_options options = ALK_WORKER_OPTIONS_INIT;
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    alk_store *store;

    if (fd < 0 || scene_open(scene, NULL, &store) < 0)
        return 1;
    options.queues = mail;
    options.queue_count = 1;
    options.concurrency = 2;
    options.is_drain = true;
    alk_status status = alk_worker_run(store, &options, write_down, &fd, NULL, &scene->error);
    if (status < 0)
        fprintf(stderr, "%s\n", scene->error.message);
    alk_close(store);
    return status == ALK_OK ? 0 : 2;
}

/* How often each of the ids of a file of lines stands there: fails unless once; returns how many.
 */
static int count_lines(const char *path) {
    static bool seen[10000];
    FILE *file = fopen(path, "r");
    long long id;
    int count = 0;

    memset(seen, 0, sizeof(seen));
    assert_non_null(file);
    while (fscanf(file, "%lld\n", &id) == 1) {
        assert_in_range(id, 1, 9999);
        assert_false(seen[id]);
        seen[id] = true;
        count++;
    }
    fclose(file);
    return count;
}

static void drain_with(struct scene *scene, int processes) {
    char path[256];
    pid_t children[10];

    snprintf(path, sizeof(path), "%s/runs", scene->folder);
    put_numbers(scene, "mail", 500);
    for (int i = 0; i < processes; i++)
        children[i] = spawn(scene, "drain", path);
    for (int i = 0; i < processes; i++)
        assert_int_equal(reap(children[i]), 0);
    assert_int_equal(count_lines(path), 500);
    assert_int_equal(done_jobs(scene), 500);
}

// S44
static void two_processes_run_each_job_once(struct scene *scene) {
    drain_with(scene, 2);
}

// S44
static void ten_processes_run_each_job_once(struct scene *scene) {
    drain_with(scene, 10);
}

/* ---- drain ---- */

static void a_drain_does_not_wait_for_what_is_not_due(struct scene *scene) {
    alk_enqueue_options later = ALK_ENQUEUE_OPTIONS_INIT;
    struct tally tally = {0};

    later.delay_us = ALK__HOUR;
    int64_t id = put_work(scene, "mail", "1", &later);
    put_work(scene, "mail", "2", NULL);
    rig_drain(scene, count_run, &tally);
    assert_int_equal(tally.runs, 1);
    assert_int_equal(state_of(scene, id), ALK_JOB_DELAYED);
}

/* Enqueues another job, three deep. */
static alk_outcome breed(alk_attempt *attempt, void *context) {
    struct scene *scene = context;
    long depth = strtol(alk_attempt_job(attempt)->payload, NULL, 10);
    char payload[12];
    alk_conn *conn;

    if (depth == 3)
        return ALK_DONE;
    int length = snprintf(payload, sizeof(payload), "%ld", depth + 1);
    if (alk_conn_get(scene->store, &conn, NULL) < 0)
        return ALK_DEAD;
    alk_status status = alk_enqueue(conn, "mail", payload, (size_t)length, NULL, NULL, NULL);
    alk_conn_put(conn);
    return status == ALK_OK ? ALK_DONE : ALK_DEAD;
}

static void a_drain_runs_what_its_own_handlers_add(struct scene *scene) {
    put_work(scene, "mail", "0", NULL);
    rig_drain(scene, breed, scene);
    assert_int_equal(done_jobs(scene), 4);
}

/* A job that is due and locked in somebody's open transaction is due all the same. */
static void a_drain_waits_for_a_locked_job(struct scene *scene) {
    struct tally tally = {0};
    struct rig rig;

    put_work(scene, "mail", "1", NULL);
    sql(scene, "BEGIN");
    sql(scene, "UPDATE alk_job SET priority = priority");
    rig_init(&rig, scene, count_run, &tally);
    rig.options.is_drain = true;
    rig_start(&rig);
    wait_until(rig_events(&rig, "worker started") == 1);
    for (int i = 0; i < 100; i++)
        nap();
    assert_false(rig.has_returned);
    assert_int_equal(tally.runs, 0);
    sql(scene, "COMMIT");
    ok(scene, rig_join(&rig));
    assert_int_equal(tally.runs, 1);
    rig_free(&rig);
}

static const struct scene_test tests[] = {
    BOTH(queues_are_served_in_the_order_named_and_no_other),
    BOTH(a_lower_queue_waits_for_a_full_higher_one),
    BOTH(a_lower_queue_waits_for_what_is_behind_expired_jobs),
    BOTH(handlers_at_once_and_jobs_claimed_are_bounded),
    BOTH(two_loops_of_a_process_run_a_thousand_jobs_once),
    BOTH(two_processes_run_each_job_once),
    BOTH(ten_processes_run_each_job_once),
    BOTH(a_drain_does_not_wait_for_what_is_not_due),
    BOTH(a_drain_runs_what_its_own_handlers_add),
    BOTH(a_drain_waits_for_a_locked_job),
};

static const struct role roles[] = {{"drain", drain_in_process}, {NULL, NULL}};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, roles);
}
