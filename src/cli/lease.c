/* cli/lease.c: `alk lease list`, `break` and `run`. */
#include "base/clock.h"
#include "base/duration.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/output.h"
#include "program/lease_run.h"
#include "program/supervise.h"

#define LEASE_TTL_US (30 * ALK__SECOND)

static const char *name_of(const void *row) {
    return ((const alk_lease *)row)->name;
}

static const char *owner_of(const void *row) {
    return ((const alk_lease *)row)->owner;
}

#define IN(field) offsetof(alk_lease, field)

/* clang-format off */
static const struct alk__column columns[] = {
    {"name", ALK__COLUMN_TEXT, 0, true, name_of},
    {"owner", ALK__COLUMN_TEXT, 0, true, owner_of},
    {"fence", ALK__COLUMN_INTEGER, IN(fence), true, NULL},
    {"acquired_at", ALK__COLUMN_TIME, IN(acquired_at_us), true, NULL},
    {"expires_at", ALK__COLUMN_TIME, IN(expires_at_us), true, NULL},
    {"ttl_us", ALK__COLUMN_DURATION, IN(ttl_us), false, NULL},
};
/* clang-format on */

static struct alk__listing rows_of(const alk_lease *leases, size_t count, int64_t now_us) {
    return (struct alk__listing){.columns = columns,
                                 .column_count = ALK__COUNT(columns),
                                 .rows = leases,
                                 .row_bytes = sizeof(alk_lease),
                                 .count = count,
                                 .now_us = now_us};
}

static alk_status list_leases(const struct alk__arguments *arguments, alk_conn *conn,
                              alk_error *error) {
    alk_lease_list list = {.count = 0};
    alk_status st = alk_lease_list_get(conn, &list, error);
    struct alk__listing rows;

    if (st < 0)
        return st;
    rows = rows_of(list.leases, list.count, list.now_us);
    st = alk__print_list(&rows, arguments->is_json, error);
    alk_lease_list_free(&list);
    return st;
}

static alk_status break_lease(const struct alk__arguments *arguments, alk_conn *conn,
                              alk_error *error) {
    const char *name = arguments->operands.items[0];
    alk_lease lease;
    alk_status st = alk_lease_break(conn, name, &lease, error);

    if (st == ALK_ABSENT)
        return alk__fail(error, ALK_ABSENT, "nobody holds the lease '%s'", name);
    if (st < 0)
        return st;
    if (arguments->is_json) {
        struct alk__listing rows = rows_of(&lease, 1, 0);

        return alk__print_one(&rows, true, error);
    }
    printf("%s: taken from '%s' (fence %lld)\n", name, lease.owner, (long long)lease.fence);
    return ALK_OK;
}

static int run_list(const struct alk__arguments *arguments) {
    return alk__with_store(arguments, list_leases);
}

static int run_break(const struct alk__arguments *arguments) {
    return alk__with_store(arguments, break_lease);
}

/* The library renews from a thread of its own: no connection is held here while the command runs.
 * */
static int run_command(const struct alk__arguments *arguments) {
    struct alk__config *config = NULL;
    alk_store *store = NULL;
    alk_error error = ALK_ERROR_INIT;
    int code = ALK__EXIT_OK;
    alk_status st = alk__command_config(arguments, NULL, &config, &error);

    if (st == ALK_OK)
        st = alk__store_open(config, 0, NULL, &store, &error);
    if (st == ALK_OK)
        st = alk__lease_run(store, arguments->operands.items[0],
                            alk__given(arguments->ttl_us, LEASE_TTL_US), arguments->tail.items,
                            &code, &error);
    alk_close(store);
    alk__config_free(config);
    return st == ALK_OK ? code : alk__exit_report(st, &error);
}

/* clang-format off */
static const struct alk__option run_options[] = {
    {"ttl", "D", "how long it lasts if this machine dies; 30s unless given", ALK__OPTION_DURATION, offsetof(struct alk__arguments, ttl_us), ALK__SECOND, 3650 * ALK__DAY},
    {.name = NULL},
};
/* clang-format on */

const struct alk__command alk__command_lease_list = {
    .name = "lease list",
    .summary = "the leases that are held, by whom and since when",
    .usage = "",
    .examples = {{"alk lease list", "for people"},
                 {"alk lease list --json | jq -r .owner", "for a script"}},
    .run = run_list,
};

const struct alk__command alk__command_lease_break = {
    .name = "lease break",
    .summary = "take a lease away from whoever holds it",
    .usage = "NAME",
    .details =
        "Its owner notices at its next renewal. Work that compares fences is safe meanwhile.",
    .examples = {{"alk lease break scheduler", "the leader steps down"},
                 {"alk lease break backup --json", "prints who had it"}},
    .least = 1,
    .most = 1,
    .run = run_break,
};

const struct alk__command alk__command_lease_run = {
    .name = "lease run",
    .summary = "run a command while holding a lease",
    .usage = "NAME [--ttl D] -- COMMAND [ARG...]",
    .details =
        "Ends with the command's exit code; with 4, and without running it, when the lease is "
        "held.\n"
        "When the lease is lost the command gets TERM, and KILL after 10 s. ALK_LEASE_NAME and\n"
        "ALK_LEASE_FENCE are in its environment.",
    .examples = {{"alk lease run backup -- ./backup.sh", "on one machine at a time"},
                 {"alk lease run backup --ttl 2m -- ./backup.sh", "waits longer for a dead one"}},
    .options = run_options,
    .least = 1,
    .most = 1,
    .has_tail = true,
    .run = run_command,
};
