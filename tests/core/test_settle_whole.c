/* core/settle as a whole: a batch with one bad row, a call that fails half-way, a settle with the
 * next claim behind it. */
#include "base/arena.h"
#include "core/job.h"
#include "support/fault.h"
#include "support/jobs.h"

/* ---- one bad row ---- */

static void refuse_done_of(struct scene *scene, int64_t id) {
    if (scene->engine == ALK_ENGINE_POSTGRES)
        sql(scene, "ALTER TABLE alk_job_done ADD CHECK (id <> %lld)", (long long)id);
    else
        sql(scene,
            "CREATE TRIGGER refuse BEFORE INSERT ON alk_job_done WHEN new.id = %lld BEGIN"
            " SELECT raise(ABORT, 'refused'); END",
            (long long)id);
}

static void settle_around_a_refused_one(struct scene *scene) {
    enum { COUNT = 40 };
    alk_settlement s[COUNT];
    alk_settle_answer answers[COUNT];

    put_jobs(scene, "mail", COUNT);
    alk_job_list list = take_jobs(scene, "mail", COUNT, "w");
    for (size_t i = 0; i < COUNT; i++)
        s[i] = (alk_settlement){.id = list.jobs[i].id,
                                .stamp = list.jobs[i].stamp,
                                .worker = "w",
                                .outcome = i % 3 == 0 ? ALK_RETRY : ALK_DONE,
                                .delay_us = ALK_NO_TIME};
    alk_job_list_free(&list);
    refuse_done_of(scene, s[17].id);
    ok(scene, alk_settle(scene->conn, s, COUNT, answers, &scene->error));
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(answers[i], i == 17 ? ALK_SETTLE_REFUSED : ALK_SETTLED);
    assert_int_equal(state_of(scene, s[17].id), ALK_JOB_RUNNING);
}

/* A row that the database refuses does not spoil the rest of its batch. */
static void a_refused_row_does_not_spoil_the_rest(struct scene *scene) {
    settle_around_a_refused_one(scene);
    check_store(scene);
}

/* S33: nor does it on SQLite inside a transaction of the caller's. */
static void a_refused_row_leaves_the_callers_transaction(struct scene *scene) {
    ok(scene, alk_begin(scene->conn, &scene->error));
    put_job(scene, "first");
    /* the tampering connection cannot write beside an open transaction: the trigger goes in before
     */
    ok(scene, alk_commit(scene->conn, &scene->error));
    put_jobs(scene, "mail", 3);
    alk_settlement s[3];
    alk_settle_answer answers[3];
    for (size_t i = 0; i < 3; i++)
        s[i] = take_one(scene, "mail", "w");
    refuse_done_of(scene, s[1].id);
    ok(scene, alk_begin(scene->conn, &scene->error));
    put_job(scene, "host");
    ok(scene, alk_settle(scene->conn, s, 3, answers, &scene->error));
    assert_int_equal(answers[0], ALK_SETTLED);
    assert_int_equal(answers[1], ALK_SETTLE_REFUSED);
    assert_int_equal(answers[2], ALK_SETTLED);
    ok(scene, alk_commit(scene->conn, &scene->error));
    assert_int_equal(count_rows(scene, "alk_job", "queue = 'host'"), 1);
}

/* ---- all or nothing ---- */

static void claim_three(struct scene *scene, alk_settlement s[3]) {
    alk_job_list list = take_jobs(scene, "mail", 3, "w");

    for (size_t i = 0; i < 3; i++)
        s[i] = (alk_settlement){.id = list.jobs[i].id,
                                .stamp = list.jobs[i].stamp,
                                .worker = "w",
                                .outcome = i == 0   ? ALK_DONE
                                           : i == 1 ? ALK_RETRY
                                                    : ALK_DEAD,
                                .delay_us = ALK_NO_TIME};
    alk_job_list_free(&list);
}

/* S32: whichever step of a settle fails, either nothing is settled and the status says so, or all
 * of it is. */
static void a_failing_step_settles_all_or_nothing(struct scene *scene) {
    for (int nth = 1, is_over = 0; !is_over; nth++) {
        alk_settlement s[4];
        alk_settle_answer answers[4];
        struct faults faults;

        sql(scene, "DELETE FROM alk_job");
        put_jobs(scene, "mail", 3);
        claim_three(scene, s);
        s[3] = s[0];
        s[3].stamp--; /* so that a question why is asked too */
        faults_install(&faults, scene->store);
        faults_add(&faults, NULL, nth, ALK__BEFORE, ALK_FAILED);
        alk_status st = alk_settle(scene->conn, s, 4, answers, &scene->error);
        is_over = faults_happened(&faults) == 0;
        faults_remove(&faults);
        assert_int_equal(count_rows(scene, "alk_job", "lease_until IS NULL"), st == ALK_OK ? 1 : 0);
        assert_int_equal(count_rows(scene, "alk_job", "1 = 1"), st == ALK_OK ? 1 : 3);
        if (st == ALK_OK)
            assert_int_equal(answers[3], is_over ? ALK_SETTLE_LOST : ALK_SETTLE_LOCKED);
    }
    check_store(scene);
}

/* S33: in a caller's transaction on SQLite a settle that fails leaves nothing behind, whichever
 * step failed. */
static void a_failing_step_leaves_the_callers_transaction(struct scene *scene) {
    for (int nth = 1, is_over = 0; !is_over; nth++) {
        alk_settlement s[4];
        alk_settle_answer answers[4];
        struct faults faults;

        sql(scene, "DELETE FROM alk_job");
        put_jobs(scene, "mail", 3);
        claim_three(scene, s);
        s[3] = s[0];
        s[3].stamp--;
        ok(scene, alk_begin(scene->conn, &scene->error));
        put_job(scene, "host");
        faults_install(&faults, scene->store);
        faults_add(&faults, NULL, nth, ALK__BEFORE, ALK_FAILED);
        alk_status st = alk_settle(scene->conn, s, 4, answers, &scene->error);
        is_over = faults_happened(&faults) == 0;
        faults_remove(&faults);
        ok(scene, alk_commit(scene->conn, &scene->error));
        assert_int_equal(count_rows(scene, "alk_job", "queue = 'host'"), 1);
        assert_int_equal(count_rows(scene, "alk_job", "queue = 'mail'"), st == ALK_OK ? 1 : 3);
    }
}

/* S33: the same where a refused row has the batch taken apart under savepoints: they are undone
 * with it. */
static void a_batch_taken_apart_fails_as_a_whole(struct scene *scene) {
    put_jobs(scene, "other", 1);
    int64_t refused = sql_number(scene, "SELECT max(id) FROM alk_job") + 3;
    refuse_done_of(scene, refused);
    for (int nth = 1, is_over = 0; !is_over; nth++) {
        alk_settlement s[3];
        alk_settle_answer answers[3];
        struct faults faults;

        sql(scene, "DELETE FROM alk_job; UPDATE sqlite_sequence SET seq = %lld",
            (long long)refused - 3);
        put_jobs(scene, "mail", 3);
        claim_three(scene, s);
        s[1].outcome = s[2].outcome = ALK_DONE;
        ok(scene, alk_begin(scene->conn, &scene->error));
        put_job(scene, "host");
        faults_install(&faults, scene->store);
        faults_add(&faults, "job_settle_done", nth, ALK__BEFORE, ALK_NOMEM);
        alk_status st = alk_settle(scene->conn, s, 3, answers, &scene->error);
        is_over = faults_happened(&faults) == 0;
        faults_remove(&faults);
        ok(scene, alk_commit(scene->conn, &scene->error));
        assert_int_equal(count_rows(scene, "alk_job", "queue = 'host'"), 1);
        assert_int_equal(count_rows(scene, "alk_job", "queue = 'mail'"), st == ALK_OK ? 1 : 3);
    }
}

/* S218: without memory it settles all or nothing too. (On PostgreSQL the COMMIT is on its way with
 * the rest: the answers may find no room when it is over.) */
static void without_memory_it_settles_all_or_nothing(struct scene *scene) {
    alk_settlement s[3];
    alk_settle_answer answers[3];
    alk_status st = ALK_NOMEM;

    put_jobs(scene, "mail", 3);
    claim_three(scene, s);
    for (long nth = 1; st == ALK_NOMEM && count_rows(scene, "alk_job", "1 = 1") == 3; nth++) {
        assert_int_equal(count_rows(scene, "alk_job", "worker = 'w'"), 3);
        alk__alloc_fail_at(nth);
        st = alk_settle(scene->conn, s, 3, answers, &scene->error);
        alk__alloc_fail_at(0);
    }
    assert_true(st == ALK_OK || (st == ALK_NOMEM && scene->engine == ALK_ENGINE_POSTGRES));
    assert_int_equal(count_rows(scene, "alk_job", "1 = 1"), 1);
}

/* S33: refused for its arguments before the database is touched. */
static void a_settle_is_refused_for_its_arguments(struct scene *scene) {
    alk_settlement good = {
        .id = 1, .stamp = 1, .worker = "w", .outcome = ALK_DONE, .delay_us = ALK_NO_TIME};
    alk_settlement bad[5] = {good, good, good, good, good};
    alk_settle_answer answer;
    struct faults faults;

    bad[0].outcome = (alk_outcome)7;
    bad[1].worker = NULL;
    bad[2].result = "no json";
    bad[3].result = "1";
    bad[3].outcome = ALK_RETRY;
    bad[4].outcome = (alk_outcome)ALK__EXPIRED;
    faults_install(&faults, scene->store);
    for (size_t i = 0; i < 5; i++)
        expect(scene, ALK_INVALID, alk_settle(scene->conn, &bad[i], 1, &answer, &scene->error));
    assert_int_equal(faults_count(&faults, NULL), 0);
    faults_remove(&faults);
}

/* ---- with the next claim ---- */

/* Settling and the next claim are one transaction, and the claim sees what the settling let go. */
static void settling_and_claiming_are_one(struct scene *scene) {
    const struct alk__claim claim = {"mail", 10, 30 * ALK__SECOND, "w"};
    struct alk__claimed claimed;
    alk_settle_answer answer;
    struct faults faults;
    int64_t id = put_job(scene, "mail");
    alk_settlement settlement = take_one(scene, "mail", "w");

    settlement.outcome = ALK_RELEASE;
    faults_install(&faults, scene->store);
    ok(scene, alk__settle_and_claim(scene->conn, &settlement, 1, &answer, &claim, &claimed,
                                    &scene->error));
    assert_int_equal(faults_count(&faults, "commit"), 1);
    faults_remove(&faults);
    assert_int_equal(answer, ALK_SETTLED);
    assert_int_equal(claimed.jobs.count, 1);
    assert_int_equal(claimed.jobs.jobs[0].id, id);
    alk__claimed_free(&claimed);

    /* nothing to settle: a claim; nothing to claim: nothing */
    ok(scene, alk__settle_and_claim(scene->conn, NULL, 0, NULL, &claim, &claimed, &scene->error));
    assert_int_equal(claimed.jobs.count + claimed.verdict_count, 0);
    alk__claimed_free(&claimed);
}

/* A claim leaves its verdicts to the caller, who may settle them with the next batch. */
static void verdicts_are_settled_with_the_next_batch(struct scene *scene) {
    const struct alk__claim claim = {"mail", 10, 30 * ALK__SECOND, "w"};
    alk_enqueue_options options = ALK_ENQUEUE_OPTIONS_INIT;
    struct alk__claimed claimed, next;
    alk_settle_answer answer;
    int64_t id;

    options.expires_us = ALK__SECOND;
    ok(scene, alk_enqueue(scene->conn, "mail", "1", 1, &options, &id, &scene->error));
    scene_pass(scene, ALK__MINUTE);
    ok(scene, alk__claim_jobs(scene->conn, &claim, &claimed, &scene->error));
    assert_int_equal(claimed.jobs.count, 0);
    assert_int_equal(claimed.verdict_count, 1);
    assert_int_equal((int)claimed.verdicts[0].outcome, ALK__EXPIRED);
    ok(scene, alk__settle_and_claim(scene->conn, claimed.verdicts, 1, &answer, &claim, &next,
                                    &scene->error));
    assert_int_equal(answer, ALK_SETTLED);
    assert_int_equal(state_of(scene, id), ALK_JOB_DEAD);
    alk__claimed_free(&claimed);
    alk__claimed_free(&next);
}

/* The final shape of a settle: the next job of a key becomes its head when the head goes. */
static void the_next_of_a_key_becomes_the_head(struct scene *scene) {
    static const alk_outcome outcomes[] = {ALK_DONE, ALK_DEAD};

    for (size_t i = 0; i < 2; i++) {
        put_jobs(scene, "mail", 3);
        sql(scene, "UPDATE alk_job SET key = 'k', head = (id = (SELECT min(id) FROM alk_job))");
        assert_int_equal(settle_one(scene, take_one(scene, "mail", "w"), outcomes[i]), ALK_SETTLED);
        assert_int_equal(count_rows(scene, "alk_job", "CAST(head AS INTEGER) = 1"), 1);
        assert_int_equal(sql_number(scene, "SELECT max(id) - min(id) FROM alk_job"), 1);
        alk_settlement next = take_one(scene, "mail", "w");
        assert_int_equal(next.id, sql_number(scene, "SELECT min(id) FROM alk_job"));
        check_store(scene);
        sql(scene, "DELETE FROM alk_job");
    }
}

static const struct scene_test tests[] = {
    BOTH(a_refused_row_does_not_spoil_the_rest),
    SQLITE(a_refused_row_leaves_the_callers_transaction),
    BOTH(a_failing_step_settles_all_or_nothing),
    SQLITE(a_failing_step_leaves_the_callers_transaction),
    SQLITE(a_batch_taken_apart_fails_as_a_whole),
    BOTH(without_memory_it_settles_all_or_nothing),
    BOTH(a_settle_is_refused_for_its_arguments),
    BOTH(settling_and_claiming_are_one),
    BOTH(verdicts_are_settled_with_the_next_batch),
    BOTH(the_next_of_a_key_becomes_the_head),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
