/* core/plan: from a row to what a tick does about it, without a database. */
#include "base/clock.h"
#include "core/plan.h"
#include "support/test.h"
#include "when/catchup.h"

#define NOW_US (SCENE_START_US + 123456) /* 2026-01-01T00:00:00.123456Z */

/* A good row that is due at its now. */
static struct alk__row_schedule good_row(void) {
    return (struct alk__row_schedule){.id = 7,
                                      .name = ALK__TEXT("often"),
                                      .spec = ALK__TEXT("@every 10s"),
                                      .queue = ALK__TEXT("work"),
                                      .payload = ALK__TEXT("{}"),
                                      .max_attempts = ALK__NULL,
                                      .expires = ALK__NULL,
                                      .catchup = ALK__TEXT("last"),
                                      .catchup_max = 64,
                                      .catchup_window = ALK__NULL,
                                      .max_lateness = ALK__NULL,
                                      .grace = ALK__MINUTE,
                                      .overlap = ALK__TEXT("allow"),
                                      .dst_gap = ALK__TEXT("shift"),
                                      .dst_fold = ALK__TEXT("auto"),
                                      .jitter = ALK__NULL,
                                      .not_before = ALK__NULL,
                                      .not_after = ALK__NULL,
                                      .max_fires = ALK__NULL,
                                      .anchor_at = SCENE_START_US - ALK__DAY,
                                      .next_fire_at = SCENE_START_US,
                                      .last_fire_at = ALK__NULL,
                                      .version = 1,
                                      .paused_at = ALK__NULL,
                                      .done_at = ALK__NULL,
                                      .quarantined_at = ALK__NULL,
                                      .quarantine_from = ALK__NULL,
                                      .now = NOW_US};
}

struct planning {
    struct alk__specs *specs;
    struct alk__arena arena;
    struct alk__plan plan;
};

static void plan(struct scene *scene, struct planning *planning,
                 const struct alk__row_schedule *row) {
    if (planning->specs == NULL)
        ok(scene, alk__specs_new(16, &planning->specs, &scene->error));
    ok(scene,
       alk__plan_row(planning->specs, &planning->arena, row, &planning->plan, &scene->error));
}

static void done(struct planning *planning) {
    alk__specs_free(planning->specs);
    alk__arena_free(&planning->arena);
}

/* S109: a jitter that is absurd moves a run to the end of time, not to before it. */
static void an_absurd_jitter_does_not_wrap(struct scene *scene) {
    struct planning planning = {0};
    struct alk__row_schedule row = good_row();

    row.jitter = INT64_MAX;
    row.not_after = SCENE_START_US + ALK__SECOND;  /* no next boundary bounds it */
    for (row.id = 1; row.id <= 100000; row.id++) { /* one whose jitter is near the end */
        if (alk__jitter_us(row.id, SCENE_START_US / ALK__SECOND, INT64_MAX, ALK_NO_TIME) >
            INT64_MAX - SCENE_START_US)
            break;
    }
    plan(scene, &planning, &row);
    assert_int_equal(planning.plan.fire_count, 1);
    assert_true(planning.plan.fires[0].run_at_us >= planning.plan.fires[0].at_us);
    done(&planning);
}

/* S128: on time there is one fire, at the boundary, and the next is one period on. */
static void on_time_there_is_one_fire(struct scene *scene) {
    struct alk__row_schedule row = good_row();
    struct planning planning = {0};

    plan(scene, &planning, &row);
    assert_null(planning.plan.bad);
    assert_int_equal(planning.plan.fire_count, 1);
    assert_int_equal(planning.plan.fires[0].at_us, SCENE_START_US);
    assert_int_equal(planning.plan.fires[0].previous_us, ALK_NO_TIME);
    assert_false(planning.plan.fires[0].is_catchup);
    assert_int_equal(planning.plan.next_us, SCENE_START_US + 10 * ALK__SECOND);
    assert_int_equal(planning.plan.missed_count, 0);
    done(&planning);
}

/* S126: a next_fire_at written by hand is no boundary itself: what fires lies on the grid and not
 * before it. */
static void what_fires_lies_on_the_grid(struct scene *scene) {
    static const struct {
        int64_t next_us; /* from NOW's second */
        size_t fires;
    } cases[] = {{-30 * ALK__SECOND, 4},
                 {-30 * ALK__SECOND + 1, 3},
                 {-30 * ALK__SECOND - 1, 4},
                 {-9 * ALK__SECOND, 1},
                 {0, 1},
                 {1, 0},
                 {123456, 0}};
    struct alk__row_schedule row = good_row();
    struct planning planning = {0};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        row.next_fire_at = SCENE_START_US + cases[i].next_us;
        plan(scene, &planning, &row);
        assert_int_equal(planning.plan.fire_count, cases[i].fires);
        for (size_t k = 0; k < cases[i].fires; k++) {
            assert_int_equal((planning.plan.fires[k].at_us - row.anchor_at) % (10 * ALK__SECOND),
                             0);
            assert_true(planning.plan.fires[k].at_us >= row.next_fire_at);
        }
        assert_int_equal(planning.plan.next_us, SCENE_START_US + 10 * ALK__SECOND);
    }
    done(&planning);
}

/* S129: each fire says which fired before it, and which are catch-up. */
static void fires_know_their_previous_ones(struct scene *scene) {
    struct alk__row_schedule row = good_row();
    struct planning planning = {0};

    row.spec = ALK__TEXT("@every 1h");
    row.anchor_at -= ALK__MINUTE;
    row.next_fire_at = SCENE_START_US - 3 * ALK__HOUR - ALK__MINUTE;
    row.last_fire_at = row.next_fire_at - ALK__HOUR;
    plan(scene, &planning, &row);
    assert_int_equal(planning.plan.fire_count,
                     1); /* a minute late: in time; the others are missed */
    assert_int_equal(planning.plan.missed_count, 3);
    assert_int_equal(planning.plan.fires[0].previous_us, row.last_fire_at);
    row.now += ALK__MINUTE;
    plan(scene, &planning, &row);
    assert_true(planning.plan.fires[0].is_catchup);

    row = good_row();
    row.next_fire_at -= 20 * ALK__SECOND;
    plan(scene, &planning, &row);
    assert_int_equal(planning.plan.fire_count, 3);
    assert_int_equal(planning.plan.fires[2].previous_us, planning.plan.fires[1].at_us);
    done(&planning);
}

/* S127: what has fired is not planned again. */
static void what_has_fired_is_not_planned_again(struct scene *scene) {
    struct alk__row_schedule row = good_row();
    struct planning planning = {0};

    row.last_fire_at = SCENE_START_US;
    row.next_fire_at = SCENE_START_US - 100 * ALK__SECOND;
    plan(scene, &planning, &row);
    assert_int_equal(planning.plan.fire_count, 0);
    assert_int_equal(planning.plan.missed_count, 0);
    assert_int_equal(planning.plan.next_us, SCENE_START_US + 10 * ALK__SECOND);
    done(&planning);
}

/* S108: a spec that has no further boundary means done, not quarantine. */
static void no_further_boundary_means_done(struct scene *scene) {
    struct alk__row_schedule row = good_row();
    struct planning planning = {0};

    row.spec = ALK__TEXT("@at 2026-01-01T00:00:00Z");
    plan(scene, &planning, &row);
    assert_null(planning.plan.bad);
    assert_int_equal(planning.plan.fire_count, 1);
    assert_int_equal(planning.plan.next_us, ALK__NULL);
    done(&planning);
}

/* S142: out of quarantine nothing fires; what was due since is missed. */
static void out_of_quarantine_nothing_fires(struct scene *scene) {
    struct alk__row_schedule row = good_row();
    struct planning planning = {0};

    row.quarantined_at = row.quarantine_from = SCENE_START_US - 60 * ALK__SECOND;
    plan(scene, &planning, &row);
    assert_int_equal(planning.plan.fire_count, 0);
    assert_int_equal(planning.plan.missed_count, 7);
    assert_int_equal(planning.plan.first_missed_us, SCENE_START_US - 60 * ALK__SECOND);
    assert_int_equal(planning.plan.last_missed_us, SCENE_START_US);
    assert_int_equal(planning.plan.next_us, SCENE_START_US + 10 * ALK__SECOND);
    done(&planning);
}

/* S141: what is wrong with a row is its reason, and its name can be told. */
static void a_bad_row_has_a_reason_and_a_name(struct scene *scene) {
    struct alk__row_schedule row = good_row();
    struct planning planning = {0};

    row.spec = ALK__TEXT("61 * * * *");
    plan(scene, &planning, &row);
    assert_contains(planning.plan.bad, "spec: minute 61");
    assert_string_equal(planning.plan.name, "often");
    row = good_row();
    row.row.unreadable = "column 'name' holds a blob, not text";
    row.name = (struct alk__text){0};
    plan(scene, &planning, &row);
    assert_string_equal(planning.plan.bad, row.row.unreadable);
    assert_string_equal(planning.plan.name, "schedule 7");
    row = good_row();
    row.payload = ALK__TEXT("{");
    plan(scene, &planning, &row);
    assert_contains(planning.plan.bad, "payload is not JSON");
    done(&planning);
}

/* Part 2, rule 8: an H stays what it was when the schedule was stored, while its spec is what it
 * was then. */
static void a_stored_h_stays_what_it_was(struct scene *scene) {
    struct alk__row_schedule row = good_row();
    struct planning planning = {0};

    row.spec = row.spec_resolved_from = ALK__TEXT("H H * * *");
    row.spec_resolved = ALK__TEXT("1 2 * * *");
    plan(scene, &planning, &row);
    assert_int_equal(planning.plan.next_us % ALK__DAY, 2 * ALK__HOUR + ALK__MINUTE);
    row.spec = ALK__TEXT("0 9 * * *");
    plan(scene, &planning, &row);
    assert_int_equal(planning.plan.next_us % ALK__DAY, 9 * ALK__HOUR);
    done(&planning);
}

/* S141: a policy that is none puts the row aside, and says which. */
static void a_policy_that_is_none_is_bad(struct scene *scene) {
    struct planning planning = {0};
    struct alk__row_schedule rows[4];

    for (size_t i = 0; i < 4; i++)
        rows[i] = good_row();
    rows[0].catchup = ALK__TEXT("never");
    rows[1].overlap = ALK__TEXT("");
    rows[2].dst_gap = ALK__TEXT("SHIFT");
    rows[3].dst_fold = ALK__TEXT("auto ");
    for (size_t i = 0; i < 4; i++) {
        plan(scene, &planning, &rows[i]);
        assert_non_null(planning.plan.bad);
        assert_contains(planning.plan.bad, "is no ");
        assert_int_equal(planning.plan.fire_count, 0);
    }
    done(&planning);
}

/* S121: with its fires used up a row is done, whatever is due. */
static void used_up_it_is_done(struct scene *scene) {
    struct planning planning = {0};
    struct alk__row_schedule row = good_row();

    row.max_fires = 3;
    row.fired_total = 3;
    plan(scene, &planning, &row);
    assert_null(planning.plan.bad);
    assert_int_equal(planning.plan.fire_count, 0);
    assert_int_equal(planning.plan.missed_count, 0);
    assert_int_equal(planning.plan.next_us, ALK__NULL);
    row.fired_total = -INT64_MAX; /* of a count that is none nothing is used up */
    plan(scene, &planning, &row);
    assert_int_equal(planning.plan.fires_left, 3);
    done(&planning);
}

static const struct scene_test tests[] = {
    ALONE(an_absurd_jitter_does_not_wrap),
    ALONE(on_time_there_is_one_fire),
    ALONE(what_fires_lies_on_the_grid),
    ALONE(fires_know_their_previous_ones),
    ALONE(what_has_fired_is_not_planned_again),
    ALONE(no_further_boundary_means_done),
    ALONE(out_of_quarantine_nothing_fires),
    ALONE(a_bad_row_has_a_reason_and_a_name),
    ALONE(a_stored_h_stays_what_it_was),
    ALONE(a_policy_that_is_none_is_bad),
    ALONE(used_up_it_is_done),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
