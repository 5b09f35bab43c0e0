/* core/health.c: one look at a store for people and probes (S18). Writes nothing. */
#include <alkstore/admin.h>

#include "base/error.h"
#include "core/plan.h"
#include "store/run.h"

#define NAMES_MAX 20

struct memory {
    struct alk__arena arena;
};

static const char *copied(struct alk__arena *arena, struct alk__text text) {
    return text.bytes == NULL ? "" : alk__arena_copy(arena, text.bytes, text.length);
}

static bool fill(alk_health_report *report, struct alk__arena *arena,
                 const struct alk__row_health *row, const struct alk__rows *names) {
    const char **quarantined = alk__arena_alloc(arena, (names->count + 1) * sizeof(*quarantined));

    report->schema_version = row->version;
    report->schema_oldest = row->oldest;
    report->now_us = row->now;
    report->oldest_due_job_us = row->oldest_job;
    report->oldest_due_schedule_us = row->oldest_schedule;
    report->leader = copied(arena, row->leader);
    report->leader_fence = row->leader_fence == ALK__NULL ? 0 : row->leader_fence;
    report->leader_expires_at_us = row->leader_expires;
    report->newer_count = (size_t)row->newer;
    /* The names may be one look newer than the count. */
    report->quarantined_count =
        (size_t)row->quarantined < names->count ? names->count : (size_t)row->quarantined;
    report->quarantined = quarantined;
    for (size_t i = 0; quarantined != NULL && i < names->count; i++) {
        quarantined[i] = copied(arena, ALK__ROW(names, alk__row_name, i)->name);
        if (quarantined[i] == NULL)
            return false;
    }
    return quarantined != NULL && report->leader != NULL;
}

/* How far the process's clock is ahead of the database's, the way there and back shared out
 * evenly. */
static int64_t skew_us(alk_conn *conn, int64_t before_us, int64_t database_us) {
    int64_t after_us = alk__now_us(alk__store_clock(alk__conn_store(conn)));

    return before_us + (after_us - before_us) / 2 - database_us;
}

static alk_status read(alk_conn *conn, const char *lease_name, alk_health_report *report,
                       struct alk__rows *row, struct alk__rows *names, alk_error *error) {
    int64_t before_us = alk__now_us(alk__store_clock(alk__conn_store(conn)));
    alk_status st =
        alk__do(conn, ALK__HEALTH, row, error, ALK__Z(lease_name), ALK__I(ALK__SPEC_VERSION));

    if (st >= 0 && row->count == 0)
        st = alk__fail(error, ALK_NO_STORE, "the store has no version row");
    if (st >= 0 && ALK__ROW(row, alk__row_health, 0)->row.unreadable != NULL)
        st = alk__fail(error, ALK_UNREADABLE, "%s",
                       ALK__ROW(row, alk__row_health, 0)->row.unreadable);
    if (st < 0)
        return st;
    report->skew_us = skew_us(conn, before_us, ALK__ROW(row, alk__row_health, 0)->now);
    return alk__do(conn, ALK__HEALTH_QUARANTINED, names, error, ALK__I(NAMES_MAX));
}

alk_status alk_health(alk_conn *conn, const char *lease_name, alk_health_report *ret_report,
                      alk_error *error) {
    struct alk__rows row = {0};
    struct alk__rows names = {0};
    alk_health_report report = {0};
    struct memory *memory = NULL;

    if (lease_name == NULL)
        lease_name = ALK_SCHEDULER_LEASE_DEFAULT;
    alk_status st = alk__name_check("lease", lease_name, error);
    if (st >= 0)
        st = read(conn, lease_name, &report, &row, &names, error);
    if (st >= 0) {
        memory = alk__alloc(sizeof(*memory));
        if (memory == NULL)
            st = alk__nomem(error);
    }
    if (st >= 0) {
        *memory = (struct memory){0};
        report.memory = memory;
        report.engine_version = alk__arena_text(&memory->arena, alk__conn_version(conn));
        if (!fill(&report, &memory->arena, ALK__ROW(&row, alk__row_health, 0), &names) ||
            report.engine_version == NULL)
            st = alk__nomem(error);
    }
    alk__rows_free(&row);
    alk__rows_free(&names);
    if (st < 0) {
        alk_health_free(&report);
        return alk__wrap(error, st, "health");
    }
    *ret_report = report;
    return ALK_OK;
}

void alk_health_free(alk_health_report *report) {
    if (report == NULL)
        return;
    struct memory *memory = report->memory;
    if (memory != NULL) {
        alk__arena_free(&memory->arena);
        alk__free(memory);
    }
    *report = (alk_health_report){0};
}
