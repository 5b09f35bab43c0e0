/* loops/scheduler beside one schedule that holds any value in any column, where nothing keeps it
 * out. */
#include "support/leaders.h"

/* The values that a column may be found with, as the engine has them; at most eight. */
static const char *absurd_value(struct scene *scene, const char *type, int n) {
    static const char *const sqlite[] = {
        "NULL", "0",     "-1",   "9223372036854775807", "-9223372036854775807 - 1",
        "'x'",  "x'ff'", "1e300"};
    static const char *const numbers[] = {"NULL", "0", "-1", "2147483647", "-2147483648"};
    static const char *const times[] = {
        "NULL", "'-infinity'", "'infinity'", "'4713-01-01 BC'", "'294276-12-31'", "'1970-01-01'"};
    static const char *const spans[] = {
        "NULL", "'0'", "'-1 s'", "'178000000 years'", "'-178000000 years'", "'292000 years'"};
    static const char *const texts[] = {"NULL", "''", "'x'", "repeat('x', 100000)"};
#define OF(list) (n < (int)(sizeof(list) / sizeof(*(list))) ? (list)[n] : NULL)
    if (scene->engine == ALK_ENGINE_SQLITE)
        return OF(sqlite);
    if (strcmp(type, "text") == 0)
        return OF(texts);
    if (strncmp(type, "timestamp", 9) == 0)
        return OF(times);
    if (strcmp(type, "interval") == 0)
        return OF(spans);
    if (strcmp(type, "bigint") == 0 && n == 5)
        return "9223372036854775807";
    if (strcmp(type, "json") == 0)
        return n == 0 ? "NULL" : NULL;
    return strcmp(type, "smallint") == 0 ? n < 3 ? numbers[n] : NULL : OF(numbers);
#undef OF
}

static void try_value(struct scene *scene, struct leader *leader, const char *column,
                      const char *value) {
    static const char *const states[] = {
        "priority = priority", "paused_at = created_at, pause_until = created_at",
        "quarantined_at = created_at, quarantine_from = created_at, quarantine_count = 1"};

    for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
        put(scene, "bad", "0 12 * * *");
        put(scene, "good", "@every 10s");
        make_due(scene, "good", 0);
        sql(scene,
            "UPDATE alk_schedule SET zone_fingerprint = NULL, max_fires = 1000,"
            " next_fire_at = created_at, last_fire_at = created_at, %s WHERE name = 'bad'",
            states[i]);
        sql(scene, "UPDATE alk_schedule SET %s = %s WHERE name = 'bad'", column, value);
        leader->scheduler.repaired_us = 0;
        leader->scheduler.wants[ALK__SWEEP_ZONES] = true;
        leader->scheduler.wants[ALK__SWEEP_REARM] = true;
        leader->scheduler.sweep_at_us = 0;
        leader->scheduler.stepped_us = scene_now(scene);
        leader_age(leader, LEADER_TTL_US / 3);
        alk_status status;
        do
            status = leader_step(scene, leader);
        while (status == ALK_OK && leader->wait_us == 0);
        if (status != ALK_OK || leader->scheduler.failures > 0 || job_count(scene, "good") != 1)
            fail_msg("%s = %s, %s: %s", column, value, states[i], scene->error.message);
        sql(scene, "DELETE FROM alk_schedule; DELETE FROM alk_schedule_event; DELETE FROM alk_job");
    }
}

/* Name and type of each but the id. */
static int read_columns(struct scene *scene, char columns[64][96]) {
    const char *query =
        scene->engine == ALK_ENGINE_SQLITE
            ? "SELECT name || ' ' || type FROM pragma_table_info('alk_schedule')"
              " WHERE name <> 'id' ORDER BY cid LIMIT 1 OFFSET "
            : "SELECT attname || ' ' || format_type(atttypid, NULL) FROM pg_attribute"
              " WHERE attrelid = 'alk_schedule'::regclass AND attnum > 1"
              " ORDER BY attnum LIMIT 1 OFFSET ";
    int64_t count =
        sql_number(scene, scene->engine == ALK_ENGINE_SQLITE
                              ? "SELECT count(*) - 1 FROM pragma_table_info('alk_schedule')"
                              : "SELECT count(*) - 1 FROM pg_attribute WHERE attrelid ="
                                " 'alk_schedule'::regclass AND attnum > 0");

    for (int i = 0; i < count && i < 64; i++) {
        char text[400];
        snprintf(text, sizeof(text), "%s%d", query, i);
        snprintf(columns[i], sizeof(columns[i]), "%s", sql_text(scene, "%s", text));
    }
    return (int)count;
}

/* S138, S141: whatever a column holds, in a schedule that is due, whose pause is over, or that is
 * in quarantine: the one beside it fires, and the loop goes on, also over the zone files and the
 * clock. */
static void no_value_in_any_column_stops_the_others(struct scene *scene) {
    struct leader leader;
    char columns[64][96];
    int count;

    drop_guards(scene);
    count = read_columns(scene, columns);
    assert_in_range(count, 40, 60);
    leader_new(scene, &leader, "scheduler", "test");
    leader_settle(scene, &leader);
    for (int i = 0; i < count; i++) {
        const char *type = strchr(columns[i], ' ') + 1;
        const char *value;
        columns[i][type - 1 - columns[i]] = '\0';
        for (int n = 0; (value = absurd_value(scene, type, n)) != NULL; n++)
            try_value(scene, &leader, columns[i], value);
    }
    leader_free(&leader);
}

static const struct scene_test tests[] = {
    BOTH(no_value_in_any_column_stops_the_others),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
