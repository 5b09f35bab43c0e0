/* when/every.c: @every: a period and a grid that depends on nothing but where it was anchored
 * (S128). */
#include "base/clock.h"
#include "base/duration.h"
#include "when/compiled.h"

/* ---- parsing ---- */

/* A duration of whole seconds that ends before end. */
static alk_status read_seconds(struct alk__when_parser *parser, size_t end, int64_t *ret_s) {
    struct alk__scan *scan = &parser->scan;
    struct alk__text text = {scan->text.bytes + scan->at, end - scan->at};
    size_t at;
    int64_t us;
    const char *reason = alk__duration_read(text, &us, &at);

    if (reason != NULL)
        return alk__when_refuse(parser, scan->at + at, NULL, "%s", reason);
    for (at = 0; at + 1 < text.length; at++) {
        if (text.bytes[at] == 'm' && text.bytes[at + 1] == 's')
            return alk__when_refuse(parser, scan->at + at, "the shortest period is 1s",
                                    "@every counts whole seconds");
    }
    *ret_s = us / ALK__SECOND;
    scan->at = end;
    return ALK_OK;
}

alk_status alk__every_parse(struct alk__when_parser *parser) {
    struct alk__every *every = &parser->when->every;
    struct alk__scan *scan = &parser->scan;
    size_t slash = scan->at;
    size_t start = scan->at;

    while (slash < scan->text.length && scan->text.bytes[slash] != '/')
        slash++;
    alk_status st = read_seconds(parser, slash, &every->period_s);
    if (st < 0)
        return st;
    if (every->period_s == 0)
        return alk__when_refuse(parser, start, NULL, "the shortest period is 1s");
    if (every->period_s > ALK__EVERY_MAX_S)
        return alk__when_refuse(parser, start, NULL, "the longest period is 3652d12h (ten years)");
    if (!alk__scan_take(scan, '/'))
        return ALK_OK;

    every->has_phase = true;
    start = scan->at;
    st = read_seconds(parser, scan->text.length, &every->phase_s);
    if (st < 0)
        return st;
    if (every->phase_s >= every->period_s)
        return alk__when_refuse(parser, start, NULL, "the phase is not shorter than the period");
    return ALK_OK;
}

/* ---- the grid ---- */

static int64_t floor_div(int64_t number, int64_t by) {
    return number / by - (number % by < 0);
}

/* A grid point that others are counted from, and the first moment that may be a boundary. false:
 * the anchor lies where there are none. */
static bool grid(const struct alk__every *every, int64_t anchor_s, int64_t *ret_origin,
                 int64_t *ret_first) {
    *ret_origin = every->phase_s;
    *ret_first = 0;
    if (every->has_phase)
        return true;
    if (anchor_s >= ALK__WHEN_END_S)
        return false;
    if (anchor_s < 0) {
        *ret_origin = anchor_s % every->period_s + every->period_s;
        *ret_first = anchor_s > -every->period_s ? anchor_s + every->period_s : 0;
        return true;
    }
    *ret_origin = anchor_s;
    *ret_first = anchor_s + every->period_s;
    return true;
}

bool alk__every_next(const struct alk__every *every, int64_t anchor_s, int64_t after_s,
                     int64_t *ret_s) {
    int64_t origin;
    int64_t first;

    if (!grid(every, anchor_s, &origin, &first) || after_s >= ALK__WHEN_END_S)
        return false;
    if (after_s < first - 1)
        after_s = first - 1;
    int64_t next = origin + (floor_div(after_s - origin, every->period_s) + 1) * every->period_s;
    if (next >= ALK__WHEN_END_S)
        return false;
    *ret_s = next;
    return true;
}

bool alk__every_prev(const struct alk__every *every, int64_t anchor_s, int64_t before_s,
                     int64_t *ret_s) {
    int64_t origin;
    int64_t first;

    if (!grid(every, anchor_s, &origin, &first) || before_s <= first)
        return false;
    if (before_s > ALK__WHEN_END_S)
        before_s = ALK__WHEN_END_S;
    int64_t last = origin + floor_div(before_s - 1 - origin, every->period_s) * every->period_s;
    if (last < first)
        return false;
    *ret_s = last;
    return true;
}
