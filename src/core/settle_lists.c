/* core/settle_lists.c: what becomes of a job by its outcome, and settlements as parameters of the
 * statements job_settle_done, job_settle_back and job_settle_dead. A settlement stands in each list
 * whose statement may be the one to end it; the statements decide, by what is in the row. */
#include "core/settle_lists.h"

#include <string.h>

#include "base/backoff.h"
#include "base/error.h"

#define BACKOFF_BASE_US ALK__SECOND
#define BACKOFF_CAP_US ALK__HOUR
#define ERROR_BYTES_MAX 4096

/* clang-format off */
static const struct alk__fate fates[] = {
    /* outcome         done   cancel back   reason                error  refund */
    {ALK_DONE,         true,  true,  false, NULL,                 false, 0},
    {ALK_RETRY,        false, true,  true,  "attempts_exhausted", true,  0},
    {ALK_DEAD,         false, true,  false, "failed",             true,  0},
    {ALK_UNAVAILABLE,  false, true,  true,  "attempts_exhausted", true,  0},
    {ALK_RELEASE,      false, true,  true,  NULL,                 false, 1},
    {ALK_UNDECODABLE,  false, false, false, "undecodable",        true,  0},
    {ALK__EXPIRED,     false, true,  false, "expired",            false, 1},
    {ALK__EXHAUSTED,   false, true,  false, "attempts_exhausted", false, 1},
    {ALK__CANCELLED,   false, true,  false, NULL,                 false, 1},
    {ALK__UNREADABLE,  false, false, false, "undecodable",        true,  1},
};
/* clang-format on */

const struct alk__fate *alk__fate_of(int outcome) {
    for (size_t i = 0; i < sizeof(fates) / sizeof(fates[0]); i++) {
        if (fates[i].outcome == outcome)
            return &fates[i];
    }
    return NULL;
}

/* ---- entries ---- */

/* An error as it is kept: valid UTF-8 of at most 4 KiB, cut between characters. */
static struct alk__text mended(struct alk__arena *arena, const char *text) {
    static const char replacement[] = "\xEF\xBF\xBD";
    struct alk__buffer out = ALK__BUFFER_INIT(ERROR_BYTES_MAX);
    size_t left = text == NULL ? 0 : strlen(text);

    for (; left > 0 && !out.is_failed;) {
        size_t step = alk__utf8_step(text, left);
        alk__buffer_add(&out, step > 0 ? text : replacement, step > 0 ? step : 3);
        text += step > 0 ? step : 1;
        left -= step > 0 ? step : 1;
    }
    const char *copy = alk__arena_copy(arena, out.length > 0 ? out.bytes : "", out.length);
    struct alk__text kept = {copy, out.length};
    alk__buffer_release(&out);
    return kept;
}

static bool fill_entry(struct alk__arena *arena, const alk_settlement *settlement,
                       struct alk__entry *entry) {
    *entry = (struct alk__entry){.id = settlement->id,
                                 .stamp = settlement->stamp,
                                 .worker = alk__text_of(settlement->worker),
                                 .fate = alk__fate_of((int)settlement->outcome),
                                 .delay_us = settlement->delay_us,
                                 .result = alk__text_of(settlement->result)};
    if (!entry->fate->has_error)
        return true;
    entry->error = mended(arena, settlement->error);
    return entry->error.bytes != NULL;
}

alk_status alk__entries_fill(struct alk__arena *arena, const alk_settlement *settlements,
                             size_t count, struct alk__asked *asked, struct alk__entry *entries,
                             alk_error *error) {
    for (size_t i = 0; i < count; i++)
        asked[i] = (struct alk__asked){.id = settlements[i].id,
                                       .stamp = settlements[i].stamp,
                                       .worker = settlements[i].worker,
                                       .place = i};
    alk__asked_sort(asked, count);
    for (size_t i = 0; i < count; i++) {
        if (!fill_entry(arena, &settlements[asked[i].place], &entries[i]))
            return alk__nomem(error);
    }
    return ALK_OK;
}

/* ---- back-off ---- */

static bool needs_backoff(const struct alk__entry *entry) {
    return entry->fate->is_back && entry->fate->has_error && entry->delay_us == ALK_NO_TIME;
}

static int64_t known_or(int64_t number, int64_t otherwise) {
    return number != ALK__NULL ? number : otherwise;
}

/* A row that is gone or cannot be read gets the back-off of a first attempt: its settlement is
 * refused or its attempt counts for nothing anyway. Rows and entries are in the order of their ids;
 * place goes on from one call to the next. */
static int64_t backoff_of(const struct alk__rows *rows, size_t *place, int64_t id,
                          const struct alk__random *random) {
    struct alk__row_attempt found = {
        .attempt = 1, .backoff_base = ALK__NULL, .backoff_cap = ALK__NULL};

    while (*place < rows->count && ALK__ROW(rows, alk__row_attempt, *place)->id < id)
        (*place)++;
    if (*place < rows->count && ALK__ROW(rows, alk__row_attempt, *place)->id == id)
        found = *ALK__ROW(rows, alk__row_attempt, *place);
    return alk__backoff_us(known_or(found.backoff_base, BACKOFF_BASE_US),
                           known_or(found.backoff_cap, BACKOFF_CAP_US), known_or(found.attempt, 1),
                           random);
}

alk_status alk__entries_delay(alk_conn *conn, struct alk__entry *entries, size_t count,
                              alk_error *error) {
    const struct alk__random *random = alk__store_random(alk__conn_store(conn));
    struct alk__arena arena = {0};
    struct alk__rows rows = {0};
    size_t needed = 0;
    size_t place = 0;

    int64_t *ids = alk__arena_alloc(&arena, count * sizeof(*ids));
    if (ids == NULL)
        return alk__nomem(error);
    for (size_t i = 0; i < count; i++) {
        if (needs_backoff(&entries[i]))
            ids[needed++] = entries[i].id;
    }
    alk_status st = ALK_OK;
    if (needed > 0)
        st = alk__do(conn, ALK__JOB_ATTEMPTS, &rows, error, ALK__IS(ids, needed));
    for (size_t i = 0; st >= 0 && i < count; i++) {
        if (needs_backoff(&entries[i]))
            entries[i].delay_us = backoff_of(&rows, &place, entries[i].id, random);
    }
    alk__rows_free(&rows);
    alk__arena_free(&arena);
    return st;
}

/* ---- lists ---- */

/* The arrays that the three lists have in common. */
struct arrays {
    size_t count;
    int64_t *id;
    int64_t *stamp;
    int64_t *refund;
    int64_t *number; /* done: is_done; back: delay; dead: is_retry */
    struct alk__text *worker;
    struct alk__text *text;  /* done: result; back: error; dead: reason */
    struct alk__text *error; /* dead only */
};

static bool arrays_alloc(struct alk__arena *arena, struct arrays *arrays, size_t count) {
    int64_t *numbers = alk__arena_alloc(arena, 4 * count * sizeof(*numbers));
    struct alk__text *texts = alk__arena_alloc(arena, 3 * count * sizeof(*texts));

    if (numbers == NULL || texts == NULL)
        return false;
    *arrays = (struct arrays){
        .id = numbers,
        .stamp = numbers + count,
        .refund = numbers + 2 * count,
        .number = numbers + 3 * count,
        .worker = texts,
        .text = texts + count,
        .error = texts + 2 * count,
    };
    return true;
}

static void add(struct arrays *arrays, const struct alk__entry *entry, int64_t number,
                struct alk__text text) {
    size_t n = arrays->count++;

    arrays->id[n] = entry->id;
    arrays->stamp[n] = entry->stamp;
    arrays->refund[n] = entry->fate->refund;
    arrays->number[n] = number;
    arrays->worker[n] = entry->worker;
    arrays->text[n] = text;
    arrays->error[n] = entry->error;
}

static void add_entry(const struct alk__entry *entry, struct arrays *done, struct arrays *back,
                      struct arrays *dead) {
    const struct alk__fate *fate = entry->fate;

    if (fate->is_done || fate->may_cancel)
        add(done, entry, fate->is_done, entry->result);
    if (fate->is_back)
        add(back, entry, entry->delay_us == ALK_NO_TIME ? 0 : entry->delay_us, entry->error);
    if (fate->reason != NULL)
        add(dead, entry, fate->is_back, alk__text_of(fate->reason));
}

/* The parameters in the order of the .sql files. */
static void bind(struct alk__lists *lists, const struct arrays *done, const struct arrays *back,
                 const struct arrays *dead) {
    const struct alk__value done_values[ALK__DONE_VALUES] = {
        ALK__IS(done->id, done->count),     ALK__IS(done->stamp, done->count),
        ALK__SS(done->worker, done->count), ALK__JS(done->text, done->count),
        ALK__BS(done->number, done->count), ALK__IS(done->refund, done->count)};
    const struct alk__value back_values[ALK__BACK_VALUES] = {
        ALK__IS(back->id, back->count),     ALK__IS(back->stamp, back->count),
        ALK__SS(back->worker, back->count), ALK__DS(back->number, back->count),
        ALK__SS(back->text, back->count),   ALK__IS(back->refund, back->count)};
    const struct alk__value dead_values[ALK__DEAD_VALUES] = {
        ALK__IS(dead->id, dead->count),     ALK__IS(dead->stamp, dead->count),
        ALK__SS(dead->worker, dead->count), ALK__SS(dead->text, dead->count),
        ALK__SS(dead->error, dead->count),  ALK__IS(dead->refund, dead->count),
        ALK__BS(dead->number, dead->count)};

    memcpy(lists->done, done_values, sizeof(done_values));
    memcpy(lists->back, back_values, sizeof(back_values));
    memcpy(lists->dead, dead_values, sizeof(dead_values));
    lists->done_count = done->count;
    lists->back_count = back->count;
    lists->dead_count = dead->count;
}

alk_status alk__lists_make(struct alk__lists *lists, const struct alk__entry *entries, size_t count,
                           alk_error *error) {
    struct arrays done, back, dead;

    *lists = (struct alk__lists){0};
    if (!arrays_alloc(&lists->arena, &done, count) || !arrays_alloc(&lists->arena, &back, count) ||
        !arrays_alloc(&lists->arena, &dead, count)) {
        alk__lists_free(lists);
        return alk__nomem(error);
    }
    for (size_t i = 0; i < count; i++)
        add_entry(&entries[i], &done, &back, &dead);
    bind(lists, &done, &back, &dead);
    return ALK_OK;
}

void alk__lists_free(struct alk__lists *lists) {
    alk__arena_free(&lists->arena);
}
