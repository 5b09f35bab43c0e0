/* alkstore/admin.h: health and maintenance. Specified in docs/spec/operations.md and
 * docs/spec/store.md (S18). */
#ifndef ALKSTORE_ADMIN_H
#define ALKSTORE_ADMIN_H

#include <alkstore/schedule.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What alk_health read, in one read-only call (S18). */
typedef struct alk_health_report {
    const char *engine_version; /* "SQLite 3.40.1", "PostgreSQL 15.18" */
    int64_t schema_version;
    int64_t schema_oldest; /* the oldest library version that may work with it */
    int64_t now_us;        /* the database's clock */
    /* the process's clock minus the database's, half the round trip taken off */
    int64_t skew_us;
    /* run_at of the oldest job that waits and is due, ALK_NO_TIME = none */
    int64_t oldest_due_job_us;
    /* next_fire_at of the oldest schedule that is due and not quarantined, ALK_NO_TIME = none */
    int64_t oldest_due_schedule_us;
    const char *leader; /* owner of the scheduler's lease, "" = nobody leads */
    int64_t leader_fence;
    int64_t leader_expires_at_us;
    size_t quarantined_count;
    const char *const *quarantined; /* names, at most 20 of them */
    size_t newer_count;             /* schedules written by a newer version, untouched */
    void *memory;
} alk_health_report;

/* lease_name: the scheduler's, NULL = the default. ALK_OK; < 0 when the store cannot be used. Freed
 * with alk_health_free. */
ALK_API alk_status alk_health(alk_conn *conn, const char *lease_name, alk_health_report *ret_report,
                              alk_error *error);
ALK_API void alk_health_free(alk_health_report *report);

/* Start with ALK_MAINTENANCE_OPTIONS_INIT. is_once: until one look finds nothing to do. */
typedef struct alk_maintenance_options {
    size_t size;
    bool is_once;
    alk_event_fn event;
    void *event_context;
} alk_maintenance_options;

#define ALK_MAINTENANCE_OPTIONS_INIT                                                               \
    { sizeof(alk_maintenance_options), false, NULL, NULL }

/* Expiry, verdicts of queues that nobody serves, retention and tidying, in bounded steps under
 * their own lease (S209). Every worker and scheduler loop does the same by itself; this is the loop
 * alone. ALK_OK after a stop (or once). */
ALK_API alk_status alk_maintenance_run(alk_store *store, const alk_maintenance_options *options,
                                       alk_stop *stop, alk_error *error);

#ifdef __cplusplus
}
#endif
#endif
