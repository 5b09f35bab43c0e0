/* program/lease_run.c: `alk lease run`. */
#include "program/lease_run.h"

#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "program/child.h"
#include "program/signals.h"

struct lease_run {
    char *const *argv;
    struct alk__signals signals;
    int exit_code;
};

/* The process's own environment and the two texts about the lease. */
static char **make_environment(struct alk__arena *memory, const alk_lease *lease) {
    char texts[2][ALK_NAME_BYTES + 32];
    size_t count = 0;
    char **items;

    snprintf(texts[0], sizeof(texts[0]), "ALK_LEASE_NAME=%s", lease->name);
    snprintf(texts[1], sizeof(texts[1]), "ALK_LEASE_FENCE=%lld", (long long)lease->fence);
    while (environ[count] != NULL)
        count++;
    items = alk__arena_alloc(memory, (count + 3) * sizeof(char *));
    if (items == NULL)
        return NULL;
    count = 0;
    for (char **item = environ; *item != NULL; item++) {
        if (strncmp(*item, "ALK_LEASE_", strlen("ALK_LEASE_")) != 0)
            items[count++] = *item;
    }
    for (size_t i = 0; i < 2; i++) {
        items[count] = alk__arena_text(memory, texts[i]);
        if (items[count++] == NULL)
            return NULL;
    }
    return items;
}

static alk_status run_held(const alk_lease *lease, const alk_stop *lost, void *context,
                           alk_error *error) {
    struct lease_run *run = context;
    struct alk__arena memory = {NULL};
    struct alk__child_end end;
    struct alk__child child = {
        .argv = run->argv,
        .environment = make_environment(&memory, lease),
        .is_attached = true,
        .end_fds = {alk_stop_fd(lost), run->signals.fd},
        .kill_fd = -1,
        .grace_us = ALK__CHILD_GRACE_US,
    };
    alk_status st;

    st = child.environment == NULL ? alk__nomem(error) : alk__child_run(&child, &end, error);
    alk__arena_free(&memory);
    if (st == ALK_OK)
        run->exit_code = end.signal != 0 ? 128 + end.signal : end.exit_code;
    return st;
}

alk_status alk__lease_run(alk_store *store, const char *name, int64_t ttl_us, char *const *argv,
                          int *ret_exit_code, alk_error *error) {
    struct lease_run run = {.argv = argv};
    char owner[ALK_NAME_BYTES];
    char host[128] = "";
    alk_status st = alk__signals_open(&run.signals, error);

    if (st != ALK_OK)
        return st;
    gethostname(host, sizeof(host) - 1);
    snprintf(owner, sizeof(owner), "%s/%ld", host, (long)getpid());
    st = alk_lease_hold(store, name, owner, ttl_us, 0, NULL, run_held, &run, error);
    alk__signals_close(&run.signals);
    if (st == ALK_OK)
        *ret_exit_code = run.exit_code;
    return st;
}
