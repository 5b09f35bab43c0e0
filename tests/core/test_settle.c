/* core/settle: what becomes of a claimed job, and who may say so. */
#include "support/jobs.h"

static alk_job_list get(struct scene *scene, int64_t id) {
    alk_job_list list;

    ok(scene, alk_job_get(scene->conn, id, &list, &scene->error));
    return list;
}

static alk_settle_answer settle_with_error(struct scene *scene, alk_settlement settlement,
                                           alk_outcome outcome, const char *error) {
    settlement.error = error;
    return settle_one(scene, settlement, outcome);
}

/* ---- outcomes ---- */

/* S56, S70: a job that is done can be read as done, with when. */
static void a_done_job_is_kept_as_done(struct scene *scene) {
    int64_t id = put_job(scene, "mail");
    int64_t before = scene_now(scene);

    assert_int_equal(settle_one(scene, take_one(scene, "mail", "w"), ALK_DONE), ALK_SETTLED);
    assert_int_equal(count_rows(scene, "alk_job", "1 = 1"), 0);
    alk_job_list list = get(scene, id);
    assert_int_equal(list.jobs[0].state, ALK_JOB_DONE);
    assert_true(list.jobs[0].finished_at_us >= before);
    assert_true(list.jobs[0].claimed_at_us >= before);
    alk_job_list_free(&list);
    check_store(scene);
}

/* The result goes with the done row (S66, S67: only under the current claim). */
static void a_result_is_kept_with_the_done_job(struct scene *scene) {
    int64_t id = put_job(scene, "mail");
    alk_settlement settlement = take_one(scene, "mail", "w");

    settlement.result = "{\"sent\": 3}";
    settlement.stamp++;
    assert_int_equal(settle_one(scene, settlement, ALK_DONE), ALK_SETTLE_LOST);
    settlement.stamp--;
    assert_int_equal(settle_one(scene, settlement, ALK_DONE), ALK_SETTLED);
    alk_job_list list = get(scene, id);
    assert_string_equal(list.jobs[0].result, "{\"sent\": 3}");
    alk_job_list_free(&list);
}

/* A queue that keeps nothing keeps nothing (S56). */
static void a_queue_may_keep_no_done_jobs(struct scene *scene) {
    int64_t id = put_job(scene, "mail");
    alk_job_list list;

    sql(scene, scene->engine == ALK_ENGINE_SQLITE
                   ? "INSERT INTO alk_queue (name, keep_done) VALUES ('mail', 0)"
                   : "INSERT INTO alk_queue (name, keep_done) VALUES ('mail', interval '0')");
    assert_int_equal(settle_one(scene, take_one(scene, "mail", "w"), ALK_DONE), ALK_SETTLED);
    expect(scene, ALK_ABSENT, alk_job_get(scene->conn, id, &list, &scene->error));
}

/* S71, S72: a retry waits for the back-off, between half and the whole of base * 2^(attempt - 1).
 */
static void a_retry_waits_for_its_back_off(struct scene *scene) {
    int64_t id = put_job(scene, "mail");

    for (int attempt = 1; attempt <= 3; attempt++) {
        alk_settlement settlement = take_one(scene, "mail", "w");
        int64_t before = scene_now(scene);
        assert_int_equal(settle_with_error(scene, settlement, ALK_RETRY, "no"), ALK_SETTLED);
        int64_t after = scene_now(scene);
        int64_t whole = ALK__SECOND << (attempt - 1);
        alk_job_list list = get(scene, id);
        assert_int_equal(list.jobs[0].state, ALK_JOB_DELAYED);
        assert_int_equal(list.jobs[0].attempt, attempt);
        assert_in_range(list.jobs[0].run_at_us, before + whole / 2, after + whole);
        alk_job_list_free(&list);
        scene_pass(scene, ALK__MINUTE);
    }
}

/* S71: base and cap are the queue's where it has them. */
static void back_off_is_the_queues(struct scene *scene) {
    int64_t id = put_job(scene, "mail");

    sql(scene, scene->engine == ALK_ENGINE_SQLITE
                   ? "INSERT INTO alk_queue (name, backoff_base, backoff_cap) VALUES ('mail', "
                     "600000000, 900000000)"
                   : "INSERT INTO alk_queue (name, backoff_base, backoff_cap) VALUES ('mail', "
                     "interval '10 min', interval '15 min')");
    sql(scene, "UPDATE alk_job SET attempt = 9999, max_attempts = 2000000");
    int64_t before = scene_now(scene);
    /* S73: attempt 10,000 gives the cap. */
    settle_with_error(scene, take_one(scene, "mail", "w"), ALK_UNAVAILABLE, "down");
    alk_job_list list = get(scene, id);
    assert_in_range(list.jobs[0].run_at_us, before + 15 * ALK__MINUTE / 2,
                    scene_now(scene) + 15 * ALK__MINUTE);
    alk_job_list_free(&list);
}

/* S72: a thousand jobs that fail together do not come back in the same second. */
static void jobs_that_fail_together_come_back_apart(struct scene *scene) {
    alk_settlement settlements[1000];
    alk_settle_answer answers[1000];

    put_jobs(scene, "mail", 1000);
    sql(scene, "UPDATE alk_job SET attempt = 9");
    alk_job_list list = take_jobs(scene, "mail", 1000, "w");
    for (size_t i = 0; i < 1000; i++)
        settlements[i] = (alk_settlement){.id = list.jobs[i].id,
                                          .stamp = list.jobs[i].stamp,
                                          .worker = "w",
                                          .outcome = ALK_RETRY,
                                          .delay_us = ALK_NO_TIME};
    alk_job_list_free(&list);
    ok(scene, alk_settle(scene->conn, settlements, 1000, answers, &scene->error));
    assert_true(
        sql_number(scene,
                   scene->engine == ALK_ENGINE_SQLITE
                       ? "SELECT count(DISTINCT run_at / 1000000) FROM alk_job"
                       : "SELECT count(DISTINCT date_trunc('second', run_at)) FROM alk_job") > 100);
}

/* S74: a delay of the handler's own counts instead of the back-off, and the attempt counts. */
static void a_delay_of_the_handler_counts_instead(struct scene *scene) {
    int64_t id = put_job(scene, "mail");
    alk_settlement settlement = take_one(scene, "mail", "w");
    int64_t before = scene_now(scene);

    settlement.delay_us = ALK__HOUR;
    assert_int_equal(settle_one(scene, settlement, ALK_RETRY), ALK_SETTLED);
    alk_job_list list = get(scene, id);
    assert_in_range(list.jobs[0].run_at_us, before + ALK__HOUR, scene_now(scene) + ALK__HOUR);
    assert_int_equal(list.jobs[0].attempt, 1);
    alk_job_list_free(&list);

    alk_settle_answer answer;
    settlement.outcome = ALK_RETRY;
    settlement.delay_us = 3651 * ALK__DAY;
    expect(scene, ALK_INVALID, alk_settle(scene->conn, &settlement, 1, &answer, &scene->error));
    settlement.delay_us = -1;
    expect(scene, ALK_INVALID, alk_settle(scene->conn, &settlement, 1, &answer, &scene->error));
}

/* S71: each of a batch waits by its own attempt, in whatever order they stand and beside one that
 * is gone. */
static void each_of_a_batch_waits_by_its_own_attempt(struct scene *scene) {
    alk_settlement settlements[4];
    alk_settle_answer answers[4];

    put_jobs(scene, "mail", 4);
    sql(scene, "UPDATE alk_job SET attempt = 4 * (SELECT max(id) FROM alk_job) - 4 * id");
    alk_job_list list = take_jobs(scene, "mail", 4, "w");
    for (size_t i = 0; i < 4; i++)
        settlements[3 - i] = (alk_settlement){.id = list.jobs[i].id,
                                              .stamp = list.jobs[i].stamp,
                                              .worker = "w",
                                              .outcome = ALK_RETRY,
                                              .delay_us = ALK_NO_TIME};
    sql(scene, "DELETE FROM alk_job WHERE id = %lld", (long long)list.jobs[1].id);
    alk_job_list_free(&list);
    int64_t before = scene_now(scene);
    ok(scene, alk_settle(scene->conn, settlements, 4, answers, &scene->error));
    int64_t after = scene_now(scene);
    for (size_t i = 0; i < 4; i++) {
        int64_t whole = ALK__SECOND << (4 * i);
        assert_int_equal(answers[i], i == 2 ? ALK_SETTLE_LOST : ALK_SETTLED);
        if (i == 2)
            continue;
        list = get(scene, settlements[i].id);
        assert_in_range(list.jobs[0].run_at_us, before + whole / 2, after + whole);
        alk_job_list_free(&list);
    }
}

/* S71: without attempts left a retry is death. */
static void a_retry_without_attempts_left_is_dead(struct scene *scene) {
    alk_enqueue_options options = ALK_ENQUEUE_OPTIONS_INIT;
    int64_t id;

    options.max_attempts = 2;
    ok(scene, alk_enqueue(scene->conn, "mail", "1", 1, &options, &id, &scene->error));
    settle_with_error(scene, take_one(scene, "mail", "w"), ALK_RETRY, "first");
    scene_pass(scene, ALK__MINUTE);
    assert_int_equal(settle_with_error(scene, take_one(scene, "mail", "w"), ALK_RETRY, "second"),
                     ALK_SETTLED);
    alk_job_list list = get(scene, id);
    assert_int_equal(list.jobs[0].state, ALK_JOB_DEAD);
    assert_string_equal(list.jobs[0].reason, "attempts_exhausted");
    assert_int_equal(list.jobs[0].attempt, 2);
    assert_contains(list.jobs[0].errors, "\"error\":\"first\"");
    assert_contains(list.jobs[0].errors, "\"error\":\"second\"");
    alk_job_list_free(&list);
    check_store(scene);
}

/* S53: dead whatever the budget. */
static void dead_is_dead_whatever_the_budget(struct scene *scene) {
    int64_t id = put_job(scene, "mail");

    assert_int_equal(settle_with_error(scene, take_one(scene, "mail", "w"), ALK_DEAD, "never"),
                     ALK_SETTLED);
    alk_job_list list = get(scene, id);
    assert_int_equal(list.jobs[0].state, ALK_JOB_DEAD);
    assert_string_equal(list.jobs[0].reason, "failed");
    assert_contains(list.jobs[0].errors, "{\"attempt\":1,\"at\":\"2");
    alk_job_list_free(&list);
}

/* S81: a payload that means nothing to its handler. */
static void an_undecodable_payload_is_dead(struct scene *scene) {
    int64_t id = put_job(scene, "mail");

    settle_with_error(scene, take_one(scene, "mail", "w"), ALK_UNDECODABLE, "no such field");
    alk_job_list list = get(scene, id);
    assert_int_equal(list.jobs[0].state, ALK_JOB_DEAD);
    assert_string_equal(list.jobs[0].reason, "undecodable");
    alk_job_list_free(&list);
}

/* S75: a release gives the job back with its attempt, at once, without a line in errors. */
static void a_release_spends_no_attempt(struct scene *scene) {
    int64_t id = put_job(scene, "mail");

    assert_int_equal(settle_one(scene, take_one(scene, "mail", "w"), ALK_RELEASE), ALK_SETTLED);
    alk_job_list list = take_jobs(scene, "mail", 1, "other");
    assert_int_equal(list.jobs[0].id, id);
    assert_int_equal(list.jobs[0].attempt, 1);
    assert_string_equal(list.jobs[0].errors, "[]");
    alk_job_list_free(&list);
}

/* S55: whatever the outcome, a job whose cancel was asked for ends as cancelled, and the answer
 * says so. */
static void a_cancel_wins_over_every_outcome(struct scene *scene) {
    static const alk_outcome outcomes[] = {ALK_DONE, ALK_RETRY, ALK_DEAD, ALK_UNAVAILABLE,
                                           ALK_RELEASE};

    for (size_t i = 0; i < sizeof(outcomes) / sizeof(outcomes[0]); i++) {
        int64_t id = put_job(scene, "mail");
        alk_settlement settlement = take_one(scene, "mail", "w");
        sql(scene, "UPDATE alk_job SET cancel_requested_at = claimed_at");
        assert_int_equal(settle_one(scene, settlement, outcomes[i]), ALK_SETTLE_CANCELLED);
        assert_int_equal(state_of(scene, id), ALK_JOB_CANCELLED);
    }
    check_store(scene);
}

/* ---- errors ---- */

/* S52: the text of every attempt is kept, the last ten of them, in order. */
static void the_last_ten_errors_are_kept(struct scene *scene) {
    int64_t id = put_job(scene, "mail");
    char text[32];

    for (int attempt = 1; attempt <= 13; attempt++) {
        alk_settlement settlement = take_one(scene, "mail", "w");
        snprintf(text, sizeof(text), "error %d \"\\", attempt);
        settlement.delay_us = 0;
        assert_int_equal(settle_with_error(scene, settlement, ALK_RETRY, text), ALK_SETTLED);
    }
    alk_job_list list = get(scene, id);
    const char *at = list.jobs[0].errors;
    assert_null(strstr(at, "error 3 "));
    for (int attempt = 4; attempt <= 13; attempt++) {
        snprintf(text, sizeof(text), "\"error\":\"error %d \\\"\\\\\"}", attempt);
        at = strstr(at, text);
        assert_non_null(at);
    }
    assert_string_equal(at + strlen(text), "]");
    alk_job_list_free(&list);
}

/* S52: cut to 4 KiB between characters, what is no UTF-8 replaced. */
static void an_error_text_is_cut_between_characters(struct scene *scene) {
    char text[5001];
    int64_t id = put_job(scene, "mail");

    text[0] = 'x';
    for (size_t i = 1; i + 1 < sizeof(text); i += 2)
        memcpy(text + i, "\xC3\xA9", 2);
    text[1] = '\xFF';
    text[2] = 'y';
    text[sizeof(text) - 1] = '\0';
    settle_with_error(scene, take_one(scene, "mail", "w"), ALK_DEAD, text);
    alk_job_list list = get(scene, id);
    const char *kept = strstr(list.jobs[0].errors, "\"error\":\"");
    assert_non_null(kept);
    kept += strlen("\"error\":\"");
    size_t length = strlen(kept) - strlen("\"}]");
    assert_in_range(length, 4093, 4096);
    assert_memory_equal(kept, "x\xEF\xBF\xBDy\xC3\xA9", 7);
    assert_memory_equal(kept + length - 2, "\xC3\xA9", 2);
    alk_job_list_free(&list);
}

/* S52, S9: errors that are no array any more do not hold up the job. */
static void spoilt_errors_are_begun_anew(struct scene *scene) {
    int64_t id = put_job(scene, "mail");

    sql(scene, "UPDATE alk_job SET errors = '\"spoilt\"'");
    settle_with_error(scene, take_one(scene, "mail", "w"), ALK_DEAD, "new");
    alk_job_list list = get(scene, id);
    assert_memory_equal(list.jobs[0].errors, "[{\"attempt\":1,", 14);
    alk_job_list_free(&list);
}

/* ---- who may settle ---- */

/* S49, S69, S76: another stamp or another worker changes nothing. */
static void only_the_current_claim_may_settle(struct scene *scene) {
    int64_t id = put_job(scene, "mail");
    alk_settlement mine = take_one(scene, "mail", "w");

    for (int outcome = ALK_DONE; outcome <= ALK_UNDECODABLE; outcome++) {
        alk_settlement forged = mine;
        forged.worker = "somebody";
        assert_int_equal(settle_one(scene, forged, (alk_outcome)outcome), ALK_SETTLE_LOST);
        forged = mine;
        forged.stamp--;
        assert_int_equal(settle_one(scene, forged, (alk_outcome)outcome), ALK_SETTLE_LOST);
    }
    assert_int_equal(state_of(scene, id), ALK_JOB_RUNNING);
    assert_int_equal(settle_one(scene, mine, ALK_DONE), ALK_SETTLED);
    assert_int_equal(settle_one(scene, mine, ALK_DONE), ALK_SETTLE_LOST);
}

/* S49: after the lapse nothing is settled, whether or not somebody took the job. */
static void a_lapsed_claim_settles_nothing(struct scene *scene) {
    int64_t id = put_job(scene, "mail");
    alk_settlement old = take_one(scene, "mail", "w");

    scene_pass(scene, 31 * ALK__SECOND);
    for (int outcome = ALK_DONE; outcome <= ALK_UNDECODABLE; outcome++)
        assert_int_equal(settle_one(scene, old, (alk_outcome)outcome), ALK_SETTLE_LAPSED);
    assert_int_equal(state_of(scene, id), ALK_JOB_READY);

    /* S69: the same worker's next claim of it makes the old stamp worthless. */
    alk_settlement next = take_one(scene, "mail", "w");
    assert_int_equal(settle_one(scene, old, ALK_DONE), ALK_SETTLE_LOST);
    assert_int_equal(settle_one(scene, next, ALK_DONE), ALK_SETTLED);
}

/* S51: each of many has its own answer, in the caller's order. */
static void each_of_many_has_its_answer(struct scene *scene) {
    alk_settlement s[6];
    alk_settle_answer answers[6];

    put_jobs(scene, "mail", 5);
    s[0] = take_one(scene, "mail", "w");
    scene_pass(scene, 31 * ALK__SECOND);
    alk_settlement lapsed = s[0];
    put_job_at(scene, "mail", ALK_NO_TIME, 1);
    s[1] = take_one(scene, "mail", "w");
    s[2] = s[1];
    s[2].stamp -= 7;
    s[3] = (alk_settlement){.id = 99999, .stamp = 1, .worker = "w", .delay_us = ALK_NO_TIME};
    s[4] = s[1];
    s[0] = s[1];
    s[1] = lapsed;
    s[0].outcome = ALK_RETRY;
    s[1].outcome = s[2].outcome = s[3].outcome = ALK_DONE;
    ok(scene, alk_settle(scene->conn, s, 4, answers, &scene->error));
    assert_int_equal(answers[0], ALK_SETTLED);
    assert_int_equal(answers[1], ALK_SETTLE_LAPSED);
    assert_int_equal(answers[2], ALK_SETTLE_LOST);
    assert_int_equal(answers[3], ALK_SETTLE_LOST);
}

/* S51: a row that somebody's open transaction holds is answered at once as locked, the others are
 * settled; when it is free it can be settled. */
static void a_locked_row_is_left_for_later(struct scene *scene) {
    alk_settlement s[3];
    alk_settle_answer answers[3];

    put_jobs(scene, "mail", 3);
    for (size_t i = 0; i < 3; i++)
        s[i] = take_one(scene, "mail", "w");
    s[2].outcome = ALK_RETRY;
    sql(scene, "BEGIN");
    sql(scene, "SELECT id FROM alk_job WHERE id <> %lld FOR UPDATE", (long long)s[1].id);
    alk__conn_set_call_limit(scene->conn, 20 * ALK__SECOND);
    ok(scene, alk_settle(scene->conn, s, 3, answers, &scene->error));
    assert_int_equal(answers[0], ALK_SETTLE_LOCKED);
    assert_int_equal(answers[1], ALK_SETTLED);
    assert_int_equal(answers[2], ALK_SETTLE_LOCKED);

    /* the same inside a transaction of the caller's, which stays usable */
    ok(scene, alk_begin(scene->conn, &scene->error));
    assert_int_equal(settle_one(scene, s[0], ALK_DONE), ALK_SETTLE_LOCKED);
    put_job(scene, "other");
    ok(scene, alk_commit(scene->conn, &scene->error));
    sql(scene, "ROLLBACK");
    assert_int_equal(settle_one(scene, s[0], ALK_DONE), ALK_SETTLED);
    assert_int_equal(settle_one(scene, s[2], ALK_RETRY), ALK_SETTLED);
    check_store(scene);
}

static const struct scene_test tests[] = {
    BOTH(a_done_job_is_kept_as_done),
    BOTH(a_result_is_kept_with_the_done_job),
    BOTH(a_queue_may_keep_no_done_jobs),
    BOTH(a_retry_waits_for_its_back_off),
    BOTH(back_off_is_the_queues),
    BOTH(jobs_that_fail_together_come_back_apart),
    BOTH(a_delay_of_the_handler_counts_instead),
    BOTH(each_of_a_batch_waits_by_its_own_attempt),
    BOTH(a_retry_without_attempts_left_is_dead),
    BOTH(dead_is_dead_whatever_the_budget),
    BOTH(an_undecodable_payload_is_dead),
    BOTH(a_release_spends_no_attempt),
    BOTH(a_cancel_wins_over_every_outcome),
    BOTH(the_last_ten_errors_are_kept),
    BOTH(an_error_text_is_cut_between_characters),
    BOTH(spoilt_errors_are_begun_anew),
    BOTH(only_the_current_claim_may_settle),
    BOTH(a_lapsed_claim_settles_nothing),
    BOTH(each_of_many_has_its_answer),
    POSTGRES(a_locked_row_is_left_for_later),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
