/* core/crash: a PostgreSQL server that is stopped as a crash would stop it, under claimed jobs. The
 * server is the test's own: it is taken down. */
#include <libpq-fe.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/jobs.h"

#define SCRIPT ALK_TEST_SOURCE_DIR "/scripts/private-postgres"

struct server {
    char folder[32];
    char url[128];
};
static struct server own; /* that runs; no folder: none does */

static int control(const struct server *server, const char *word) {
    char command[512];

    snprintf(command, sizeof(command), "%s %s %s >/dev/null", SCRIPT, word, server->folder);
    return system(command);
}

/* Commits that need not wait for the disk reach it late here, so that a crash loses them. */
static struct server *server_start(void) {
    struct server *server = &own;

    *server = (struct server){.folder = "/tmp/alk-pg.XXXXXX"};
    assert_non_null(mkdtemp(server->folder));
    assert_int_equal(control(server, "start"), 0);
    snprintf(server->url, sizeof(server->url), "postgresql://alk@/postgres?host=%.31s",
             server->folder);
    PGconn *connection = PQconnectdb(server->url);
    assert_int_equal(PQstatus(connection), CONNECTION_OK);
    PQclear(PQexec(connection, "ALTER SYSTEM SET wal_writer_delay = '10s'"));
    PQclear(PQexec(connection, "ALTER SYSTEM SET wal_writer_flush_after = '1GB'"));
    PQclear(PQexec(connection, "SELECT pg_reload_conf()"));
    PQfinish(connection);
    assert_int_equal(control(server, "restart"), 0);
    return server;
}

/* Also at the end of a program whose test failed half-way (S223). */
static void server_remove(void) {
    char command[64];

    if (own.folder[0] == '\0')
        return;
    control(&own, "stop");
    snprintf(command, sizeof(command), "rm -rf %s", own.folder);
    if (system(command) != 0)
        fprintf(stderr, "%s is left\n", own.folder);
    own.folder[0] = '\0';
}

static void use(struct scene *scene, const struct server *server) {
    scene->engine = ALK_ENGINE_POSTGRES;
    ok(scene, alk_open(server->url, NULL, &scene->store, &scene->error));
    ok(scene, alk_conn_get(scene->store, &scene->conn, &scene->error));
}

static void leave(struct scene *scene) {
    alk_conn_put(scene->conn);
    alk_close(scene->store);
    scene->conn = NULL;
    scene->store = NULL;
    scene->engine = 0;
}

/* Claims a job and crashes the server before the claim is on its disk: whether it was lost. */
static bool lose_a_claim(struct scene *scene, struct server *server, alk_settlement *ret_old) {
    alk_job_list list;

    use(scene, server);
    put_job(scene, "mail");
    *ret_old = take_one(scene, "mail", "worker");
    assert_int_equal(control(server, "kill"), 0);
    leave(scene);
    assert_int_equal(control(server, "start"), 0);
    use(scene, server);
    ok(scene, alk_job_get(scene->conn, ret_old->id, &list, &scene->error));
    bool is_lost = list.jobs[0].state == ALK_JOB_READY;
    alk_job_list_free(&list);
    if (!is_lost) {
        settle_one(scene, *ret_old, ALK_DONE);
        leave(scene);
    }
    return is_lost;
}

static bool has_server_programs(void) {
    return system(SCRIPT " find >/dev/null 2>&1") == 0;
}

/* S77: a claim that was committed and lost in a crash gives its stamp to nobody: the next claim of
 * the job, even by the same worker, has a higher one, and the old worker's settle is refused. */
static void a_claim_lost_in_a_crash_cannot_settle(struct scene *scene) {
    struct server *server;
    alk_settlement old = {0};
    bool is_lost = false;

    if (!has_server_programs())
        skip();
    server = server_start();
    /* something else may have written the log out in the moment between: then again */
    for (int round = 0; round < 10 && !is_lost; round++)
        is_lost = lose_a_claim(scene, server, &old);
    assert_true(is_lost);

    assert_int_equal(settle_one(scene, old, ALK_DONE), ALK_SETTLE_LOST);
    alk_settlement next = take_one(scene, "mail", "worker");
    assert_int_equal(next.id, old.id);
    assert_true(next.stamp > old.stamp);
    assert_int_equal(settle_one(scene, old, ALK_DONE), ALK_SETTLE_LOST);
    assert_int_equal(state_of(scene, old.id), ALK_JOB_RUNNING);
    assert_int_equal(settle_one(scene, next, ALK_DONE), ALK_SETTLED);
    leave(scene);
    server_remove();
}

/* S12, DESIGN 5: what was enqueued and settled is not lost with it: those commits wait for the
 * disk. */
static void what_was_enqueued_and_settled_survives_a_crash(struct scene *scene) {
    struct server *server;

    if (!has_server_programs())
        skip();
    server = server_start();
    use(scene, server);
    int64_t waiting = put_job(scene, "other");
    int64_t done = put_job(scene, "mail");
    assert_int_equal(settle_one(scene, take_one(scene, "mail", "w"), ALK_DONE), ALK_SETTLED);
    assert_int_equal(control(server, "kill"), 0);
    leave(scene);
    assert_int_equal(control(server, "start"), 0);
    use(scene, server);
    assert_int_equal(state_of(scene, waiting), ALK_JOB_READY);
    assert_int_equal(state_of(scene, done), ALK_JOB_DONE);
    leave(scene);
    server_remove();
}

static const struct scene_test tests[] = {
    ALONE(a_claim_lost_in_a_crash_cannot_settle),
    ALONE(what_was_enqueued_and_settled_survives_a_crash),
};

int main(int argc, char **argv) {
    atexit(server_remove);
    return RUN_SCENES(argc, argv, tests, NULL);
}
