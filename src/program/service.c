/* program/service.c: the threads of `alk run` and `alk work`. Everything below is the main thread's
 * own, but the fields of a task that its thread reads (set before it starts) or writes (read after
 * is_finished). */
#include "program/service.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "program/child.h"
#include "program/command_handler.h"
#include "program/declare.h"
#include "program/log.h"
#include "program/notify.h"
#include "program/signals.h"
#include "program/supervise.h"

/* After the second signal this long for loops to end, then the process goes without them. */
#define AT_ONCE_US (5 * ALK__SECOND)

/* Enough for all loops that a later configuration may bring, and for those that end meanwhile. */
#define CONNECTIONS (16 + 2 * ALK__WORKERS_MAX)

struct service;
struct task;
typedef alk_status (*body_fn)(struct task *task);

/* One thread: what prepares a configuration, the scheduler or a worker. */
struct task {
    struct task *next;
    struct service *service;
    struct alk__config *config;              /* what it was started with */
    const struct alk__worker_config *worker; /* NULL: not a worker */
    const char *set;                         /* that preparing states, NULL = none */
    body_fn body;
    alk_stop *stop;
    pthread_t thread;
    atomic_bool is_finished;
    alk_status status;
    alk_error error;
};

/* A configuration that was read: tasks may use it although another is in force. */
struct generation {
    struct generation *next;
    struct alk__config *config;
};

struct service {
    const struct alk__service_options *options;
    struct alk__config *config; /* in force, NULL = none yet */
    struct alk__config *wanted; /* to be in force once it is prepared, NULL = none */
    const char *set;            /* that was stated last, NULL = none */
    struct generation *generations;
    struct alk__log *log;
    struct alk__signals signals;
    int news_fd; /* a task has finished */
    alk_store *store;
    alk_stop *at_once;
    struct task *tasks;
    bool is_stopping;
    atomic_bool has_forgotten; /* what --forget-missed asks for is done */
    int64_t leave_at_us;       /* monotonic, ALK_NO_TIME = not said */
    alk_status status;
    alk_error *error;
};

/* ---- what the threads do ---- */

static void *run_task(void *context) {
    struct task *task = context;
    const uint64_t one = 1;
    int fd = task->service->news_fd;

    task->status = task->body(task);
    atomic_store(&task->is_finished, true); /* from here on the task is the main thread's */
    while (write(fd, &one, sizeof(one)) < 0 && errno == EINTR)
        continue;
    return NULL;
}

/* What comes before a configuration is in force: the store is there, and has its schedules. */
static alk_status prepare(struct task *task) {
    struct service *service = task->service;
    alk_status st = ALK_OK;

    if (service->store == NULL)
        st = alk__store_await(task->config, CONNECTIONS, task->stop, service->log, &service->store,
                              &task->error);
    if (st < 0 || service->store == NULL || task->set == NULL)
        return service->store == NULL && st >= 0 ? ALK_EMPTY : st;
    return alk__declare_await(task->config, task->set, service->store, task->stop, service->log,
                              &task->error);
}

/* The scheduler is run again after a failure, and forgets only once. */
static void note_forgotten(const alk_event *event, void *context) {
    struct service *service = context;

    if (strcmp(event->name, "missed boundaries forgotten") == 0)
        atomic_store(&service->has_forgotten, true);
    alk__log_event(event, service->log);
}

static alk_status run_scheduler(void *context, alk_stop *stop, alk_error *error) {
    const struct task *task = context;
    alk_scheduler_options options = ALK_SCHEDULER_OPTIONS_INIT;

    options.lease_name = task->config->scheduler_name;
    options.ttl_us = task->config->ttl_us;
    options.batch = (int)task->config->batch;
    options.forget_missed =
        task->service->options->forget_missed && !atomic_load(&task->service->has_forgotten);
    options.event = note_forgotten;
    options.event_context = task->service;
    return alk_scheduler_run(task->service->store, &options, stop, error);
}

static alk_status schedule(struct task *task) {
    return alk__supervise("scheduler", run_scheduler, task, task->stop, task->service->log,
                          &task->error);
}

/* A worker's command, or those of its queues. */
struct serving {
    const struct alk__worker_config *worker;
    struct alk__command command;
};

/* The queue says which command, and only the configuration which it is. */
static alk_outcome handle(alk_attempt *attempt, void *context) {
    const struct serving *serving = context;
    const struct alk__worker_config *worker = serving->worker;
    const char *queue = alk_attempt_job(attempt)->queue;
    struct alk__command command = serving->command;

    for (size_t i = 0; worker->commands != NULL && i < worker->queues.count; i++) {
        if (strcmp(worker->queues.items[i], queue) == 0)
            command.argv = worker->commands[i].items;
    }
    return alk__command_handle(attempt, &command);
}

static alk_status run_worker(void *context, alk_stop *stop, alk_error *error) {
    const struct task *task = context;
    const struct alk__worker_config *worker = task->worker;
    alk_worker_options options = ALK_WORKER_OPTIONS_INIT;
    struct serving serving = {worker,
                              {
                                  .argv = worker->command.items,
                                  .timeout_us = worker->timeout_us,
                                  .grace_us = ALK__CHILD_GRACE_US,
                                  .at_once = task->service->at_once,
                                  .event = alk__log_event,
                                  .event_context = task->service->log,
                              }};

    options.queues = (const char *const *)worker->queues.items;
    options.queue_count = worker->queues.count;
    options.concurrency = (int)worker->concurrency;
    options.timeout_us = worker->timeout_us;
    options.is_drain = task->service->options->is_drain;
    options.event = alk__log_event;
    options.event_context = task->service->log;
    return alk_worker_run(task->service->store, &options, handle, &serving, stop, error);
}

static alk_status work(struct task *task) {
    return alk__supervise(task->worker->name, run_worker, task, task->stop, task->service->log,
                          &task->error);
}

/* ---- tasks ---- */

/* A configuration without schedules states nothing, unless the one before it had some. */
static const char *set_to_state(const struct service *service, const struct alk__config *config) {
    const char *set = alk__declared_set(config);

    return set != NULL ? set : service->set;
}

static alk_status start_task(struct service *service, body_fn body, struct alk__config *config,
                             const struct alk__worker_config *worker, alk_error *error) {
    struct task *task = alk__alloc(sizeof(*task));
    alk_status st;
    int number;

    if (task == NULL)
        return alk__nomem(error);
    task->service = service;
    task->config = config;
    task->worker = worker;
    task->body = body;
    task->set = body == prepare ? set_to_state(service, config) : NULL;
    st = alk_stop_new(&task->stop, error);
    if (st != ALK_OK) {
        alk__free(task);
        return st;
    }
    number = pthread_create(&task->thread, NULL, run_task, task);
    if (number != 0) {
        alk_stop_free(task->stop);
        alk__free(task);
        return alk__fail(error, ALK_FAILED, "no thread for a loop: %s",
                         alk__reason_of(number).text);
    }
    task->next = service->tasks;
    service->tasks = task;
    return ALK_OK;
}

static void free_task(struct task *task) {
    alk_stop_free(task->stop);
    alk__free(task);
}

static void stop_tasks(struct service *service) {
    service->is_stopping = true;
    for (struct task *task = service->tasks; task != NULL; task = task->next)
        alk_stop_set(task->stop);
}

/* Whether the loop does what the configuration in force wants of it. */
static bool is_wanted(const struct service *service, const struct task *task) {
    const struct alk__config *now = service->config;

    if (task->body == prepare)
        return true;
    if (task->worker == NULL)
        return now->is_scheduler && now->ttl_us == task->config->ttl_us &&
               now->batch == task->config->batch &&
               strcmp(now->scheduler_name, task->config->scheduler_name) == 0;
    for (size_t i = 0; i < now->worker_count; i++) {
        if (alk__worker_config_equal(&now->workers[i], task->worker))
            return true;
    }
    return false;
}

/* Whether a loop of that body (and worker) runs that nobody told to end. */
static bool has_task(const struct service *service, body_fn body,
                     const struct alk__worker_config *worker) {
    for (const struct task *task = service->tasks; task != NULL; task = task->next) {
        if (task->body == body && !alk_stop_is_set(task->stop) &&
            (worker == NULL || alk__worker_config_equal(task->worker, worker)))
            return true;
    }
    return false;
}

/* Starts what the configuration in force wants and does not run yet. */
static alk_status start_loops(struct service *service, alk_error *error) {
    const struct alk__config *config = service->config;
    alk_status st = ALK_OK;

    if (config->is_scheduler && !has_task(service, schedule, NULL))
        st = start_task(service, schedule, service->config, NULL, error);
    for (size_t i = 0; st == ALK_OK && i < config->worker_count; i++) {
        if (!has_task(service, work, &config->workers[i]))
            st = start_task(service, work, service->config, &config->workers[i], error);
    }
    return st;
}

/* The first failure is the service's own; everything else ends with it. */
static void fail(struct service *service, alk_status st, const alk_error *error) {
    if (service->status == ALK_OK && service->error != NULL)
        *service->error = *error;
    if (service->status == ALK_OK)
        service->status = st;
    stop_tasks(service);
}

/* ---- the configuration ---- */

static bool is_same_text(const char *left, const char *right) {
    return left == right || (left != NULL && right != NULL && strcmp(left, right) == 0);
}

static bool is_same_store(const struct alk__config *left, const struct alk__config *right) {
    return is_same_text(left->store_url, right->store_url) &&
           is_same_text(left->schema, right->schema) && left->pool_max == right->pool_max &&
           left->durability == right->durability;
}

/* Wants config to be in force, which is freed with the service, also after a failure. What prepares
 * another one ends first. */
static alk_status want(struct service *service, struct alk__config *config, alk_error *error) {
    struct generation *generation = alk__alloc(sizeof(*generation));

    if (generation == NULL) {
        alk__config_free(config);
        return alk__nomem(error);
    }
    generation->config = config;
    generation->next = service->generations;
    service->generations = generation;
    service->wanted = config;
    for (struct task *task = service->tasks; task != NULL; task = task->next) {
        if (task->body == prepare) {
            alk_stop_set(task->stop);
            return ALK_OK;
        }
    }
    return start_task(service, prepare, config, NULL, error);
}

static void set_log(const struct service *service, const struct alk__config *config) {
    alk__log_set(service->log, (alk_level)config->log_level,
                 (enum alk__log_format)config->log_format);
}

/* Puts what was prepared in force: loops that it does not want end, those that it wants start. */
static alk_status put_in_force(struct service *service, struct alk__config *config,
                               alk_error *error) {
    bool is_first = service->config == NULL;
    bool is_store_new = !is_first && !is_same_store(service->config, config);
    alk_status st;

    service->config = config;
    set_log(service, config);
    if (is_store_new)
        alk__log_say(service->log, ALK_LEVEL_WARNING, "store unchanged", NULL, NULL,
                     "a change of [store] needs a restart");
    for (struct task *task = service->tasks; task != NULL; task = task->next) {
        if (!is_wanted(service, task))
            alk_stop_set(task->stop);
    }
    st = start_loops(service, error);
    if (st == ALK_OK)
        alk__log_say(service->log, ALK_LEVEL_INFO, is_first ? "started" : "configuration read",
                     NULL, NULL, "%s", is_first ? alk_store_url(service->store) : "");
    alk__notify("READY=1");
    return st;
}

/* Somebody asked, and is answered each time: the reason is no fault that the log counts and holds
 * back. */
static void refuse(const struct service *service, const alk_error *error) {
    alk__log_say(service->log, ALK_LEVEL_ERROR, "configuration not read", NULL, NULL,
                 "the old one stays in force: %s", error->message);
    alk__notify("READY=1");
}

/* The end of what prepared a configuration. */
static alk_status take_prepared(struct service *service, const struct task *task,
                                alk_error *error) {
    struct alk__config *wanted = service->wanted;

    if (task->status == ALK_OK)
        service->set = task->set;
    if (service->is_stopping)
        return ALK_OK;
    if (wanted != task->config) /* it was read again meanwhile */
        return start_task(service, prepare, wanted, NULL, error);
    if (task->status == ALK_OK)
        return put_in_force(service, task->config, error);
    if (service->config == NULL) {
        *error = task->error;
        return task->status;
    }
    refuse(service, &task->error);
    return ALK_OK;
}

static void reload(struct service *service) {
    struct alk__config *config = NULL;
    alk_error error = ALK_ERROR_INIT;
    alk_status st;

    if (service->options->reload == NULL || service->is_stopping) {
        alk__log_say(service->log, ALK_LEVEL_INFO, "nothing to read again", NULL, NULL, "%s", "");
        return;
    }
    alk__notify_reloading();
    alk_scheduler_refresh_zones();
    st = service->options->reload(service->options->reload_context, &config, &error);
    if (st == ALK_OK)
        st = want(service, config, &error);
    if (st != ALK_OK)
        refuse(service, &error);
}

/* ---- ends ---- */

static void take_end(struct service *service, struct task *task) {
    alk_error error = task->error;
    alk_status st = task->status;

    if (task->body == prepare)
        st = take_prepared(service, task, &error);
    if (st < 0)
        fail(service, st, &error);
}

static void collect_finished(struct service *service) {
    struct task **place = &service->tasks;

    while (*place != NULL) {
        struct task *task = *place;

        if (!atomic_load(&task->is_finished)) {
            place = &task->next;
            continue;
        }
        *place = task->next;
        pthread_join(task->thread, NULL);
        take_end(service, task);
        free_task(task);
        place = &service->tasks; /* the list may have grown */
    }
}

/* ---- the main thread ---- */

static void begin_stop(struct service *service) {
    alk__notify("STOPPING=1");
    alk__log_say(service->log, ALK_LEVEL_INFO, "stopping", NULL, NULL, "%s", "");
    stop_tasks(service);
}

static void stop_at_once(struct service *service) {
    if (service->leave_at_us != ALK_NO_TIME)
        return;
    alk__log_say(service->log, ALK_LEVEL_WARNING, "stopping at once", NULL, NULL, "%s", "");
    alk_stop_set(service->at_once);
    service->leave_at_us = alk__monotonic_us() + AT_ONCE_US;
}

static void take_signals(struct service *service) {
    enum alk__signal signal;

    while ((signal = alk__signals_next(&service->signals)) != ALK__SIGNAL_NONE) {
        if (signal == ALK__SIGNAL_STOP)
            begin_stop(service);
        else if (signal == ALK__SIGNAL_AT_ONCE)
            stop_at_once(service);
        else
            reload(service);
    }
}

static void wait_for_news(struct service *service) {
    struct pollfd fds[] = {
        {.fd = service->signals.fd, .events = POLLIN},
        {.fd = service->news_fd, .events = POLLIN},
    };
    bool is_leaving = service->leave_at_us != ALK_NO_TIME;
    uint64_t count;

    poll(fds, 2, is_leaving ? 100 : -1);
    while (read(service->news_fd, &count, sizeof(count)) > 0)
        continue;
    if (is_leaving && alk__monotonic_us() >= service->leave_at_us) {
        alk__log_say(service->log, ALK_LEVEL_ERROR, "left", NULL, NULL, "loops did not end");
        _exit(1); /* a thread that waits for a dead server cannot be joined */
    }
}

static alk_status open_service(struct service *service, alk_error *error) {
    alk_status st;

    service->news_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (service->news_fd < 0)
        return alk__fail(error, ALK_FAILED, "no descriptor: %s", alk__reason_of(errno).text);
    st = alk_stop_new(&service->at_once, error);
    if (st == ALK_OK)
        st = alk__signals_open(&service->signals, error);
    return st;
}

static void close_service(struct service *service) {
    struct generation *next;

    alk_close(service->store);
    if (service->signals.fd >= 0)
        alk__signals_close(&service->signals);
    alk_stop_free(service->at_once);
    if (service->news_fd >= 0)
        close(service->news_fd);
    alk__log_free(service->log);
    for (struct generation *each = service->generations; each != NULL; each = next) {
        next = each->next;
        alk__config_free(each->config);
        alk__free(each);
    }
}

alk_status alk__service_run(const struct alk__service_options *options, alk_error *error) {
    struct service service = {
        .options = options,
        .log = alk__log_new(stderr, NULL),
        .signals = {.fd = -1},
        .news_fd = -1,
        .leave_at_us = ALK_NO_TIME,
        .error = error,
    };
    alk_status st;

    if (service.log == NULL) {
        alk__config_free(options->config);
        return alk__nomem(error);
    }
    set_log(&service, options->config);
    st = open_service(&service, error);
    if (st == ALK_OK)
        st = want(&service, options->config, error);
    else
        alk__config_free(options->config);
    while (service.tasks != NULL) {
        wait_for_news(&service);
        take_signals(&service);
        collect_finished(&service);
    }
    close_service(&service);
    return st == ALK_OK ? service.status : st;
}

alk_status alk__service_once(const struct alk__config *config, bool forget_missed,
                             alk_error *error) {
    const char *set = alk__declared_set(config);
    alk_scheduler_options options = ALK_SCHEDULER_OPTIONS_INIT;
    struct alk__log *log = alk__log_new(stderr, NULL);
    alk_store *store = NULL;
    alk_status st;

    if (log == NULL)
        return alk__nomem(error);
    alk__log_set(log, (alk_level)config->log_level, (enum alk__log_format)config->log_format);
    options.lease_name = config->scheduler_name;
    options.ttl_us = config->ttl_us;
    options.batch = (int)config->batch;
    options.is_once = true;
    options.forget_missed = forget_missed;
    options.event = alk__log_event;
    options.event_context = log;
    st = alk__store_open(config, 0, log, &store, error);
    if (st >= 0 && set != NULL)
        st = alk__declare_once(config, set, store, log, error);
    if (st >= 0)
        st = alk_scheduler_run(store, &options, NULL, error);
    alk_close(store);
    alk__log_free(log);
    return st;
}
