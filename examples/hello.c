/* hello.c: one job in, one job out, in the application's own database. */
#include <alkstore.h>
#include <stdio.h>

static alk_outcome greet(alk_attempt *attempt, void *context) {
    (void)context;
    printf("hello %s\n", alk_attempt_job(attempt)->payload);
    return ALK_DONE;
}

int main(int count, char **words) {
    alk_error error = ALK_ERROR_INIT;
    alk_store *store = NULL;
    alk_conn *conn = NULL;
    const char *queues[] = {"greetings"};
    alk_worker_options worker = ALK_WORKER_OPTIONS_INIT;
    worker.queues = queues, worker.queue_count = 1, worker.is_drain = true;

    if (alk_open(count > 1 ? words[1] : "hello.db", NULL, &store, &error) < 0 ||
        alk_conn_get(store, &conn, &error) < 0 ||
        alk_enqueue(conn, "greetings", "\"world\"", 7, NULL, NULL, &error) < 0 ||
        alk_worker_run(store, &worker, greet, NULL, NULL, &error) < 0)
        fprintf(stderr, "hello: %s\n", error.message);
    alk_conn_put(conn);
    alk_close(store);
    return error.status < 0;
}
