/* support/schedules.c: what the tests of schedules, ticks and the scheduler share. */
#include "support/schedules.h"

#include <stdlib.h>

/* ---- events ---- */

static void keep(char *to, size_t size, const char *text) {
    snprintf(to, size, "%s", text);
}

void record_event(const alk_event *event, void *context) {
    struct record *record = context;
    int at = record->count;

    if (at >= RECORD_MAX)
        return;
    struct recorded *recorded = &record->events[at];
    recorded->level = event->level;
    keep(recorded->name, sizeof(recorded->name), event->name);
    keep(recorded->subject, sizeof(recorded->subject), event->subject);
    keep(recorded->owner, sizeof(recorded->owner), event->owner);
    keep(recorded->detail, sizeof(recorded->detail), event->detail);
    keep(recorded->message, sizeof(recorded->message),
         event->error == NULL ? "" : event->error->message);
    recorded->count = event->count;
    recorded->fence = event->fence;
    recorded->fire_at_us = event->fire_at_us;
    recorded->last_fire_at_us = event->last_fire_at_us;
    record->count = at + 1;
}

int record_count(const struct record *record, const char *name, const char *subject) {
    int count = 0;

    for (int i = 0; i < record->count; i++) {
        const struct recorded *event = &record->events[i];
        count += strcmp(event->name, name) == 0 &&
                 (subject == NULL || strcmp(event->subject, subject) == 0);
    }
    return count;
}

const struct recorded *record_last(const struct record *record, const char *name) {
    for (int i = record->count - 1; i >= 0; i--) {
        if (strcmp(record->events[i].name, name) == 0)
            return &record->events[i];
    }
    fail_msg("no event '%s'", name);
    return NULL;
}

/* ---- schedules ---- */

void put(struct scene *scene, const char *name, const char *spec) {
    alk_schedule schedule = ALK_SCHEDULE_INIT;
    char payload[ALK_NAME_BYTES + 16];

    snprintf(payload, sizeof(payload), "\"%s\"", name);
    schedule.name = name;
    schedule.spec = spec;
    schedule.queue = "work";
    schedule.payload = payload;
    schedule.payload_length = strlen(payload);
    ok(scene, alk_schedule_put(scene->conn, &schedule, &scene->error));
}

void make_due(struct scene *scene, const char *name, int64_t back_us) {
    int64_t now_us = 0;

    ok(scene, alk__db_now(scene->conn, &now_us, &scene->error));
    int64_t due_us = now_us - now_us % ALK__SECOND - back_us;

    sql(scene,
        "UPDATE alk_schedule SET anchor_at = %s, created_at = %s, next_fire_at = %s,"
        " last_fire_at = NULL WHERE name = '%s'",
        sql_time(scene, due_us - ALK__DAY), sql_time(scene, due_us - ALK__DAY),
        sql_time(scene, due_us), name);
}

int64_t schedule_number(struct scene *scene, const char *name, const char *column) {
    return sql_number(scene, "SELECT %s FROM alk_schedule WHERE name = '%s'", column, name);
}

int64_t ledger_count(struct scene *scene, const char *name, const char *outcome) {
    return sql_number(scene,
                      "SELECT count(*) FROM alk_schedule_event e JOIN alk_schedule s"
                      " ON s.id = e.schedule_id WHERE s.name = '%s' AND e.outcome = '%s'",
                      name, outcome);
}

int64_t job_count(struct scene *scene, const char *name) {
    return sql_number(scene,
                      "SELECT count(*) FROM alk_job j JOIN alk_schedule s ON s.id = j.schedule_id"
                      " WHERE s.name = '%s'",
                      name);
}

alk_schedule_state schedule_state(struct scene *scene, const char *name) {
    alk_schedule_list list;

    ok(scene, alk_schedule_get(scene->conn, name, &list, &scene->error));
    alk_schedule_state state = list.schedules[0].state;
    alk_schedule_list_free(&list);
    return state;
}

void drop_guards(struct scene *scene) {
    if (scene->engine == ALK_ENGINE_SQLITE) {
        sql(scene, "PRAGMA writable_schema = ON;"
                   "UPDATE sqlite_schema SET sql = replace(replace(sql, ') STRICT', ')'),"
                   " ' NOT NULL', '') WHERE name = 'alk_schedule'");
        sql(scene, "PRAGMA writable_schema = RESET; PRAGMA ignore_check_constraints = ON");
        scene_close(scene);
        scene_reopen(scene);
        return;
    }
    sql(scene,
        "DO $do$ DECLARE c record; BEGIN"
        " FOR c IN SELECT conrelid::regclass AS t, conname FROM pg_constraint"
        " WHERE conrelid = 'alk_schedule'::regclass AND contype = 'c' LOOP"
        " EXECUTE format('ALTER TABLE %%s DROP CONSTRAINT %%I', c.t, c.conname); END LOOP;"
        " FOR c IN SELECT attrelid::regclass AS t, attname FROM pg_attribute WHERE attrelid ="
        " 'alk_schedule'::regclass AND attnum > 1 AND attnotnull LOOP"
        " EXECUTE format('ALTER TABLE %%s ALTER COLUMN %%I DROP NOT NULL', c.t, c.attname);"
        " END LOOP; END $do$");
}

/* ---- ticks ---- */

void ticker_start(struct scene *scene, struct ticker *ticker) {
    *ticker = (struct ticker){.record = calloc(1, sizeof(struct record))};
    assert_non_null(ticker->record);
    ok(scene, alk_lease_acquire(scene->conn, "scheduler", "test", 365 * ALK__DAY, &ticker->lease,
                                &scene->error));
    ok(scene, alk__specs_new(ALK__SPECS_MAX, &ticker->specs, &scene->error));
    ticker->reporter = (struct alk__reporter){record_event, ticker->record, "scheduler"};
    ticker->options = (struct alk__tick_options){&ticker->lease, ticker->specs, &ticker->reporter,
                                                 ALK_SCHEDULER_BATCH_DEFAULT};
}

alk_status ticker_tick(struct scene *scene, struct ticker *ticker) {
    return alk__tick(scene->conn, &ticker->options, &ticker->result, &scene->error);
}

void ticker_end(struct ticker *ticker) {
    alk__specs_free(ticker->specs);
    free(ticker->record);
}
