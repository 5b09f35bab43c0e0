/* program/declare.c: a configuration's schedules on their way into the store. */
#include "program/declare.h"

#include "base/error.h"
#include "program/supervise.h"

const char *alk__declared_set(const struct alk__config *config) {
    if (config->set != NULL)
        return config->set;
    return config->schedule_count > 0 ? ALK__SET_DEFAULT : NULL;
}

alk_status alk__declare(const struct alk__config *config, const char *set, alk_conn *conn,
                        bool is_dry_run, alk_apply_result *ret_result, alk_error *error) {
    return alk_schedule_apply(conn, set, config->schedules, config->schedule_count, is_dry_run,
                              ret_result, error);
}

/* Those given come first and in their order, so that a section has the place of its change. */
static void log_changes(const struct alk__config *config, const alk_apply_result *result,
                        struct alk__log *log) {
    static const char *const names[] = {
        [ALK_APPLY_UNCHANGED] = NULL,
        [ALK_APPLY_ADDED] = "schedule added",
        [ALK_APPLY_CHANGED] = "schedule changed",
        [ALK_APPLY_REMOVED] = "schedule removed",
    };

    for (size_t i = 0; i < result->count; i++) {
        const alk_apply_change *change = &result->changes[i];

        if (names[change->action] == NULL)
            continue;
        alk__log_say(log, ALK_LEVEL_INFO, names[change->action], change->name, NULL, "%s", "");
        if (i < config->schedule_count && config->sections[i].warning[0] != '\0')
            alk__log_say(log, ALK_LEVEL_WARNING, "schedule surprising", change->name, NULL, "%s",
                         config->sections[i].warning);
    }
}

alk_status alk__declare_once(const struct alk__config *config, const char *set, alk_store *store,
                             struct alk__log *log, alk_error *error) {
    alk_apply_result result = {.count = 0};
    alk_conn *conn = NULL;
    alk_status st = alk_conn_get(store, &conn, error);

    if (st >= 0)
        st = alk__declare(config, set, conn, false, &result, error);
    alk_conn_put(conn);
    if (st < 0)
        return st;
    log_changes(config, &result, log);
    alk_apply_result_free(&result);
    return ALK_OK;
}

alk_status alk__declare_await(const struct alk__config *config, const char *set, alk_store *store,
                              alk_stop *stop, struct alk__log *log, alk_error *error) {
    for (int64_t failures = 1; !alk_stop_is_set(stop); failures++) {
        alk_status st = alk__declare_once(config, set, store, log, error);

        if (st >= 0 || alk_status_class(st) != ALK_CLASS_TRANSIENT)
            return st;
        alk__log_say(log, ALK_LEVEL_WARNING, "waiting to state schedules", set, error, "%s", "");
        alk__stop_wait(stop, alk_respawn_us(failures));
    }
    return ALK_EMPTY;
}
