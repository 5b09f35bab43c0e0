/* core/enqueue: what goes into a queue, and what is kept out before the database is touched. */
#include <stdlib.h>

#include "base/arena.h"
#include "core/job.h"
#include "support/fault.h"
#include "support/jobs.h"

static const alk_enqueue_options defaults = ALK_ENQUEUE_OPTIONS_INIT;

/* S38: ids are never given out again, not even those of the newest job after it is gone. */
static void an_id_is_never_used_again(struct scene *scene) {
    int64_t first = put_job(scene, "mail");

    assert_int_equal(settle_one(scene, take_one(scene, "mail", "w"), ALK_DONE), ALK_SETTLED);
    sql(scene, "DELETE FROM alk_job_done");
    assert_true(put_job(scene, "mail") > first);
}

/* S38: a claim makes no queue. */
static void a_claim_creates_nothing(struct scene *scene) {
    alk_job_list list;

    expect(scene, ALK_EMPTY, alk_claim(scene->conn, "none", NULL, &list, &scene->error));
    assert_int_equal(count_rows(scene, "alk_queue", "1 = 1"), 0);
    assert_int_equal(count_rows(scene, "alk_lane", "1 = 1"), 0);
}

/* S17: a payload comes back byte for byte, an empty one is null. */
static void a_payload_is_kept_byte_for_byte(struct scene *scene) {
    static const char payload[] = "{ \"b\":1, \"a\" : [1.0e2,\t\"\xC3\xA9\"], \"b\":2 }";
    alk_job_list list;
    int64_t id;

    ok(scene, alk_enqueue(scene->conn, "mail", payload, strlen(payload), NULL, &id, &scene->error));
    ok(scene, alk_job_get(scene->conn, id, &list, &scene->error));
    assert_string_equal(list.jobs[0].payload, payload);
    assert_int_equal(list.jobs[0].payload_length, strlen(payload));
    alk_job_list_free(&list);

    ok(scene, alk_enqueue(scene->conn, "mail", NULL, 0, NULL, &id, &scene->error));
    ok(scene, alk_job_get(scene->conn, id, &list, &scene->error));
    assert_string_equal(list.jobs[0].payload, "null");
    alk_job_list_free(&list);
}

/* S65: headers travel beside the payload. */
static void headers_are_kept_apart(struct scene *scene) {
    alk_enqueue_options options = defaults;
    int64_t id;

    options.headers = "{\"trace\":\"abc\"}";
    ok(scene, alk_enqueue(scene->conn, "mail", "1", 1, &options, &id, &scene->error));
    alk_job_list list = take_jobs(scene, "mail", 1, "w");
    assert_string_equal(list.jobs[0].headers, "{\"trace\":\"abc\"}");
    assert_string_equal(list.jobs[0].payload, "1");
    alk_job_list_free(&list);
}

/* S70: enqueued and run_at are set by the database's clock; run_at is never before it. */
static void run_at_never_lies_in_the_past(struct scene *scene) {
    int64_t before = scene_now(scene);
    int64_t id = put_job_at(scene, "mail", before - ALK__HOUR, 0);
    alk_job_list list;

    ok(scene, alk_job_get(scene->conn, id, &list, &scene->error));
    assert_true(list.jobs[0].run_at_us >= before);
    assert_int_equal(list.jobs[0].run_at_us, list.jobs[0].enqueued_at_us);
    assert_int_equal(list.jobs[0].state, ALK_JOB_READY);
    alk_job_list_free(&list);
}

/* What is refused, and a part of what the message says. */
struct refusal {
    const char *queue;
    const char *payload;
    alk_enqueue_options options;
    const char *message;
};

static void expect_refusals(struct scene *scene, const struct refusal *refusals, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const struct refusal *refusal = &refusals[i];
        size_t length = refusal->payload == NULL ? 0 : strlen(refusal->payload);
        expect(scene, ALK_INVALID,
               alk_enqueue(scene->conn, refusal->queue, refusal->payload, length, &refusal->options,
                           NULL, &scene->error));
        assert_contains(scene->error.message, refusal->message);
    }
}

#define OPTIONS(...)                                                                               \
    {                                                                                              \
        .size = sizeof(alk_enqueue_options), .delay_us = ALK_NO_TIME, .run_at_us = ALK_NO_TIME,    \
        .expires_us = ALK_NO_TIME, __VA_ARGS__                                                     \
    }

/* S33, S39, S212: refused for its arguments, before the database hears of it: no statement is run
 * and the caller's transaction goes on as it was. */
static void a_refused_call_does_not_touch_the_database(struct scene *scene) {
    char long_name[202];
    memset(long_name, 'q', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = '\0';
    const struct refusal refusals[] = {
        {"", "1", OPTIONS(.priority = 0), "queue"},
        {long_name, "1", OPTIONS(.priority = 0), "200"},
        {"a\nb", "1", OPTIONS(.priority = 0), "queue"},
        {"mail", "hello", OPTIONS(.priority = 0), "payload is not JSON at column 1"},
        {"mail", "\"\xFF\"", OPTIONS(.priority = 0), "payload"},
        {"mail", "1", OPTIONS(.headers = "[]"), "headers is not a JSON object"},
        {"mail", "1", OPTIONS(.headers = "{"), "headers"},
        {"mail", "1", OPTIONS(.max_attempts = -1), "max_attempts"},
        {"mail", "1", OPTIONS(.priority = 32768), "priority"},
        {"mail",
         "1",
         {sizeof(alk_enqueue_options), 1, 1, ALK_NO_TIME, 0, 0, NULL, NULL,
          ALK_UNIQUE_UNTIL_FINISHED, ALK_NO_TIME},
         "both delay and run_at"},
        {"mail",
         "1",
         {sizeof(alk_enqueue_options), -1, ALK_NO_TIME, ALK_NO_TIME, 0, 0, NULL, NULL,
          ALK_UNIQUE_UNTIL_FINISHED, ALK_NO_TIME},
         "delay"},
        {"mail",
         "1",
         {sizeof(alk_enqueue_options), ALK_NO_TIME, ALK_NO_TIME, 0, 0, 0, NULL, NULL,
          ALK_UNIQUE_UNTIL_FINISHED, ALK_NO_TIME},
         "expires"},
        {"mail",
         "1",
         {sizeof(alk_enqueue_options), ALK_NO_TIME, INT64_MAX, ALK_NO_TIME, 0, 0, NULL, NULL,
          ALK_UNIQUE_UNTIL_FINISHED, ALK_NO_TIME},
         "run_at"},
    };
    struct faults faults;

    ok(scene, alk_begin(scene->conn, &scene->error));
    put_job(scene, "mail");
    faults_install(&faults, scene->store);
    expect_refusals(scene, refusals, sizeof(refusals) / sizeof(refusals[0]));
    assert_int_equal(faults_count(&faults, NULL), 0);
    faults_remove(&faults);
    put_job(scene, "mail");
    ok(scene, alk_commit(scene->conn, &scene->error));
    assert_int_equal(count_rows(scene, "alk_job", "1 = 1"), 2);
}

/* S17: a payload above the limit and one nested too deep are refused with their limit. */
static void a_payload_above_the_limits_is_refused(struct scene *scene) {
    size_t length = ALK_PAYLOAD_BYTES_MAX + 1;
    char *payload = malloc(length);

    assert_non_null(payload);
    memset(payload, ' ', length);
    payload[0] = '1';
    expect(scene, ALK_INVALID,
           alk_enqueue(scene->conn, "mail", payload, length, NULL, NULL, &scene->error));
    assert_contains(scene->error.message, "1,048,576");
    ok(scene, alk_enqueue(scene->conn, "mail", payload, length - 1, NULL, NULL, &scene->error));
    memset(payload, '[', 1001);
    expect(scene, ALK_INVALID,
           alk_enqueue(scene->conn, "mail", payload, 1001, NULL, NULL, &scene->error));
    free(payload);
    assert_int_equal(count_rows(scene, "alk_job", "1 = 1"), 1);
}

/* S33: a limit that stands in the queue's row is tested by the statement, which then inserts
 * nothing; the caller's transaction is usable. */
static void a_limit_of_the_queue_keeps_the_whole_batch_out(struct scene *scene) {
    const alk_new_job jobs[] = {{"1", 1, NULL}, {"\"long\"", 6, NULL}, {"2", 1, NULL}};

    sql(scene, "INSERT INTO alk_queue (name, payload_bytes) VALUES ('small', 3)");
    ok(scene, alk_begin(scene->conn, &scene->error));
    put_job(scene, "small");
    expect(scene, ALK_INVALID,
           alk_enqueue_many(scene->conn, "small", jobs, 3, NULL, &scene->error));
    assert_contains(scene->error.message, "enqueue into 'small': payload is longer");
    put_job(scene, "small");
    ok(scene, alk_commit(scene->conn, &scene->error));
    assert_int_equal(count_rows(scene, "alk_job", "1 = 1"), 2);
}

/* S64: 10,000 jobs are one transaction with a handful of statements and one wake, ids in the order
 * given. */
static void many_jobs_are_one_transaction(struct scene *scene) {
    enum { COUNT = ALK_ENQUEUE_BATCH_MAX };
    alk_new_job *jobs = calloc(COUNT, sizeof(*jobs));
    int64_t *ids = calloc(COUNT, sizeof(*ids));
    char(*payloads)[16] = calloc(COUNT, sizeof(*payloads));
    struct faults faults;

    for (int i = 0; i < COUNT; i++) {
        snprintf(payloads[i], sizeof(payloads[i]), "%d", i);
        jobs[i] = (alk_new_job){payloads[i], strlen(payloads[i]), NULL};
    }
    faults_install(&faults, scene->store);
    ok(scene, alk_enqueue_many(scene->conn, "mail", jobs, COUNT, ids, &scene->error));
    assert_int_equal(faults_count(&faults, "job_enqueue"), 1);
    assert_true(faults_count(&faults, "wake_others") <= 1);
    assert_true(faults_count(&faults, NULL) <= 4);
    faults_remove(&faults);
    for (int i = 1; i < COUNT; i++)
        assert_true(ids[i] > ids[i - 1]);
    assert_int_equal(
        sql_number(scene, "SELECT payload FROM alk_job WHERE id = %lld", (long long)ids[COUNT - 1]),
        COUNT - 1);
    assert_int_equal(count_rows(scene, "alk_lane", "1 = 1"), 1);
    free(jobs);
    free(ids);
    free(payloads);
}

/* S64: one bad job of many keeps all of them out, and is named by its place. */
static void a_bad_job_among_many_is_named(struct scene *scene) {
    const alk_new_job jobs[] = {{"1", 1, NULL}, {"nope", 4, NULL}, {"2", 1, NULL}};
    int64_t ids[3] = {7, 7, 7};

    expect(scene, ALK_INVALID, alk_enqueue_many(scene->conn, "mail", jobs, 3, ids, &scene->error));
    assert_contains(scene->error.message, "job 2: payload is not JSON");
    assert_int_equal(ids[0], 7);
    assert_int_equal(count_rows(scene, "alk_job", "1 = 1"), 0);
    expect(scene, ALK_INVALID,
           alk_enqueue_many(scene->conn, "mail", jobs, ALK_ENQUEUE_BATCH_MAX + 1, NULL,
                            &scene->error));
}

/* S31: in the caller's transaction; a rollback leaves no trace, not even of the lane. */
static void a_rollback_leaves_no_trace(struct scene *scene) {
    ok(scene, alk_begin(scene->conn, &scene->error));
    put_job(scene, "mail");
    alk_rollback(scene->conn);
    assert_int_equal(count_rows(scene, "alk_job", "1 = 1"), 0);
    assert_int_equal(count_rows(scene, "alk_lane", "1 = 1"), 0);
}

/* S32: whichever step fails, before or after it had its effect, there is no job or one whole job.
 */
static void a_failing_step_leaves_nothing_half_done(struct scene *scene) {
    for (int nth = 1;; nth++) {
        struct faults faults;
        faults_install(&faults, scene->store);
        faults_add(&faults, NULL, nth, ALK__BEFORE, ALK_FAILED);
        alk_status st = alk_enqueue(scene->conn, "mail", "1", 1, NULL, NULL, &scene->error);
        bool has_happened = faults_happened(&faults) > 0;
        faults_remove(&faults);
        if (!has_happened) {
            assert_int_equal(st, ALK_OK);
            break;
        }
        assert_int_equal(st, ALK_FAILED);
        assert_int_equal(count_rows(scene, "alk_job", "1 = 1"), 0);
        assert_int_equal(count_rows(scene, "alk_lane", "1 = 1"), 0);
    }
    check_store(scene);
}

/* S218: without memory the call says so and nothing is written. */
static void without_memory_nothing_is_written(struct scene *scene) {
    alk_status st = ALK_NOMEM;

    for (long nth = 1; st == ALK_NOMEM; nth++) {
        assert_int_equal(count_rows(scene, "alk_job", "1 = 1"), 0);
        alk__alloc_fail_at(nth);
        st = alk_enqueue(scene->conn, "mail", "1", 1, NULL, NULL, &scene->error);
        alk__alloc_fail_at(0);
    }
    assert_int_equal(st, ALK_OK);
    assert_int_equal(count_rows(scene, "alk_job", "1 = 1"), 1);
}

/* Each queue is called once, wherever its jobs stand. */
static void each_queue_is_called_once(struct scene *scene) {
    struct alk__new_job jobs[5];
    struct faults faults;
    int64_t ids[5];

    for (size_t i = 0; i < 5; i++) {
        jobs[i] = (struct alk__new_job)ALK__NEW_JOB_INIT;
        jobs[i].queue = i % 2 == 0 ? ALK__TEXT("mail") : ALK__TEXT("print");
    }
    faults_install(&faults, scene->store);
    ok(scene, alk__enqueue_jobs(scene->conn, jobs, 5, ids, &scene->error));
    assert_int_equal(faults_count(&faults, "wake_others"), 2);
    faults_remove(&faults);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(sql_number(scene,
                                    "SELECT count(*) FROM alk_job WHERE id = %lld AND queue = '%s'",
                                    (long long)ids[i], i % 2 == 0 ? "mail" : "print"),
                         1);
}

/* S62 as far as it concerns enqueue: the queue's expiry is written into the job. */
static void an_expiry_of_the_queue_is_written_at_enqueue(struct scene *scene) {
    sql(scene, scene->engine == ALK_ENGINE_SQLITE
                   ? "INSERT INTO alk_queue (name, expires) VALUES ('mail', 60000000)"
                   : "INSERT INTO alk_queue (name, expires) VALUES ('mail', interval '60 s')");
    int64_t id = put_job(scene, "mail");
    alk_job_list list;

    ok(scene, alk_job_get(scene->conn, id, &list, &scene->error));
    assert_int_equal(list.jobs[0].expires_at_us, list.jobs[0].enqueued_at_us + ALK__MINUTE);
    alk_job_list_free(&list);
}

static const struct scene_test tests[] = {
    BOTH(an_id_is_never_used_again),
    BOTH(a_claim_creates_nothing),
    BOTH(a_payload_is_kept_byte_for_byte),
    BOTH(headers_are_kept_apart),
    BOTH(run_at_never_lies_in_the_past),
    BOTH(a_refused_call_does_not_touch_the_database),
    BOTH(a_payload_above_the_limits_is_refused),
    BOTH(a_limit_of_the_queue_keeps_the_whole_batch_out),
    BOTH(many_jobs_are_one_transaction),
    BOTH(a_bad_job_among_many_is_named),
    BOTH(a_rollback_leaves_no_trace),
    BOTH(a_failing_step_leaves_nothing_half_done),
    BOTH(without_memory_nothing_is_written),
    POSTGRES(each_queue_is_called_once),
    BOTH(an_expiry_of_the_queue_is_written_at_enqueue),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
