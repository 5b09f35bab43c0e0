/* core/unique.c: takes unique keys for jobs that are about to be enqueued (S58). On PostgreSQL
 * three statements in one round trip: the free keys, the keys whose time is over, and, with a
 * snapshot that sees what was waited for, who has which. */
#include "core/unique.h"

#include <string.h>

#include "base/error.h"
#include "store/run.h"

#define WINDOW_MAX (36500 * ALK__DAY)

/* ---- what is asked for ---- */

static const char *const scopes[] = {
    [ALK_UNIQUE_UNTIL_FINISHED] = "finished",
    [ALK_UNIQUE_UNTIL_STARTED] = "started",
    [ALK_UNIQUE_WINDOW] = "window",
};

alk_status alk__unique_set(struct alk__new_job *job, const char *key, alk_unique_scope scope,
                           int64_t for_us, alk_error *error) {
    bool has_window = for_us != ALK_NO_TIME;

    if (key == NULL && (scope != ALK_UNIQUE_UNTIL_FINISHED || has_window))
        return alk__fail(error, ALK_INVALID, "how long a unique key lasts, but no unique key");
    if (key == NULL)
        return ALK_OK;
    if ((unsigned)scope >= sizeof(scopes) / sizeof(*scopes))
        return alk__fail(error, ALK_INVALID, "%d is no scope of a unique key", (int)scope);
    if ((scope == ALK_UNIQUE_WINDOW) != has_window)
        return alk__fail(error, ALK_INVALID, "a unique key's window and its length go together");
    if (has_window && (for_us < 1 || for_us > WINDOW_MAX))
        return alk__fail(error, ALK_INVALID,
                         "a unique key's window is not between 1us and 100 years");
    alk_status st = alk__name_check("unique key", key, error);
    if (st < 0)
        return st;
    job->unique_key = alk__text_of(key);
    job->unique_scope = alk__text_of(scopes[scope]);
    job->unique_for_us = for_us;
    return ALK_OK;
}

bool alk__unique_any(const struct alk__new_job *jobs, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (jobs[i].unique_key.bytes != NULL)
            return true;
    }
    return false;
}

/* ---- taking ---- */

/* The jobs that have a key, one array each. */
struct keys {
    size_t count;
    int64_t *place; /* in the caller's list */
    int64_t *id;
    int64_t *span;
    struct alk__text *queue;
    struct alk__text *key;
    struct alk__text *scope;
};

static bool keys_fill(struct keys *keys, struct alk__arena *arena, const struct alk__new_job *jobs,
                      const int64_t *ids, size_t count) {
    int64_t *numbers = alk__arena_alloc(arena, 3 * count * sizeof(*numbers));
    struct alk__text *texts = alk__arena_alloc(arena, 3 * count * sizeof(*texts));

    if (numbers == NULL || texts == NULL)
        return false;
    *keys = (struct keys){0,     numbers,       numbers + count,  numbers + 2 * count,
                          texts, texts + count, texts + 2 * count};
    for (size_t i = 0; i < count; i++) {
        if (jobs[i].unique_key.bytes == NULL)
            continue;
        size_t n = keys->count++;
        keys->place[n] = (int64_t)i;
        keys->id[n] = ids[i];
        keys->span[n] = jobs[i].unique_for_us;
        keys->queue[n] = jobs[i].queue;
        keys->key[n] = jobs[i].unique_key;
        keys->scope[n] = jobs[i].unique_scope;
    }
    return true;
}

alk_status alk__unique_take(alk_conn *conn, struct alk__arena *arena,
                            const struct alk__new_job *jobs, const int64_t *ids, size_t count,
                            int64_t *ret_owners, alk_error *error) {
    struct alk__rows rows = {0};
    struct keys keys;

    if (!keys_fill(&keys, arena, jobs, ids, count))
        return alk__nomem(error);
    const struct alk__value taken[] = {ALK__SS(keys.queue, keys.count),
                                       ALK__SS(keys.key, keys.count), ALK__IS(keys.id, keys.count),
                                       ALK__SS(keys.scope, keys.count),
                                       ALK__DS(keys.span, keys.count)};
    const struct alk__value asked[] = {ALK__IS(keys.place, keys.count),
                                       ALK__SS(keys.queue, keys.count),
                                       ALK__SS(keys.key, keys.count), ALK__IS(keys.id, keys.count)};
    const struct alk__call take = {ALK__UNIQUE_TAKE, taken, 5, NULL};
    const struct alk__call replace = {ALK__UNIQUE_REPLACE, taken, 5, NULL};
    const struct alk__call find = {ALK__UNIQUE_FIND, asked, 4, &rows};
    const struct alk__call calls[] = {take, alk__is_postgres(conn) ? replace : find, find};

    alk_status st = alk__run_all(conn, calls, alk__is_postgres(conn) ? 3 : 2, NULL, error);
    if (st >= 0 && rows.count < keys.count)
        st = ALK_EMPTY;
    if (st == ALK_OK)
        memcpy(ret_owners, ids, count * sizeof(*ids));
    for (size_t i = 0; st == ALK_OK && i < rows.count; i++) {
        const struct alk__row_unique *row = ALK__ROW(&rows, alk__row_unique, i);
        ret_owners[row->place] = row->job_id;
    }
    alk__rows_free(&rows);
    return st;
}
