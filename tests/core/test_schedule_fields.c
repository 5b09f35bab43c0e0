/* core/schedule with policies: which edits leave timing alone, what is stored beside the spec,
 * pauses that end by themselves, sets, and runs for the past. */
#include "support/schedules.h"

static alk_schedule schedule_of(const char *name, const char *spec) {
    alk_schedule schedule = ALK_SCHEDULE_INIT;

    schedule.name = name;
    schedule.spec = spec;
    schedule.queue = "work";
    return schedule;
}

static void state(struct scene *scene, const alk_schedule *schedule) {
    ok(scene, alk_schedule_put(scene->conn, schedule, &scene->error));
}

static alk_schedule_row row_of(struct scene *scene, const char *name, alk_schedule_list *list) {
    ok(scene, alk_schedule_get(scene->conn, name, list, &scene->error));
    return list->schedules[0];
}

static int64_t next_of(struct scene *scene, const char *name) {
    alk_schedule_list list;
    int64_t next_us = row_of(scene, name, &list).next_fire_at_us;

    alk_schedule_list_free(&list);
    return next_us;
}

/* ---- fields ---- */

/* S115: every field comes back as it was stated, and as nothing where it is taken back. */
static void every_field_comes_back_as_stated(struct scene *scene) {
    alk_schedule schedule = schedule_of("all", "30 2 * * *");
    int64_t day_us = scene_now(scene) / ALK__DAY * ALK__DAY;
    alk_schedule_list list;

    schedule.zone = "Europe/Berlin";
    schedule.dst_gap = ALK_DST_GAP_SKIP;
    schedule.dst_fold = ALK_DST_FOLD_BOTH;
    schedule.catchup = ALK_CATCHUP_ALL;
    schedule.catchup_window_us = ALK__DAY;
    schedule.grace_us = 0;
    schedule.max_lateness_us = ALK__HOUR;
    schedule.overlap = ALK_OVERLAP_BUFFER_ONE;
    schedule.jitter_us = ALK__MINUTE;
    schedule.not_before_us = day_us;
    schedule.not_after_us = day_us + 100 * ALK__DAY;
    schedule.max_fires = 50;
    schedule.anchor_us = day_us + 1;
    schedule.pause_until_us = day_us + 2 * ALK__DAY;
    schedule.owner_set = "ops";
    state(scene, &schedule);
    alk_schedule_row row = row_of(scene, "all", &list);
    assert_int_equal(row.dst_gap, ALK_DST_GAP_SKIP);
    assert_int_equal(row.dst_fold, ALK_DST_FOLD_BOTH);
    assert_int_equal(row.catchup, ALK_CATCHUP_ALL);
    assert_int_equal(row.catchup_window_us, ALK__DAY);
    assert_int_equal(row.grace_us, 0);
    assert_int_equal(row.max_lateness_us, ALK__HOUR);
    assert_int_equal(row.overlap, ALK_OVERLAP_BUFFER_ONE);
    assert_int_equal(row.jitter_us, ALK__MINUTE);
    assert_int_equal(row.not_before_us, day_us);
    assert_int_equal(row.not_after_us, day_us + 100 * ALK__DAY);
    assert_int_equal(row.max_fires, 50);
    assert_int_equal(row.anchor_at_us, day_us);
    assert_int_equal(row.pause_until_us, day_us + 2 * ALK__DAY);
    assert_int_equal(row.state, ALK_SCHEDULE_PAUSED);
    assert_string_equal(row.owner_set, "ops");
    alk_schedule_list_free(&list);
    expect(scene, ALK_UNCHANGED, alk_schedule_put(scene->conn, &schedule, &scene->error));

    alk_schedule plain = schedule_of("all", "30 2 * * *");
    state(scene, &plain);
    row = row_of(scene, "all", &list);
    assert_int_equal(row.dst_gap, ALK_DST_GAP_SHIFT);
    assert_int_equal(row.catchup, ALK_CATCHUP_LAST);
    assert_int_equal(row.catchup_window_us, NEVER);
    assert_int_equal(row.grace_us, ALK__MINUTE);
    assert_int_equal(row.max_lateness_us, NEVER);
    assert_int_equal(row.overlap, ALK_OVERLAP_ALLOW);
    assert_int_equal(row.jitter_us, NEVER);
    assert_int_equal(row.not_after_us, NEVER);
    assert_int_equal(row.max_fires, 0);
    assert_string_equal(row.owner_set, "");
    assert_int_equal(row.anchor_at_us, day_us);                  /* kept */
    assert_int_equal(row.pause_until_us, day_us + 2 * ALK__DAY); /* a pause is no statement */
    alk_schedule_list_free(&list);
}

/* S112: values that are out of range are refused, whatever field they are of. */
static void values_out_of_range_are_refused(struct scene *scene) {
    alk_schedule bad[14];

    for (size_t i = 0; i < 14; i++)
        bad[i] = schedule_of("bad", "@daily");
    bad[0].dst_gap = (alk_dst_gap)7;
    bad[1].dst_fold = (alk_dst_fold)7;
    bad[2].catchup = (alk_catchup)7;
    bad[3].overlap = (alk_overlap)7;
    bad[4].catchup_window_us = 0;
    bad[5].grace_us = -1;
    bad[6].max_lateness_us = 0;
    bad[7].jitter_us = 40000 * ALK__DAY;
    bad[8].not_before_us = -1;
    bad[9].not_after_us = INT64_MAX;
    bad[10].max_fires = -1;
    bad[11].anchor_us = -1;
    bad[12].pause_until_us = INT64_MAX;
    bad[13].owner_set = "a\nb";
    for (size_t i = 0; i < 14; i++)
        expect(scene, ALK_INVALID, alk_schedule_put(scene->conn, &bad[i], &scene->error));
    expect(scene, ALK_INVALID, alk_schedule_change(scene->conn, &bad[0], 1U << 23, &scene->error));
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_schedule"), 0);
}

/* S114: policy, queue and payload move no boundary; spec, zone, anchor, bounds and the dst options
 * do, to the first boundary after now, with a new version and no catching up. */
static void only_timing_fields_move_the_next_fire(struct scene *scene) {
    static const unsigned others[] = {
        ALK_SCHEDULE_QUEUE,  ALK_SCHEDULE_PRIORITY,  ALK_SCHEDULE_CATCHUP, ALK_SCHEDULE_OVERLAP,
        ALK_SCHEDULE_JITTER, ALK_SCHEDULE_MAX_FIRES, ALK_SCHEDULE_GRACE,   ALK_SCHEDULE_OWNER_SET};
    static const unsigned timing[] = {ALK_SCHEDULE_SPEC,       ALK_SCHEDULE_ZONE,
                                      ALK_SCHEDULE_DST_GAP,    ALK_SCHEDULE_DST_FOLD,
                                      ALK_SCHEDULE_NOT_BEFORE, ALK_SCHEDULE_NOT_AFTER,
                                      ALK_SCHEDULE_ANCHOR,     ALK_SCHEDULE_REANCHOR};
    alk_schedule schedule = schedule_of("often", "@every 1h");
    int64_t second_us = scene_now(scene) / ALK__SECOND * ALK__SECOND;
    alk_schedule change = schedule_of("often", "@every 20m");

    change.queue = "other";
    change.priority = 3;
    change.catchup = ALK_CATCHUP_SKIP;
    change.overlap = ALK_OVERLAP_SKIP;
    change.jitter_us = ALK__SECOND;
    change.max_fires = 9;
    change.grace_us = 0;
    change.owner_set = "ops";
    change.zone = "Europe/Berlin";
    change.dst_gap = ALK_DST_GAP_SKIP;
    change.dst_fold = ALK_DST_FOLD_LAST;
    change.not_before_us = second_us - ALK__DAY;
    change.not_after_us = second_us + ALK__DAY;
    change.anchor_us = second_us - 1234 * ALK__SECOND;
    for (size_t i = 0; i < 16; i++) {
        state(scene, &schedule);
        make_due(scene, "often", 3 * ALK__HOUR);
        int64_t before_us = next_of(scene, "often");
        int64_t version = schedule_number(scene, "often", "version");
        unsigned field = i < 8 ? others[i] : timing[i - 8];
        ok(scene, alk_schedule_change(scene->conn, &change, field, &scene->error));
        assert_int_equal(schedule_number(scene, "often", "version"), version + 1);
        if (i < 8)
            assert_int_equal(next_of(scene, "often"), before_us);
        else
            assert_true(next_of(scene, "often") > scene_now(scene));
        assert_int_equal(schedule_number(scene, "often", "missed_total"), 0);
        ok(scene, alk_schedule_remove(scene->conn, "often", &scene->error));
    }
}

/* S114: the grid of @every stays where it was until it is to start anew. */
static void the_grid_stays_until_it_is_anchored_anew(struct scene *scene) {
    alk_schedule schedule = schedule_of("often", "@every 1h");
    int64_t second_us = scene_now(scene) / ALK__SECOND * ALK__SECOND;

    schedule.anchor_us = second_us - 10 * ALK__MINUTE;
    state(scene, &schedule);
    assert_int_equal(next_of(scene, "often"), second_us + 50 * ALK__MINUTE);
    schedule.anchor_us = NEVER;
    schedule.spec = "@every 30m";
    state(scene, &schedule);
    assert_int_equal(next_of(scene, "often"), second_us + 20 * ALK__MINUTE);
    ok(scene, alk_schedule_change(scene->conn, &schedule, ALK_SCHEDULE_REANCHOR, &scene->error));
    int64_t rest_us = next_of(scene, "often") - scene_now(scene);
    assert_in_range(rest_us, 29 * ALK__MINUTE, 30 * ALK__MINUTE);
}

/* S108: what has no boundary after now is refused, by its own end or that of its bounds. */
static void no_boundary_after_now_is_refused(struct scene *scene) {
    alk_schedule schedule = schedule_of("ended", "0 0 12 1 1 * 2020");

    expect(scene, ALK_INVALID, alk_schedule_put(scene->conn, &schedule, &scene->error));
    assert_contains(scene->error.message, "no boundary after now");
    schedule.spec = "@every 1h";
    schedule.not_after_us = scene_now(scene) + ALK__MINUTE;
    expect(scene, ALK_INVALID, alk_schedule_put(scene->conn, &schedule, &scene->error));
    schedule.not_after_us = NEVER;
    state(scene, &schedule);
    schedule.not_after_us = scene_now(scene) + ALK__MINUTE;
    expect(scene, ALK_INVALID,
           alk_schedule_change(scene->conn, &schedule, ALK_SCHEDULE_NOT_AFTER, &scene->error));
    assert_int_equal(schedule_state(scene, "ended"), ALK_SCHEDULE_ACTIVE);
}

/* S103: H is stored in numbers beside the original, and the tick goes by what is stored, unless
 * somebody has changed the original since (schedules.md, part 2, rule 8). */
static void a_hashed_spec_is_stored_resolved(struct scene *scene) {
    alk_schedule schedule = schedule_of("report-7", "H H * * *");
    alk_schedule_list list;
    struct ticker ticker;

    state(scene, &schedule);
    assert_string_equal(row_of(scene, "report-7", &list).spec_resolved, "50 7 * * *");
    alk_schedule_list_free(&list);
    put(scene, "plain", "50 7 * * *");
    assert_string_equal(row_of(scene, "plain", &list).spec_resolved, "");
    alk_schedule_list_free(&list);
    assert_int_equal(next_of(scene, "report-7"), next_of(scene, "plain"));

    ticker_start(scene, &ticker);
    sql(scene,
        "UPDATE alk_schedule SET spec_resolved = '51 7 * * *', next_fire_at = %s"
        " WHERE name = 'report-7'",
        sql_time(scene, scene_now(scene) - ALK__SECOND));
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(next_of(scene, "report-7") % ALK__HOUR, 51 * ALK__MINUTE);
    sql(scene,
        "UPDATE alk_schedule SET spec = 'H(0-0) 8 * * *', next_fire_at = %s"
        " WHERE name = 'report-7'",
        sql_time(scene, scene_now(scene) - ALK__SECOND));
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(next_of(scene, "report-7") % ALK__DAY, 8 * ALK__HOUR);
    ticker_end(&ticker);
}

/* S107: the dst options are part of what a schedule fires at. */
static void dst_options_decide_about_boundaries(struct scene *scene) {
    alk_schedule schedule = schedule_of("night", "0 30 2 28 3 * 2027"); /* a gap in Berlin */

    schedule.zone = "Europe/Berlin";
    state(scene, &schedule);
    assert_int_equal(next_of(scene, "night"), INT64_C(1806195600) * ALK__SECOND); /* 01:00 UTC */
    schedule.spec = "0 30 2 28-29 3 * 2027";
    schedule.dst_gap = ALK_DST_GAP_SKIP;
    state(scene, &schedule);
    assert_int_equal(next_of(scene, "night"),
                     INT64_C(1806280200) * ALK__SECOND); /* the day after */
}

/* What is surprising about a spec is said where schedules are listed; nothing where nothing is. */
static void a_surprising_spec_is_listed_with_its_warning(struct scene *scene) {
    alk_schedule_list list;

    put(scene, "sevenths", "*/7 * * * *");
    put(scene, "tens", "*/10 * * * *");
    assert_true(strlen(row_of(scene, "sevenths", &list).warning) > 0);
    alk_schedule_list_free(&list);
    assert_string_equal(row_of(scene, "tens", &list).warning, "");
    alk_schedule_list_free(&list);
}

/* ---- pauses ---- */

/* S116, S117: a pause with an end ends by itself: what passed until then is missed, what is due
 * since then fires by the policy. */
static void a_pause_with_an_end_ends_by_itself(struct scene *scene) {
    alk_schedule schedule = schedule_of("often", "@every 10m");
    struct ticker ticker;
    int64_t second_us = scene_now(scene) / ALK__SECOND * ALK__SECOND;

    schedule.anchor_us = second_us;
    state(scene, &schedule);
    schedule.pause_until_us = second_us + ALK__HOUR;
    state(scene, &schedule);
    assert_int_equal(schedule_state(scene, "often"), ALK_SCHEDULE_PAUSED);
    ticker_start(scene, &ticker);
    scene_pass(scene, 30 * ALK__MINUTE);
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(ticker.result.seen + ticker.result.resumed, 0);

    scene_pass(scene, 55 * ALK__MINUTE); /* 25 minutes beyond */
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(ticker.result.resumed, 1);
    assert_int_equal(schedule_state(scene, "often"), ALK_SCHEDULE_ACTIVE);
    assert_int_equal(schedule_number(scene, "often", "missed_total"), 6);
    assert_int_equal(record_count(ticker.record, "schedule resumed", "often"), 1);
    assert_int_equal(job_count(scene, "often"), 0);
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(job_count(scene, "often"), 1);
    assert_int_equal(schedule_number(scene, "often", "missed_total"), 7);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_schedule"
                                       " WHERE pause_until IS NOT NULL"),
                     0);
    schedule.anchor_us = NEVER;
    schedule.pause_until_us = second_us; /* it has passed: no such thing any more */
    expect(scene, ALK_UNCHANGED, alk_schedule_put(scene->conn, &schedule, &scene->error));
    ticker_end(&ticker);
}

/* S116: a pause by hand has no end, and takes away the end that there was. */
static void a_pause_by_hand_has_no_end(struct scene *scene) {
    alk_schedule schedule = schedule_of("often", "@every 10m");
    struct ticker ticker;

    schedule.pause_until_us = scene_now(scene) + ALK__HOUR;
    state(scene, &schedule);
    ok(scene, alk_schedule_pause(scene->conn, "often", &scene->error));
    expect(scene, ALK_UNCHANGED, alk_schedule_pause(scene->conn, "often", &scene->error));
    scene_pass(scene, 2 * ALK__HOUR);
    ticker_start(scene, &ticker);
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(ticker.result.resumed, 0);
    assert_int_equal(schedule_state(scene, "often"), ALK_SCHEDULE_PAUSED);
    ticker_end(&ticker);
}

/* S138: a bad spec does not keep the tick from ending other pauses; the next one puts it aside. */
static void a_pause_of_a_bad_row_ends_too(struct scene *scene) {
    alk_schedule schedule = schedule_of("bad", "@every 10m");
    struct ticker ticker;

    schedule.pause_until_us = scene_now(scene) + ALK__MINUTE;
    state(scene, &schedule);
    schedule.name = "good";
    state(scene, &schedule);
    sql(scene, "UPDATE alk_schedule SET spec = 'nonsense' WHERE name = 'bad'");
    scene_pass(scene, 2 * ALK__MINUTE);
    ticker_start(scene, &ticker);
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(ticker.result.resumed, 2);
    assert_int_equal(schedule_state(scene, "good"), ALK_SCHEDULE_ACTIVE);
    ok(scene, ticker_tick(scene, &ticker));
    assert_int_equal(schedule_state(scene, "bad"), ALK_SCHEDULE_QUARANTINED);
    ticker_end(&ticker);
}

/* S117: a resume that catches up lets the policy decide about what passed since the pause. */
static void a_resume_may_catch_up(struct scene *scene) {
    static const alk_catchup catchups[] = {ALK_CATCHUP_SKIP, ALK_CATCHUP_LAST, ALK_CATCHUP_ALL};
    static const int fired[] = {0, 1, 6};
    alk_resume_options options = ALK_RESUME_OPTIONS_INIT;
    struct ticker ticker;

    options.catchup = true;
    ticker_start(scene, &ticker);
    for (size_t i = 0; i < 3; i++) {
        alk_schedule schedule = schedule_of("often", "@every 10m");
        schedule.catchup = catchups[i];
        state(scene, &schedule);
        ok(scene, alk_schedule_pause(scene->conn, "often", &scene->error));
        scene_pass(scene, 65 * ALK__MINUTE);
        ok(scene, alk_schedule_resume(scene->conn, "often", &options, &scene->error));
        ok(scene, ticker_tick(scene, &ticker));
        assert_int_equal(job_count(scene, "often"), fired[i]);
        assert_int_equal(schedule_number(scene, "often", "missed_total"), 6 - fired[i]);
        ok(scene, alk_schedule_remove(scene->conn, "often", &scene->error));
    }
    ticker_end(&ticker);
}

static const struct scene_test tests[] = {
    BOTH(every_field_comes_back_as_stated),      BOTH(values_out_of_range_are_refused),
    BOTH(only_timing_fields_move_the_next_fire), BOTH(the_grid_stays_until_it_is_anchored_anew),
    BOTH(no_boundary_after_now_is_refused),      BOTH(a_hashed_spec_is_stored_resolved),
    BOTH(dst_options_decide_about_boundaries),   BOTH(a_surprising_spec_is_listed_with_its_warning),
    BOTH(a_pause_with_an_end_ends_by_itself),    BOTH(a_pause_by_hand_has_no_end),
    BOTH(a_pause_of_a_bad_row_ends_too),         BOTH(a_resume_may_catch_up),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
