/* A host's own PostgreSQL connection, joined: what commits with what, when it is refused, and
 * that it is left as it was. */
#include <libpq-fe.h>

#include "support/server.h"
#include "support/test.h"

/* A host beside the scene: its connection, ours on top of it. */
struct host {
    PGconn *postgres;
    alk_conn *conn;
};

static void host_open(struct host *host) {
    host->postgres = server_connect(server_needed());
    host->conn = NULL;
}

static void host_join(struct scene *scene, struct host *host) {
    host_open(host);
    ok(scene, alk_conn_join_postgres(scene->store, host->postgres, &host->conn, &scene->error));
}

static void host_close(struct host *host) {
    alk_conn_put(host->conn);
    PQfinish(host->postgres);
}

/* Takes the lease 'joined' for a minute through the connection. */
static alk_status take_lease(struct scene *scene, alk_conn *conn) {
    alk_lease lease;

    return alk_lease_acquire(conn, "joined", "host", ALK__MINUTE, &lease, &scene->error);
}

static int64_t leases(struct scene *scene) {
    return sql_number(scene, "SELECT count(*) FROM alk_lease WHERE owner IS NOT NULL");
}

/* ---- one transaction ---- */

/* S31: what the library did is in the host's transaction. */
static void a_rollback_of_the_host_leaves_no_trace(struct scene *scene) {
    struct host host;

    host_join(scene, &host);
    server_do(host.postgres, "CREATE TEMPORARY TABLE own (n int)");
    server_do(host.postgres, "BEGIN; INSERT INTO own VALUES (1)");
    ok(scene, take_lease(scene, host.conn));
    assert_int_equal(leases(scene), 0);
    server_do(host.postgres, "ROLLBACK");
    assert_int_equal(leases(scene), 0);
    assert_int_equal(server_number(host.postgres, "SELECT count(*) FROM own"), 0);

    server_do(host.postgres, "BEGIN; INSERT INTO own VALUES (1)");
    ok(scene, take_lease(scene, host.conn));
    server_do(host.postgres, "COMMIT");
    assert_int_equal(leases(scene), 1);
    assert_int_equal(server_number(host.postgres, "SELECT count(*) FROM own"), 1);
    host_close(&host);
}

/* S31, S32: without a transaction of the host's a call is one by itself. */
static void without_a_transaction_a_call_commits_by_itself(struct scene *scene) {
    struct host host;

    host_join(scene, &host);
    ok(scene, take_lease(scene, host.conn));
    assert_int_equal(leases(scene), 1);
    assert_false(alk_conn_in_tx(host.conn));
    host_close(&host);
}

/* S31b: giving it back ends nothing of the host's. */
static void giving_it_back_leaves_the_hosts_transaction_open(struct scene *scene) {
    struct host host;

    host_join(scene, &host);
    server_do(host.postgres, "BEGIN");
    ok(scene, take_lease(scene, host.conn));
    alk_conn_put(host.conn);
    host.conn = NULL;
    assert_int_equal(PQtransactionStatus(host.postgres), PQTRANS_INTRANS);
    server_do(host.postgres, "COMMIT");
    assert_int_equal(leases(scene), 1);
    host_close(&host);
}

/* S33: as PostgreSQL does, and the error says so. */
static void an_engine_error_aborts_the_hosts_transaction_and_says_so(struct scene *scene) {
    struct host host;

    host_join(scene, &host);
    server_do(host.postgres, "BEGIN");
    sql(scene, "ALTER TABLE alk_lease RENAME TO elsewhere");
    assert_true(take_lease(scene, host.conn) < 0);
    assert_contains(scene->error.message, "the transaction is aborted");
    assert_contains(scene->error.message, "42P01");
    assert_int_equal(PQtransactionStatus(host.postgres), PQTRANS_INERROR);
    server_do(host.postgres, "ROLLBACK");
    sql(scene, "ALTER TABLE alk_elsewhere RENAME TO lease");
    ok(scene, take_lease(scene, host.conn));
    host_close(&host);
}

/* S33: what is refused for its arguments does not touch the transaction. */
static void a_refused_argument_leaves_the_hosts_transaction_usable(struct scene *scene) {
    struct host host;
    alk_lease lease;

    host_join(scene, &host);
    server_do(host.postgres, "BEGIN");
    expect(scene, ALK_INVALID,
           alk_lease_acquire(host.conn, "", "host", ALK__MINUTE, &lease, &scene->error));
    assert_int_equal(PQtransactionStatus(host.postgres), PQTRANS_INTRANS);
    host_close(&host);
}

/* ---- refusals ---- */

static void set_encoding(PGconn *host) {
    assert_int_equal(PQsetClientEncoding(host, "LATIN1"), 0);
}

static void send_query(PGconn *host) {
    assert_int_equal(PQsendQuery(host, "SELECT 1"), 1);
}

static void start_copy(PGconn *host) {
    PGresult *result = PQexec(host, "COPY (SELECT 1) TO STDOUT");

    assert_int_equal(PQresultStatus(result), PGRES_COPY_OUT);
    PQclear(result);
}

static void fail_transaction(PGconn *host) {
    server_do(host, "BEGIN");
    PQclear(PQexec(host, "SELECT 1 / 0"));
    assert_int_equal(PQtransactionStatus(host), PQTRANS_INERROR);
}

static void enter_pipeline(PGconn *host) {
    assert_int_equal(PQenterPipelineMode(host), 1);
}

static void lose(PGconn *host) {
    PQclear(PQexec(host, "SELECT pg_terminate_backend(pg_backend_pid())"));
    assert_int_equal(PQstatus(host), CONNECTION_BAD);
}

static const struct refusal {
    void (*make)(PGconn *host);
    const char *words;
} refusals[] = {
    {set_encoding, "client_encoding is not UTF8"},
    {send_query, "a query in flight"},
    {start_copy, "a query in flight"},
    {fail_transaction, "has failed"},
    {enter_pipeline, "in pipeline mode"},
    {lose, "not connected"},
};

#define REFUSALS (sizeof(refusals) / sizeof(refusals[0]))

/* S31b */
static void a_host_that_is_not_ready_is_refused(struct scene *scene) {
    for (size_t i = 0; i < REFUSALS; i++) {
        struct host host;
        host_open(&host);
        refusals[i].make(host.postgres);
        expect(scene, ALK_USAGE,
               alk_conn_join_postgres(scene->store, host.postgres, &host.conn, &scene->error));
        assert_contains(scene->error.message, refusals[i].words);
        assert_null(host.conn);
        host_close(&host);
    }
}

/* S31b: and so is one that became so after it was joined; it is left alone. */
static void a_host_that_is_not_ready_any_more_is_refused_at_the_call(struct scene *scene) {
    for (size_t i = 0; i < REFUSALS; i++) {
        struct host host;
        host_join(scene, &host);
        refusals[i].make(host.postgres);
        PGTransactionStatusType before = PQtransactionStatus(host.postgres);
        assert_true(take_lease(scene, host.conn) < 0);
        assert_int_equal(PQtransactionStatus(host.postgres), before);
        host_close(&host);
    }
    assert_int_equal(leases(scene), 0);
}

/* S31b: mended, it is welcome again. */
static void a_query_in_flight_is_not_disturbed(struct scene *scene) {
    struct host host;

    host_join(scene, &host);
    send_query(host.postgres);
    expect(scene, ALK_USAGE, take_lease(scene, host.conn));
    PGresult *result = PQgetResult(host.postgres);
    assert_string_equal(PQgetvalue(result, 0, 0), "1");
    PQclear(result);
    assert_null(PQgetResult(host.postgres));
    ok(scene, take_lease(scene, host.conn));
    host_close(&host);
}

/* S17 */
static void a_host_on_a_database_that_is_not_utf8_is_refused(struct scene *scene) {
    struct host host = {NULL, NULL};
    PGconn *beside = server_connect(server_needed());
    const char *keywords[] = {"dbname", "dbname", "client_encoding", NULL};
    const char *values[] = {server_needed(), NULL, "UTF8", NULL};
    char name[64];

    snprintf(name, sizeof(name), "not_utf8_%d", (int)PQbackendPID(beside));
    values[1] = name;
    server_do(beside,
              "CREATE DATABASE %s ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'",
              name);
    host.postgres = PQconnectdbParams(keywords, values, 1);
    assert_int_equal(PQstatus(host.postgres), CONNECTION_OK);
    expect(scene, ALK_FAILED,
           alk_conn_join_postgres(scene->store, host.postgres, &host.conn, &scene->error));
    assert_contains(scene->error.message, "LATIN1");
    host_close(&host);
    server_do(beside, "DROP DATABASE %s", name);
    PQfinish(beside);
}

/* ---- as it was ---- */

#define SETTINGS                                                                                   \
    "SELECT ('x' || left(md5(string_agg(name || '=' || setting, ';' ORDER BY name)), "             \
    "15))::bit(60)::bigint FROM pg_settings"

/* S31b: nothing is set on it, nothing stays prepared, its mode is its own. */
static void the_host_is_left_as_it_was(struct scene *scene) {
    struct host host;

    for (int is_nonblocking = 0; is_nonblocking < 2; is_nonblocking++) {
        host_join(scene, &host);
        int64_t settings = server_number(host.postgres, SETTINGS);
        assert_int_equal(PQsetnonblocking(host.postgres, is_nonblocking), 0);
        assert_true(take_lease(scene, host.conn) >= 0);
        assert_true(alk__db_now(host.conn, &(int64_t){0}, &scene->error) >= 0);
        assert_int_equal(PQisnonblocking(host.postgres), is_nonblocking);
        assert_int_equal(PQpipelineStatus(host.postgres), PQ_PIPELINE_OFF);
        assert_int_equal(PQtransactionStatus(host.postgres), PQTRANS_IDLE);
        assert_int_equal(PQsetnonblocking(host.postgres, 0), 0);
        assert_true(server_number(host.postgres, SETTINGS) == settings);
        assert_int_equal(
            server_number(host.postgres, "SELECT count(*) FROM pg_prepared_statements"), 0);
        host_close(&host);
    }
}

/* S31b: named statements would be gone, and their use would abort the host's transaction. */
static void a_host_may_discard_all(struct scene *scene) {
    struct host host;

    host_join(scene, &host);
    ok(scene, take_lease(scene, host.conn));
    server_do(host.postgres, "DISCARD ALL");
    server_do(host.postgres, "BEGIN");
    assert_true(take_lease(scene, host.conn) >= 0);
    server_do(host.postgres, "COMMIT");
    host_close(&host);
}

/* S31b: texts of times follow the host's settings, binary ones do not. */
static void the_hosts_styles_change_no_time(struct scene *scene) {
    struct host host;

    host_join(scene, &host);
    ok(scene, take_lease(scene, host.conn));
    server_do(host.postgres, "SET DateStyle = 'SQL, DMY'; SET IntervalStyle = 'sql_standard'; SET "
                             "TimeZone = 'Asia/Kathmandu'; "
                             "SET extra_float_digits = -15; SET standard_conforming_strings = off");
    int64_t now_us = 0;
    ok(scene, alk__db_now(host.conn, &now_us, &scene->error));
    int64_t wanted_us = scene_now(scene);
    assert_true(now_us <= wanted_us && now_us > wanted_us - ALK__HOUR);
    host_close(&host);
}

#define SHADOW(name, arguments, type, value)                                                       \
    "CREATE FUNCTION evil." name "(" arguments ") RETURNS " type " LANGUAGE sql AS 'SELECT " value \
    "';"

/* S31b: names are qualified: whatever stands in front of pg_catalog in the host's search_path is
 * not called. */
static void a_search_path_that_shadows_everything_changes_nothing(struct scene *scene) {
    struct host host;

    host_join(scene, &host);
    server_do(host.postgres,
              "BEGIN; CREATE SCHEMA evil;" SHADOW("clock_timestamp", "", "timestamptz",
                                                  "timestamptz ''1999-01-01''")
                  SHADOW("statement_timestamp", "", "timestamptz", "timestamptz ''1999-01-01''")
                      SHADOW("now", "", "timestamptz", "timestamptz ''1999-01-01''")
                          SHADOW("date_part", "text, timestamptz", "float8",
                                 "0::float8") "CREATE TABLE evil.lease (name text); CREATE TABLE "
                                              "evil.meta (version int);"
                                              "SET LOCAL search_path = evil, pg_catalog");
    int64_t now_us = 0;
    ok(scene, alk__db_now(host.conn, &now_us, &scene->error));
    assert_true(now_us > SCENE_START_US - 365 * ALK__DAY);
    ok(scene, take_lease(scene, host.conn));
    assert_int_equal(server_number(host.postgres, "SELECT count(*) FROM evil.lease"), 0);
    server_do(host.postgres, "ROLLBACK");
    host_close(&host);
}

/* S31b: nor is a temporary table, which stands before pg_catalog, taken for the type of its name.
 */
static void temporary_tables_named_like_types_change_nothing(struct scene *scene) {
    const alk_claim_options options = {sizeof(options), 1, 30 * ALK__SECOND, "w"};
    struct host host;
    alk_job_list list = {0};
    alk_settle_answer answer;

    host_join(scene, &host);
    server_do(host.postgres, "CREATE TEMP TABLE text (a int); CREATE TEMP TABLE json (a int);"
                             "CREATE TEMP TABLE timestamptz (a int)");
    ok(scene, alk_enqueue(host.conn, "mail", "1", 1, NULL, NULL, &scene->error));
    ok(scene, alk_job_list_get(host.conn, NULL, &list, &scene->error));
    assert_int_equal(list.count, 1);
    alk_job_list_free(&list);
    for (int outcome = ALK_RETRY; outcome != 0; outcome = outcome == ALK_RETRY ? ALK_DONE : 0) {
        ok(scene, alk_claim(host.conn, "mail", &options, &list, &scene->error));
        const alk_settlement settlement = {.id = list.jobs[0].id,
                                           .stamp = list.jobs[0].stamp,
                                           .worker = "w",
                                           .outcome = (alk_outcome)outcome};
        alk_job_list_free(&list);
        ok(scene, alk_settle(host.conn, &settlement, 1, &answer, &scene->error));
        assert_int_equal(answer, ALK_SETTLED);
    }
    host_close(&host);
}

/* S26: a thread that is in the host's transaction does not begin another one. */
static void the_hosts_transaction_counts_as_the_threads_own(struct scene *scene) {
    struct host host;

    host_join(scene, &host);
    server_do(host.postgres, "BEGIN");
    ok(scene, take_lease(scene, host.conn));
    expect(scene, ALK_USAGE, alk_begin(scene->conn, &scene->error));
    server_do(host.postgres, "COMMIT");
    ok(scene, alk_begin(scene->conn, &scene->error));
    alk_rollback(scene->conn);
    host_close(&host);
}

static const struct scene_test tests[] = {
    POSTGRES(a_rollback_of_the_host_leaves_no_trace),
    POSTGRES(without_a_transaction_a_call_commits_by_itself),
    POSTGRES(giving_it_back_leaves_the_hosts_transaction_open),
    POSTGRES(an_engine_error_aborts_the_hosts_transaction_and_says_so),
    POSTGRES(a_refused_argument_leaves_the_hosts_transaction_usable),
    POSTGRES(a_host_that_is_not_ready_is_refused),
    POSTGRES(a_host_that_is_not_ready_any_more_is_refused_at_the_call),
    POSTGRES(a_query_in_flight_is_not_disturbed),
    POSTGRES(a_host_on_a_database_that_is_not_utf8_is_refused),
    POSTGRES(the_host_is_left_as_it_was),
    POSTGRES(a_host_may_discard_all),
    POSTGRES(the_hosts_styles_change_no_time),
    POSTGRES(a_search_path_that_shadows_everything_changes_nothing),
    POSTGRES(temporary_tables_named_like_types_change_nothing),
    POSTGRES(the_hosts_transaction_counts_as_the_threads_own),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
