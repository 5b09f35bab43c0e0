/* core/schedule_fields.c: what a schedule states: from the caller's struct to columns. A put and a
 * change are the row as it is with some columns set. */
#include <stddef.h>

#include "base/error.h"
#include "base/json.h"
#include "core/schedule.h"
#include "when/catchup.h"

#define SPAN_MAX (36500 * ALK__DAY)
#define TIME_MAX (ALK__WHEN_END_S * ALK__SECOND)

struct number {
    unsigned field;
    const char *name;
    size_t offset;
    int64_t least;
    int64_t most;
};

/* ALK_NO_TIME is allowed too. */
static const struct number spans[] = {
    {ALK_SCHEDULE_EXPIRES, "expires", offsetof(alk_schedule, expires_us), 1, SPAN_MAX},
    {ALK_SCHEDULE_CATCHUP_WINDOW, "catchup_window", offsetof(alk_schedule, catchup_window_us), 1,
     SPAN_MAX},
    {ALK_SCHEDULE_GRACE, "grace", offsetof(alk_schedule, grace_us), 0, SPAN_MAX},
    {ALK_SCHEDULE_MAX_LATENESS, "max_lateness", offsetof(alk_schedule, max_lateness_us), 1,
     SPAN_MAX},
    {ALK_SCHEDULE_JITTER, "jitter", offsetof(alk_schedule, jitter_us), 1, SPAN_MAX},
    {ALK_SCHEDULE_NOT_BEFORE, "not_before", offsetof(alk_schedule, not_before_us), 0, TIME_MAX},
    {ALK_SCHEDULE_NOT_AFTER, "not_after", offsetof(alk_schedule, not_after_us), 0, TIME_MAX},
    {ALK_SCHEDULE_ANCHOR, "anchor", offsetof(alk_schedule, anchor_us), 0, TIME_MAX},
    {ALK_SCHEDULE_PAUSE_UNTIL, "pause_until", offsetof(alk_schedule, pause_until_us), 0, TIME_MAX},
};

static struct alk__text payload_of(const alk_schedule *given) {
    if (given->payload == NULL || given->payload_length == 0)
        return ALK__TEXT("null");
    return (struct alk__text){given->payload, given->payload_length};
}

/* The empty text is none. */
static struct alk__text text_or_null(const char *text) {
    return alk__text_of(text != NULL && text[0] != '\0' ? text : NULL);
}

static bool has(unsigned fields, unsigned field) {
    return (fields & field) != 0;
}

/* ---- checks ---- */

static alk_status check_spans(const alk_schedule *given, unsigned fields, alk_error *error) {
    for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
        const struct number *span = &spans[i];
        int64_t value = *(const int64_t *)(const void *)((const char *)given + span->offset);
        if (has(fields, span->field) && value != ALK_NO_TIME &&
            (value < span->least || value > span->most))
            return alk__fail(error, ALK_INVALID, "%s is out of range", span->name);
    }
    return ALK_OK;
}

static alk_status check_numbers(const alk_schedule *given, unsigned fields, alk_error *error) {
    if (has(fields, ALK_SCHEDULE_PRIORITY) &&
        (given->priority < INT16_MIN || given->priority > INT16_MAX))
        return alk__fail(error, ALK_INVALID, "priority %d is out of range -32768 to 32767",
                         given->priority);
    if (has(fields, ALK_SCHEDULE_MAX_ATTEMPTS) && given->max_attempts < 0)
        return alk__fail(error, ALK_INVALID, "max_attempts %d is below 0", given->max_attempts);
    if (has(fields, ALK_SCHEDULE_MAX_FIRES) && given->max_fires < 0)
        return alk__fail(error, ALK_INVALID, "max_fires is below 0");
    if (has(fields, ALK_SCHEDULE_CATCHUP_MAX) &&
        (given->catchup_max < 0 || given->catchup_max > ALK__CATCHUP_MAX))
        return alk__fail(error, ALK_INVALID, "catchup_max %d is out of range 0-%d",
                         given->catchup_max, ALK__CATCHUP_MAX);
    return check_spans(given, fields, error);
}

static alk_status check_words(const alk_schedule *given, unsigned fields, alk_error *error) {
    const char *wrong = NULL;

    if (has(fields, ALK_SCHEDULE_DST_GAP) && *alk_dst_gap_text(given->dst_gap) == '\0')
        wrong = "dst_gap";
    if (has(fields, ALK_SCHEDULE_DST_FOLD) && *alk_dst_fold_text(given->dst_fold) == '\0')
        wrong = "dst_fold";
    if (has(fields, ALK_SCHEDULE_CATCHUP) && *alk_catchup_text(given->catchup) == '\0')
        wrong = "catchup";
    if (has(fields, ALK_SCHEDULE_OVERLAP) && *alk_overlap_text(given->overlap) == '\0')
        wrong = "overlap";
    return wrong == NULL ? ALK_OK
                         : alk__fail(error, ALK_INVALID, "%s has a value that is none", wrong);
}

alk_status alk__fields_check(const alk_schedule *given, unsigned fields, alk_error *error) {
    alk_status status = ALK_OK;

    if ((fields & ~(ALK__SCHEDULE_FIELDS | (unsigned)ALK_SCHEDULE_REANCHOR)) != 0)
        return alk__fail(error, ALK_INVALID, "a field that there is not is to be changed");
    if (has(fields, ALK_SCHEDULE_SPEC) && given->spec == NULL)
        return alk__fail(error, ALK_INVALID, "there is no spec");
    if (has(fields, ALK_SCHEDULE_QUEUE))
        status = alk__name_check("queue", given->queue, error);
    if (status == ALK_OK && has(fields, ALK_SCHEDULE_OWNER_SET) &&
        text_or_null(given->owner_set).bytes != NULL)
        status = alk__name_check("set", given->owner_set, error);
    if (status == ALK_OK && has(fields, ALK_SCHEDULE_PAYLOAD))
        status = alk__json_check("payload", payload_of(given), ALK__PAYLOAD_MAX, error);
    if (status == ALK_OK)
        status = check_words(given, fields, error);
    return status == ALK_OK ? check_numbers(given, fields, error) : status;
}

/* ---- columns ---- */

static void set_job(struct alk__row_schedule *row, const alk_schedule *given, unsigned fields) {
    if (has(fields, ALK_SCHEDULE_QUEUE))
        row->queue = alk__text_of(given->queue);
    if (has(fields, ALK_SCHEDULE_PAYLOAD))
        row->payload = payload_of(given);
    if (has(fields, ALK_SCHEDULE_PRIORITY))
        row->priority = given->priority;
    if (has(fields, ALK_SCHEDULE_MAX_ATTEMPTS))
        row->max_attempts = given->max_attempts == 0 ? ALK__NULL : given->max_attempts;
    if (has(fields, ALK_SCHEDULE_EXPIRES))
        row->expires = given->expires_us;
    if (has(fields, ALK_SCHEDULE_JITTER))
        row->jitter = given->jitter_us;
}

static void set_policy(struct alk__row_schedule *row, const alk_schedule *given, unsigned fields) {
    if (has(fields, ALK_SCHEDULE_CATCHUP))
        row->catchup = alk__text_of(alk_catchup_text(given->catchup));
    if (has(fields, ALK_SCHEDULE_CATCHUP_MAX))
        row->catchup_max = given->catchup_max == 0 ? ALK__CATCHUP_MAX_DEFAULT : given->catchup_max;
    if (has(fields, ALK_SCHEDULE_CATCHUP_WINDOW))
        row->catchup_window = given->catchup_window_us;
    if (has(fields, ALK_SCHEDULE_GRACE))
        row->grace = given->grace_us == ALK_NO_TIME ? ALK__CATCHUP_GRACE_DEFAULT_S * ALK__SECOND
                                                    : given->grace_us;
    if (has(fields, ALK_SCHEDULE_MAX_LATENESS))
        row->max_lateness = given->max_lateness_us;
    if (has(fields, ALK_SCHEDULE_OVERLAP))
        row->overlap = alk__text_of(alk_overlap_text(given->overlap));
    if (has(fields, ALK_SCHEDULE_MAX_FIRES))
        row->max_fires = given->max_fires == 0 ? ALK__NULL : given->max_fires;
    if (has(fields, ALK_SCHEDULE_OWNER_SET))
        row->owner_set = text_or_null(given->owner_set);
}

static int64_t whole_second(int64_t us) {
    return us - us % ALK__SECOND;
}

static void set_timing(struct alk__row_schedule *row, const alk_schedule *given, unsigned fields,
                       int64_t now_us) {
    bool is_whole = (fields & ALK__SCHEDULE_FIELDS) == ALK__SCHEDULE_FIELDS;

    if (has(fields, ALK_SCHEDULE_SPEC))
        row->spec = alk__text_of(given->spec);
    if (has(fields, ALK_SCHEDULE_ZONE))
        row->zone = text_or_null(given->zone);
    if (has(fields, ALK_SCHEDULE_DST_GAP))
        row->dst_gap = alk__text_of(alk_dst_gap_text(given->dst_gap));
    if (has(fields, ALK_SCHEDULE_DST_FOLD))
        row->dst_fold = alk__text_of(alk_dst_fold_text(given->dst_fold));
    if (has(fields, ALK_SCHEDULE_NOT_BEFORE))
        row->not_before = given->not_before_us;
    if (has(fields, ALK_SCHEDULE_NOT_AFTER))
        row->not_after = given->not_after_us;
    if (has(fields, ALK_SCHEDULE_ANCHOR) && given->anchor_us != ALK_NO_TIME)
        row->anchor_at = whole_second(given->anchor_us);
    else if (has(fields, ALK_SCHEDULE_ANCHOR) && !is_whole)
        row->anchor_at = whole_second(row->created_at);
    if (has(fields, ALK_SCHEDULE_REANCHOR) || row->anchor_at == ALK__NULL)
        row->anchor_at = whole_second(now_us);
}

/* A pause that is there and that the whole of a schedule does not mention stays. */
static void set_pause(struct alk__row_schedule *row, const alk_schedule *given, unsigned fields,
                      int64_t now_us) {
    bool is_whole = (fields & ALK__SCHEDULE_FIELDS) == ALK__SCHEDULE_FIELDS;

    if (!has(fields, ALK_SCHEDULE_PAUSE_UNTIL) || row->done_at != ALK__NULL)
        return;
    if (given->pause_until_us != ALK_NO_TIME && given->pause_until_us > now_us) {
        row->pause_until = given->pause_until_us;
        if (row->paused_at == ALK__NULL)
            row->paused_at = now_us;
    } else if (given->pause_until_us == ALK_NO_TIME && !is_whole) {
        row->pause_until = ALK__NULL;
    }
}

void alk__fields_set(struct alk__row_schedule *row, const alk_schedule *given, unsigned fields,
                     int64_t now_us) {
    set_job(row, given, fields);
    set_policy(row, given, fields);
    set_timing(row, given, fields, now_us);
    set_pause(row, given, fields, now_us);
}

/* Null is unlike everything else, also unlike the empty text. */
static bool is_same_text(struct alk__text left, struct alk__text right) {
    return (left.bytes == NULL) == (right.bytes == NULL) && alk__text_equal(left, right);
}

bool alk__fields_same_timing(const struct alk__row_schedule *left,
                             const struct alk__row_schedule *right) {
    return is_same_text(left->spec, right->spec) && is_same_text(left->zone, right->zone) &&
           is_same_text(left->dst_gap, right->dst_gap) &&
           is_same_text(left->dst_fold, right->dst_fold) && left->anchor_at == right->anchor_at &&
           left->not_before == right->not_before && left->not_after == right->not_after;
}

bool alk__fields_same(const struct alk__row_schedule *left, const struct alk__row_schedule *right) {
    return alk__fields_same_timing(left, right) && is_same_text(left->queue, right->queue) &&
           is_same_text(left->payload, right->payload) &&
           is_same_text(left->catchup, right->catchup) &&
           is_same_text(left->overlap, right->overlap) &&
           is_same_text(left->owner_set, right->owner_set) && left->priority == right->priority &&
           left->max_attempts == right->max_attempts && left->expires == right->expires &&
           left->catchup_max == right->catchup_max &&
           left->catchup_window == right->catchup_window && left->grace == right->grace &&
           left->max_lateness == right->max_lateness && left->jitter == right->jitter &&
           left->max_fires == right->max_fires && left->pause_until == right->pause_until;
}

void alk__fields_values(const struct alk__row_schedule *row, struct alk__value *values) {
    const struct alk__value columns[ALK__FIELDS_VALUES] = {
        ALK__S(row->spec),         ALK__S(row->spec_resolved),
        ALK__S(row->zone),         ALK__S(row->zone_fingerprint),
        ALK__S(row->queue),        ALK__J(row->payload),
        ALK__I(row->priority),     ALK__I(row->max_attempts),
        ALK__D(row->expires),      ALK__S(row->catchup),
        ALK__I(row->catchup_max),  ALK__D(row->catchup_window),
        ALK__D(row->max_lateness), ALK__D(row->grace),
        ALK__S(row->overlap),      ALK__S(row->dst_gap),
        ALK__S(row->dst_fold),     ALK__D(row->jitter),
        ALK__T(row->not_before),   ALK__T(row->not_after),
        ALK__I(row->max_fires),    ALK__S(row->owner_set),
        ALK__T(row->anchor_at),    ALK__T(row->next_fire_at),
        ALK__T(row->paused_at),    ALK__T(row->pause_until)};

    for (size_t i = 0; i < ALK__FIELDS_VALUES; i++)
        values[i] = columns[i];
}
