/* support/jobs.c: see jobs.h. */
#include "support/jobs.h"

#include <stdlib.h>

int64_t put_job_at(struct scene *scene, const char *queue, int64_t run_at_us, int priority) {
    alk_enqueue_options options = ALK_ENQUEUE_OPTIONS_INIT;
    int64_t id = 0;

    options.run_at_us = run_at_us;
    options.priority = priority;
    ok(scene, alk_enqueue(scene->conn, queue, "1", 1, &options, &id, &scene->error));
    return id;
}

int64_t put_job(struct scene *scene, const char *queue) {
    return put_job_at(scene, queue, ALK_NO_TIME, 0);
}

void put_jobs(struct scene *scene, const char *queue, size_t count) {
    alk_new_job *jobs = calloc(count, sizeof(*jobs));

    assert_non_null(jobs);
    ok(scene, alk_enqueue_many(scene->conn, queue, jobs, count, NULL, &scene->error));
    free(jobs);
}

alk_job_list take_jobs(struct scene *scene, const char *queue, int limit, const char *worker) {
    alk_claim_options options = ALK_CLAIM_OPTIONS_INIT;
    alk_job_list list;

    options.limit = limit;
    options.worker = worker;
    ok(scene, alk_claim(scene->conn, queue, &options, &list, &scene->error));
    return list;
}

alk_settlement take_one(struct scene *scene, const char *queue, const char *worker) {
    alk_job_list list = take_jobs(scene, queue, 1, worker);
    alk_settlement settlement = {.id = list.jobs[0].id,
                                 .stamp = list.jobs[0].stamp,
                                 .worker = worker,
                                 .outcome = ALK_DONE,
                                 .delay_us = ALK_NO_TIME};

    alk_job_list_free(&list);
    return settlement;
}

alk_settle_answer settle_one(struct scene *scene, alk_settlement settlement, alk_outcome outcome) {
    alk_settle_answer answer = ALK_SETTLE_REFUSED;

    settlement.outcome = outcome;
    ok(scene, alk_settle(scene->conn, &settlement, 1, &answer, &scene->error));
    return answer;
}

alk_job_state state_of(struct scene *scene, int64_t id) {
    alk_job_list list;

    ok(scene, alk_job_get(scene->conn, id, &list, &scene->error));
    alk_job_state state = list.jobs[0].state;
    alk_job_list_free(&list);
    return state;
}

int64_t count_rows(struct scene *scene, const char *table, const char *condition) {
    return sql_number(scene, "SELECT count(*) FROM %s WHERE %s", table, condition);
}

void check_store(struct scene *scene) {
    static const struct {
        const char *what;
        const char *query;
    } rules[] = {
        {"jobs that are both live and finished",
         "SELECT count(*) FROM alk_job j WHERE EXISTS (SELECT 1 FROM alk_job_done d WHERE d.id = "
         "j.id)"
         " OR EXISTS (SELECT 1 FROM alk_job_dead d WHERE d.id = j.id)"},
        {"jobs that are both done and dead",
         "SELECT count(*) FROM alk_job_done d JOIN alk_job_dead e ON e.id = d.id"},
        {"jobs with a worker and no lease, or the other way round",
         "SELECT count(*) FROM alk_job WHERE (worker IS NULL) <> (lease_until IS NULL)"},
        {"jobs that run and were never claimed",
         "SELECT count(*) FROM alk_job WHERE lease_until IS NOT NULL AND"
         " (claimed_at IS NULL OR stamp = 0 OR attempt < 1)"},
        {"unique keys of jobs that have ended",
         "SELECT count(*) FROM alk_unique_key k WHERE k.scope <> 'window' AND NOT EXISTS"
         " (SELECT 1 FROM alk_job j WHERE j.id = k.job_id AND j.has_unique)"},
        {"unique keys until started of jobs that were",
         "SELECT count(*) FROM alk_unique_key k JOIN alk_job j ON j.id = k.job_id"
         " WHERE k.scope = 'started' AND j.claimed_at IS NOT NULL"},
        {"jobs without a lane",
         "SELECT count(*) FROM alk_job j WHERE NOT EXISTS (SELECT 1 FROM alk_lane l WHERE"
         " l.queue = j.queue AND l.priority = j.priority)"},
        {"keys without a head",
         "SELECT count(*) FROM alk_job j WHERE j.key IS NOT NULL AND NOT EXISTS (SELECT 1 FROM"
         " alk_job h WHERE h.queue = j.queue AND h.key = j.key AND CAST(h.head AS INTEGER) = 1)"},
        {"fires whose job was never made",
         "SELECT count(*) FROM alk_schedule_event WHERE outcome = 'fired' AND job_id IS NULL"},
    };

    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        int64_t count = sql_number(scene, "%s", rules[i].query);
        if (count != 0)
            fail_msg("%s: %lld", rules[i].what, (long long)count);
    }
}
