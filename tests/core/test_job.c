/* core/job: jobs as they are read. */
#include "support/jobs.h"

/* S56: every state can be told from every other, and unknown from all. */
static void every_state_can_be_told(struct scene *scene) {
    alk_job_list list;
    int64_t done = put_job(scene, "a");
    int64_t dead = put_job(scene, "b");
    int64_t cancelled = put_job(scene, "c");
    int64_t running = put_job(scene, "d");
    int64_t ready = put_job(scene, "e");
    int64_t delayed = put_job_at(scene, "f", scene_now(scene) + ALK__HOUR, 0);
    int64_t chained = put_job(scene, "g");

    settle_one(scene, take_one(scene, "a", "w"), ALK_DONE);
    settle_one(scene, take_one(scene, "b", "w"), ALK_DEAD);
    alk_settlement claim = take_one(scene, "c", "w");
    sql(scene, "UPDATE alk_job SET cancel_requested_at = claimed_at WHERE queue = 'c'");
    settle_one(scene, claim, ALK_DONE);
    take_one(scene, "d", "w");
    sql(scene, scene->engine == ALK_ENGINE_SQLITE
                   ? "UPDATE alk_job SET key = 'k', head = 0 WHERE queue = 'g'"
                   : "UPDATE alk_job SET key = 'k', head = false WHERE queue = 'g'");

    assert_int_equal(state_of(scene, done), ALK_JOB_DONE);
    assert_int_equal(state_of(scene, dead), ALK_JOB_DEAD);
    assert_int_equal(state_of(scene, cancelled), ALK_JOB_CANCELLED);
    assert_int_equal(state_of(scene, running), ALK_JOB_RUNNING);
    assert_int_equal(state_of(scene, ready), ALK_JOB_READY);
    assert_int_equal(state_of(scene, delayed), ALK_JOB_DELAYED);
    assert_int_equal(state_of(scene, chained), ALK_JOB_CHAINED);
    expect(scene, ALK_ABSENT, alk_job_get(scene->conn, chained + 1, &list, &scene->error));
    expect(scene, ALK_ABSENT, alk_job_get(scene->conn, -1, &list, &scene->error));
}

/* What is read is what was given. */
static void a_job_is_read_whole(struct scene *scene) {
    alk_enqueue_options options = ALK_ENQUEUE_OPTIONS_INIT;
    alk_job_list list;
    int64_t id;
    int64_t now = scene_now(scene);

    options.run_at_us = now + ALK__HOUR + 123456;
    options.expires_us = ALK__DAY;
    options.priority = -7;
    options.max_attempts = 3;
    options.headers = "{\"a\":1}";
    ok(scene, alk_enqueue(scene->conn, "mail \xC3\xA9", "[1, 2]", 6, &options, &id, &scene->error));
    ok(scene, alk_job_get(scene->conn, id, &list, &scene->error));
    const alk_job *job = &list.jobs[0];
    assert_int_equal(list.count, 1);
    assert_true(list.now_us >= now);
    assert_int_equal(job->id, id);
    assert_string_equal(job->queue, "mail \xC3\xA9");
    assert_null(job->key);
    assert_int_equal(job->priority, -7);
    assert_int_equal(job->attempt, 0);
    assert_int_equal(job->max_attempts, 3);
    assert_string_equal(job->payload, "[1, 2]");
    assert_string_equal(job->headers, "{\"a\":1}");
    assert_string_equal(job->errors, "[]");
    assert_string_equal(job->worker, "");
    assert_string_equal(job->reason, "");
    assert_string_equal(job->result, "");
    /* S13: to the microsecond */
    assert_int_equal(job->run_at_us, now + ALK__HOUR + 123456);
    assert_int_equal(job->expires_at_us, job->enqueued_at_us + ALK__DAY);
    assert_int_equal(job->claimed_at_us, ALK_NO_TIME);
    assert_int_equal(job->lease_until_us, ALK_NO_TIME);
    assert_int_equal(job->finished_at_us, ALK_NO_TIME);
    assert_int_equal(job->cancel_requested_at_us, ALK_NO_TIME);
    assert_int_equal(job->fire_at_us, ALK_NO_TIME);
    assert_int_equal(job->schedule_id, 0);
    assert_null(job->unreadable);
    alk_job_list_free(&list);
}

static alk_job_list list_by(struct scene *scene, const char *queue, int state, int limit) {
    alk_job_filter filter = ALK_JOB_FILTER_INIT;
    alk_job_list list;

    filter.queue = queue;
    filter.limit = limit;
    filter.has_state = state >= 0;
    if (state >= 0)
        filter.state = (alk_job_state)state;
    ok(scene, alk_job_list_get(scene->conn, &filter, &list, &scene->error));
    return list;
}

static void live_jobs_are_listed_in_claim_order_then_finished_ones(struct scene *scene) {
    int64_t old = put_job(scene, "mail");
    settle_one(scene, take_one(scene, "mail", "w"), ALK_DEAD);
    scene_pass(scene, ALK__MINUTE);
    int64_t fresh = put_job(scene, "mail");
    settle_one(scene, take_one(scene, "mail", "w"), ALK_DONE);
    int64_t later = put_job_at(scene, "mail", scene_now(scene) + ALK__HOUR, 0);
    int64_t low = put_job_at(scene, "mail", ALK_NO_TIME, -1);
    int64_t high = put_job_at(scene, "mail", ALK_NO_TIME, 1);
    put_job(scene, "other");
    const int64_t wanted[] = {high, later, low, fresh, old};

    alk_job_list list = list_by(scene, "mail", -1, 100);
    assert_int_equal(list.count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(list.jobs[i].id, wanted[i]);
    alk_job_list_free(&list);

    list = list_by(scene, "mail", -1, 2);
    assert_int_equal(list.count, 2);
    alk_job_list_free(&list);
    list = list_by(scene, NULL, ALK_JOB_READY, 100);
    assert_int_equal(list.count, 3);
    alk_job_list_free(&list);
    list = list_by(scene, "mail", ALK_JOB_DEAD, 100);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.jobs[0].id, old);
    alk_job_list_free(&list);
    list = list_by(scene, "mail", ALK_JOB_CANCELLED, 100);
    assert_int_equal(list.count, 0);
    assert_true(list.now_us > ALK_NO_TIME);
    alk_job_list_free(&list);
}

static void make_unreadable(struct scene *scene, int64_t id) {
    if (scene->engine == ALK_ENGINE_POSTGRES)
        sql(scene,
            "ALTER TABLE alk_job ALTER COLUMN payload DROP NOT NULL;"
            "UPDATE alk_job SET payload = NULL WHERE id = %lld",
            (long long)id);
    else
        sql(scene,
            "PRAGMA writable_schema = on;"
            "UPDATE sqlite_schema SET sql = replace(sql, 'STRICT', '') WHERE name = 'alk_job';"
            "PRAGMA writable_schema = reset;"
            "UPDATE alk_job SET payload = x'00' WHERE id = %lld",
            (long long)id);
    scene_close(scene);
    scene_reopen(scene);
}

/* S9: a read of one that cannot be read names table and id; a list shows it and goes on. */
static void an_unreadable_job_is_named_and_listed(struct scene *scene) {
    int64_t bad = put_job(scene, "mail");
    int64_t good = put_job(scene, "mail");
    char named[64];
    alk_job_list list;

    make_unreadable(scene, bad);
    expect(scene, ALK_UNREADABLE, alk_job_get(scene->conn, bad, &list, &scene->error));
    snprintf(named, sizeof(named), "job %lld in table 'job': column 'payload'", (long long)bad);
    assert_contains(scene->error.message, named);

    list = list_by(scene, "mail", -1, 100);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.jobs[0].id, bad);
    assert_non_null(list.jobs[0].unreadable);
    assert_string_equal(list.jobs[0].queue, "mail");
    assert_int_equal(list.jobs[1].id, good);
    assert_null(list.jobs[1].unreadable);
    alk_job_list_free(&list);
    assert_int_equal(count_rows(scene, "alk_job", "1 = 1"), 2);
}

static void a_list_is_refused_for_its_filter(struct scene *scene) {
    alk_job_filter filter = ALK_JOB_FILTER_INIT;
    alk_job_list list;

    filter.limit = 0;
    expect(scene, ALK_INVALID, alk_job_list_get(scene->conn, &filter, &list, &scene->error));
    filter.limit = 10001;
    expect(scene, ALK_INVALID, alk_job_list_get(scene->conn, &filter, &list, &scene->error));
    filter.limit = 1;
    filter.queue = "";
    expect(scene, ALK_INVALID, alk_job_list_get(scene->conn, &filter, &list, &scene->error));
}

static void states_have_words(struct scene *scene) {
    alk_job_state state;

    for (int i = ALK_JOB_READY; i <= ALK_JOB_CANCELLED; i++) {
        ok(scene, alk_job_state_parse(alk_job_state_text((alk_job_state)i), &state, &scene->error));
        assert_int_equal(state, i);
    }
    expect(scene, ALK_INVALID, alk_job_state_parse("readied", &state, &scene->error));
    expect(scene, ALK_INVALID, alk_job_state_parse(NULL, &state, &scene->error));
    assert_string_equal(alk_job_state_text((alk_job_state)99), "unknown");
}

static const struct scene_test tests[] = {
    BOTH(every_state_can_be_told),
    BOTH(a_job_is_read_whole),
    BOTH(live_jobs_are_listed_in_claim_order_then_finished_ones),
    BOTH(an_unreadable_job_is_named_and_listed),
    BOTH(a_list_is_refused_for_its_filter),
    ALONE(states_have_words),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
