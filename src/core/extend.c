/* core/extend.c: extends the leases of claims that are still valid; a lapsed one is never taken
 * back, even if nobody took the job (S50). */
#include <string.h>

#include "base/error.h"
#include "core/asked.h"

#define LEASE_MAX (3650 * ALK__DAY)

struct extending {
    const char *worker;
    int64_t lease_us;
    struct alk__asked *asked;
    int64_t *ids;
    int64_t *stamps;
    size_t count;
    bool is_over; /* the library's own transaction is committed when the answers are asked for */
    alk_settle_answer *answers;
};

static alk_status extend(alk_conn *conn, void *context, alk_error *error) {
    struct extending *work = context;
    struct alk__rows rows = {0};

    alk_status st =
        alk__do(conn, ALK__JOB_EXTEND, &rows, error, ALK__IS(work->ids, work->count),
                ALK__IS(work->stamps, work->count), ALK__Z(work->worker), ALK__D(work->lease_us));
    if (st >= 0)
        alk__asked_mark(work->asked, work->count, &rows, work->answers);
    alk__rows_free(&rows);
    return st < 0 ? st
                  : alk__asked_why(conn, work->asked, work->count, work->is_over, work->answers,
                                   error);
}

static bool fill(struct extending *work, struct alk__arena *arena, const alk_claim_id *claims) {
    work->asked = alk__arena_alloc(arena, work->count * sizeof(*work->asked));
    work->ids = alk__arena_alloc(arena, 2 * work->count * sizeof(*work->ids));
    work->answers = alk__arena_alloc(arena, work->count * sizeof(*work->answers));
    if (work->asked == NULL || work->ids == NULL || work->answers == NULL)
        return false;
    work->stamps = work->ids + work->count;
    for (size_t i = 0; i < work->count; i++)
        work->asked[i] = (struct alk__asked){
            .id = claims[i].id, .stamp = claims[i].stamp, .worker = work->worker, .place = i};
    alk__asked_sort(work->asked, work->count);
    for (size_t i = 0; i < work->count; i++) {
        work->ids[i] = work->asked[i].id;
        work->stamps[i] = work->asked[i].stamp;
    }
    return true;
}

static alk_status check(const char *worker, int64_t lease_us, size_t count, alk_error *error) {
    alk_status st = alk__name_check("worker", worker, error);

    if (st < 0)
        return st;
    if (lease_us < 1 || lease_us > LEASE_MAX)
        return alk__fail(error, ALK_INVALID, "the lease is not between 1us and 10 years");
    if (count > ALK_CLAIM_BATCH_MAX)
        return alk__fail(error, ALK_INVALID, "%zu claims at once are more than %d", count,
                         ALK_CLAIM_BATCH_MAX);
    return ALK_OK;
}

alk_status alk_extend(alk_conn *conn, const char *worker, int64_t lease_us,
                      const alk_claim_id *claims, size_t count, alk_settle_answer *ret_answers,
                      alk_error *error) {
    struct alk__arena arena = {0};
    struct extending work = {.worker = worker, .lease_us = lease_us, .count = count};

    alk_status st = check(worker, lease_us, count, error);
    if (st < 0 || count == 0)
        return st;
    if (!fill(&work, &arena, claims))
        st = alk__nomem(error);
    work.is_over = !alk_conn_in_tx(conn);
    if (st >= 0)
        st = work.is_over ? extend(conn, &work, error) : alk__atomic(conn, extend, &work, error);
    if (st >= 0)
        memcpy(ret_answers, work.answers, count * sizeof(*ret_answers));
    alk__arena_free(&arena);
    return st < 0 ? alk__wrap(error, st, "extend claims of '%s'", worker) : ALK_OK;
}
