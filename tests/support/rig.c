/* support/rig.c: a worker in a thread of its own, its events, and handlers that tests can steer. */
#include "support/rig.h"

#include <poll.h>
#include <stdlib.h>

static void copy_text(char *to, size_t size, const char *from) {
    snprintf(to, size, "%s", from == NULL ? "" : from);
}

static void note_event(const alk_event *event, void *context) {
    struct rig *rig = context;

    pthread_mutex_lock(&rig->lock);
    if (rig->event_count < RIG_EVENTS_MAX) {
        struct rig_event *noted = &rig->events[rig->event_count++];
        *noted = (struct rig_event){.level = event->level,
                                    .job_id = event->job_id,
                                    .attempt = event->attempt,
                                    .status = event->error == NULL ? ALK_OK : event->error->status,
                                    .phase = event->error == NULL ? ALK_PHASE_NONE
                                                                  : event->error->phase};
        copy_text(noted->name, sizeof(noted->name), event->name);
        copy_text(noted->component, sizeof(noted->component), event->component);
        copy_text(noted->detail, sizeof(noted->detail), event->detail);
    }
    pthread_mutex_unlock(&rig->lock);
}

void rig_init(struct rig *rig, struct scene *scene, alk_handler handler, void *context) {
    static const char *const mail[] = {"mail"};
    const alk_worker_options defaults = ALK_WORKER_OPTIONS_INIT;

    *rig = (struct rig){
        .store = scene->store, .options = defaults, .handler = handler, .context = context};
    rig->options.queues = mail;
    rig->options.queue_count = 1;
    rig->options.event = note_event;
    rig->options.event_context = rig;
    rig->events = calloc(RIG_EVENTS_MAX, sizeof(*rig->events));
    assert_non_null(rig->events);
    pthread_mutex_init(&rig->lock, NULL);
    ok(scene, alk_stop_new(&rig->stop, &scene->error));
}

alk_status rig_run(struct rig *rig) {
    rig->status = alk_worker_run(rig->store, &rig->options, rig->handler, rig->context, rig->stop,
                                 &rig->error);
    atomic_store(&rig->has_returned, true);
    return rig->status;
}

static void *run(void *context) {
    rig_run(context);
    return NULL;
}

void rig_start(struct rig *rig) {
    assert_int_equal(pthread_create(&rig->thread, NULL, run, rig), 0);
}

alk_status rig_join(struct rig *rig) {
    wait_until(atomic_load(&rig->has_returned));
    pthread_join(rig->thread, NULL);
    return rig->status;
}

alk_status rig_stop(struct rig *rig) {
    alk_stop_set(rig->stop);
    return rig_join(rig);
}

void rig_free(struct rig *rig) {
    alk_stop_free(rig->stop);
    pthread_mutex_destroy(&rig->lock);
    free(rig->events);
}

void rig_drain(struct scene *scene, alk_handler handler, void *context) {
    struct rig rig;

    rig_init(&rig, scene, handler, context);
    rig.options.is_drain = true;
    ok(scene, rig_run(&rig));
    rig_free(&rig);
}

int rig_events(struct rig *rig, const char *name) {
    int count = 0;

    pthread_mutex_lock(&rig->lock);
    for (int i = 0; i < rig->event_count; i++)
        count += strcmp(rig->events[i].name, name) == 0;
    pthread_mutex_unlock(&rig->lock);
    return count;
}

struct rig_event rig_event(struct rig *rig, const char *name) {
    struct rig_event found = {.name = ""};

    pthread_mutex_lock(&rig->lock);
    for (int i = 0; i < rig->event_count; i++) {
        if (strcmp(rig->events[i].name, name) == 0)
            found = rig->events[i];
    }
    pthread_mutex_unlock(&rig->lock);
    return found;
}

/* ---- handlers ---- */

static void begin_run(struct tally *tally) {
    int at_once = atomic_fetch_add(&tally->at_once, 1) + 1;
    int most = atomic_load(&tally->most);

    while (at_once > most && !atomic_compare_exchange_weak(&tally->most, &most, at_once))
        ;
    atomic_fetch_add(&tally->runs, 1);
}

alk_outcome count_run(alk_attempt *attempt, void *context) {
    struct tally *tally = context;

    (void)attempt;
    begin_run(tally);
    atomic_fetch_sub(&tally->at_once, 1);
    return ALK_DONE;
}

alk_outcome wait_at_gate(alk_attempt *attempt, void *context) {
    struct gate *gate = context;
    struct pollfd end = {.fd = alk_attempt_end_fd(attempt), .events = POLLIN};

    begin_run(&gate->tally);
    while (!atomic_load(&gate->is_open)) {
        if (poll(&end, 1, 1) > 0 && !gate->is_stubborn)
            break;
    }
    atomic_store(&gate->was_told, poll(&end, 1, 0) > 0);
    atomic_store(&gate->was_lost, alk_attempt_is_lost(attempt));
    atomic_store(&gate->was_overdue, alk_attempt_is_overdue(attempt));
    atomic_fetch_sub(&gate->tally.at_once, 1);
    return gate->outcome;
}

/* ---- jobs ---- */

int64_t put_work(struct scene *scene, const char *queue, const char *payload,
                 const alk_enqueue_options *options) {
    int64_t id = 0;

    ok(scene,
       alk_enqueue(scene->conn, queue, payload, strlen(payload), options, &id, &scene->error));
    return id;
}

void put_numbers(struct scene *scene, const char *queue, int count) {
    alk_new_job *jobs = calloc((size_t)count, sizeof(*jobs));
    char(*payloads)[12] = calloc((size_t)count, sizeof(*payloads));

    assert_true(jobs != NULL && payloads != NULL);
    for (int i = 0; i < count; i++) {
        int length = snprintf(payloads[i], sizeof(payloads[i]), "%d", i);
        jobs[i] = (alk_new_job){payloads[i], (size_t)length, NULL};
    }
    ok(scene, alk_enqueue_many(scene->conn, queue, jobs, (size_t)count, NULL, &scene->error));
    free(payloads);
    free(jobs);
}

int64_t running_jobs(struct scene *scene) {
    return sql_number(scene, "SELECT count(*) FROM alk_job WHERE lease_until > %s",
                      sql_time(scene, scene_now(scene)));
}

int64_t done_jobs(struct scene *scene) {
    return sql_number(scene, "SELECT count(*) FROM alk_job_done WHERE outcome = 'done'");
}
