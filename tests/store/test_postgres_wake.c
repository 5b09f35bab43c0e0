/* store/postgres_wake: who is woken by a commit elsewhere, and what becomes of a listener whose
 * connection breaks. */
#include "store/store.h"
#include "store/wake.h"
#include "support/relay.h"
#include "support/server.h"
#include "support/test.h"

#define TOPIC "mail"

/* A loop's store and wake, and somebody elsewhere: another store, so that nothing is told inside
 * the process. */
struct pair {
    struct scene *scene;
    struct alk__wake *wake;
    alk_store *elsewhere;
    alk_conn *conn; /* of elsewhere */
    PGconn *beside;
};

#define LISTENERS                                                                                  \
    "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%%' AND state = 'idle' AND "    \
    "query LIKE '%%%016llx%%'"

/* The scene's schema as its URL has it, "test%20123.4". */
static const char *schema_in_url(struct scene *scene) {
    const char *at = strstr(scene->url, "schema=");

    assert_non_null(at);
    return at + strlen("schema=");
}

static unsigned long long channel(struct scene *scene) {
    char schema[64] = "test ";
    size_t length = strlen(schema);

    assert_int_equal(sscanf(schema_in_url(scene), "test%%20%32[0-9.]", schema + length), 1);
    return (unsigned long long)alk__schema_hash(schema);
}

static enum alk__wake_answer wait_for(struct alk__wake *wake, int64_t span_us) {
    return alk__wake_wait(wake, NULL, -1, span_us);
}

/* Lets the wake connect, listen and have its first look. */
static void settle(struct pair *pair, int listeners) {
    int64_t until_us = alk__monotonic_us() + WAIT_LIMIT_US;

    while (server_number(pair->beside, LISTENERS, channel(pair->scene)) != listeners) {
        wait_for(pair->wake, ALK__MS);
        assert_true(alk__monotonic_us() < until_us);
    }
    while (wait_for(pair->wake, 100 * ALK__MS) != ALK__WAKE_TIME)
        assert_true(alk__monotonic_us() < until_us);
}

static void pair_open(struct scene *scene, struct pair *pair) {
    *pair = (struct pair){.scene = scene, .beside = server_connect(server_needed())};
    ok(scene, scene_open(scene, NULL, &pair->elsewhere));
    ok(scene, alk_conn_get(pair->elsewhere, &pair->conn, &scene->error));
    ok(scene, alk__wake_new(scene->store, &pair->wake, &scene->error));
    settle(pair, 1);
}

static void pair_close(struct pair *pair) {
    alk__wake_free(pair->wake);
    alk_conn_put(pair->conn);
    alk_close(pair->elsewhere);
    PQfinish(pair->beside);
}

static void say(struct pair *pair) {
    ok(pair->scene, alk__wake_others(pair->conn, TOPIC, &pair->scene->error));
}

/* S155: at the commit, not at the statement. */
static void a_commit_elsewhere_wakes(struct scene *scene) {
    struct pair pair;

    pair_open(scene, &pair);
    ok(scene, alk_begin(pair.conn, &scene->error));
    say(&pair);
    assert_int_equal(wait_for(pair.wake, 100 * ALK__MS), ALK__WAKE_TIME);
    ok(scene, alk_commit(pair.conn, &scene->error));
    assert_int_equal(wait_for(pair.wake, WAIT_LIMIT_US), ALK__WAKE_CALLED);
    pair_close(&pair);
}

/* S88: what was said before the wait began counts. */
static void a_commit_before_the_wait_counts(struct scene *scene) {
    struct pair pair;

    pair_open(scene, &pair);
    say(&pair);
    server_do(pair.beside, "SELECT pg_sleep(0.05)");
    assert_int_equal(wait_for(pair.wake, WAIT_LIMIT_US), ALK__WAKE_CALLED);
    pair_close(&pair);
}

/* S92 */
static void a_rolled_back_transaction_wakes_nobody(struct scene *scene) {
    struct pair pair;

    pair_open(scene, &pair);
    ok(scene, alk_begin(pair.conn, &scene->error));
    say(&pair);
    alk_rollback(pair.conn);
    assert_int_equal(wait_for(pair.wake, 300 * ALK__MS), ALK__WAKE_TIME);
    say(&pair);
    assert_int_equal(wait_for(pair.wake, WAIT_LIMIT_US), ALK__WAKE_CALLED);
    pair_close(&pair);
}

/* S31, S92: likewise with what was said in a host's transaction. */
static void a_host_wakes_at_its_own_commit(struct scene *scene) {
    struct pair pair;
    alk_conn *joined = NULL;

    pair_open(scene, &pair);
    PGconn *host = server_connect(server_needed());
    ok(scene, alk_conn_join_postgres(pair.elsewhere, host, &joined, &scene->error));
    server_do(host, "BEGIN");
    ok(scene, alk__wake_others(joined, TOPIC, &scene->error));
    assert_int_equal(wait_for(pair.wake, 100 * ALK__MS), ALK__WAKE_TIME);
    server_do(host, "ROLLBACK");
    assert_int_equal(wait_for(pair.wake, 100 * ALK__MS), ALK__WAKE_TIME);
    server_do(host, "BEGIN");
    ok(scene, alk__wake_others(joined, TOPIC, &scene->error));
    server_do(host, "COMMIT");
    assert_int_equal(wait_for(pair.wake, WAIT_LIMIT_US), ALK__WAKE_CALLED);
    alk_conn_put(joined);
    PQfinish(host);
    pair_close(&pair);
}

/* S7: two installations in one database do not wake each other. */
static void another_schema_is_not_heard(struct scene *scene) {
    struct pair pair;

    pair_open(scene, &pair);
    server_do(pair.beside, "NOTIFY alk_%016llx, 'mail'", channel(scene) + 1);
    assert_int_equal(wait_for(pair.wake, 200 * ALK__MS), ALK__WAKE_TIME);
    server_do(pair.beside, "NOTIFY alk_%016llx, 'mail'", channel(scene));
    assert_int_equal(wait_for(pair.wake, WAIT_LIMIT_US), ALK__WAKE_CALLED);
    pair_close(&pair);
}

/* S88: what was committed before it listened was not heard, so everybody looks once when it
 * does. */
static void a_watch_calls_once_when_it_begins_to_listen(struct scene *scene) {
    const struct alk__wake_driver *driver = &alk__wake_postgres;
    const struct alk__settings *settings = &scene->store->settings;
    PGconn *beside = server_connect(server_needed());
    struct alk__watch *watch = NULL;
    bool is_called = false;
    int64_t next_us;

    ok(scene, driver->open(settings, &watch, &scene->error));
    wait_until(driver->look(watch, &is_called, &next_us, &scene->error) < 0 || is_called);
    assert_true(next_us == INT64_MAX);
    assert_int_equal(server_number(beside, LISTENERS, channel(scene)), 1);
    ok(scene, driver->look(watch, &is_called, &next_us, &scene->error));
    assert_false(is_called);
    driver->close(watch);
    PQfinish(beside);
}

/* S96: it listens on a connection of its own; ended, it connects again and has everybody look. */
static void an_ended_listener_listens_again_and_calls_once(struct scene *scene) {
    struct pair pair;

    pair_open(scene, &pair);
    assert_int_equal(server_number(pair.beside,
                                   "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                                   "WHERE query LIKE 'LISTEN%%%016llx%%'",
                                   channel(scene)),
                     1);
    server_wait(pair.beside, 0, LISTENERS, channel(scene));
    assert_int_equal(wait_for(pair.wake, WAIT_LIMIT_US), ALK__WAKE_CALLED);
    settle(&pair, 1);
    say(&pair);
    assert_int_equal(wait_for(pair.wake, WAIT_LIMIT_US), ALK__WAKE_CALLED);
    pair_close(&pair);
}

/* A store that reaches its database through a relay. */
static void open_behind_relay(struct scene *scene, struct relay **ret_relay,
                              alk_store **ret_store) {
    char url[1024];

    *ret_relay = relay_start(server_needed());
    assert_non_null(*ret_relay);
    snprintf(url, sizeof(url), "%s&schema=%s", relay_url(*ret_relay), schema_in_url(scene));
    ok(scene, alk_open(url, NULL, ret_store, &scene->error));
}

/* S96: meanwhile it does not spin: one attempt a second at most. */
static void a_listener_without_a_server_does_not_spin(struct scene *scene) {
    struct pair pair = {.scene = scene, .beside = server_connect(server_needed())};
    struct relay *relay;
    alk_store *store;

    open_behind_relay(scene, &relay, &store);
    ok(scene, alk__wake_new(store, &pair.wake, &scene->error));
    settle(&pair, 1);

    relay_hold(relay, true);
    int taken = relay_taken(relay);
    int64_t start_us = alk__monotonic_us();
    for (int i = 0; i < 10; i++) {
        relay_cut(relay);
        wait_for(pair.wake, 150 * ALK__MS);
    }
    int64_t seconds = (alk__monotonic_us() - start_us) / ALK__SECOND;
    assert_true(relay_taken(relay) - taken <= seconds + 2);

    relay_hold(relay, false);
    relay_cut(relay);
    settle(&pair, 1);
    server_do(pair.beside, "NOTIFY alk_%016llx", channel(scene));
    assert_int_equal(wait_for(pair.wake, WAIT_LIMIT_US), ALK__WAKE_CALLED);
    alk__wake_free(pair.wake);
    alk_close(store);
    relay_stop(relay);
    PQfinish(pair.beside);
}

/* S80, S93: a server that takes the connection and says nothing holds nobody up. */
static void a_silent_server_holds_up_neither_stop_nor_time(struct scene *scene) {
    struct relay *relay;
    alk_store *store;
    alk_stop *stop;
    struct alk__wake *wake;

    open_behind_relay(scene, &relay, &store);
    relay_hold(relay, true);
    ok(scene, alk__wake_new(store, &wake, &scene->error));
    wait_for(wake, 0);
    assert_int_equal(wait_for(wake, 50 * ALK__MS), ALK__WAKE_TIME);
    ok(scene, alk_stop_new(&stop, &scene->error));
    alk_stop_set(stop);
    assert_int_equal(alk__wake_wait(wake, stop, -1, WAIT_LIMIT_US), ALK__WAKE_STOPPED);
    alk_stop_free(stop);
    alk__wake_free(wake);
    relay_cut(relay);
    alk_close(store);
    relay_stop(relay);
}

/* S28, S93: behind a transaction pooler nothing listens, and everything else works. */
static void nothing_listens_with_listen_off(struct scene *scene) {
    char url[1024];
    alk_store *store;
    struct alk__wake *wake;
    PGconn *beside = server_connect(server_needed());

    snprintf(url, sizeof(url), "%s&listen=off", scene->url);
    ok(scene, alk_open(url, NULL, &store, &scene->error));
    ok(scene, alk__wake_new(store, &wake, &scene->error));
    assert_int_equal(wait_for(wake, 50 * ALK__MS), ALK__WAKE_TIME);
    assert_int_equal(
        server_number(beside,
                      "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%%%016llx%%'",
                      channel(scene)),
        0);
    alk__wake_free(wake);
    alk_close(store);
    PQfinish(beside);
}

static const struct scene_test tests[] = {
    POSTGRES(a_commit_elsewhere_wakes),
    POSTGRES(a_commit_before_the_wait_counts),
    POSTGRES(a_rolled_back_transaction_wakes_nobody),
    POSTGRES(a_host_wakes_at_its_own_commit),
    POSTGRES(another_schema_is_not_heard),
    POSTGRES(a_watch_calls_once_when_it_begins_to_listen),
    POSTGRES(an_ended_listener_listens_again_and_calls_once),
    POSTGRES(a_listener_without_a_server_does_not_spin),
    POSTGRES(a_silent_server_holds_up_neither_stop_nor_time),
    POSTGRES(nothing_listens_with_listen_off),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
