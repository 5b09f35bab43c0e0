/* store/memory: whichever allocation fails, the call says so and the store goes on (S218). */
#include "store/store.h"
#include "support/test.h"

enum { ENOUGH = 5000 };

/* S218 */
static void opening_without_memory_is_an_error(struct scene *scene) {
    alk_store_options options = scene_options(scene);
    alk_status status = ALK_NOMEM;
    alk_store *store = NULL;
    long nth;

    for (nth = 1; status == ALK_NOMEM && nth < ENOUGH; nth++) {
        alk__alloc_fail_at(nth);
        status = alk_open(scene->url, &options, &store, &scene->error);
        alk__alloc_fail_at(0);
        if (status == ALK_NOMEM)
            assert_int_equal(scene->error.error_class, ALK_CLASS_TRANSIENT);
    }
    expect(scene, ALK_OK, status);
    assert_true(nth > 10);
    alk_close(store);
}

/* S218: the pool's places are all there afterwards. */
static void a_connection_without_memory_is_an_error(struct scene *scene) {
    alk_store_options options = scene_options(scene);
    alk_status status = ALK_NOMEM;
    alk_store *store;
    alk_conn *conns[2];

    options.pool_max = 2;
    ok(scene, scene_open(scene, &options, &store));
    ok(scene, alk_conn_get(store, &conns[0], &scene->error));
    for (long nth = 1; status == ALK_NOMEM && nth < ENOUGH; nth++) {
        alk__alloc_fail_at(nth);
        status = alk_conn_get(store, &conns[1], &scene->error);
        alk__alloc_fail_at(0);
    }
    expect(scene, ALK_OK, status);
    alk_conn_put(conns[0]);
    alk_conn_put(conns[1]);
    alk_close(store);
}

/* S218: nothing half read, nothing half written. */
static void a_statement_without_memory_is_an_error(struct scene *scene) {
    alk_status status = ALK_NOMEM;
    struct alk__rows rows = {0};
    alk_conn *conn;
    long nth;

    for (int i = 0; i < 9; i++)
        ok(scene, alk_enqueue(scene->conn, "mail", "\"payload\"", 9, NULL, NULL, &scene->error));
    alk_conn_put(scene->conn);
    scene->conn = NULL;
    for (nth = 1; status == ALK_NOMEM && nth < ENOUGH; nth++) {
        ok(scene, alk_conn_get(scene->store, &conn, &scene->error));
        alk__alloc_fail_at(nth);
        status = alk__do(conn, ALK__JOB_LIST, &rows, &scene->error, ALK__Z("mail"), ALK__Z(NULL),
                         ALK__I(100));
        alk__alloc_fail_at(0);
        if (status < 0)
            assert_int_equal(rows.count, 0);
        alk_conn_put(conn);
    }
    expect(scene, ALK_OK, status);
    assert_int_equal(rows.count, 9);
    assert_true(nth > 3);
    alk__rows_free(&rows);
}

/* S218 */
static void an_operation_without_memory_leaves_nothing(struct scene *scene) {
    alk_status status = ALK_NOMEM;
    alk_conn *conn;

    alk_conn_put(scene->conn);
    scene->conn = NULL;
    for (long nth = 1; status == ALK_NOMEM && nth < ENOUGH; nth++) {
        ok(scene, alk_conn_get(scene->store, &conn, &scene->error));
        alk__alloc_fail_at(nth);
        status = alk_enqueue(conn, "mail", "1", 1, NULL, NULL, &scene->error);
        alk__alloc_fail_at(0);
        assert_false(alk_conn_in_tx(conn));
        assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_job"),
                         status == ALK_OK ? 1 : 0);
        alk_conn_put(conn);
    }
    expect(scene, ALK_OK, status);
}

static void a_wake_without_memory_is_an_error(struct scene *scene) {
    struct alk__wake *wake = NULL;

    alk__alloc_fail_at(1);
    expect(scene, ALK_NOMEM, alk__wake_new(scene->store, &wake, &scene->error));
    alk__alloc_fail_at(2);
    ok(scene, alk__wake_new(scene->store, &wake, &scene->error)); /* its watch comes later */
    alk__alloc_fail_at(0);
    alk__wake_free(wake);
}

static const struct scene_test tests[] = {
    BOTH(opening_without_memory_is_an_error),     BOTH(a_connection_without_memory_is_an_error),
    BOTH(a_statement_without_memory_is_an_error), BOTH(an_operation_without_memory_leaves_nothing),
    BOTH(a_wake_without_memory_is_an_error),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
