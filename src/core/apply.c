/* core/apply.c: a declarative set of schedules: what is given is put, what the set owned beside it
 * is removed (S123). */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "core/schedule.h"

struct apply {
    const char *set;
    size_t count;
    struct alk__edit *edits;
    size_t *by_name; /* places in edits: rows are held in this order */
    bool is_dry_run;
    struct alk__arena *arena; /* of the result */
    alk_apply_result result;
};

/* ---- the arguments ---- */

static int compare(const void *left, const void *right, void *context) {
    const struct alk__edit *edits = context;

    return strcmp(edits[*(const size_t *)left].given.name,
                  edits[*(const size_t *)right].given.name);
}

static alk_status check_one(struct apply *work, const alk_schedule *given, size_t n,
                            struct alk__specs *specs, alk_error *error) {
    struct alk__edit *edit = &work->edits[n];

    alk_status status = alk__name_check("schedule", given->name, error);
    if (status < 0)
        return alk__wrap(error, status, "schedule %zu", n + 1);
    status = alk__edit_init(edit, given, ALK__SCHEDULE_FIELDS, true, specs, error);
    edit->given.owner_set = work->set;
    return alk__schedule_named(error, status, given->name);
}

/* The caller's structs may be of an older size, so that they do not lie as an array of ours. */
static const alk_schedule *given_at(const alk_schedule *schedules, size_t n) {
    return (const alk_schedule *)(const void *)((const char *)schedules + n * schedules->size);
}

static alk_status check(struct apply *work, const alk_schedule *schedules, struct alk__specs *specs,
                        alk_error *error) {
    alk_status status = alk__name_check("set", work->set, error);

    for (size_t i = 0; status >= 0 && i < work->count; i++) {
        status = check_one(work, given_at(schedules, i), i, specs, error);
        work->by_name[i] = i;
    }
    if (status < 0)
        return status;
    qsort_r(work->by_name, work->count, sizeof(*work->by_name), compare, work->edits);
    for (size_t i = 1; i < work->count; i++) {
        const char *name = work->edits[work->by_name[i]].given.name;
        if (strcmp(name, work->edits[work->by_name[i - 1]].given.name) == 0)
            return alk__fail(error, ALK_INVALID, "schedule '%s' is given twice", name);
    }
    return ALK_OK;
}

/* ---- the work ---- */

static alk_status put_all(alk_conn *conn, struct apply *work, alk_error *error) {
    for (size_t i = 0; i < work->count; i++) {
        size_t place = work->by_name[i];
        struct alk__edit *edit = &work->edits[place];
        alk_status status = alk__edit_run(conn, edit, error);
        if (status < 0)
            return alk__schedule_named(error, status, edit->given.name);
        work->result.changes[place].action = status == ALK_UNCHANGED ? ALK_APPLY_UNCHANGED
                                             : edit->was_added       ? ALK_APPLY_ADDED
                                                                     : ALK_APPLY_CHANGED;
    }
    return ALK_OK;
}

static bool is_given(const struct apply *work, const char *name) {
    size_t low = 0;
    size_t high = work->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(work->edits[work->by_name[middle]].given.name, name);
        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static alk_status remove_rest(alk_conn *conn, struct apply *work, const struct alk__rows *owned,
                              alk_error *error) {
    alk_apply_result *result = &work->result;

    for (size_t i = 0; i < owned->count; i++) {
        const char *name = ALK__ROW(owned, alk__row_schedule_name, i)->name.bytes;
        if (name == NULL || is_given(work, name))
            continue;
        alk_status status = alk__schedule_remove(conn, name, error);
        if (status < 0)
            return alk__schedule_named(error, status, name);
        alk_apply_change *change = &result->changes[result->count++];
        *change = (alk_apply_change){alk__arena_text(work->arena, name), ALK_APPLY_REMOVED};
        if (change->name == NULL)
            return alk__nomem(error);
    }
    return ALK_OK;
}

static bool make_changes(struct apply *work, size_t owned_count) {
    work->result.count = work->count;
    work->result.changes =
        alk__arena_alloc(work->arena, (work->count + owned_count) * sizeof(*work->result.changes));
    if (work->result.changes == NULL)
        return false;
    for (size_t i = 0; i < work->count; i++) {
        work->result.changes[i].name = alk__arena_text(work->arena, work->edits[i].given.name);
        if (work->result.changes[i].name == NULL)
            return false;
    }
    return true;
}

static alk_status apply_all(alk_conn *conn, struct apply *work, alk_error *error) {
    struct alk__rows owned = {0};

    alk_status status = alk__do(conn, ALK__SCHEDULE_OWNED, &owned, error, ALK__Z(work->set));
    if (status >= 0 && !make_changes(work, owned.count))
        status = alk__nomem(error);
    if (status >= 0)
        status = put_all(conn, work, error);
    if (status >= 0)
        status = remove_rest(conn, work, &owned, error);
    alk__rows_free(&owned);
    return status;
}

/* A dry run is the real one, taken back. */
static alk_status apply_in_tx(alk_conn *conn, void *context, alk_error *error) {
    struct apply *work = context;

    alk_status status = work->is_dry_run ? alk__savepoint(conn, error) : ALK_OK;
    if (status >= 0)
        status = apply_all(conn, work, error);
    if (status >= 0 && work->is_dry_run)
        status = alk__savepoint_rollback(conn, error);
    return status;
}

/* ---- the interface ---- */

static alk_status run(alk_conn *conn, struct apply *work, const alk_schedule *schedules,
                      alk_error *error) {
    struct alk__specs *specs = NULL;

    work->edits = alk__arena_alloc(work->arena, (work->count + 1) * sizeof(*work->edits));
    work->by_name = alk__arena_alloc(work->arena, (work->count + 1) * sizeof(*work->by_name));
    if (work->edits == NULL || work->by_name == NULL)
        return alk__nomem(error);
    alk_status status = alk__specs_new(ALK__SPECS_MAX, &specs, error);
    if (status >= 0)
        status = check(work, schedules, specs, error);
    if (status >= 0)
        status = alk__atomic(conn, apply_in_tx, work, error);
    alk__specs_free(specs);
    return status;
}

alk_status alk_schedule_apply(alk_conn *conn, const char *set, const alk_schedule *schedules,
                              size_t count, bool is_dry_run, alk_apply_result *ret_result,
                              alk_error *error) {
    struct alk__arena *arena = alk__alloc(sizeof(*arena));

    if (arena == NULL)
        return alk__nomem(error);
    *arena = (struct alk__arena){0};
    struct apply work = {set, count, NULL, NULL, is_dry_run, arena, {.memory = arena}};
    alk_status status = run(conn, &work, schedules, error);
    if (status >= 0 && ret_result != NULL)
        *ret_result = work.result;
    else
        alk_apply_result_free(&work.result);
    return status < 0 ? alk__wrap(error, status, "apply '%s'", set != NULL ? set : "") : status;
}

void alk_apply_result_free(alk_apply_result *result) {
    if (result == NULL || result->memory == NULL)
        return;
    alk__arena_free(result->memory);
    alk__free(result->memory);
    *result = (alk_apply_result){0};
}
