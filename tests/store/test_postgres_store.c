/* A store on PostgreSQL whose server ends connections, is out of reach or does not answer. */
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/postgres.h"
#include "store/store.h"
#include "support/relay.h"
#include "support/server.h"
#include "support/test.h"

static int64_t backend(alk_conn *conn) {
    return PQbackendPID(alk__postgres_of(conn->session)->connection);
}

/* Ends the server process of a connection and waits until it is gone. */
static void end_backend(struct scene *scene, int64_t id) {
    PGconn *beside = sql_handle(scene);

    server_do(beside, "SELECT pg_terminate_backend(%lld)", (long long)id);
    server_wait(beside, 0, "SELECT count(*) FROM pg_stat_activity WHERE pid = %lld", (long long)id);
}

static void assert_usable(struct scene *scene, alk_conn *conn) {
    int64_t now_us;

    ok(scene, alk__db_now(conn, &now_us, &scene->error));
    assert_false(alk_conn_in_tx(conn));
}

static alk_status silence(const alk_lease *lease, const alk_stop *lost, void *context,
                          alk_error *error) {
    (void)lease;
    (void)lost;
    (void)error;
    relay_hold(context, true);
    return ALK_OK;
}

/* A lease that cannot be given back, since nothing answers, is left to lapse. */
static void a_server_that_fell_silent_does_not_hold_the_end_of_a_lease(struct scene *scene) {
    struct relay *relay = relay_start(server_needed());
    alk_store *store;
    char url[512];

    assert_non_null(relay);
    snprintf(url, sizeof(url), "%s%c%s", relay_url(relay),
             strchr(relay_url(relay), '?') == NULL ? '?' : '&', strstr(scene->url, "schema="));
    ok(scene, alk_open(url, NULL, &store, &scene->error));
    alarm(60);
    ok(scene,
       alk_lease_hold(store, "l", "me", ALK__MINUTE / 10, 0, NULL, silence, relay, &scene->error));
    alarm(0);
    alk_close(store);
    relay_stop(relay);
}

/* An enqueue, and the call of those who wait for it, take one round trip. */
static void an_enqueue_is_one_round_trip(struct scene *scene) {
    alk_store_options options = scene_options(scene);
    struct relay *relay = relay_start(server_needed());
    alk_store *store;
    alk_conn *conn;
    char url[512];

    assert_non_null(relay);
    snprintf(url, sizeof(url), "%s%c%s", relay_url(relay),
             strchr(relay_url(relay), '?') == NULL ? '?' : '&', strstr(scene->url, "schema="));
    ok(scene, alk_open(url, &options, &store, &scene->error));
    ok(scene, alk_conn_get(store, &conn, &scene->error));
    ok(scene, alk_enqueue(conn, "mail", "1", 1, NULL, NULL, &scene->error));
    int said = relay_said(relay);
    ok(scene, alk_enqueue(conn, "mail", "1", 1, NULL, NULL, &scene->error));
    assert_int_equal(relay_said(relay), said + 1);
    alk_conn_put(conn);
    alk_close(store);
    relay_stop(relay);
}

/* ---- the pool ---- */

/* S23: nobody sees the connection that was ended while it was idle. */
static void an_idle_connection_that_was_ended_is_replaced_unseen(struct scene *scene) {
    int64_t id = backend(scene->conn);

    alk_conn_put(scene->conn);
    end_backend(scene, id);
    ok(scene, alk_conn_get(scene->store, &scene->conn, &scene->error));
    assert_usable(scene, scene->conn);
    assert_true(backend(scene->conn) != id);
}

/* S22, S23: what was open on it is gone, and so is the connection. */
static void a_connection_ended_in_its_transaction_is_thrown_away(struct scene *scene) {
    alk_pool_counts counts;
    alk_lease lease;

    int64_t id = backend(scene->conn);
    ok(scene, alk_begin(scene->conn, &scene->error));
    ok(scene, alk_lease_acquire(scene->conn, "held", "me", ALK__MINUTE, &lease, &scene->error));
    end_backend(scene, id);
    expect(scene, ALK_AGAIN, alk_lease_renew(scene->conn, &lease, &scene->error));
    assert_int_equal(scene->error.error_class, ALK_CLASS_TRANSIENT);
    assert_true(alk_commit(scene->conn, &scene->error) < 0);
    assert_false(scene->error.is_unknown);
    alk_conn_put(scene->conn);
    alk_store_pool(scene->store, &counts);
    assert_int_equal(counts.open, 0);

    ok(scene, alk_conn_get(scene->store, &scene->conn, &scene->error));
    assert_usable(scene, scene->conn);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_lease WHERE owner IS NOT NULL"),
                     0);
}

/* S21: after 100 failures the pool still opens as many as it may. */
static void failed_attempts_give_their_place_back(struct scene *scene) {
    enum { MAX = 3 };
    char url[1024], socket_path[600], real_path[600];
    PGconn *beside = sql_handle(scene);
    alk_store *store;
    alk_conn *conns[MAX + 1] = {NULL};

    snprintf(real_path, sizeof(real_path), "%s/.s.PGSQL.%s", PQhost(beside), PQport(beside));
    snprintf(socket_path, sizeof(socket_path), "%s/.s.PGSQL.5432", scene->folder);
    assert_int_equal(symlink(real_path, socket_path), 0);
    snprintf(url, sizeof(url),
             "postgresql://%s@/%s?host=%s&pool_max=%d&acquire_timeout=50ms&schema=%s",
             PQuser(beside), PQdb(beside), scene->folder, MAX,
             strstr(scene->url, "schema=") + strlen("schema="));
    ok(scene, alk_open(url, NULL, &store, &scene->error));

    assert_int_equal(unlink(socket_path), 0);
    ok(scene, alk_conn_get(store, &conns[0], &scene->error)); /* the one by which it was opened */
    end_backend(scene, backend(conns[0]));
    assert_true(alk_begin(conns[0], &scene->error) < 0);
    alk_conn_put(conns[0]);
    for (int i = 0; i < 100; i++)
        expect(scene, ALK_AGAIN, alk_conn_get(store, &conns[0], &scene->error));

    assert_int_equal(symlink(real_path, socket_path), 0);
    for (int i = 0; i < MAX; i++)
        ok(scene, alk_conn_get(store, &conns[i], &scene->error));
    expect(scene, ALK_POOL_TIMEOUT, alk_conn_get(store, &conns[MAX], &scene->error));
    for (int i = 0; i < MAX; i++)
        alk_conn_put(conns[i]);
    alk_close(store);
    assert_int_equal(unlink(socket_path), 0);
}

/* S27: the child may neither use the connection nor end it: its goodbye would end the parent's. */
static void a_forked_child_neither_uses_nor_ends_a_connection(struct scene *scene) {
    int64_t id = backend(scene->conn);
    pid_t child = fork();

    if (child == 0) {
        int64_t now_us;
        bool is_refused = alk__db_now(scene->conn, &now_us, NULL) == ALK_USAGE;
        alk_conn_put(scene->conn);
        alk_close(scene->store);
        _exit(is_refused ? 0 : 1);
    }
    int state = 1;
    assert_int_equal(waitpid(child, &state, 0), child);
    assert_int_equal(state, 0);
    assert_usable(scene, scene->conn);
    assert_int_equal(backend(scene->conn), id);
}

/* ---- time ---- */

/* S15: the lease counts from the statement, not from the start of the transaction. */
static void a_long_transaction_shortens_no_lease(struct scene *scene) {
    alk_conn *conn;
    alk_lease lease;
    PGconn *host = server_connect(server_needed());

    ok(scene, alk_conn_join_postgres(scene->store, host, &conn, &scene->error));
    server_do(host, "BEGIN");
    server_do(host, "SELECT pg_sleep(2)");
    int64_t before_us =
        server_number(host, "SELECT extract(epoch FROM clock_timestamp()) * 1000000");
    ok(scene, alk_lease_acquire(conn, "long", "me", 30 * ALK__SECOND, &lease, &scene->error));
    assert_true(lease.expires_at_us >= before_us + 30 * ALK__SECOND - ALK__MS);
    server_do(host, "ROLLBACK");
    alk_conn_put(conn);
    PQfinish(host);
}

/* ---- a server that does not answer ---- */

/* S170: each call ends by itself, on a Unix socket too, and the store goes on when the server
 * does. */
static void a_call_limit_ends_a_call_to_a_silent_server(struct scene *scene) {
    struct relay *relay = relay_start(server_needed());
    char url[1024];
    alk_store *store;
    alk_conn *conn;
    int64_t now_us;

    assert_non_null(relay);
    snprintf(url, sizeof(url), "%s&schema=%s", relay_url(relay),
             strstr(scene->url, "schema=") + strlen("schema="));
    ok(scene, alk_open(url, NULL, &store, &scene->error));
    ok(scene, alk_conn_get(store, &conn, &scene->error));
    alk__conn_set_call_limit(conn, 20 * ALK__SECOND);
    ok(scene, alk__db_now(conn, &now_us, &scene->error));
    relay_hold(relay, true);
    alk__conn_set_call_limit(conn, 100 * ALK__MS);
    expect(scene, ALK_AGAIN, alk__db_now(conn, &now_us, &scene->error));
    assert_true(alk__conn_is_broken(conn));
    expect(scene, ALK_AGAIN, alk__db_now(conn, &now_us, &scene->error));
    alk_conn_put(conn);
    relay_hold(relay, false);
    relay_cut(relay);
    ok(scene, alk_conn_get(store, &conn, &scene->error));
    assert_usable(scene, conn);
    alk_conn_put(conn);
    alk_close(store);
    relay_stop(relay);
}

/* A limit is each call's own: what an earlier one used up does not end the rollback, and with it
 * the connection. */
static void a_rollback_has_a_limit_of_its_own(struct scene *scene) {
    ok(scene, alk_begin(scene->conn, &scene->error));
    alk__driver_postgres.set_deadline(scene->conn->session, 1);
    alk_rollback(scene->conn);
    assert_false(alk__conn_is_broken(scene->conn));
    assert_usable(scene, scene->conn);
}

static const struct scene_test tests[] = {
    POSTGRES(an_enqueue_is_one_round_trip),
    POSTGRES(a_server_that_fell_silent_does_not_hold_the_end_of_a_lease),
    POSTGRES(an_idle_connection_that_was_ended_is_replaced_unseen),
    POSTGRES(a_connection_ended_in_its_transaction_is_thrown_away),
    POSTGRES(failed_attempts_give_their_place_back),
    POSTGRES(a_forked_child_neither_uses_nor_ends_a_connection),
    POSTGRES(a_long_transaction_shortens_no_lease),
    POSTGRES(a_call_limit_ends_a_call_to_a_silent_server),
    POSTGRES(a_rollback_has_a_limit_of_its_own),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
