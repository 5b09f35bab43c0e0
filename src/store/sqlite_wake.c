/* store/sqlite_wake.c: notices commits of other connections and processes: inotify says that the
 * WAL file was written to, PRAGMA data_version that somebody committed. The file changes before
 * the fsync and the commit is visible after it, so the version is read again a number of times
 * after each write. No file is opened here but by SQLite (S11). */
#include <errno.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "store/sqlite.h"
#include "store/wake.h"

/* After a write the version is read at once and again after each of these. */
static const int64_t rungs_us[] = {100,   1000,  2000,  4000,   8000,
                                   16000, 32000, 64000, 128000, 256000};
#define RUNGS (sizeof(rungs_us) / sizeof(*rungs_us))

#define CHECK_US ALK__SECOND /* between looks at whether the file is still the one that is open */
#define POLL_MAX_US (25 * ALK__MS) /* where inotify is missing */

struct alk__watch {
    struct alk__session *session;
    sqlite3_stmt *version;
    int64_t base; /* the version last seen */
    int inotify;  /* -1: not to be had */
    size_t rung;  /* the next of rungs_us */
    int64_t poll_us;
};

static alk_status read_version(struct alk__watch *watch, int64_t *ret_version, alk_error *error) {
    alk__sqlite_start_wait(watch->session);
    int code = sqlite3_step(watch->version);
    alk_status status = code == SQLITE_ROW ? ALK_OK : alk__sqlite_fail(watch->session, code, error);

    if (code == SQLITE_ROW)
        *ret_version = sqlite3_column_int64(watch->version, 0);
    sqlite3_reset(watch->version);
    return status;
}

/* The WAL file is there from the first read on, for as long as the watch has its connection. */
static int watch_wal(const char *path) {
    char wal[4096];
    int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    int length = snprintf(wal, sizeof(wal), "%s-wal", path);

    if (fd >= 0 && length > 0 && (size_t)length < sizeof(wal) &&
        inotify_add_watch(fd, wal, IN_MODIFY | IN_DELETE_SELF | IN_MOVE_SELF) >= 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static void close_watch(struct alk__watch *watch) {
    sqlite3_finalize(watch->version);
    if (watch->session != NULL)
        alk__driver_sqlite.close(watch->session);
    if (watch->inotify >= 0)
        close(watch->inotify);
    alk__free(watch);
}

static alk_status start(struct alk__watch *watch, const struct alk__settings *settings,
                        alk_error *error) {
    alk_status status = alk__driver_sqlite.open(settings, &watch->session, error);

    if (status < 0)
        return status;
    int code = sqlite3_prepare_v2(watch->session->handle, "PRAGMA data_version", -1,
                                  &watch->version, NULL);
    if (code != SQLITE_OK)
        return alk__sqlite_fail(watch->session, code, error);

    /* The first read makes the WAL file where there is none; the second one, behind the watch,
     * is the base. */
    status = read_version(watch, &watch->base, error);
    if (status < 0)
        return status;
    watch->inotify = watch_wal(settings->target);
    return read_version(watch, &watch->base, error);
}

static alk_status open_watch(const struct alk__settings *settings, struct alk__watch **ret_watch,
                             alk_error *error) {
    *ret_watch = NULL;
    if (settings->is_memory || !settings->may_listen)
        return ALK_OK;
    struct alk__watch *watch = alk__alloc(sizeof(*watch));
    if (watch == NULL)
        return alk__nomem(error);
    *watch = (struct alk__watch){.inotify = -1, .rung = RUNGS, .poll_us = ALK__MS};

    alk_status status = start(watch, settings, error);
    if (status < 0) {
        close_watch(watch);
        return status;
    }
    *ret_watch = watch;
    return ALK_OK;
}

static int watch_fd(const struct alk__watch *watch) {
    return watch->inotify;
}

/* Takes all events that are there. */
static void take_events(int fd, bool *ret_written, bool *ret_gone) {
    char events[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
    ssize_t length;

    *ret_written = false;
    *ret_gone = false;
    while (fd >= 0 && (length = read(fd, events, sizeof(events))) > 0) {
        *ret_written = true;
        for (const char *at = events; at < events + length;) {
            const struct inotify_event *event = (const void *)at;
            *ret_gone |= (event->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED)) != 0;
            at += sizeof(*event) + event->len;
        }
    }
}

/* The rungs begin anew with each write and are gone through to the end: two commits may follow
 * each other so closely that the first change is seen before the second one is visible. */
static int64_t next_look(struct alk__watch *watch, bool is_changed) {
    if (watch->inotify >= 0)
        return watch->rung < RUNGS ? rungs_us[watch->rung++] : CHECK_US;
    watch->poll_us = is_changed ? ALK__MS : watch->poll_us + ALK__MS;
    if (watch->poll_us > POLL_MAX_US)
        watch->poll_us = POLL_MAX_US;
    return watch->poll_us;
}

static alk_status look(struct alk__watch *watch, bool *ret_called, int64_t *ret_next_us,
                       alk_error *error) {
    bool is_written;
    bool is_gone;
    int64_t version = 0;

    take_events(watch->inotify, &is_written, &is_gone);
    if (is_gone || !alk__driver_sqlite.is_alive(watch->session))
        return alk__fail(error, ALK_AGAIN, "'%s' was replaced", watch->session->settings->target);
    alk_status status = read_version(watch, &version, error);
    if (status < 0)
        return status;
    if (is_written)
        watch->rung = 0;
    *ret_called = version != watch->base;
    watch->base = version;
    *ret_next_us = next_look(watch, *ret_called);
    return ALK_OK;
}

const struct alk__wake_driver alk__wake_sqlite = {
    .open = open_watch,
    .close = close_watch,
    .fd = watch_fd,
    .look = look,
    .channel = NULL,
};
