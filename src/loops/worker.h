/* loops/worker.h: the state of one worker, shared by worker.c (life and loop), cycle.c (claim and
 * settle) and watch.c (extensions, deadlines, lost claims). Touched by the coordinator's thread
 * only. */
#ifndef ALK_LOOPS_WORKER_H
#define ALK_LOOPS_WORKER_H

#include "base/event.h"
#include "loops/executor.h"
#include "loops/identity.h"
#include "loops/upkeep.h"
#include "store/run.h"

struct alk__worker {
    alk_store *store;
    alk_worker_options options; /* prefetch filled in */
    alk_stop *stop;
    struct alk__reporter reporter;
    char id[ALK_NAME_BYTES];
    alk_conn *conn; /* NULL while there is none */
    struct alk__wake *wake;
    struct alk__executors *executors;
    struct alk__upkeep upkeep;

    struct alk_attempt **outstanding; /* claimed and not settled: waiting, running or finished */
    size_t outstanding_count;
    size_t outstanding_max;
    struct alk__attempts finished; /* of those, the ones whose outcome is to be settled */

    bool is_stopping;
    int64_t stop_deadline_us; /* monotonic */
    int64_t extend_at_us;     /* monotonic */
    int64_t next_due_us; /* monotonic: when its queues' next job is due; INT64_MAX: none known */
    bool has_more;       /* a look came back full: look again at once */
    bool is_empty;       /* the last look found nothing in any queue */
    bool is_locked;      /* an outcome could not be settled because somebody holds the row */
    int64_t failures;    /* of the database in a row */
};

/* cycle.c: settles what is finished and claims what there is room for. */
alk_status alk__worker_cycle(struct alk__worker *worker, alk_error *error);

/* watch.c: extends claims when it is time. */
alk_status alk__worker_extend(struct alk__worker *worker, alk_error *error);
/* watch.c: tells handlers to end whose time is over, whose claim may have lapsed, or when the
 * deadline of a stop passed. */
void alk__worker_watch(struct alk__worker *worker);
/* watch.c: when alk__worker_watch or alk__worker_extend has something to do next, monotonic. */
int64_t alk__worker_watch_at(const struct alk__worker *worker);

/* Takes an attempt out of the table of outstanding ones and frees it. */
void alk__worker_forget(struct alk__worker *worker, struct alk_attempt *attempt);

#endif
