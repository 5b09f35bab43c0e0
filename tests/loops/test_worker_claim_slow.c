/* tests/loops/test_worker_claim_slow.c: claims that last longer than their first lease. */
#include "support/fault.h"
#include "support/rig.h"

// S83: by its extensions a claim outlives its lease, in the database and in the worker's eyes.
static void a_handler_may_run_longer_than_a_lease(struct scene *scene) {
    struct gate gate = {.outcome = ALK_DONE};
    struct faults faults;
    struct rig rig;

    put_numbers(scene, "mail", 2);
    faults_install(&faults, scene->store);
    rig_init(&rig, scene, wait_at_gate, &gate);
    rig.options.prefetch = 1;
    rig.options.lease_us = 9 * ALK__SECOND; /* extended every 3 s */
    rig_start(&rig);
    wait_until(faults_count(&faults, "job_extend") >= 4);
    assert_false(gate.was_told);
    assert_int_equal(running_jobs(scene), 2);
    atomic_store(&gate.is_open, true);
    wait_until(done_jobs(scene) == 2);
    ok(scene, rig_stop(&rig));
    assert_int_equal(gate.tally.runs, 2);
    assert_int_equal(rig_events(&rig, "claim lapsed") + rig_events(&rig, "claim lost"), 0);
    faults_remove(&faults);
    rig_free(&rig);
}

static const struct scene_test tests[] = {
    BOTH(a_handler_may_run_longer_than_a_lease),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
