/* core/claim.c: takes due jobs, and tells those that run from those that may not. Rows come back
 * from both engines in no order: it is made here. */
#include "core/claim.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/job_row.h"

#define LEASE_MAX (3650 * ALK__DAY)

void alk__claim_values(const struct alk__claim *claim,
                       struct alk__value values[ALK__CLAIM_VALUES]) {
    values[0] = ALK__Z(claim->queue);
    values[1] = ALK__I(claim->limit);
    values[2] = ALK__Z(claim->worker);
    values[3] = ALK__D(claim->lease_us);
}

void alk__claimed_free(struct alk__claimed *claimed) {
    if (claimed == NULL)
        return;
    alk_job_list_free(&claimed->jobs);
    *claimed = (struct alk__claimed){0};
}

/* Claim order (S41). */
static int compare_jobs(const void *left_, const void *right_) {
    const alk_job *left = left_;
    const alk_job *right = right_;

    if (left->priority != right->priority)
        return left->priority > right->priority ? -1 : 1;
    if (left->run_at_us != right->run_at_us)
        return left->run_at_us < right->run_at_us ? -1 : 1;
    return left->id < right->id ? -1 : left->id > right->id;
}

/* 0: it runs. A row that cannot be read has no other verdict: nothing in it can be relied on. */
static int verdict_of(const struct alk__row_job *row) {
    if (row->row.unreadable != NULL)
        return ALK__UNREADABLE;
    if (alk__text_is(row->verdict, "expired"))
        return ALK__EXPIRED;
    if (alk__text_is(row->verdict, "exhausted"))
        return ALK__EXHAUSTED;
    return alk__text_is(row->verdict, "cancelled") ? ALK__CANCELLED : 0;
}

static void sort_row(const struct alk__row_job *row, const char *queue, const char *worker,
                     struct alk__claimed *claimed) {
    int verdict = verdict_of(row);

    if (verdict != 0) {
        claimed->verdicts[claimed->verdict_count++] =
            (alk_settlement){.id = row->id,
                             .stamp = row->stamp,
                             .worker = worker,
                             .outcome = (alk_outcome)verdict,
                             .delay_us = ALK_NO_TIME,
                             .error = row->row.unreadable};
        return;
    }
    alk_job *job = &claimed->jobs.jobs[claimed->jobs.count++];
    *job = alk__job_of(row);
    job->queue = queue;
    job->worker = worker;
    job->state = ALK_JOB_RUNNING;
    job->finished_at_us = ALK_NO_TIME;
    job->cancel_requested_at_us = ALK_NO_TIME;
    claimed->jobs.now_us = job->claimed_at_us;
}

alk_status alk__claim_sort(struct alk__rows *rows, const char *queue, const char *worker,
                           struct alk__claimed *ret_claimed, alk_error *error) {
    struct alk__claimed claimed = {0};

    if (rows->count == 0) {
        alk__rows_free(rows);
        return ALK_EMPTY;
    }
    struct alk__job_memory *memory = alk__job_list_start(&claimed.jobs, rows);
    if (memory == NULL)
        return alk__nomem(error);
    size_t count = memory->rows.count;
    const char *own_queue = alk__arena_text(&memory->arena, queue);
    const char *own_worker = alk__arena_text(&memory->arena, worker);
    claimed.verdicts = alk__arena_alloc(&memory->arena, count * sizeof(*claimed.verdicts));
    if (own_queue == NULL || own_worker == NULL || claimed.verdicts == NULL) {
        alk__claimed_free(&claimed);
        return alk__nomem(error);
    }
    for (size_t i = 0; i < count; i++)
        sort_row(ALK__ROW(&memory->rows, alk__row_job, i), own_queue, own_worker, &claimed);
    qsort(claimed.jobs.jobs, claimed.jobs.count, sizeof(alk_job), compare_jobs);
    *ret_claimed = claimed;
    return ALK_OK;
}

alk_status alk__queue_next_due(alk_conn *conn, const char *queue, bool *ret_is_due,
                               int64_t *ret_next_due_us, int64_t *ret_now_us, alk_error *error) {
    struct alk__rows rows = {0};

    alk_status st = alk__do(conn, ALK__JOB_DUE, &rows, error, ALK__Z(queue));
    if (st >= 0) {
        const struct alk__row_due *due = ALK__ROW(&rows, alk__row_due, 0);
        *ret_is_due = due->is_due == 1;
        *ret_next_due_us = due->next_due;
        *ret_now_us = due->now;
    }
    alk__rows_free(&rows);
    return st < 0 ? alk__wrap(error, st, "look into '%s'", queue) : st;
}

/* On SQLite a claim takes the lock of the one writer, so that it looks first: an idle worker holds
 * up nobody (S46). On PostgreSQL a claim that finds nothing writes nothing. */
static alk_status look_first(alk_conn *conn, const char *queue, alk_error *error) {
    bool is_due = true;
    int64_t next_due_us, now_us;
    alk_status st = ALK_OK;

    if (!alk__is_postgres(conn))
        st = alk__queue_next_due(conn, queue, &is_due, &next_due_us, &now_us, error);
    return st == ALK_OK && !is_due ? ALK_EMPTY : st;
}

alk_status alk__claim_jobs(alk_conn *conn, const struct alk__claim *claim,
                           struct alk__claimed *ret_claimed, alk_error *error) {
    struct alk__value values[ALK__CLAIM_VALUES];
    struct alk__rows rows = {0};

    *ret_claimed = (struct alk__claimed){0};
    alk_status st = look_first(conn, claim->queue, error);
    if (st != ALK_OK)
        return st;
    alk__claim_values(claim, values);
    st = alk__run(conn, ALK__JOB_CLAIM, values, ALK__CLAIM_VALUES, &rows, error);
    if (st >= 0)
        st = alk__claim_sort(&rows, claim->queue, claim->worker, ret_claimed, error);
    return st < 0 ? alk__wrap(error, st, "claim from '%s'", claim->queue) : st;
}

/* ---- the interface ---- */

static alk_status check(const char *queue, const alk_claim_options *options, alk_error *error) {
    alk_status st = alk__name_check("queue", queue, error);

    if (st >= 0 && options->worker != NULL)
        st = alk__name_check("worker", options->worker, error);
    if (st < 0)
        return st;
    if (options->limit < 1 || options->limit > ALK_CLAIM_BATCH_MAX)
        return alk__fail(error, ALK_INVALID, "limit %d is not between 1 and 1,000", options->limit);
    if (options->lease_us < 1 || options->lease_us > LEASE_MAX)
        return alk__fail(error, ALK_INVALID, "the lease is not between 1us and 10 years");
    return ALK_OK;
}

/* Settles what may not run, at once. Where the library began the claim's transaction that is over
 * already and the jobs are ours: a failure here then only means that those come again when their
 * lease lapses. Inside a caller's transaction it is the caller's failure. ALK_EMPTY: a lease so
 * short that it lapsed first; to claim again would bring the same. */
static alk_status settle_verdicts(alk_conn *conn, const struct alk__claimed *claimed,
                                  alk_error *error) {
    alk_settle_answer *answers;
    alk_status st = ALK_OK;

    if (claimed->verdict_count == 0)
        return ALK_OK;
    answers = alk__alloc(claimed->verdict_count * sizeof(*answers));
    if (answers == NULL)
        return alk__nomem(error);
    st = alk__settle_and_claim(conn, claimed->verdicts, claimed->verdict_count, answers, NULL, NULL,
                               error);
    for (size_t i = 0; st == ALK_OK && i < claimed->verdict_count; i++) {
        if (answers[i] == ALK_SETTLE_LAPSED)
            st = ALK_EMPTY;
    }
    alk__free(answers);
    return st;
}

alk_status alk_claim(alk_conn *conn, const char *queue, const alk_claim_options *options,
                     alk_job_list *ret_list, alk_error *error) {
    static const alk_claim_options defaults = ALK_CLAIM_OPTIONS_INIT;
    char made_up[32];
    struct alk__claimed claimed = {0};

    if (options == NULL)
        options = &defaults;
    *ret_list = (alk_job_list){0};
    alk_status st = check(queue, options, error);
    if (st < 0)
        return st;
    snprintf(made_up, sizeof(made_up), "%016" PRIx64,
             alk__random_bits(alk__store_random(alk__conn_store(conn))));
    const struct alk__claim claim = {queue, options->limit, options->lease_us,
                                     options->worker != NULL ? options->worker : made_up};
    do {
        alk__claimed_free(&claimed);
        st = alk__claim_jobs(conn, &claim, &claimed, error);
        if (st == ALK_OK)
            st = settle_verdicts(conn, &claimed, error);
        if (st < 0 && claimed.jobs.count > 0 && !alk_conn_in_tx(conn)) {
            alk__error_clear(error);
            st = ALK_OK;
        }
        if (st > 0 && claimed.jobs.count > 0)
            st = ALK_OK;
    } while (st == ALK_OK && claimed.jobs.count == 0);
    if (st < 0)
        alk__claimed_free(&claimed);
    *ret_list = claimed.jobs;
    return st;
}
