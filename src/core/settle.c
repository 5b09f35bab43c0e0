/* core/settle.c: ends claims. Every settlement is guarded by (id, stamp, worker) and a lease that
 * is still valid, in the writing statement itself (S69, S76). What one call does is one
 * transaction: a status below 0 means that nothing was settled.
 *
 * Nobody is waited for longer than LOCK_WAIT_US: then the batch goes again in the form that leaves
 * out rows that somebody holds (S51). When the database refuses a value the batch is halved under
 * savepoints down to the culprit, so that one bad row does not spoil the rest. */
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "core/claim.h"
#include "core/settle_lists.h"

#define LOCK_WAIT_US (20 * ALK__MS)
#define DELAY_MAX (3650 * ALK__DAY)

struct settling {
    alk_conn *conn;
    struct alk__entry *entries; /* sorted; asked of each runs beside */
    struct alk__asked *asked;
    size_t count;
    alk_settle_answer *answers;
    const struct alk__claim *claim; /* NULL: none */
    struct alk__rows claim_rows;
    bool was_taken_apart;
};

/* ---- one run of the statements ---- */

enum form { FORM_WAITS, FORM_FREE };

struct lists_run {
    struct alk__call calls[6];
    size_t count;
};

static void add_call(struct lists_run *run, enum alk__statement statement,
                     const struct alk__value *values, size_t value_count, struct alk__rows *rows) {
    run->calls[run->count++] = (struct alk__call){statement, values, value_count, rows};
}

/* Settles entries[first..first+count) and, with a claim, claims behind it. Answers what was
 * settled. */
static alk_status run_lists(struct settling *work, size_t first, size_t count, enum form form,
                            const struct alk__claim *claim, alk_error *error) {
    const struct alk__value limit = ALK__D(LOCK_WAIT_US);
    struct alk__value claim_values[ALK__CLAIM_VALUES];
    struct alk__rows rows[3] = {{.count = 0}};
    struct alk__lists lists = {0};
    struct lists_run run = {.count = 0};
    bool is_free = form == FORM_FREE && alk__is_postgres(work->conn);

    alk_status st = alk__lists_make(&lists, work->entries + first, count, error);
    if (st < 0)
        return st;
    if (form == FORM_WAITS && alk__is_postgres(work->conn))
        add_call(&run, ALK__LOCK_TIMEOUT_SET, &limit, 1, NULL);
    if (lists.done_count > 0)
        add_call(&run, is_free ? ALK__JOB_SETTLE_DONE_FREE : ALK__JOB_SETTLE_DONE, lists.done,
                 ALK__DONE_VALUES, &rows[0]);
    if (lists.back_count > 0)
        add_call(&run, ALK__JOB_SETTLE_BACK, lists.back, ALK__BACK_VALUES, &rows[1]);
    if (lists.dead_count > 0)
        add_call(&run, ALK__JOB_SETTLE_DEAD, lists.dead, ALK__DEAD_VALUES, &rows[2]);
    if (claim != NULL) {
        alk__claim_values(claim, claim_values);
        add_call(&run, ALK__JOB_CLAIM, claim_values, ALK__CLAIM_VALUES, &work->claim_rows);
    }
    st = alk__run_all(work->conn, run.calls, run.count, NULL, error);
    for (size_t i = 0; i < 3; i++) {
        if (st >= 0)
            alk__asked_mark(work->asked + first, count, &rows[i], work->answers);
        alk__rows_free(&rows[i]);
    }
    alk__lists_free(&lists);
    return st;
}

/* ---- taking a batch apart ---- */

static alk_status apart(struct settling *work, size_t first, size_t count, alk_error *error);

/* The part is refused: it is halved, or it is the culprit. */
static alk_status halve(struct settling *work, size_t first, size_t count, alk_error *error) {
    if (count == 1) {
        work->asked[first].is_answered = true;
        work->answers[work->asked[first].place] = ALK_SETTLE_REFUSED;
        return ALK_OK;
    }
    alk_status st = apart(work, first, count / 2, error);
    return st < 0 ? st : apart(work, first + count / 2, count - count / 2, error);
}

static alk_status apart(struct settling *work, size_t first, size_t count, alk_error *error) {
    alk_error refusal = ALK_ERROR_INIT;

    alk_status st = alk__savepoint(work->conn, error);
    if (st < 0)
        return st;
    st = run_lists(work, first, count, FORM_FREE, NULL, &refusal);
    if (st >= 0)
        return alk__savepoint_release(work->conn, error);
    if (st != ALK_DATA) {
        if (error != NULL)
            *error = refusal;
        return st;
    }
    st = alk__savepoint_rollback(work->conn, error);
    return st < 0 ? st : halve(work, first, count, error);
}

static alk_status take_apart(alk_conn *conn, void *context, alk_error *error) {
    struct settling *work = context;

    work->was_taken_apart = true;
    alk_status st = halve(work, 0, work->count, error);
    return st < 0 ? st
                  : alk__asked_why(conn, work->asked, work->count, false, work->answers, error);
}

/* ---- the whole call ---- */

static bool is_lock_code(const alk_error *error) {
    return strcmp(error->engine_code, "55P03") == 0 || strcmp(error->engine_code, "40P01") == 0;
}

/* In a transaction of its own: one round trip, and it is over when the answers come. */
static alk_status settle_own(struct settling *work, alk_error *error) {
    alk_error failure = ALK_ERROR_INIT;

    alk_status st = run_lists(work, 0, work->count, FORM_WAITS, work->claim, &failure);
    if (st < 0 && is_lock_code(&failure)) {
        alk__error_clear(&failure);
        st = run_lists(work, 0, work->count, FORM_FREE, work->claim, &failure);
    }
    if (st == ALK_DATA)
        return alk__atomic(work->conn, take_apart, work, error);
    if (st < 0) {
        if (error != NULL)
            *error = failure;
        return st;
    }
    return alk__asked_why(work->conn, work->asked, work->count, true, work->answers, error);
}

/* In the caller's transaction, which PostgreSQL gives up at the first error: no waiting that could
 * fail, no second try. */
static alk_status settle_joined(alk_conn *conn, void *context, alk_error *error) {
    struct settling *work = context;
    alk_error failure = ALK_ERROR_INIT;

    alk_status st = run_lists(work, 0, work->count, FORM_FREE, work->claim, &failure);
    if (st == ALK_DATA && !alk__is_postgres(conn))
        return take_apart(conn, work, error);
    if (st < 0) {
        if (error != NULL)
            *error = failure;
        return st;
    }
    return alk__asked_why(conn, work->asked, work->count, false, work->answers, error);
}

static alk_status settle_all(struct settling *work, alk_error *error) {
    alk_status st = alk__entries_delay(work->conn, work->entries, work->count, error);

    if (st < 0)
        return st;
    return alk_conn_in_tx(work->conn) ? alk__atomic(work->conn, settle_joined, work, error)
                                      : settle_own(work, error);
}

static alk_status check(const alk_settlement *settlement, alk_error *error) {
    if (alk__fate_of((int)settlement->outcome) == NULL)
        return alk__fail(error, ALK_INVALID, "%d is no outcome", (int)settlement->outcome);
    if (settlement->worker == NULL)
        return alk__fail(error, ALK_INVALID, "a settlement names no worker");
    if (settlement->delay_us != ALK_NO_TIME &&
        (settlement->delay_us < 0 || settlement->delay_us > DELAY_MAX))
        return alk__fail(error, ALK_INVALID, "delay is not between 0 and 10 years");
    if (settlement->result == NULL)
        return ALK_OK;
    if (settlement->outcome != ALK_DONE)
        return alk__fail(error, ALK_INVALID, "a result goes with done only");
    return alk__json_check("result", alk__text_of(settlement->result), ALK__PAYLOAD_MAX, error);
}

static alk_status check_all(const alk_settlement *settlements, size_t count, alk_error *error) {
    if (count > ALK_CLAIM_BATCH_MAX)
        return alk__fail(error, ALK_INVALID, "%zu settlements at once are more than %d", count,
                         ALK_CLAIM_BATCH_MAX);
    for (size_t i = 0; i < count; i++) {
        alk_status st = check(&settlements[i], error);
        if (st < 0)
            return alk__wrap(error, st, "settlement %zu", i + 1);
    }
    return ALK_OK;
}

/* What the claim behind the settling brought. The settling is committed by now, so that a failure
 * here must not be one of the call: the jobs come again when their lease lapses. */
static void take_claimed(struct settling *work, struct alk__claimed *ret_claimed) {
    if (work->claim == NULL)
        return;
    if (work->was_taken_apart)
        alk__rows_free(&work->claim_rows);
    else
        (void)alk__claim_sort(&work->claim_rows, work->claim->queue, work->claim->worker,
                              ret_claimed, NULL);
}

alk_status alk__settle_and_claim(alk_conn *conn, const alk_settlement *settlements, size_t count,
                                 alk_settle_answer *ret_answers, const struct alk__claim *claim,
                                 struct alk__claimed *ret_claimed, alk_error *error) {
    struct alk__arena arena = {0};
    struct settling work = {.conn = conn, .count = count, .claim = claim};

    if (ret_claimed != NULL)
        *ret_claimed = (struct alk__claimed){0};
    alk_status st = check_all(settlements, count, error);
    if (st < 0)
        return st;
    if (count == 0) {
        st = claim != NULL ? alk__claim_jobs(conn, claim, ret_claimed, error) : ALK_OK;
        return st == ALK_EMPTY ? ALK_OK : st;
    }
    work.answers = alk__arena_alloc(&arena, count * sizeof(*work.answers));
    work.asked = alk__arena_alloc(&arena, count * sizeof(*work.asked));
    work.entries = alk__arena_alloc(&arena, count * sizeof(*work.entries));
    if (work.answers == NULL || work.asked == NULL || work.entries == NULL)
        st = alk__nomem(error);
    if (st >= 0)
        st = alk__entries_fill(&arena, settlements, count, work.asked, work.entries, error);
    if (st >= 0)
        st = settle_all(&work, error);
    if (st >= 0) {
        memcpy(ret_answers, work.answers, count * sizeof(*ret_answers));
        take_claimed(&work, ret_claimed);
    }
    alk__arena_free(&arena);
    return st < 0 ? alk__wrap(error, st, "settle") : ALK_OK;
}

alk_status alk_settle(alk_conn *conn, const alk_settlement *settlements, size_t count,
                      alk_settle_answer *ret_answers, alk_error *error) {
    for (size_t i = 0; i < count; i++) {
        if (settlements[i].outcome > ALK_UNDECODABLE)
            return alk__fail(error, ALK_INVALID, "settlement %zu: %d is no outcome", i + 1,
                             (int)settlements[i].outcome);
    }
    return alk__settle_and_claim(conn, settlements, count, ret_answers, NULL, NULL, error);
}
