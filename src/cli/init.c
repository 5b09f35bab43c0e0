/* cli/init.c: `alk init`. */
#include <string.h>

#include "base/error.h"
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/output.h"

static alk_status print(alk_store *store, bool is_json, alk_error *error) {
    alk_health_report report;
    struct alk__record record;
    alk_conn *conn = NULL;
    alk_status st = alk_conn_get(store, &conn, error);

    if (st >= 0)
        st = alk_health(conn, NULL, &report, error);
    alk_conn_put(conn);
    if (st < 0)
        return st;
    if (is_json) {
        alk__record_start(&record);
        alk__record_text(&record, "store", alk_store_url(store));
        alk__record_text(&record, "engine", report.engine_version);
        alk__record_number(&record, "schema", report.schema_version);
        alk__record_end(&record);
    } else {
        printf("the store '%s' is ready (%s, schema %lld)\n", alk_store_url(store),
               report.engine_version, (long long)report.schema_version);
    }
    alk_health_free(&report);
    return ALK_OK;
}

static bool is_in_memory(const char *url) {
    return strcmp(url, ":memory:") == 0 || strncmp(url, "sqlite::memory:", 15) == 0;
}

static alk_status create(const struct alk__config *config, bool is_json, alk_error *error) {
    alk_store_options options = ALK_STORE_OPTIONS_INIT;
    alk_store *store = NULL;
    alk_status st;

    if (is_in_memory(config->store_url))
        return alk__fail(error, ALK_INVALID,
                         "a store in memory ends with the command that made it (name a file)");
    options.schema = config->schema;
    options.durability = (alk_durability)config->durability;
    st = alk_open(config->store_url, &options, &store, error);
    if (st >= 0)
        st = print(store, is_json, error);
    alk_close(store);
    return st;
}

static int run(const struct alk__arguments *arguments) {
    struct alk__config *config = NULL;
    alk_error error = ALK_ERROR_INIT;
    alk_status st = alk__command_config(arguments, NULL, &config, &error);

    if (st == ALK_OK)
        st = create(config, arguments->is_json, &error);
    alk__config_free(config);
    return st < 0 ? alk__exit_report(st, &error) : ALK__EXIT_OK;
}

const struct alk__command alk__command_init = {
    .name = "init",
    .summary = "make the store, or bring its schema up to date",
    .usage = "",
    .details = "Doing it again changes nothing.",
    .examples = {{"alk init", "a SQLite file alk.db in this folder"},
                 {"alk init --store 'postgresql://db/app?schema=alk'", "a schema in a database"}},
    .run = run,
};
