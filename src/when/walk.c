/* when/walk.c: from local matches to moments: over the stretches of constant offset of a zone
 * (schedules.md, part 3).
 *
 * Inside a stretch, moments are local times minus its offset. At its start, where clocks went
 * forward, local times are missing: the moment of the change stands in for them. Where clocks went
 * back, local times come twice: one of the two passes may be left out. A match far away is not
 * walked to: no local time is further from UTC than 26 hours, so the walk goes on in the stretch
 * that lies so much before (or behind) the match. */
#include "when/compiled.h"

/* How long the repeated local times last that follow start, and those that lead up to end. */
static int64_t second_pass_s(const struct alk__segment *segment) {
    return segment->before_s > segment->offset_s ? segment->before_s - segment->offset_s : 0;
}

static int64_t first_pass_s(const struct alk__segment *segment) {
    return segment->offset_s > segment->after_s ? segment->offset_s - segment->after_s : 0;
}

/* The moments of the stretch that may match, without the passes that the spec leaves out: from <= t
 * < end. */
static int64_t open_from(const struct alk__when *when, const struct alk__segment *segment) {
    return when->fold == ALK__FOLD_FIRST && segment->start != INT64_MIN
               ? segment->start + second_pass_s(segment)
               : segment->start;
}

static int64_t open_end(const struct alk__when *when, const struct alk__segment *segment) {
    return when->fold == ALK__FOLD_LAST && segment->end != INT64_MAX
               ? segment->end - first_pass_s(segment)
               : segment->end;
}

/* Whether a match lies in the local times that the change at the start of the stretch left out. */
static bool is_fired_by_gap(const struct alk__when *when, const struct alk__segment *segment) {
    int64_t local_s;

    return when->is_gap_fired && segment->offset_s > segment->before_s &&
           alk__cron_next(&when->cron, segment->start + segment->before_s, &local_s) &&
           local_s < segment->start + segment->offset_s;
}

static int64_t later(int64_t left, int64_t right) {
    return left > right ? left : right;
}

static int64_t earlier(int64_t left, int64_t right) {
    return left < right ? left : right;
}

bool alk__walk_next(const struct alk__when *when, int64_t after_s, int64_t *ret_s) {
    int64_t at = after_s < 0 ? 0 : after_s;
    int64_t local_s;

    if (after_s >= 0 && at < ALK__WHEN_END_S)
        at++;
    while (at < ALK__WHEN_END_S) {
        struct alk__segment segment = alk__zone_segment(when->zone, at);
        int64_t from = later(at, open_from(when, &segment));
        int64_t end = earlier(ALK__WHEN_END_S, open_end(when, &segment));

        if (at == segment.start && is_fired_by_gap(when, &segment)) {
            *ret_s = at;
            return true;
        }
        if (alk__cron_next(&when->cron, from + segment.offset_s, &local_s) &&
            local_s - segment.offset_s < end) {
            *ret_s = local_s - segment.offset_s;
            return true;
        }
        if (segment.end >= ALK__WHEN_END_S ||
            !alk__cron_next(&when->cron, segment.end - ALK__ZONE_OFFSET_MAX_S, &local_s))
            return false;
        at = later(segment.end, local_s - ALK__ZONE_OFFSET_MAX_S);
    }
    return false;
}

bool alk__walk_prev(const struct alk__when *when, int64_t before_s, int64_t *ret_s) {
    int64_t at = earlier(before_s, ALK__WHEN_END_S) - (before_s != INT64_MIN);
    int64_t local_s;

    while (at >= 0) {
        struct alk__segment segment = alk__zone_segment(when->zone, at);
        int64_t from = later(0, open_from(when, &segment));
        int64_t last = earlier(at, open_end(when, &segment) - 1);

        if (alk__cron_prev(&when->cron, last + segment.offset_s, &local_s) &&
            local_s - segment.offset_s >= from) {
            *ret_s = local_s - segment.offset_s;
            return true;
        }
        if (segment.start < 0)
            return false;
        if (is_fired_by_gap(when, &segment)) {
            *ret_s = segment.start;
            return true;
        }
        if (!alk__cron_prev(&when->cron, segment.start - 1 + ALK__ZONE_OFFSET_MAX_S, &local_s))
            return false;
        at = earlier(segment.start - 1, local_s + ALK__ZONE_OFFSET_MAX_S);
    }
    return false;
}

int64_t alk__walk_first(const struct alk__zone *zone, int64_t local_s) {
    struct alk__segment segment = alk__zone_segment(zone, local_s - ALK__ZONE_OFFSET_MAX_S);

    while (local_s - segment.offset_s >= segment.end)
        segment = alk__zone_segment(zone, segment.end);
    return later(segment.start, local_s - segment.offset_s);
}

struct alk__when_local alk__when_local(const struct alk__when *when, int64_t at_s) {
    struct alk__segment segment = alk__zone_segment(when->zone, at_s);
    bool is_change = at_s == segment.start && when->kind == ALK__WHEN_CRON;

    return (struct alk__when_local){
        .civil = alk__civil_of(at_s + segment.offset_s),
        .offset_s = segment.offset_s,
        .is_shifted = is_change && is_fired_by_gap(when, &segment) &&
                      !alk__cron_is_match(&when->cron, at_s + segment.offset_s),
        .is_repeated = at_s - second_pass_s(&segment) < segment.start,
    };
}
