/* core/job.c: reads jobs: one wherever it is, and lists. */
#include <alkstore/job.h>
#include <string.h>

#include <inttypes.h>

#include "base/error.h"
#include "core/job_row.h"
#include "store/run.h"

const char *alk_job_state_text(alk_job_state state) {
    static const char *const texts[] = {
#define STATE_TEXT(name, text) [name] = text,
        ALK_JOB_STATE_MAP(STATE_TEXT)
#undef STATE_TEXT
    };

    return (size_t)state < sizeof(texts) / sizeof(texts[0]) ? texts[state] : "unknown";
}

alk_status alk_job_state_parse(const char *text, alk_job_state *ret_state, alk_error *error) {
    static const alk_job_state states[] = {
#define STATE(name, text) name,
        ALK_JOB_STATE_MAP(STATE)
#undef STATE
    };

    for (size_t i = 0; text != NULL && i < sizeof(states) / sizeof(states[0]); i++) {
        if (strcmp(text, alk_job_state_text(states[i])) == 0) {
            *ret_state = states[i];
            return ALK_OK;
        }
    }
    return alk__fail(error, ALK_INVALID,
                     "'%s' is no state (ready, delayed, chained, running, done, dead, cancelled)",
                     alk__excerpt_of(alk__text_of(text)).text);
}

struct alk__job_memory *alk__job_list_start(alk_job_list *list, struct alk__rows *rows) {
    struct alk__job_memory *memory = alk__alloc(sizeof(*memory));

    if (memory == NULL) {
        alk__rows_free(rows);
        return NULL;
    }
    *memory = (struct alk__job_memory){.rows = *rows};
    *rows = (struct alk__rows){0};
    *list = (alk_job_list){.memory = memory, .now_us = ALK_NO_TIME};
    list->jobs = alk__arena_alloc(&memory->arena, memory->rows.count * sizeof(*list->jobs));
    if (list->jobs == NULL) {
        alk_job_list_free(list);
        return NULL;
    }
    return memory;
}

void alk_job_list_free(alk_job_list *list) {
    if (list == NULL)
        return;
    struct alk__job_memory *memory = list->memory;
    if (memory != NULL) {
        alk__rows_free(&memory->rows);
        alk__arena_free(&memory->arena);
        alk__free(memory);
    }
    *list = (alk_job_list){0};
}

static const char *text_or(struct alk__text text, const char *otherwise) {
    return text.bytes != NULL ? text.bytes : otherwise;
}

static int64_t number_or(int64_t number, int64_t otherwise) {
    return number != ALK__NULL ? number : otherwise;
}

alk_job alk__job_of(const struct alk__row_job *row) {
    return (alk_job){.id = row->id,
                     .stamp = number_or(row->stamp, 0),
                     .queue = text_or(row->queue, ""),
                     .key = row->key.bytes,
                     .priority = (int)number_or(row->priority, 0),
                     .attempt = number_or(row->attempt, 0),
                     .max_attempts = number_or(row->max_attempts, 0),
                     .payload = text_or(row->payload, "null"),
                     .payload_length =
                         row->payload.bytes != NULL ? row->payload.length : strlen("null"),
                     .headers = text_or(row->headers, "{}"),
                     .errors = text_or(row->errors, "[]"),
                     .worker = text_or(row->worker, ""),
                     .reason = text_or(row->reason, ""),
                     .result = text_or(row->result, ""),
                     .enqueued_at_us = row->enqueued_at,
                     .run_at_us = row->run_at,
                     .claimed_at_us = row->claimed_at,
                     .lease_until_us = row->lease_until,
                     .finished_at_us = row->finished_at,
                     .expires_at_us = row->expires_at,
                     .cancel_requested_at_us = row->cancel_requested_at,
                     .schedule_id = number_or(row->schedule_id, 0),
                     .fire_at_us = row->fire_at,
                     .unreadable = row->row.unreadable};
}

/* The jobs of a read, in the order of its rows. Takes rows over. */
static alk_status list_of(struct alk__rows *rows, alk_job_list *ret_list, alk_error *error) {
    alk_job_list list;
    struct alk__job_memory *memory = alk__job_list_start(&list, rows);

    if (memory == NULL)
        return alk__nomem(error);
    for (; list.count < memory->rows.count; list.count++) {
        const struct alk__row_job *row = ALK__ROW(&memory->rows, alk__row_job, list.count);
        alk_job *job = &list.jobs[list.count];
        *job = alk__job_of(row);
        /* The statement wrote the word, so that it is always one of them. */
        (void)alk_job_state_parse(row->state.bytes, &job->state, NULL);
        list.now_us = row->now;
    }
    *ret_list = list;
    return ALK_OK;
}

static const char *table_of(alk_job_state state) {
    if (state == ALK_JOB_DEAD)
        return "job_dead";
    return state == ALK_JOB_DONE || state == ALK_JOB_CANCELLED ? "job_done" : "job";
}

alk_status alk_job_get(alk_conn *conn, int64_t id, alk_job_list *ret_list, alk_error *error) {
    struct alk__rows rows = {0};
    alk_job_list list = {0};

    alk_status st = alk__do(conn, ALK__JOB_GET, &rows, error, ALK__I(id));
    if (st < 0)
        return alk__wrap(error, st, "get job %" PRId64, id);
    if (rows.count == 0)
        return ALK_ABSENT;
    st = list_of(&rows, &list, error);
    if (st < 0)
        return st;
    if (list.jobs[0].unreadable != NULL) {
        st = alk__fail(error, ALK_UNREADABLE, "job %" PRId64 " in table '%s': %s", id,
                       table_of(list.jobs[0].state), list.jobs[0].unreadable);
        alk_job_list_free(&list);
        return st;
    }
    *ret_list = list;
    return ALK_OK;
}

static alk_status filter_check(const alk_job_filter *filter, alk_error *error) {
    if (filter->limit < 1 || filter->limit > 10000)
        return alk__fail(error, ALK_INVALID, "limit %d is not between 1 and 10,000", filter->limit);
    return filter->queue == NULL ? ALK_OK : alk__name_check("queue", filter->queue, error);
}

alk_status alk_job_list_get(alk_conn *conn, const alk_job_filter *filter, alk_job_list *ret_list,
                            alk_error *error) {
    static const alk_job_filter defaults = ALK_JOB_FILTER_INIT;
    struct alk__rows rows = {0};
    alk_job_list list = {0};

    if (filter == NULL)
        filter = &defaults;
    alk_status st = filter_check(filter, error);
    if (st < 0)
        return st;
    const char *state = filter->has_state ? alk_job_state_text(filter->state) : NULL;
    st = alk__do(conn, ALK__JOB_LIST, &rows, error, ALK__Z(filter->queue), ALK__Z(state),
                 ALK__I(filter->limit));
    if (st >= 0)
        st = list_of(&rows, &list, error);
    if (st >= 0 && list.count == 0)
        st = alk__db_now(conn, &list.now_us, error);
    if (st < 0) {
        alk_job_list_free(&list);
        return alk__wrap(error, st, "list jobs");
    }
    *ret_list = list;
    return ALK_OK;
}
