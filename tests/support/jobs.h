/* support/jobs.h: the few things that tests of jobs do again and again, and a look at a whole
 * store. */
#ifndef ALK_TEST_JOBS_H
#define ALK_TEST_JOBS_H

#include "support/test.h"

/* Enqueues one job with the defaults, payload "1"; its id. */
int64_t put_job(struct scene *scene, const char *queue);

/* The same due at a time (ALK_NO_TIME = now), with a priority. */
int64_t put_job_at(struct scene *scene, const char *queue, int64_t run_at_us, int priority);

/* count jobs at once. */
void put_jobs(struct scene *scene, const char *queue, size_t count);

/* Claims up to limit jobs as worker for 30 s; there must be one. Freed with alk_job_list_free. */
alk_job_list take_jobs(struct scene *scene, const char *queue, int limit, const char *worker);

/* Claims one job and gives what is needed to settle it as DONE. */
alk_settlement take_one(struct scene *scene, const char *queue, const char *worker);

/* Settles one; the call must work. */
alk_settle_answer settle_one(struct scene *scene, alk_settlement settlement, alk_outcome outcome);

/* The state of a job; the job must be there. */
alk_job_state state_of(struct scene *scene, int64_t id);

/* How many rows a table has, with a condition ("1 = 1" for all). */
int64_t count_rows(struct scene *scene, const char *table, const char *condition);

/* Fails unless everything that must hold in a store holds (the invariants of S210). */
void check_store(struct scene *scene);

#endif
