/* support/rig.h: a worker in a thread of its own, with every event it reports, for the tests of
 * loops.
 *
 *     struct rig rig;
 *
 *     rig_init(&rig, scene, handler, context);   // queue "mail"; change rig.options before
 * rig_start rig_start(&rig); wait_until(rig_events(&rig, "job done") == 1);
 *     ok(scene, rig_stop(&rig));                 // sets the stop token and waits for the return
 *     rig_free(&rig);
 */
#ifndef ALK_TEST_SUPPORT_RIG_H
#define ALK_TEST_SUPPORT_RIG_H

#include <pthread.h>

#include "support/jobs.h"

#define RIG_EVENTS_MAX 8192

struct rig_event {
    alk_level level;
    char name[64];
    char component[16];
    char detail[160];
    int64_t job_id;
    int64_t attempt;
    alk_status status; /* of its error, ALK_OK: none */
    alk_phase phase;
};

struct rig {
    alk_store *store; /* the scene's; may be changed before rig_start */
    alk_worker_options options;
    alk_handler handler;
    void *context;
    alk_stop *stop;
    alk_status status; /* what the worker returned, once it has */
    alk_error error;
    _Atomic bool has_returned;
    pthread_t thread;
    pthread_mutex_t lock;
    struct rig_event *events;
    int event_count;
};

void rig_init(struct rig *rig, struct scene *scene, alk_handler handler, void *context);
void rig_start(struct rig *rig);

/* Waits for the worker's return and gives what it returned. */
alk_status rig_join(struct rig *rig);
alk_status rig_stop(struct rig *rig);

/* Runs the worker in this thread. */
alk_status rig_run(struct rig *rig);
void rig_free(struct rig *rig);

/* Runs a worker until nothing is due in "mail". */
void rig_drain(struct scene *scene, alk_handler handler, void *context);

/* How many events of that name there were; the last of them (name[0] = 0: none). */
int rig_events(struct rig *rig, const char *name);
struct rig_event rig_event(struct rig *rig, const char *name);

/* ---- handlers ---- */

/* Counts its runs and says DONE. context: a struct tally. */
struct tally {
    _Atomic int runs;
    _Atomic int at_once; /* running now */
    _Atomic int most;    /* the most at once */
};
alk_outcome count_run(alk_attempt *attempt, void *context);

/* A handler that waits for gate_open, or for its end where it heeds that, and then says outcome. */
struct gate {
    struct tally tally;
    _Atomic bool is_open;
    bool is_stubborn; /* does not look at its end */
    alk_outcome outcome;
    _Atomic bool was_lost; /* what the last run saw at its end */
    _Atomic bool was_overdue;
    _Atomic bool was_told; /* its end descriptor was readable */
};
alk_outcome wait_at_gate(alk_attempt *attempt, void *context);

/* ---- jobs ---- */

/* Beside support/jobs.h: a job with a payload (JSON), and count jobs with the payloads 0, 1, 2, ...
 */
int64_t put_work(struct scene *scene, const char *queue, const char *payload,
                 const alk_enqueue_options *options);
void put_numbers(struct scene *scene, const char *queue, int count);

/* How many jobs are running (claimed, their lease valid), and how many are done. */
int64_t running_jobs(struct scene *scene);
int64_t done_jobs(struct scene *scene);

#endif
