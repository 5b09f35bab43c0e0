/* core/claim: which jobs a claim takes, in which order, and what it does about those that may not
 * run. */
#include <stdlib.h>
#include <unistd.h>

#include "core/job.h"
#include "support/fault.h"
#include "support/jobs.h"

static void expect_empty(struct scene *scene, const char *queue) {
    alk_job_list list;

    expect(scene, ALK_EMPTY, alk_claim(scene->conn, queue, NULL, &list, &scene->error));
    assert_int_equal(list.count, 0);
}

/* S40: not before its time, and at it. */
static void a_delayed_job_waits_for_its_time(struct scene *scene) {
    alk_enqueue_options options = ALK_ENQUEUE_OPTIONS_INIT;
    int64_t id;

    options.delay_us = ALK__HOUR;
    ok(scene, alk_enqueue(scene->conn, "mail", "1", 1, &options, &id, &scene->error));
    assert_int_equal(state_of(scene, id), ALK_JOB_DELAYED);
    scene_pass(scene, ALK__HOUR - ALK__MINUTE);
    expect_empty(scene, "mail");
    int64_t due = put_job(scene, "mail");
    alk_job_list list = take_jobs(scene, "mail", 10, "w");
    assert_int_equal(list.count, 1);
    assert_int_equal(list.jobs[0].id, due);
    alk_job_list_free(&list);
    sql(scene, "DELETE FROM alk_job WHERE id = %lld", (long long)due);
    scene_pass(scene, ALK__MINUTE);
    assert_int_equal(take_one(scene, "mail", "w").id, id);
}

/* S41: higher priority first, then earlier run_at, then lower id, and returned in that order. */
static void a_batch_comes_in_claim_order(struct scene *scene) {
    int64_t now = scene_now(scene);
    int64_t wanted[6];

    wanted[5] = put_job_at(scene, "mail", ALK_NO_TIME, -1);
    wanted[4] = put_job_at(scene, "mail", now + 5 * ALK__SECOND, 0);
    wanted[2] = put_job_at(scene, "mail", now + 3 * ALK__SECOND, 0);
    wanted[3] = put_job_at(scene, "mail", now + 3 * ALK__SECOND, 0);
    wanted[0] = put_job_at(scene, "mail", now + 9 * ALK__SECOND, 32767);
    wanted[1] = put_job_at(scene, "mail", ALK_NO_TIME, 5);
    put_job_at(scene, "mail", ALK_NO_TIME, -32768);
    put_job_at(scene, "other", ALK_NO_TIME, 100);
    scene_pass(scene, ALK__MINUTE);

    alk_job_list list = take_jobs(scene, "mail", 6, "w");
    assert_int_equal(list.count, 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(list.jobs[i].id, wanted[i]);
    alk_job_list_free(&list);
}

/* S47, S69, S70: a claim raises attempt, sets the time of the claim, and its stamp is above the
 * earlier one and not below the clock. */
static void a_claim_counts_and_stamps(struct scene *scene) {
    int64_t id = put_job(scene, "mail");
    int64_t earlier = 0;

    for (int attempt = 1; attempt <= 3; attempt++) {
        int64_t now = scene_now(scene);
        alk_job_list list = take_jobs(scene, "mail", 1, "w");
        assert_int_equal(list.jobs[0].id, id);
        assert_int_equal(list.jobs[0].attempt, attempt);
        assert_int_equal(list.jobs[0].state, ALK_JOB_RUNNING);
        assert_true(list.jobs[0].stamp > earlier && list.jobs[0].stamp >= now);
        assert_true(list.jobs[0].claimed_at_us >= now);
        assert_int_equal(state_of(scene, id), ALK_JOB_RUNNING);
        earlier = list.jobs[0].stamp;
        alk_job_list_free(&list);
        scene_pass(scene, 31 * ALK__SECOND);
    }
}

/* S69, S77: where the row has a stamp ahead of the clock (a restored copy, a clock that went back)
 * the next is still higher. */
static void a_stamp_rises_when_the_clock_does_not(struct scene *scene) {
    put_job(scene, "mail");
    sql(scene, "UPDATE alk_job SET stamp = 9000000000000000000");
    assert_int_equal(take_one(scene, "mail", "w").stamp, INT64_C(9000000000000000001));
}

/* S14, S15: a lease is measured by the database's clock at the statement: 30 s are 30 s however old
 * the transaction is, and a job becomes claimable when its lease lapses. */
static void a_lease_counts_from_the_statement(struct scene *scene) {
    put_job(scene, "mail");
    ok(scene, alk_begin(scene->conn, &scene->error));
    int64_t begun = scene_now(scene);
    wait_until(scene->engine == ALK_ENGINE_SQLITE || scene_now(scene) > begun + 50 * ALK__MS);
    alk_job_list list = take_jobs(scene, "mail", 1, "w");
    assert_true(list.jobs[0].lease_until_us >=
                list.jobs[0].claimed_at_us + 30 * ALK__SECOND - ALK__MS);
    assert_true(scene->engine == ALK_ENGINE_SQLITE ||
                list.jobs[0].lease_until_us > begun + 30 * ALK__SECOND + 50 * ALK__MS);
    alk_job_list_free(&list);
    ok(scene, alk_commit(scene->conn, &scene->error));

    expect_empty(scene, "mail");
    scene_pass(scene, 31 * ALK__SECOND);
    take_one(scene, "mail", "other");
}

/* S14: the process's clock an hour off changes nothing on PostgreSQL. */
static void the_clock_of_the_process_does_not_matter(struct scene *scene) {
    alk_store_options options = scene_options(scene);
    struct fake_clock wrong = {scene_now(scene) + ALK__HOUR};
    alk_store *store;
    alk_conn *conn;
    alk_job_list list;
    alk_enqueue_options delayed = ALK_ENQUEUE_OPTIONS_INIT;

    options.now = fake_now;
    options.now_context = &wrong;
    ok(scene, scene_open(scene, &options, &store));
    ok(scene, alk_conn_get(store, &conn, &scene->error));
    delayed.delay_us = ALK__MINUTE;
    ok(scene, alk_enqueue(conn, "mail", "1", 1, &delayed, NULL, &scene->error));
    expect(scene, ALK_EMPTY, alk_claim(conn, "mail", NULL, &list, &scene->error));
    ok(scene, alk_enqueue(conn, "mail", "1", 1, NULL, NULL, &scene->error));
    ok(scene, alk_claim(conn, "mail", NULL, &list, &scene->error));
    assert_true(list.jobs[0].lease_until_us < wrong.now_us);
    alk_job_list_free(&list);
    alk_conn_put(conn);
    alk_close(store);
    expect_empty(scene, "mail");
}

/* S46: a claim that finds nothing writes nothing: no transaction id, no data_version, no lock. */
static void an_idle_claim_writes_nothing(struct scene *scene) {
    const char *version =
        scene->engine == ALK_ENGINE_SQLITE
            ? "PRAGMA data_version"
            : "SELECT pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot())::text::bigint";
    bool is_quiet = false;

    put_job_at(scene, "mail", scene_now(scene) + ALK__HOUR, 3);
    /* Another test's writes raise the server's ids: one quiet round is enough, a claim that writes
     * has none. */
    for (int round = 0; round < 1000 && !is_quiet; round++) {
        int64_t before = sql_number(scene, "%s", version);
        expect_empty(scene, "mail");
        expect_empty(scene, "none");
        is_quiet = sql_number(scene, "%s", version) == before;
    }
    assert_true(is_quiet);
}

/* S46: on SQLite it does not even ask for the writer's lock. */
static void an_idle_claim_waits_for_no_writer(struct scene *scene) {
    sql(scene, "BEGIN IMMEDIATE");
    expect_empty(scene, "mail");
    sql(scene, "ROLLBACK");
}

/* S45: a claimer inside its transaction holds up nobody: others get other jobs at once. */
static void a_claimer_in_its_transaction_holds_up_nobody(struct scene *scene) {
    alk_store *store;
    alk_conn *other;
    alk_job_list list;

    put_jobs(scene, "mail", 3);
    ok(scene, scene_open(scene, NULL, &store));
    ok(scene, alk_conn_get(store, &other, &scene->error));
    ok(scene, alk_begin(scene->conn, &scene->error));
    alk_settlement mine = take_one(scene, "mail", "w");
    alk__conn_set_call_limit(other, 20 * ALK__SECOND);
    ok(scene, alk_claim(other, "mail", NULL, &list, &scene->error));
    assert_int_not_equal(list.jobs[0].id, mine.id);
    alk_job_list_free(&list);
    alk_conn_put(other);
    alk_close(store);
    ok(scene, alk_commit(scene->conn, &scene->error));
}

/* S48: whoever held the job at its last attempt died: it becomes dead, is not run, counts no
 * attempt. */
static void a_job_out_of_attempts_is_dead_not_run(struct scene *scene) {
    alk_enqueue_options options = ALK_ENQUEUE_OPTIONS_INIT;
    alk_job_list list;
    int64_t id;

    options.max_attempts = 2;
    ok(scene, alk_enqueue(scene->conn, "mail", "1", 1, &options, &id, &scene->error));
    for (int i = 0; i < 2; i++) {
        take_one(scene, "mail", "w");
        scene_pass(scene, 31 * ALK__SECOND);
    }
    expect_empty(scene, "mail");
    ok(scene, alk_job_get(scene->conn, id, &list, &scene->error));
    assert_int_equal(list.jobs[0].state, ALK_JOB_DEAD);
    assert_string_equal(list.jobs[0].reason, "attempts_exhausted");
    assert_int_equal(list.jobs[0].attempt, 2);
    alk_job_list_free(&list);
    check_store(scene);
}

/* S48 and the queue's settings: a job without a number of its own has the queue's, at the time of
 * use. */
static void the_attempts_of_the_queue_count_at_the_time_of_use(struct scene *scene) {
    int64_t id = put_job(scene, "mail");

    take_one(scene, "mail", "w");
    scene_pass(scene, 31 * ALK__SECOND);
    sql(scene, "INSERT INTO alk_queue (name, max_attempts) VALUES ('mail', 1)");
    expect_empty(scene, "mail");
    assert_int_equal(state_of(scene, id), ALK_JOB_DEAD);
}

/* S54: an expired job is not run; it is dead at the claim, and those behind it run in the same
 * call. */
static void an_expired_job_is_dead_not_run(struct scene *scene) {
    alk_enqueue_options options = ALK_ENQUEUE_OPTIONS_INIT;
    alk_job_list list;
    int64_t expired, good;

    options.expires_us = ALK__MINUTE;
    ok(scene, alk_enqueue(scene->conn, "mail", "1", 1, &options, &expired, &scene->error));
    scene_pass(scene, ALK__MINUTE + ALK__SECOND);
    good = put_job(scene, "mail");
    assert_int_equal(take_one(scene, "mail", "w").id, good);
    ok(scene, alk_job_get(scene->conn, expired, &list, &scene->error));
    assert_int_equal(list.jobs[0].state, ALK_JOB_DEAD);
    assert_string_equal(list.jobs[0].reason, "expired");
    assert_int_equal(list.jobs[0].attempt, 0);
    alk_job_list_free(&list);
}

/* S54: one that expires while it runs may finish, but is not run again when its lease lapses. */
static void a_job_that_expires_while_running_is_not_run_again(struct scene *scene) {
    alk_enqueue_options options = ALK_ENQUEUE_OPTIONS_INIT;
    int64_t id;

    options.expires_us = 10 * ALK__SECOND;
    ok(scene, alk_enqueue(scene->conn, "mail", "1", 1, &options, &id, &scene->error));
    take_one(scene, "mail", "w");
    scene_pass(scene, 20 * ALK__SECOND);
    assert_int_equal(state_of(scene, id), ALK_JOB_RUNNING);
    scene_pass(scene, 11 * ALK__SECOND);
    expect_empty(scene, "mail");
    assert_int_equal(state_of(scene, id), ALK_JOB_DEAD);
}

/* The cancelled verdict: a job whose cancel was asked for while it ran ends as cancelled when its
 * lease lapses (S55). */
static void a_lapsed_job_with_a_cancel_ends_as_cancelled(struct scene *scene) {
    int64_t id = put_job(scene, "mail");

    take_one(scene, "mail", "w");
    sql(scene, "UPDATE alk_job SET cancel_requested_at = %s", sql_time(scene, scene_now(scene)));
    scene_pass(scene, 31 * ALK__SECOND);
    expect_empty(scene, "mail");
    assert_int_equal(state_of(scene, id), ALK_JOB_CANCELLED);
}

static void a_paused_queue_gives_nothing(struct scene *scene) {
    put_job(scene, "mail");
    sql(scene, "INSERT INTO alk_queue (name, paused_at) VALUES ('mail', %s)",
        sql_time(scene, scene_now(scene)));
    expect_empty(scene, "mail");
    sql(scene, "UPDATE alk_queue SET paused_at = NULL");
    take_one(scene, "mail", "w");
}

/* S9, S81: rows that cannot be read are dead with their reason, and the others of the batch run. */
static void an_unreadable_job_is_set_aside_and_the_others_run(struct scene *scene) {
    alk_job_list list;
    int64_t bad = put_job_at(scene, "mail", ALK_NO_TIME, 1);
    int64_t good = put_job(scene, "mail");

    if (scene->engine == ALK_ENGINE_POSTGRES)
        sql(scene,
            "ALTER TABLE alk_job ALTER COLUMN payload DROP NOT NULL;"
            "UPDATE alk_job SET payload = NULL WHERE id = %lld",
            (long long)bad);
    else
        sql(scene,
            "PRAGMA writable_schema = on;"
            "UPDATE sqlite_schema SET sql = replace(sql, 'STRICT', '') WHERE name = 'alk_job';"
            "PRAGMA writable_schema = reset;"
            "UPDATE alk_job SET payload = x'00ff', max_attempts = 'many' WHERE id = %lld",
            (long long)bad);
    scene_close(scene);
    scene_reopen(scene);

    list = take_jobs(scene, "mail", 10, "w");
    assert_int_equal(list.count, 1);
    assert_int_equal(list.jobs[0].id, good);
    alk_job_list_free(&list);
    assert_int_equal(count_rows(scene, "alk_job_dead", "reason = 'undecodable'"), 1);
    assert_contains(sql_text(scene, "SELECT errors FROM alk_job_dead"), "column '");
    assert_int_equal(sql_number(scene, "SELECT attempt FROM alk_job_dead"), 0);
    check_store(scene);
}

/* S9: numbers at the end of their range, or below where they may be, stop no claim. */
static void odd_numbers_stop_no_claim(struct scene *scene) {
    put_jobs(scene, "mail", 3);
    if (scene->engine == ALK_ENGINE_POSTGRES)
        sql(scene, "ALTER TABLE alk_job DROP CONSTRAINT job_attempt_check;"
                   "ALTER TABLE alk_job DROP CONSTRAINT job_stamp_check;"
                   "UPDATE alk_job SET attempt = -5 WHERE id = 1;"
                   "ALTER TABLE alk_job ADD CHECK (attempt >= 0) NOT VALID");
    else
        sql(scene, "PRAGMA ignore_check_constraints = on;"
                   "UPDATE alk_job SET attempt = -5 WHERE id = 1");
    sql(scene, "UPDATE alk_job SET attempt = 2147483647, max_attempts = 2147483647 WHERE id = 2");
    sql(scene, "UPDATE alk_job SET stamp = 9223372036854775807 WHERE id = 3");
    alk_job_list list = take_jobs(scene, "mail", 10, "w");
    assert_int_equal(list.count, 3);
    assert_int_equal(list.jobs[0].attempt, 1);
    alk_job_list_free(&list);
}

/* S33 for claims: refused for its options without touching the database. */
static void a_claim_is_refused_for_its_options(struct scene *scene) {
    const alk_claim_options bad[] = {
        {sizeof(alk_claim_options), 0, ALK__SECOND, "w"},
        {sizeof(alk_claim_options), 1001, ALK__SECOND, "w"},
        {sizeof(alk_claim_options), 1, 0, "w"},
        {sizeof(alk_claim_options), 1, ALK__SECOND, ""},
    };
    struct faults faults;
    alk_job_list list;

    faults_install(&faults, scene->store);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        expect(scene, ALK_INVALID, alk_claim(scene->conn, "mail", &bad[i], &list, &scene->error));
    expect(scene, ALK_INVALID, alk_claim(scene->conn, "", NULL, &list, &scene->error));
    assert_int_equal(faults_count(&faults, NULL), 0);
    faults_remove(&faults);
}

/* S31: a claim in a caller's transaction that is rolled back never was. */
static void a_claim_that_is_rolled_back_never_was(struct scene *scene) {
    int64_t id = put_job(scene, "mail");

    ok(scene, alk_begin(scene->conn, &scene->error));
    take_one(scene, "mail", "w");
    alk_rollback(scene->conn);
    alk_job_list list = take_jobs(scene, "mail", 1, "w");
    assert_int_equal(list.jobs[0].id, id);
    assert_int_equal(list.jobs[0].attempt, 1);
    alk_job_list_free(&list);
}

static void when_the_next_job_is_due_can_be_asked(struct scene *scene) {
    int64_t now = scene_now(scene);
    int64_t next_due, seen;
    bool is_due;

    ok(scene, alk__queue_next_due(scene->conn, "mail", &is_due, &next_due, &seen, &scene->error));
    assert_false(is_due);
    assert_int_equal(next_due, ALK_NO_TIME);
    put_job_at(scene, "mail", now + 2 * ALK__HOUR, 0);
    put_job_at(scene, "mail", now + ALK__HOUR, -3);
    ok(scene, alk__queue_next_due(scene->conn, "mail", &is_due, &next_due, &seen, &scene->error));
    assert_false(is_due);
    assert_int_equal(next_due, now + ALK__HOUR);
    put_job(scene, "mail");
    ok(scene, alk__queue_next_due(scene->conn, "mail", &is_due, &next_due, &seen, &scene->error));
    assert_true(is_due);
    assert_true(seen >= now);
}

/* ---- many processes ---- */

enum { RACE_JOBS = 10000 };

/* Claims until nothing is left and notes each job in a table that holds every id once. */
static int race(struct scene *scene, const char *argument) {
    alk_claim_options options = ALK_CLAIM_OPTIONS_INIT;
    alk_job_list list;
    char text[65536];
    alk_status st;

    options.limit = 100;
    options.lease_us = ALK__HOUR;
    options.worker = argument;
    if (scene_open(scene, NULL, &scene->store) < 0 ||
        alk_conn_get(scene->store, &scene->conn, &scene->error) < 0)
        return 2;
    while ((st = alk_claim(scene->conn, "mail", &options, &list, &scene->error)) == ALK_OK) {
        size_t length = 0;
        for (size_t i = 0; i < list.count; i++)
            length += (size_t)snprintf(text + length, sizeof(text) - length, "%lld\n",
                                       (long long)list.jobs[i].id);
        if (fwrite(text, 1, length, stdout) != length)
            return 3;
        alk_job_list_free(&list);
    }
    if (st < 0)
        fprintf(stderr, "claim: %s\n", scene->error.message);
    alk_conn_put(scene->conn);
    alk_close(scene->store);
    return st == ALK_EMPTY ? 0 : 4;
}

static int compare_ids(const void *left, const void *right) {
    int64_t l = *(const int64_t *)left, r = *(const int64_t *)right;

    return l < r ? -1 : l > r;
}

static void expect_each_once(const char *folder, int processes) {
    int64_t *ids = calloc(2 * RACE_JOBS, sizeof(*ids));
    size_t count = 0;
    char path[512], line[64];

    assert_non_null(ids);
    for (int i = 0; i < processes; i++) {
        snprintf(path, sizeof(path), "%s/claimed-%d", folder, i);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        while (fgets(line, sizeof(line), file) != NULL && count < 2 * RACE_JOBS)
            ids[count++] = strtoll(line, NULL, 10);
        fclose(file);
    }
    assert_int_equal(count, RACE_JOBS);
    qsort(ids, count, sizeof(*ids), compare_ids);
    for (size_t i = 1; i < count; i++)
        assert_true(ids[i] > ids[i - 1]);
    free(ids);
}

/* Children write what they claimed to a file each. */
static pid_t spawn_racer(struct scene *scene, int number) {
    char path[512], worker[32];
    int kept = dup(STDOUT_FILENO);

    snprintf(path, sizeof(path), "%s/claimed-%d", scene->folder, number);
    snprintf(worker, sizeof(worker), "racer-%d", number);
    fflush(stdout);
    assert_non_null(freopen(path, "w", stdout));
    pid_t child = spawn(scene, "race", worker);
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    return child;
}

static void race_with(struct scene *scene, int processes) {
    pid_t children[10];

    put_jobs(scene, "mail", RACE_JOBS);
    for (int i = 0; i < processes; i++)
        children[i] = spawn_racer(scene, i);
    for (int i = 0; i < processes; i++)
        assert_int_equal(reap(children[i]), 0);
    expect_each_once(scene->folder, processes);
    assert_int_equal(count_rows(scene, "alk_job", "attempt <> 1"), 0);
}

/* S44: two processes that claim 10,000 jobs never get the same one. */
static void two_processes_never_share_a_job(struct scene *scene) {
    race_with(scene, 2);
}

/* S44: nor do ten. */
static void ten_processes_never_share_a_job(struct scene *scene) {
    race_with(scene, 10);
}

static const struct role roles[] = {{"race", race}, {NULL, NULL}};

/* A lease shorter than the way to the database ends no job that may not run: the call comes to an
 * end all the same. */
static void a_lease_that_lapses_at_once_ends_the_call(struct scene *scene) {
    alk_claim_options options = ALK_CLAIM_OPTIONS_INIT;
    struct faults faults;
    alk_job_list list;

    put_job(scene, "mail");
    sql(scene, "UPDATE alk_job SET attempt = 20");
    options.lease_us = 1;
    faults_install(&faults, scene->store);
    faults_add(&faults, "job_claim", 5, ALK__BEFORE, ALK_FAILED);
    expect(scene, ALK_EMPTY, alk_claim(scene->conn, "mail", &options, &list, &scene->error));
    faults_remove(&faults);
    alk_job_list_free(&list);
}

static const struct scene_test tests[] = {
    POSTGRES(a_lease_that_lapses_at_once_ends_the_call),
    BOTH(a_delayed_job_waits_for_its_time),
    BOTH(a_batch_comes_in_claim_order),
    BOTH(a_claim_counts_and_stamps),
    BOTH(a_stamp_rises_when_the_clock_does_not),
    BOTH(a_lease_counts_from_the_statement),
    POSTGRES(the_clock_of_the_process_does_not_matter),
    BOTH(an_idle_claim_writes_nothing),
    SQLITE(an_idle_claim_waits_for_no_writer),
    POSTGRES(a_claimer_in_its_transaction_holds_up_nobody),
    BOTH(a_job_out_of_attempts_is_dead_not_run),
    BOTH(the_attempts_of_the_queue_count_at_the_time_of_use),
    BOTH(an_expired_job_is_dead_not_run),
    BOTH(a_job_that_expires_while_running_is_not_run_again),
    BOTH(a_lapsed_job_with_a_cancel_ends_as_cancelled),
    BOTH(a_paused_queue_gives_nothing),
    BOTH(an_unreadable_job_is_set_aside_and_the_others_run),
    BOTH(odd_numbers_stop_no_claim),
    BOTH(a_claim_is_refused_for_its_options),
    BOTH(a_claim_that_is_rolled_back_never_was),
    BOTH(when_the_next_job_is_due_can_be_asked),
    BOTH(two_processes_never_share_a_job),
    BOTH(ten_processes_never_share_a_job),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, roles);
}
