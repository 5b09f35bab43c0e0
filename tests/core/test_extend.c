/* core/extend: leases of claims, made longer while they last. */
#include "support/fault.h"
#include "support/jobs.h"

static alk_settle_answer extend_one(struct scene *scene, alk_settlement claim, int64_t lease_us) {
    alk_claim_id id = {claim.id, claim.stamp};
    alk_settle_answer answer = ALK_SETTLE_REFUSED;

    ok(scene, alk_extend(scene->conn, claim.worker, lease_us, &id, 1, &answer, &scene->error));
    return answer;
}

/* S83 rests on it: an extended claim lasts from now on. */
static void an_extended_claim_lasts(struct scene *scene) {
    int64_t id = put_job(scene, "mail");
    alk_settlement claim = take_one(scene, "mail", "w");

    for (int i = 0; i < 3; i++) {
        scene_pass(scene, 20 * ALK__SECOND);
        assert_int_equal(extend_one(scene, claim, 30 * ALK__SECOND), ALK_SETTLED);
    }
    assert_int_equal(state_of(scene, id), ALK_JOB_RUNNING);
    assert_int_equal(settle_one(scene, claim, ALK_DONE), ALK_SETTLED);
}

/* S50: a late extension takes nothing back, though nobody has taken the job. */
static void a_lapsed_claim_is_never_taken_back(struct scene *scene) {
    int64_t id = put_job(scene, "mail");
    alk_settlement claim = take_one(scene, "mail", "w");

    scene_pass(scene, 31 * ALK__SECOND);
    assert_int_equal(extend_one(scene, claim, 30 * ALK__SECOND), ALK_SETTLE_LAPSED);
    assert_int_equal(state_of(scene, id), ALK_JOB_READY);
    take_one(scene, "mail", "other");
    assert_int_equal(extend_one(scene, claim, 30 * ALK__SECOND), ALK_SETTLE_LOST);
}

/* S49, S69: only under id, stamp and worker. */
static void only_the_current_claim_is_extended(struct scene *scene) {
    put_job(scene, "mail");
    alk_settlement claim = take_one(scene, "mail", "w");
    alk_settlement forged = claim;

    forged.stamp++;
    assert_int_equal(extend_one(scene, forged, ALK__HOUR), ALK_SETTLE_LOST);
    forged = claim;
    forged.worker = "somebody";
    assert_int_equal(extend_one(scene, forged, ALK__HOUR), ALK_SETTLE_LOST);
    scene_pass(scene, 31 * ALK__SECOND);
    assert_int_equal(count_rows(scene, "alk_job", "1 = 1"), 1);
    take_one(scene, "mail", "other");
}

/* S55: a cancel is seen at the next extension, which extends all the same. */
static void a_cancel_is_seen_at_the_extension(struct scene *scene) {
    put_job(scene, "mail");
    alk_settlement claim = take_one(scene, "mail", "w");

    sql(scene, "UPDATE alk_job SET cancel_requested_at = claimed_at");
    scene_pass(scene, 20 * ALK__SECOND);
    assert_int_equal(extend_one(scene, claim, 30 * ALK__SECOND), ALK_SETTLE_CANCELLED);
    scene_pass(scene, 20 * ALK__SECOND);
    assert_int_equal(settle_one(scene, claim, ALK_DONE), ALK_SETTLE_CANCELLED);
}

/* S51: many at once, each with its answer, in the caller's order; a row that somebody holds is left
 * out. */
static void each_of_many_has_its_answer(struct scene *scene) {
    alk_claim_id claims[4];
    alk_settle_answer answers[4];

    put_jobs(scene, "mail", 3);
    alk_job_list list = take_jobs(scene, "mail", 3, "w");
    for (size_t i = 0; i < 3; i++)
        claims[i] = (alk_claim_id){list.jobs[2 - i].id, list.jobs[2 - i].stamp};
    alk_job_list_free(&list);
    claims[3] = (alk_claim_id){12345, 1};
    if (scene->engine == ALK_ENGINE_POSTGRES) {
        sql(scene, "BEGIN");
        sql(scene, "SELECT id FROM alk_job WHERE id = %lld FOR UPDATE", (long long)claims[1].id);
    }
    alk__conn_set_call_limit(scene->conn, 20 * ALK__SECOND);
    ok(scene, alk_extend(scene->conn, "w", ALK__HOUR, claims, 4, answers, &scene->error));
    assert_int_equal(answers[0], ALK_SETTLED);
    assert_int_equal(answers[1],
                     scene->engine == ALK_ENGINE_POSTGRES ? ALK_SETTLE_LOCKED : ALK_SETTLED);
    assert_int_equal(answers[2], ALK_SETTLED);
    assert_int_equal(answers[3], ALK_SETTLE_LOST);
    if (scene->engine == ALK_ENGINE_POSTGRES)
        sql(scene, "ROLLBACK");
}

/* S32, S33: a failure of any step extends nothing and says so, or the answers are there. */
static void a_failing_step_extends_all_or_nothing(struct scene *scene) {
    for (int nth = 1, is_over = 0; !is_over; nth++) {
        struct faults faults;
        alk_claim_id ids[2];
        alk_settle_answer answers[2];

        sql(scene, "DELETE FROM alk_job");
        put_job(scene, "mail");
        alk_settlement claim = take_one(scene, "mail", "w");
        ids[0] = (alk_claim_id){claim.id, claim.stamp};
        ids[1] = (alk_claim_id){claim.id, claim.stamp - 1};
        ok(scene, alk_begin(scene->conn, &scene->error));
        faults_install(&faults, scene->store);
        faults_add(&faults, NULL, nth, ALK__BEFORE, ALK_FAILED);
        alk_status st = alk_extend(scene->conn, "w", 2 * ALK__HOUR, ids, 2, answers, &scene->error);
        is_over = faults_happened(&faults) == 0;
        faults_remove(&faults);
        if (st >= 0)
            ok(scene, alk_commit(scene->conn, &scene->error));
        else if (scene->engine == ALK_ENGINE_SQLITE)
            ok(scene, alk_commit(scene->conn, &scene->error));
        else
            alk_rollback(scene->conn);
        scene_pass(scene, ALK__HOUR);
        assert_int_equal(state_of(scene, claim.id), st >= 0 ? ALK_JOB_RUNNING : ALK_JOB_READY);
    }
}

static void an_extension_is_refused_for_its_arguments(struct scene *scene) {
    alk_claim_id id = {1, 1};
    alk_settle_answer answer;
    struct faults faults;

    faults_install(&faults, scene->store);
    expect(scene, ALK_INVALID,
           alk_extend(scene->conn, "", ALK__HOUR, &id, 1, &answer, &scene->error));
    expect(scene, ALK_INVALID, alk_extend(scene->conn, "w", 0, &id, 1, &answer, &scene->error));
    expect(scene, ALK_INVALID,
           alk_extend(scene->conn, "w", ALK__HOUR, &id, 1001, &answer, &scene->error));
    assert_int_equal(faults_count(&faults, NULL), 0);
    faults_remove(&faults);
}

static const struct scene_test tests[] = {
    BOTH(an_extended_claim_lasts),
    BOTH(a_lapsed_claim_is_never_taken_back),
    BOTH(only_the_current_claim_is_extended),
    BOTH(a_cancel_is_seen_at_the_extension),
    BOTH(each_of_many_has_its_answer),
    BOTH(a_failing_step_extends_all_or_nothing),
    BOTH(an_extension_is_refused_for_its_arguments),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
