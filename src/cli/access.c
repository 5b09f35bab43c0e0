/* cli/access.c: a command's configuration, and its connection to the store. */
#include "cli/command.h"
#include "cli/exit.h"
#include "program/supervise.h"

alk_status alk__command_config(const struct alk__arguments *arguments, const char *path,
                               struct alk__config **ret_config, alk_error *error) {
    const char *json = arguments->is_json ? "json" : NULL; /* what alk run and work say is a log */
    const struct alk__override overrides[] = {
        {"store", arguments->store},
        {"log-level", arguments->log_level},
        {"log-format", arguments->log_format != NULL ? arguments->log_format : json},
    };

    return alk__config_load(path, overrides, sizeof(overrides) / sizeof(overrides[0]), ret_config,
                            error);
}

alk_status alk__access_open(const struct alk__arguments *arguments, struct alk__access *access,
                            alk_error *error) {
    struct alk__config *config = NULL;
    alk_status st = alk__command_config(arguments, NULL, &config, error);

    *access = (struct alk__access){NULL, NULL};
    if (st != ALK_OK)
        return st;
    st = alk__store_open(config, 0, NULL, &access->store, error);
    if (st >= 0)
        st = alk_conn_get(access->store, &access->conn, error);
    alk__config_free(config);
    return st;
}

void alk__access_close(struct alk__access *access) {
    alk_conn_put(access->conn);
    alk_close(access->store);
}

int alk__with_store(const struct alk__arguments *arguments, alk__access_fn function) {
    struct alk__access access;
    alk_error error = ALK_ERROR_INIT;
    alk_status st = alk__access_open(arguments, &access, &error);

    if (st >= 0)
        st = function(arguments, access.conn, &error);
    alk__access_close(&access);
    return st < 0 || st == ALK_ABSENT ? alk__exit_report(st, &error) : ALK__EXIT_OK;
}

void alk__say_more(const struct alk__arguments *arguments, size_t count, size_t limit) {
    if (count < limit || arguments->is_json)
        return;
    fflush(stdout);
    fprintf(stderr, "alk: there may be more than these %zu (--limit N)\n", limit);
}
