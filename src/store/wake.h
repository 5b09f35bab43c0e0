/* store/wake.h: the engine's half of a wake (run.h): what notices that somebody else committed.
 * wake.c waits; an engine says what to wait for. Each watch has a connection of its own and is used
 * by one thread at a time. */
#ifndef ALK_STORE_WAKE_H
#define ALK_STORE_WAKE_H

#include "store/driver.h"

/* An engine's watch; each engine has its own struct behind it. */
struct alk__watch;

struct alk__channel {
    char name[24];
};

struct alk__wake_driver {
    /* Starts to watch: what is committed after it returned is noticed (S88). *ret_watch NULL with
     * ALK_OK: there is nothing to watch (SQLite in memory, listen=off), calls inside the process
     * and the caller's own poll are all there is. */
    alk_status (*open)(const struct alk__settings *settings, struct alk__watch **ret_watch,
                       alk_error *error);
    void (*close)(struct alk__watch *watch);

    /* Readable when look has something to do; -1: look is called by time only. May change with each
     * look. */
    int (*fd)(const struct alk__watch *watch);

    /* Called when fd is readable or *ret_next_us of the look before has passed. Never waits for
     * long.
     * ret_called   whether something was committed (PostgreSQL: notified) since the look before
     * ret_next_us  the span after which it wants to be called even if fd stays silent; INT64_MAX =
     *              not
     * < 0: the watch is broken; wake.c closes it, opens another after a pause and calls the waiter
     * once (S94, S96). */
    alk_status (*look)(struct alk__watch *watch, bool *ret_called, int64_t *ret_next_us,
                       alk_error *error);

    /* Where wake_others says a topic so that it is heard elsewhere at the commit; NULL: the commit
     * itself is heard. */
    struct alk__channel (*channel)(const struct alk__settings *settings);
};

extern const struct alk__wake_driver alk__wake_sqlite;
extern const struct alk__wake_driver alk__wake_postgres;

#endif
