/* loops/executor.c: the threads that run handlers. One lock, a list of what waits, a list of what
 * is finished, and a descriptor that tells the coordinator. */
#include "loops/executor.h"
#include "base/error.h"
#include "loops/thread.h"
#include <sys/eventfd.h>
#include <unistd.h>

struct alk__executors {
    struct alk__executors_options options;
    pthread_mutex_t lock;
    pthread_cond_t has_work;
    struct alk__attempts waiting;
    struct alk__attempts finished;
    bool is_stopping;
    int fd;
    int started;
    pthread_t threads[];
};

void alk__attempts_add(struct alk__attempts *list, struct alk_attempt *attempt) {
    attempt->next = NULL;
    if (list->last)
        list->last->next = attempt;
    else
        list->first = attempt;
    list->last = attempt;
    list->count++;
}

struct alk_attempt *alk__attempts_take(struct alk__attempts *list) {
    struct alk_attempt *attempt = list->first;
    if (!attempt)
        return NULL;
    list->first = attempt->next;
    if (!list->first)
        list->last = NULL;
    list->count--;
    return attempt;
}

static void begin_attempt(const struct alk__executors *executors, struct alk_attempt *attempt) {
    attempt->started_monotonic_us = alk__monotonic_us();
    if (executors->options.timeout_us > 0)
        attempt->deadline_us =
            alk__add_us(alk__now_us(executors->options.clock), executors->options.timeout_us);
}

/* The next attempt to run, NULL when the threads are to end. Called with the lock held. */
static struct alk_attempt *wait_for_attempt(struct alk__executors *executors) {
    for (;;) {
        struct alk_attempt *attempt = alk__attempts_take(&executors->waiting);
        if (attempt) {
            begin_attempt(executors, attempt);
            return attempt;
        }
        if (executors->is_stopping)
            return NULL;
        pthread_cond_wait(&executors->has_work, &executors->lock);
    }
}

/* What was lost or cancelled while it waited for its turn is not begun: by now it may run
 * elsewhere. */
static alk_outcome run_attempt(const struct alk__executors *executors,
                               struct alk_attempt *attempt) {
    if (alk__attempt_ends(attempt) != 0)
        return ALK_RELEASE;
    return executors->options.handler(attempt, executors->options.context);
}

static void *run_executor(void *context) {
    struct alk__executors *executors = context;
    struct alk_attempt *attempt;
    pthread_mutex_lock(&executors->lock);
    while ((attempt = wait_for_attempt(executors))) {
        pthread_mutex_unlock(&executors->lock);
        attempt->outcome = run_attempt(executors, attempt);
        pthread_mutex_lock(&executors->lock);
        alk__attempts_add(&executors->finished, attempt);
        if (executors->finished.count == 1)
            (void)eventfd_write(executors->fd, 1);
    }
    pthread_mutex_unlock(&executors->lock);
    return NULL;
}

static alk_status start_threads(struct alk__executors *executors, alk_error *error) {
    int count = executors->options.count;
    while (executors->started < count) {
        alk_status status = alk__thread_start(&executors->threads[executors->started], run_executor,
                                              executors, error);
        if (status < 0)
            return alk__wrap(error, status, "executor %d of %d", executors->started + 1, count);
        executors->started++;
    }
    return ALK_OK;
}

alk_status alk__executors_start(const struct alk__executors_options *options,
                                struct alk__executors **ret_executors, alk_error *error) {
    struct alk__executors *executors =
        alk__alloc(sizeof *executors + (size_t)options->count * sizeof(pthread_t));
    if (!executors)
        return alk__nomem(error);
    *executors = (struct alk__executors){.options = *options};
    pthread_mutex_init(&executors->lock, NULL);
    pthread_cond_init(&executors->has_work, NULL);
    executors->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    alk_status status = executors->fd < 0
                            ? alk__fail(error, ALK_AGAIN, "start executors: no descriptor left")
                            : start_threads(executors, error);
    if (status < 0) {
        alk__executors_free(executors);
        return status;
    }
    *ret_executors = executors;
    return ALK_OK;
}

void alk__executors_give(struct alk__executors *executors, struct alk_attempt *attempt) {
    pthread_mutex_lock(&executors->lock);
    alk__attempts_add(&executors->waiting, attempt);
    pthread_cond_signal(&executors->has_work);
    pthread_mutex_unlock(&executors->lock);
}

static void move_all(struct alk__attempts *from, struct alk__attempts *to) {
    struct alk_attempt *attempt;
    while ((attempt = alk__attempts_take(from))) {
        attempt->is_over = true;
        alk__attempts_add(to, attempt);
    }
}

void alk__executors_take_finished(struct alk__executors *executors, struct alk__attempts *list) {
    pthread_mutex_lock(&executors->lock);
    if (executors->finished.count > 0) {
        eventfd_t ignored;
        (void)eventfd_read(executors->fd, &ignored);
        move_all(&executors->finished, list);
    }
    pthread_mutex_unlock(&executors->lock);
}

void alk__executors_take_waiting(struct alk__executors *executors, struct alk__attempts *list) {
    pthread_mutex_lock(&executors->lock);
    move_all(&executors->waiting, list);
    pthread_mutex_unlock(&executors->lock);
}

int alk__executors_fd(const struct alk__executors *executors) {
    return executors->fd;
}

int64_t alk__executors_began_us(struct alk__executors *executors,
                                const struct alk_attempt *attempt) {
    pthread_mutex_lock(&executors->lock);
    int64_t began_us = attempt->started_monotonic_us;
    pthread_mutex_unlock(&executors->lock);
    return began_us;
}

void alk__executors_join(struct alk__executors *executors) {
    pthread_mutex_lock(&executors->lock);
    executors->is_stopping = true;
    pthread_cond_broadcast(&executors->has_work);
    pthread_mutex_unlock(&executors->lock);
    while (executors->started > 0)
        pthread_join(executors->threads[--executors->started], NULL);
}

void alk__executors_free(struct alk__executors *executors) {
    if (!executors)
        return;
    alk__executors_join(executors);
    if (executors->fd >= 0)
        close(executors->fd);
    pthread_cond_destroy(&executors->has_work);
    pthread_mutex_destroy(&executors->lock);
    alk__free(executors);
}
