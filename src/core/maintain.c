/* core/maintain.c: one bounded step of maintenance (S209): it looks, and only where there is
 * something to do it takes the lease and writes.
 *
 * Jobs that may not run any more are claimed and settled like any others, so that there is one way
 * to end a job; one whose settling the database refuses stays claimed for a while and does not
 * fill the next batch. */
#include "core/maintain.h"

#include "base/error.h"
#include "core/claim.h"
#include "core/lease.h"

#define LEASE_NAME "maintenance"
#define LEASE_US (30 * ALK__SECOND)
#define LANE_DEPTH 1000 /* jobs looked at in each lane for claims that lapsed */
#define PLACES                                                                                     \
    1000000 /* where the look at the ledger starts, in this many parts of all schedules */
#define BATCH_JOBS 1000
#define BATCH_ROWS 2000
#define BATCH_OLD 100 /* each with its history */

/* look brings ids (or, with act_without_ids, just a row); act does something about them. */
struct step {
    const char *name;
    enum alk__statement look;
    size_t look_values; /* 0: none; 1: batch; 2: batch and second */
    bool is_jobs;       /* act: claim and settle */
    enum alk__statement act;
    bool act_without_ids;
    bool postgres_only;
    size_t batch;
};

/* clang-format off */
static const struct step steps[] = {
    {"expired",   ALK__MAINTAIN_EXPIRED, 1, true,  ALK__JOB_TAKE,       false, false, BATCH_JOBS},
    {"exhausted", ALK__MAINTAIN_LAPSED,  2, true,  ALK__JOB_TAKE,       false, false, BATCH_JOBS},
    {"done",      ALK__JOB_DONE_OLD,     1, false, ALK__JOB_DONE_PURGE, false, false, BATCH_ROWS},
    {"dead",      ALK__JOB_DEAD_OLD,     1, false, ALK__JOB_DEAD_PURGE, false, false, BATCH_ROWS},
    {"keys",      ALK__UNIQUE_OLD,       1, false, ALK__UNIQUE_PURGE,  false, false, BATCH_ROWS},
    {"ledger",    ALK__EVENT_OLD,        2, false, ALK__EVENT_PURGE,    false, false, BATCH_ROWS},
    {"schedules", ALK__SCHEDULE_OLD,     1, false, ALK__SCHEDULE_PURGE, false, false, BATCH_OLD},
    {"lanes",     ALK__LANE_DOUBLES,     0, false, ALK__LANE_PURGE,     true,  true,  BATCH_ROWS},
    {"waiters",   ALK__WAITER_DEAD,      0, false, ALK__WAITER_PURGE,   true,  true,  BATCH_ROWS},
};
/* clang-format on */
#define STEP_COUNT (sizeof(steps) / sizeof(steps[0]))
_Static_assert(STEP_COUNT <= ALK__MAINTAIN_STEPS_MAX, "a result has room for every step");

/* What one call found and does. */
struct maintaining {
    alk_conn *conn;
    alk_lease lease;
    struct alk__rows found[STEP_COUNT];
    struct alk__maintain_result result;
    alk_status failed; /* of the first look or act that failed, with its error */
    alk_error failure;
};

/* What fails keeps no other step from its work; the first failure is the call's. */
static void note_failure(struct maintaining *work, size_t n, alk_status st, alk_error *failure) {
    if (st >= 0 || work->failed < 0)
        return;
    work->failed = alk__wrap(failure, st, "%s", steps[n].name);
    work->failure = *failure;
}

/* ---- looking ---- */

static alk_status look(struct maintaining *work, size_t n, alk_error *error) {
    const struct step *step = &steps[n];
    int64_t second = LANE_DEPTH;

    if (step->postgres_only && !alk__is_postgres(work->conn))
        return ALK_OK;
    if (step->look == ALK__EVENT_OLD)
        second = alk__random_between(alk__store_random(alk__conn_store(work->conn)), 0, PLACES);
    const struct alk__value values[] = {ALK__I((int64_t)step->batch), ALK__I(second)};
    return alk__run(work->conn, step->look, values, step->look_values, &work->found[n], error);
}

/* Whether there is something to do. */
static bool look_all(struct maintaining *work) {
    bool has_work = false;

    for (size_t i = 0; i < STEP_COUNT && !alk__conn_is_broken(work->conn); i++) {
        alk_error failure = ALK_ERROR_INIT;
        note_failure(work, i, look(work, i, &failure), &failure);
        has_work = has_work || work->found[i].count > 0;
    }
    return has_work && !alk__conn_is_broken(work->conn);
}

/* ---- doing ---- */

static int64_t *ids_of(const struct alk__rows *rows) {
    int64_t *ids = alk__alloc((rows->count + 1) * sizeof(*ids));

    for (size_t i = 0; ids != NULL && i < rows->count; i++)
        ids[i] = ALK__ROW(rows, alk__row_number, i)->number;
    return ids;
}

static void note_id(size_t *count, int64_t *ids, int64_t id) {
    if (*count < ALK__MAINTAIN_IDS_MAX)
        ids[*count] = id;
    (*count)++;
}

/* Counts what was settled and keeps the ids that somebody should hear of. */
static size_t count_answers(struct maintaining *work, const struct alk__claimed *claimed,
                            const alk_settle_answer *answers) {
    struct alk__maintain_result *result = &work->result;
    size_t settled = 0;

    for (size_t i = 0; i < claimed->verdict_count; i++) {
        const alk_settlement *verdict = &claimed->verdicts[i];
        if (answers[i] == ALK_SETTLE_REFUSED)
            note_id(&result->refused_count, result->refused_ids, verdict->id);
        if (answers[i] != ALK_SETTLED && answers[i] != ALK_SETTLE_CANCELLED)
            continue;
        settled++;
        if ((int)verdict->outcome == ALK__UNREADABLE)
            note_id(&result->unreadable_count, result->unreadable_ids, verdict->id);
    }
    return settled;
}

static alk_status settle(struct maintaining *work, const struct alk__claimed *claimed,
                         size_t *ret_touched, alk_error *error) {
    alk_settle_answer *answers = alk__alloc((claimed->verdict_count + 1) * sizeof(*answers));

    if (answers == NULL)
        return alk__nomem(error);
    alk_status st = alk__settle_and_claim(work->conn, claimed->verdicts, claimed->verdict_count,
                                          answers, NULL, NULL, error);
    if (st >= 0)
        *ret_touched = count_answers(work, claimed, answers);
    alk__free(answers);
    return st;
}

static alk_status end_jobs(struct maintaining *work, const int64_t *ids, size_t count,
                           size_t *ret_touched, alk_error *error) {
    struct alk__rows rows = {0};
    struct alk__claimed claimed = {0};

    alk_status st = alk__do(work->conn, ALK__JOB_TAKE, &rows, error, ALK__IS(ids, count),
                            ALK__Z(work->lease.owner), ALK__D(LEASE_US));
    if (st >= 0)
        st = alk__claim_sort(&rows, "", work->lease.owner, &claimed, error);
    if (st == ALK_OK)
        st = settle(work, &claimed, ret_touched, error);
    alk__claimed_free(&claimed);
    return st;
}

static alk_status delete_rows(struct maintaining *work, const struct step *step, const int64_t *ids,
                              size_t count, size_t *ret_touched, alk_error *error) {
    const struct alk__value values[] = {ALK__IS(ids, count)};
    struct alk__rows rows = {0};

    alk_status st =
        alk__run(work->conn, step->act, values, step->act_without_ids ? 0 : 1, &rows, error);
    if (st >= 0)
        *ret_touched = rows.count;
    alk__rows_free(&rows);
    return st;
}

static alk_status act(struct maintaining *work, size_t n, alk_error *error) {
    const struct step *step = &steps[n];
    struct alk__maintain_result *result = &work->result;
    size_t count = work->found[n].count;
    size_t touched = 0;

    int64_t *ids = ids_of(&work->found[n]);
    if (ids == NULL)
        return alk__nomem(error);
    alk_status st = step->is_jobs ? end_jobs(work, ids, count, &touched, error)
                                  : delete_rows(work, step, ids, count, &touched, error);
    alk__free(ids);
    if (st < 0 || touched == 0)
        return st;
    result->touched += (int64_t)touched;
    result->has_more = result->has_more || touched >= step->batch;
    result->steps[result->step_count].name = step->name;
    result->steps[result->step_count++].touched = (int64_t)touched;
    return alk__do(work->conn, ALK__MAINTENANCE_NOTE, NULL, error, ALK__Z(step->name),
                   ALK__I((int64_t)touched));
}

static void act_all(struct maintaining *work) {
    for (size_t i = 0; i < STEP_COUNT && !alk__conn_is_broken(work->conn); i++) {
        alk_error failure = ALK_ERROR_INIT;
        if (work->found[i].count == 0)
            continue;
        note_failure(work, i, act(work, i, &failure), &failure);
    }
}

static alk_status act_under_lease(struct maintaining *work, const char *owner, alk_error *error) {
    alk_status st = alk_lease_acquire(work->conn, LEASE_NAME, owner, LEASE_US, &work->lease, error);

    if (st == ALK_HELD)
        work->result.is_held = true;
    if (st != ALK_OK)
        return st;
    act_all(work);
    /* A lease that cannot be given back lapses. */
    if (!alk__conn_is_broken(work->conn))
        (void)alk_lease_release(work->conn, &work->lease, NULL);
    return ALK_OK;
}

alk_status alk__maintain_step(alk_conn *conn, const char *owner,
                              struct alk__maintain_result *ret_result, alk_error *error) {
    struct maintaining work = {.conn = conn};

    if (alk_conn_in_tx(conn))
        return alk__fail(error, ALK_USAGE, "maintenance inside a transaction");
    alk_status st = look_all(&work) ? act_under_lease(&work, owner, error) : ALK_OK;
    if (st >= 0 && work.failed < 0) {
        st = work.failed;
        if (error != NULL)
            *error = work.failure;
    }
    for (size_t i = 0; i < STEP_COUNT; i++)
        alk__rows_free(&work.found[i]);
    if (st < 0)
        return alk__wrap(error, st, "maintenance");
    *ret_result = work.result;
    return ALK_OK;
}
