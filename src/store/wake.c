/* store/wake.c: waits until somebody committed. A wake hears of it from this process directly and
 * from others through its engine's watch (wake.h). A watch that breaks is opened again here; until
 * then the caller's own poll is what is left. */
#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "store/store.h"
#include "store/wake.h"

#define RETRY_US ALK__SECOND

struct alk__wake {
    alk_store *store;
    struct alk__wake *next;
    int fd; /* an eventfd: somebody in this process committed */
    bool is_watchless;
    struct alk__watch *watch; /* NULL: is_watchless, or broken until due_us */
    int64_t due_us;           /* on CLOCK_MONOTONIC: look, or open again */
};

/* ---- inside the process ---- */

void alk__wake_all(alk_store *store) {
    pthread_mutex_lock(&store->lock);
    for (struct alk__wake *wake = store->wakes; wake != NULL; wake = wake->next)
        eventfd_write(wake->fd, 1);
    pthread_mutex_unlock(&store->lock);
}

static void add(struct alk__wake *wake) {
    pthread_mutex_lock(&wake->store->lock);
    wake->next = wake->store->wakes;
    wake->store->wakes = wake;
    pthread_mutex_unlock(&wake->store->lock);
}

static void drop(struct alk__wake *wake) {
    struct alk__wake **at = &wake->store->wakes;

    pthread_mutex_lock(&wake->store->lock);
    while (*at != wake)
        at = &(*at)->next;
    *at = wake->next;
    pthread_mutex_unlock(&wake->store->lock);
}

/* The call and what it has to say behind it, where something has to be said. */
static alk_status run_and_say(alk_conn *conn, const struct alk__call *call,
                              const struct alk__text *topics, size_t topic_count,
                              alk_error *error) {
    struct alk__channel channel = conn->store->driver->wake->channel(&conn->store->settings);
    struct alk__arena arena = {0};
    struct alk__value *values = alk__arena_alloc(&arena, 2 * topic_count * sizeof(*values));
    struct alk__call *calls = alk__arena_alloc(&arena, (1 + topic_count) * sizeof(*calls));
    alk_status status = ALK_NOMEM;

    if (values == NULL || calls == NULL) {
        alk__nomem(error);
    } else {
        calls[0] = *call;
        for (size_t i = 0; i < topic_count; i++) {
            values[2 * i] = ALK__Z(channel.name);
            values[2 * i + 1] = ALK__S(topics[i]);
            calls[1 + i] = (struct alk__call){ALK__WAKE_OTHERS, &values[2 * i], 2, NULL};
        }
        status = alk__run_all(conn, calls, 1 + topic_count, NULL, error);
    }
    alk__arena_free(&arena);
    return status;
}

alk_status alk__run_and_wake(alk_conn *conn, const struct alk__call *call,
                             const struct alk__text *topics, size_t topic_count, alk_error *error) {
    bool had_wake = conn->has_wake;

    conn->has_wake = true;
    alk_status status = conn->store->driver->wake->channel == NULL
                            ? alk__run_all(conn, call, 1, NULL, error)
                            : run_and_say(conn, call, topics, topic_count, error);
    if (status < 0)
        conn->has_wake = had_wake;
    return status;
}

alk_status alk__wake_others(alk_conn *conn, const char *topic, alk_error *error) {
    const struct alk__wake_driver *driver = conn->store->driver->wake;
    alk_status status = ALK_OK;

    if (driver->channel != NULL) {
        struct alk__channel channel = driver->channel(&conn->store->settings);
        status = alk__do(conn, ALK__WAKE_OTHERS, NULL, error, ALK__Z(channel.name), ALK__Z(topic));
    }
    if (status < 0)
        return status;
    if (alk_conn_in_tx(conn))
        conn->has_wake = true;
    else
        alk__wake_all(conn->store);
    return ALK_OK;
}

/* ---- the watch ---- */

static const struct alk__wake_driver *driver_of(const struct alk__wake *wake) {
    return wake->store->driver->wake;
}

static void open_watch(struct alk__wake *wake) {
    bool is_open = driver_of(wake)->open(&wake->store->settings, &wake->watch, NULL) >= 0;

    wake->is_watchless = is_open && wake->watch == NULL;
    wake->due_us = alk__monotonic_us();
    if (is_open)
        return;
    wake->watch = NULL;
    wake->due_us += RETRY_US;
}

static void close_watch(struct alk__wake *wake) {
    if (wake->watch != NULL)
        driver_of(wake)->close(wake->watch);
    wake->watch = NULL;
    wake->due_us = alk__add_us(alk__monotonic_us(), RETRY_US);
}

/* Takes what the watch has to say. A new watch calls: what was committed before it began is not
 * known (S94, S96). */
static bool look(struct alk__wake *wake) {
    bool is_called = false;
    int64_t next_us = INT64_MAX;

    if (wake->watch == NULL) {
        open_watch(wake);
        return wake->watch != NULL;
    }
    if (driver_of(wake)->look(wake->watch, &is_called, &next_us, NULL) < 0)
        close_watch(wake);
    else
        wake->due_us = alk__add_us(alk__monotonic_us(), next_us);
    return is_called;
}

alk_status alk__wake_new(alk_store *store, struct alk__wake **ret_wake, alk_error *error) {
    alk_status status = alk__store_check_process(store, error);

    if (status < 0)
        return status;
    struct alk__wake *wake = alk__alloc(sizeof(*wake));
    if (wake == NULL)
        return alk__nomem(error);
    *wake = (struct alk__wake){.store = store, .fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    if (wake->fd < 0) {
        alk__free(wake);
        return alk__fail(error, ALK_AGAIN, "no descriptor for a wake");
    }
    open_watch(wake);
    add(wake);
    *ret_wake = wake;
    return ALK_OK;
}

void alk__wake_free(struct alk__wake *wake) {
    if (wake == NULL || alk__store_check_process(wake->store, NULL) < 0)
        return;
    drop(wake);
    close_watch(wake);
    close(wake->fd);
    alk__free(wake);
}

/* ---- waiting ---- */

enum { FOR_STOP, FOR_EXTRA, FOR_CALL, FOR_WATCH, FOR_ALL };

static void wait_until(const struct alk__wake *wake, struct pollfd *fds, int64_t deadline_us) {
    if (!wake->is_watchless && wake->due_us < deadline_us)
        deadline_us = wake->due_us;
    int64_t left_us = deadline_us - alk__monotonic_us();
    left_us = left_us < 0 ? 0 : left_us;
    struct timespec left = {.tv_sec = (time_t)(left_us / ALK__SECOND),
                            .tv_nsec = (long)(left_us % ALK__SECOND * 1000)};

    fds[FOR_WATCH].fd = wake->watch == NULL ? -1 : driver_of(wake)->fd(wake->watch);
    for (int i = 0; i < FOR_ALL; i++)
        fds[i].revents = 0;
    ppoll(fds, FOR_ALL, &left, NULL);
}

/* A call in this process and the watch's word of the same commit are one wake (S89). */
static bool is_called(struct alk__wake *wake, const struct pollfd *fds) {
    eventfd_t count;
    bool has_call = fds[FOR_CALL].revents != 0 && eventfd_read(wake->fd, &count) == 0;
    bool is_due = !wake->is_watchless && alk__monotonic_us() >= wake->due_us;

    if (fds[FOR_WATCH].revents != 0 || is_due || (has_call && wake->watch != NULL))
        has_call |= look(wake);
    return has_call;
}

enum alk__wake_answer alk__wake_wait(struct alk__wake *wake, const alk_stop *stop, int extra_fd,
                                     int64_t timeout_us) {
    int64_t deadline_us = alk__add_us(alk__monotonic_us(), timeout_us < 0 ? 0 : timeout_us);
    struct pollfd fds[FOR_ALL] = {
        [FOR_STOP] = {.fd = alk_stop_fd(stop), .events = POLLIN},
        [FOR_EXTRA] = {.fd = extra_fd, .events = POLLIN},
        [FOR_CALL] = {.fd = wake->fd, .events = POLLIN},
        [FOR_WATCH] = {.fd = -1, .events = POLLIN},
    };

    for (;;) {
        wait_until(wake, fds, deadline_us);
        if (alk_stop_is_set(stop))
            return ALK__WAKE_STOPPED;
        if (is_called(wake, fds) || fds[FOR_EXTRA].revents != 0)
            return ALK__WAKE_CALLED;
        if (alk__monotonic_us() >= deadline_us)
            return ALK__WAKE_TIME;
    }
}
