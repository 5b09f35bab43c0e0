/* core/enqueue.c: puts jobs into queues, in the caller's transaction if there is one. Everything
 * that can be refused is refused before the database is touched (S33). */
#include <alkstore/job.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "core/unique.h"
#include "store/run.h"

#define SPAN_MAX (36500 * ALK__DAY)
#define RUN_AT_MIN INT64_C(-62135596800000000) /* the year 1 */
#define RUN_AT_MAX INT64_C(253402300799999999) /* the end of the year 9999 */

/* ---- checks ---- */

static alk_status span_check(const char *what, int64_t span_us, int64_t least, alk_error *error) {
    if (span_us == ALK_NO_TIME || (span_us >= least && span_us <= SPAN_MAX))
        return ALK_OK;
    return alk__fail(error, ALK_INVALID, "%s is not between %s and 100 years", what,
                     least == 0 ? "0" : "1us");
}

static alk_status options_check(const alk_enqueue_options *options, alk_error *error) {
    alk_status st = span_check("delay", options->delay_us, 0, error);

    if (st >= 0)
        st = span_check("expires", options->expires_us, 1, error);
    if (st < 0)
        return st;
    if (options->delay_us != ALK_NO_TIME && options->run_at_us != ALK_NO_TIME)
        return alk__fail(error, ALK_INVALID, "both delay and run_at are given");
    if (options->run_at_us != ALK_NO_TIME &&
        (options->run_at_us < RUN_AT_MIN || options->run_at_us > RUN_AT_MAX))
        return alk__fail(error, ALK_INVALID, "run_at is not between the years 1 and 9999");
    if (options->priority < INT16_MIN || options->priority > INT16_MAX)
        return alk__fail(error, ALK_INVALID, "priority %d is not between -32768 and 32767",
                         options->priority);
    if (options->max_attempts < 0)
        return alk__fail(error, ALK_INVALID, "max_attempts %d is below 1", options->max_attempts);
    return ALK_OK;
}

static alk_status headers_check(struct alk__text headers, alk_error *error) {
    if (headers.bytes == NULL)
        return ALK_OK;
    alk_status st = alk__json_check("headers", headers, ALK__HEADERS_MAX, error);
    if (st >= 0 && !alk__json_is_object(headers))
        st = alk__fail(error, ALK_INVALID, "headers is not a JSON object");
    return st;
}

static alk_status prepare(const char *queue, const alk_new_job *given, struct alk__new_job *ret_job,
                          alk_error *error) {
    alk_enqueue_options full = ALK_ENQUEUE_OPTIONS_INIT;
    const alk_enqueue_options *options = &full;
    struct alk__new_job job = ALK__NEW_JOB_INIT;

    if (given->options != NULL)
        memcpy(&full, given->options,
               given->options->size < sizeof(full) ? given->options->size : sizeof(full));

    job.queue = alk__text_of(queue);
    if (given->payload != NULL && given->payload_length > 0)
        job.payload = (struct alk__text){given->payload, given->payload_length};
    job.headers = alk__text_of(options->headers);
    job.priority = options->priority;
    job.run_at_us = options->run_at_us;
    job.delay_us = options->delay_us;
    job.expires_us = options->expires_us;
    if (options->max_attempts != 0)
        job.max_attempts = options->max_attempts;

    alk_status st = options_check(options, error);
    if (st >= 0 && job.payload.bytes != NULL)
        st = alk__json_check("payload", job.payload, ALK__PAYLOAD_MAX, error);
    if (st >= 0)
        st = headers_check(job.headers, error);
    if (st >= 0)
        st = alk__unique_set(&job, options->unique_key, options->unique_scope,
                             options->unique_for_us, error);
    if (st >= 0)
        *ret_job = job;
    return st;
}

/* ---- writing ---- */

/* The jobs as columns, one array each, in the order of job_enqueue's parameters. */
struct columns {
    size_t count;
    struct alk__text *queue;
    struct alk__text *payload;
    struct alk__text *headers;
    int64_t *priority;
    int64_t *max_attempts;
    int64_t *run_at;
    int64_t *delay;
    int64_t *expires;
    int64_t *expires_at;
    int64_t *schedule_id;
    int64_t *fire_at;
    int64_t *id; /* ALK__NULL = the next one */
    int64_t *has_unique;
};

static bool columns_alloc(struct columns *columns, struct alk__arena *arena, size_t count) {
    struct alk__text *texts = alk__arena_alloc(arena, 3 * count * sizeof(*texts));
    int64_t *numbers = alk__arena_alloc(arena, 10 * count * sizeof(*numbers));

    if (texts == NULL || numbers == NULL)
        return false;
    *columns = (struct columns){
        .queue = texts,
        .payload = texts + count,
        .headers = texts + 2 * count,
        .priority = numbers,
        .max_attempts = numbers + count,
        .run_at = numbers + 2 * count,
        .delay = numbers + 3 * count,
        .expires = numbers + 4 * count,
        .expires_at = numbers + 5 * count,
        .schedule_id = numbers + 6 * count,
        .fire_at = numbers + 7 * count,
        .id = numbers + 8 * count,
        .has_unique = numbers + 9 * count,
    };
    return true;
}

static void columns_add(struct columns *columns, const struct alk__new_job *job, int64_t id) {
    size_t n = columns->count++;

    columns->queue[n] = job->queue;
    columns->payload[n] = job->payload.bytes != NULL ? job->payload : ALK__TEXT("null");
    columns->headers[n] = job->headers;
    columns->priority[n] = job->priority;
    columns->max_attempts[n] = job->max_attempts;
    columns->run_at[n] = job->run_at_us;
    columns->delay[n] = job->delay_us;
    columns->expires[n] = job->expires_us;
    columns->expires_at[n] = job->expires_at_us;
    columns->schedule_id[n] = job->schedule_id;
    columns->fire_at[n] = job->fire_at_us;
    columns->id[n] = id;
    columns->has_unique[n] = job->unique_key.bytes != NULL;
}

struct enqueueing {
    const struct alk__new_job *jobs;
    size_t count;
    int64_t *ids;
    int64_t *drawn;           /* for jobs with unique keys */
    struct alk__text *queues; /* to call */
    struct columns columns;   /* what is to be written */
    struct alk__arena *arena;
};

static int compare_texts(const void *left, const void *right) {
    const struct alk__text *a = left;
    const struct alk__text *b = right;
    int order = memcmp(a->bytes, b->bytes, a->length < b->length ? a->length : b->length);

    return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

/* The queues to call, each once; their number. */
static size_t list_queues(const struct columns *columns, struct alk__text *queues) {
    size_t count = 0;

    memcpy(queues, columns->queue, columns->count * sizeof(*queues));
    qsort(queues, columns->count, sizeof(*queues), compare_texts);
    for (size_t i = 0; i < columns->count; i++) {
        if (count == 0 || !alk__text_equal(queues[i], queues[count - 1]))
            queues[count++] = queues[i];
    }
    return count;
}

/* Writes what stands in the columns; their ids in id. */
static alk_status write_jobs(alk_conn *conn, const struct enqueueing *work, alk_error *error) {
    const struct columns *c = &work->columns;
    const struct alk__value values[] = {
        ALK__SS(c->queue, c->count),        ALK__JS(c->payload, c->count),
        ALK__JS(c->headers, c->count),      ALK__IS(c->priority, c->count),
        ALK__IS(c->max_attempts, c->count), ALK__TS(c->run_at, c->count),
        ALK__DS(c->delay, c->count),        ALK__DS(c->expires, c->count),
        ALK__TS(c->expires_at, c->count),   ALK__IS(c->schedule_id, c->count),
        ALK__TS(c->fire_at, c->count),      ALK__IS(c->id, c->count),
        ALK__BS(c->has_unique, c->count)};
    struct alk__rows rows = {0};
    const struct alk__call call = {ALK__JOB_ENQUEUE, values, sizeof(values) / sizeof(*values),
                                   &rows};

    if (c->count == 0)
        return ALK_OK;
    alk_status st =
        alk__run_and_wake(conn, &call, work->queues, list_queues(c, work->queues), error);
    if (st >= 0 && rows.count != c->count)
        st = alk__fail(error, ALK_INVALID, "payload is longer than queue '%s' allows",
                       alk__excerpt_of(work->jobs[0].queue).text);
    for (size_t i = 0; st >= 0 && i < rows.count; i++)
        c->id[i] = ALK__ROW(&rows, alk__row_number, i)->number;
    alk__rows_free(&rows);
    return st;
}

static alk_status enqueue_plain(alk_conn *conn, void *context, alk_error *error) {
    struct enqueueing *work = context;

    for (size_t i = 0; i < work->count; i++)
        columns_add(&work->columns, &work->jobs[i], ALK__NULL);
    alk_status st = write_jobs(conn, work, error);
    if (st >= 0)
        memcpy(work->ids, work->columns.id, work->count * sizeof(*work->ids));
    return st;
}

/* ---- with unique keys ---- */

#define ROUNDS_MAX 100

/* Their jobs' ids stand in the keys before there are jobs. All are drawn at once, so that ids rise
 * in the order given. */
static alk_status draw_ids(alk_conn *conn, struct enqueueing *work, alk_error *error) {
    struct alk__rows rows = {0};

    for (size_t i = 0; i < work->count; i++)
        work->drawn[i] = (int64_t)i;
    alk_status st = alk__do(conn, ALK__JOB_IDS, &rows, error, ALK__IS(work->drawn, work->count));
    for (size_t i = 0; st >= 0 && i < rows.count; i++)
        work->drawn[i] = ALK__ROW(&rows, alk__row_number, i)->number;
    alk__rows_free(&rows);
    return st;
}

static alk_status take_and_write(alk_conn *conn, struct enqueueing *work, alk_error *error) {
    alk_status st =
        alk__unique_take(conn, work->arena, work->jobs, work->drawn, work->count, work->ids, error);

    if (st != ALK_OK)
        return st;
    for (size_t i = 0; i < work->count; i++) {
        if (work->ids[i] == work->drawn[i])
            columns_add(&work->columns, &work->jobs[i], work->drawn[i]);
    }
    st = write_jobs(conn, work, error);
    return st == ALK_OK && work->columns.count < work->count ? ALK_DUPLICATE : st;
}

/* What is not enqueued leaves no key behind: a savepoint, which on SQLite alk__atomic has set. */
static alk_status enqueue_round(alk_conn *conn, struct enqueueing *work, alk_error *error) {
    if (!alk__is_postgres(conn))
        return take_and_write(conn, work, error);
    alk_status st = alk__savepoint(conn, error);
    if (st < 0)
        return st;
    st = take_and_write(conn, work, error);
    if (st >= 0 && st != ALK_EMPTY) {
        alk_status released = alk__savepoint_release(conn, error);
        return released < 0 ? released : st;
    }
    alk_status undone = alk__savepoint_rollback(conn, st < 0 ? NULL : error);
    return st < 0 || undone >= 0 ? st : undone;
}

static alk_status enqueue_unique(alk_conn *conn, void *context, alk_error *error) {
    struct enqueueing *work = context;
    alk_status st = draw_ids(conn, work, error);

    for (int round = 0; st >= 0 && round < ROUNDS_MAX; round++) {
        st = enqueue_round(conn, work, error);
        if (st != ALK_EMPTY)
            return st;
    }
    return st < 0 ? st : alk__fail(error, ALK_AGAIN, "unique keys come and go too fast");
}

static alk_status enqueue(alk_conn *conn, struct enqueueing *work, alk_error *error) {
    if (alk__unique_any(work->jobs, work->count))
        return alk__atomic(conn, enqueue_unique, work, error);
    /* On PostgreSQL it is one statement, all or nothing by itself, and one round trip. */
    return alk__is_postgres(conn) ? enqueue_plain(conn, work, error)
                                  : alk__atomic(conn, enqueue_plain, work, error);
}

alk_status alk__enqueue_jobs(alk_conn *conn, const struct alk__new_job *jobs, size_t count,
                             int64_t *ret_ids, alk_error *error) {
    struct alk__arena arena = {0};
    struct enqueueing work = {.jobs = jobs, .count = count, .arena = &arena};

    if (count == 0)
        return ALK_OK;
    work.ids = alk__arena_alloc(&arena, 2 * count * sizeof(*work.ids));
    work.queues = alk__arena_alloc(&arena, count * sizeof(*work.queues));
    if (work.ids == NULL || work.queues == NULL || !columns_alloc(&work.columns, &arena, count)) {
        alk__arena_free(&arena);
        return alk__nomem(error);
    }
    work.drawn = work.ids + count;
    alk_status st = enqueue(conn, &work, error);
    if (st >= 0 && ret_ids != NULL)
        memcpy(ret_ids, work.ids, count * sizeof(*ret_ids));
    alk__arena_free(&arena);
    return st;
}

/* ---- the interface ---- */

alk_status alk_enqueue_many(alk_conn *conn, const char *queue, const alk_new_job *jobs,
                            size_t count, int64_t *ret_ids, alk_error *error) {
    alk_status st = alk__name_check("queue", queue, error);

    if (st < 0)
        return st;
    if (count > ALK_ENQUEUE_BATCH_MAX)
        return alk__fail(error, ALK_INVALID, "%zu jobs at once are more than %d", count,
                         ALK_ENQUEUE_BATCH_MAX);
    struct alk__new_job *prepared = alk__alloc((count + 1) * sizeof(*prepared));
    if (prepared == NULL)
        return alk__nomem(error);
    for (size_t i = 0; st >= 0 && i < count; i++) {
        st = prepare(queue, &jobs[i], &prepared[i], error);
        if (st < 0)
            st = alk__wrap(error, st, "job %zu", i + 1);
    }
    if (st >= 0) {
        st = alk__enqueue_jobs(conn, prepared, count, ret_ids, error);
        if (st < 0)
            st = alk__wrap(error, st, "enqueue into '%s'", queue);
    }
    alk__free(prepared);
    return st;
}

alk_status alk_enqueue(alk_conn *conn, const char *queue, const char *payload,
                       size_t payload_length, const alk_enqueue_options *options, int64_t *ret_id,
                       alk_error *error) {
    const alk_new_job given = {payload, payload_length, options};
    struct alk__new_job job;

    alk_status st = alk__name_check("queue", queue, error);
    if (st >= 0)
        st = prepare(queue, &given, &job, error);
    if (st < 0)
        return st;
    st = alk__enqueue_jobs(conn, &job, 1, ret_id, error);
    return st < 0 ? alk__wrap(error, st, "enqueue into '%s'", queue) : st;
}
