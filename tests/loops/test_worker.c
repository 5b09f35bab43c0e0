/* tests/loops/test_worker.c: what a worker does with what handlers say of their jobs, with jobs
 * that may not run, and with its options. */
#include <stdlib.h>

#include "support/rig.h"

/* ---- outcomes ---- */

/* Says what its payload asks for, the first time; DONE afterwards. */
static alk_outcome obey(alk_attempt *attempt, void *context) {
    const alk_job *job = alk_attempt_job(attempt);

    (void)context;
    if (job->attempt > 1)
        return ALK_DONE;
    alk_attempt_set_error(attempt, "the %s try failed", "first");
    return (alk_outcome)strtol(job->payload, NULL, 10);
}

static alk_outcome give_result(alk_attempt *attempt, void *context) {
    alk_error error = ALK_ERROR_INIT;

    *(alk_status *)context = alk_attempt_set_result(attempt, "not json", 8, &error);
    return alk_attempt_set_result(attempt, "{\"sent\":true}", 13, &error) == ALK_OK ? ALK_DONE
                                                                                    : ALK_DEAD;
}

static void a_result_is_kept_with_the_done_job(struct scene *scene) {
    alk_status refused = ALK_OK;
    int64_t id = put_work(scene, "mail", "1", NULL);
    alk_job_list list;

    rig_drain(scene, give_result, &refused);
    assert_int_equal(refused, ALK_INVALID);
    ok(scene, alk_job_get(scene->conn, id, &list, &scene->error));
    assert_int_equal(list.jobs[0].state, ALK_JOB_DONE);
    assert_string_equal(list.jobs[0].result, "{\"sent\":true}");
    alk_job_list_free(&list);
}

static alk_outcome result_beside_retry(alk_attempt *attempt, void *context) {
    (void)context;
    return alk_attempt_set_result(attempt, "1", 1, NULL) == ALK_OK ? ALK_DEAD : ALK_DONE;
}

static void a_result_beside_another_outcome_than_done_is_dropped(struct scene *scene) {
    int64_t id = put_work(scene, "mail", "1", NULL);

    rig_drain(scene, result_beside_retry, NULL);
    assert_int_equal(state_of(scene, id), ALK_JOB_DEAD);
}

// S52, S71: the error's text is kept and the job waits for its back-off: 0.5 to 1 s at first.
static void a_failed_attempt_waits_and_keeps_its_error(struct scene *scene) {
    int64_t before = scene_now(scene);
    int64_t id = put_work(scene, "mail", "2", NULL);
    alk_job_list list;

    rig_drain(scene, obey, NULL);
    ok(scene, alk_job_get(scene->conn, id, &list, &scene->error));
    assert_int_equal(list.jobs[0].state, ALK_JOB_DELAYED);
    assert_int_equal(list.jobs[0].attempt, 1);
    assert_true(list.jobs[0].run_at_us - before >= ALK__SECOND / 2);
    assert_contains(list.jobs[0].errors, "the first try failed");
    alk_job_list_free(&list);

    scene_pass(scene, 2 * ALK__SECOND);
    rig_drain(scene, obey, NULL);
    assert_int_equal(state_of(scene, id), ALK_JOB_DONE);
}

static void an_unavailable_sink_is_a_failed_attempt(struct scene *scene) {
    int64_t id = put_work(scene, "mail", "4", NULL);

    rig_drain(scene, obey, NULL);
    assert_int_equal(state_of(scene, id), ALK_JOB_DELAYED);
}

// S53
static void dead_is_dead_whatever_the_budget(struct scene *scene) {
    int64_t id = put_work(scene, "mail", "3", NULL);
    alk_job_list list;

    rig_drain(scene, obey, NULL);
    ok(scene, alk_job_get(scene->conn, id, &list, &scene->error));
    assert_int_equal(list.jobs[0].state, ALK_JOB_DEAD);
    assert_string_equal(list.jobs[0].reason, "failed");
    alk_job_list_free(&list);
}

// S81
static void an_undecodable_payload_is_dead_and_the_loop_lives(struct scene *scene) {
    int64_t bad = put_work(scene, "mail", "6", NULL);
    int64_t good = put_work(scene, "mail", "1", NULL);
    alk_job_list list;

    rig_drain(scene, obey, NULL);
    ok(scene, alk_job_get(scene->conn, bad, &list, &scene->error));
    assert_int_equal(list.jobs[0].state, ALK_JOB_DEAD);
    assert_string_equal(list.jobs[0].reason, "undecodable");
    alk_job_list_free(&list);
    assert_int_equal(state_of(scene, good), ALK_JOB_DONE);
}

// S81
static void a_row_that_cannot_be_read_is_dead_and_the_loop_lives(struct scene *scene) {
    struct rig rig;
    struct tally tally = {0};
    int64_t bad = put_work(scene, "mail", "1", NULL);
    int64_t good = put_work(scene, "mail", "1", NULL);

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
            "UPDATE alk_job SET payload = x'00ff' WHERE id = %lld",
            (long long)bad);
    scene_close(scene);
    scene_reopen(scene);
    rig_init(&rig, scene, count_run, &tally);
    rig.options.is_drain = true;
    ok(scene, rig_run(&rig));
    assert_int_equal(state_of(scene, good), ALK_JOB_DONE);
    assert_int_equal(tally.runs, 1);
    assert_int_equal(rig_event(&rig, "job dead, its row cannot be read").job_id, bad);
    assert_int_equal(
        sql_number(scene, "SELECT count(*) FROM alk_job_dead WHERE reason = 'undecodable'"), 1);
    rig_free(&rig);
}

static void a_number_that_is_no_outcome_is_a_failed_attempt(struct scene *scene) {
    int64_t id = put_work(scene, "mail", "77", NULL);
    alk_job_list list;

    rig_drain(scene, obey, NULL);
    ok(scene, alk_job_get(scene->conn, id, &list, &scene->error));
    assert_int_equal(list.jobs[0].state, ALK_JOB_DELAYED);
    assert_contains(list.jobs[0].errors, "returned 77, which is no outcome");
    alk_job_list_free(&list);
}

static alk_outcome complain_at_length(alk_attempt *attempt, void *context) {
    char text[6000];

    (void)context;
    memset(text, 'x', sizeof(text));
    text[0] = '\xff';
    text[sizeof(text) - 1] = '\0';
    alk_attempt_set_error(attempt, "%s", text);
    return ALK_RETRY;
}

// S52: an error's text is cut to 4 KiB and made UTF-8: it never holds up the settling.
static void a_wild_error_text_is_tamed(struct scene *scene) {
    int64_t id = put_work(scene, "mail", "1", NULL);
    alk_job_list list;

    rig_drain(scene, complain_at_length, NULL);
    ok(scene, alk_job_get(scene->conn, id, &list, &scene->error));
    assert_int_equal(list.jobs[0].state, ALK_JOB_DELAYED);
    assert_contains(list.jobs[0].errors, "xxxx");
    assert_in_range(strlen(list.jobs[0].errors), 4000, 4400);
    alk_job_list_free(&list);
}

static alk_outcome delay(alk_attempt *attempt, void *context) {
    alk_attempt_set_delay_us(attempt, *(const int64_t *)context);
    return ALK_RETRY;
}

/* How long a job waits whose handler asked for delay_us. */
static int64_t wait_after(struct scene *scene, int64_t delay_us) {
    int64_t id = put_work(scene, "mail", "1", NULL);
    int64_t before = scene_now(scene);
    alk_job_list list;

    rig_drain(scene, delay, &delay_us);
    ok(scene, alk_job_get(scene->conn, id, &list, &scene->error));
    assert_int_equal(list.jobs[0].attempt, 1);
    int64_t wait_us = list.jobs[0].run_at_us - before;
    alk_job_list_free(&list);
    return wait_us;
}

// S74
static void a_handlers_own_delay_is_bounded_and_counts(struct scene *scene) {
    int64_t wait_us = wait_after(scene, 3 * ALK__HOUR);

    assert_true(wait_us >= 3 * ALK__HOUR && wait_us < 4 * ALK__HOUR);
    assert_true(wait_after(scene, INT64_MAX) <= 3651 * ALK__DAY);
}

/* ---- jobs that may not run ---- */

/* Somebody else claims everything in "mail" for 30 s, and dies. */
static void claimed_by_a_dead_one(struct scene *scene) {
    const alk_claim_options options = {sizeof(options), 1000, 30 * ALK__SECOND, "dead one"};
    alk_job_list list;

    ok(scene, alk_claim(scene->conn, "mail", &options, &list, &scene->error));
    alk_job_list_free(&list);
    scene_pass(scene, 31 * ALK__SECOND);
}

// S47: the attempt of the one that died counts.
static void a_crash_counts_as_an_attempt(struct scene *scene) {
    struct tally tally = {0};
    int64_t id = put_work(scene, "mail", "1", NULL);
    alk_job_list list;

    claimed_by_a_dead_one(scene);
    rig_drain(scene, count_run, &tally);
    ok(scene, alk_job_get(scene->conn, id, &list, &scene->error));
    assert_int_equal(list.jobs[0].state, ALK_JOB_DONE);
    assert_int_equal(list.jobs[0].attempt, 2);
    alk_job_list_free(&list);
}

// S48
static void a_job_whose_last_attempt_died_is_dead_without_a_run(struct scene *scene) {
    alk_enqueue_options options = ALK_ENQUEUE_OPTIONS_INIT;
    struct tally tally = {0};
    alk_job_list list;

    options.max_attempts = 1;
    int64_t id = put_work(scene, "mail", "1", &options);
    claimed_by_a_dead_one(scene);
    rig_drain(scene, count_run, &tally);
    assert_int_equal(tally.runs, 0);
    ok(scene, alk_job_get(scene->conn, id, &list, &scene->error));
    assert_int_equal(list.jobs[0].state, ALK_JOB_DEAD);
    assert_string_equal(list.jobs[0].reason, "attempts_exhausted");
    assert_int_equal(list.jobs[0].attempt, 1);
    alk_job_list_free(&list);
}

// S54
static void an_expired_job_is_not_run(struct scene *scene) {
    alk_enqueue_options options = ALK_ENQUEUE_OPTIONS_INIT;
    struct tally tally = {0};

    options.expires_us = ALK__SECOND;
    int64_t id = put_work(scene, "mail", "1", &options);
    scene_pass(scene, 2 * ALK__SECOND);
    rig_drain(scene, count_run, &tally);
    assert_int_equal(tally.runs, 0);
    assert_int_equal(state_of(scene, id), ALK_JOB_DEAD);
}

/* ---- options ---- */

static void expect_refused(struct scene *scene, struct rig *rig, const char *part) {
    expect(scene, ALK_INVALID, rig_run(rig));
    assert_contains(rig->error.message, part);
    const alk_worker_options defaults = ALK_WORKER_OPTIONS_INIT;
    static const char *const mail[] = {"mail"};
    rig->options = defaults;
    rig->options.queues = mail;
    rig->options.queue_count = 1;
}

static void wrong_options_are_refused(struct scene *scene) {
    static const char *const bad_name[] = {"mail", ""};
    struct rig rig;

    rig_init(&rig, scene, NULL, NULL);
    expect(scene, ALK_USAGE, rig_run(&rig));
    rig.handler = count_run;
    rig.options.queue_count = 0;
    expect_refused(scene, &rig, "1 to 64 queues");
    rig.options.queues = NULL;
    expect_refused(scene, &rig, "1 to 64 queues");
    rig.options.queues = bad_name;
    rig.options.queue_count = 2;
    expect_refused(scene, &rig, "queue name is empty");
    rig.options.name = "a\nb";
    expect_refused(scene, &rig, "worker name");
    rig.options.concurrency = 0;
    expect_refused(scene, &rig, "concurrency");
    rig.options.concurrency = 1001;
    expect_refused(scene, &rig, "concurrency");
    rig.options.prefetch = -1;
    expect_refused(scene, &rig, "prefetch");
    rig.options.lease_us = ALK__SECOND - 1;
    expect_refused(scene, &rig, "lease");
    rig.options.lease_us = INT64_MAX;
    expect_refused(scene, &rig, "lease");
    rig.options.timeout_us = -1;
    expect_refused(scene, &rig, "time-out");
    rig.options.shutdown_us = -1;
    expect_refused(scene, &rig, "shutdown");
    rig.options.poll_us = 0;
    expect_refused(scene, &rig, "poll");
    rig_free(&rig);
}

/* A name of 200 bytes leaves room for the token: it is cut between two characters. */
static void a_long_name_is_still_a_name(struct scene *scene) {
    char name[201];
    struct tally tally = {0};
    struct rig rig;

    for (int i = 0; i < 200; i += 2)
        memcpy(name + i, "\xc3\xa9", 2);
    name[200] = '\0';
    int64_t id = put_work(scene, "mail", "1", NULL);
    rig_init(&rig, scene, count_run, &tally);
    rig.options.name = name;
    rig.options.is_drain = true;
    ok(scene, rig_run(&rig));
    assert_int_equal(state_of(scene, id), ALK_JOB_DONE);
    rig_free(&rig);
}

static const struct scene_test tests[] = {
    BOTH(a_result_is_kept_with_the_done_job),
    BOTH(a_result_beside_another_outcome_than_done_is_dropped),
    BOTH(a_failed_attempt_waits_and_keeps_its_error),
    BOTH(an_unavailable_sink_is_a_failed_attempt),
    BOTH(dead_is_dead_whatever_the_budget),
    BOTH(an_undecodable_payload_is_dead_and_the_loop_lives),
    BOTH(a_row_that_cannot_be_read_is_dead_and_the_loop_lives),
    BOTH(a_number_that_is_no_outcome_is_a_failed_attempt),
    BOTH(a_wild_error_text_is_tamed),
    BOTH(a_handlers_own_delay_is_bounded_and_counts),
    BOTH(a_crash_counts_as_an_attempt),
    BOTH(a_job_whose_last_attempt_died_is_dead_without_a_run),
    BOTH(an_expired_job_is_not_run),
    BOTH(wrong_options_are_refused),
    BOTH(a_long_name_is_still_a_name),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
