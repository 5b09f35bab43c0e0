/* support/fault.h: makes a store's statements fail on demand, and counts them (run.h, the fault
 * seam).
 *
 *     struct faults faults;
 *
 *     faults_install(&faults, scene->store);
 *     faults_add(&faults, "job_claim", 2, ALK__BEFORE, ALK_AGAIN);   // the second from now,
 * without effect faults_add(&faults, NULL, 5, ALK__AFTER, ALK_AGAIN);           // the fifth step
 * of all, its answer lost
 *     ...
 *     assert_int_equal(faults_count(&faults, "job_claim"), 2);
 *     faults_remove(&faults);
 *
 * Names are those of the table and "begin", "commit", "rollback", "savepoint", "release",
 * "rollback_to". */
#ifndef ALK_TEST_SUPPORT_FAULT_H
#define ALK_TEST_SUPPORT_FAULT_H

#include <pthread.h>

#include "store/run.h"

#define FAULTS_MAX 64
#define FAULT_NAMES_MAX 256

/* Does what it likes (kill a connection, change a row by another one) and returns what the step
 * returns. */
typedef alk_status fault_fn(void *context, alk_error *error);

struct planned_fault {
    const char *name; /* NULL: any */
    int left;         /* steps till it happens; 0: it happens at each; -1: it has */
    enum alk__fault_moment moment;
    alk_status status;
    fault_fn *call;
    void *context;
};

struct fault_count {
    const char *name;
    int count;
};

struct faults {
    alk_store *store;
    pthread_mutex_t lock;
    struct planned_fault planned[FAULTS_MAX];
    int planned_count;
    struct fault_count counts[FAULT_NAMES_MAX];
    int happened; /* faults so far */
};

void faults_install(struct faults *faults, alk_store *store);
void faults_remove(struct faults *faults);

/* nth: 1 = the next step of that name (NULL: of any), 0 = each. status < 0. */
void faults_add(struct faults *faults, const char *name, int nth, enum alk__fault_moment moment,
                alk_status status);

/* The same with a function instead of a status. */
void faults_call(struct faults *faults, const char *name, int nth, enum alk__fault_moment moment,
                 fault_fn *call, void *context);

/* Forgets what is planned; counts stay. */
void faults_clear(struct faults *faults);

/* How often a step of that name was begun since faults_install; NULL: all. */
int faults_count(struct faults *faults, const char *name);
int faults_happened(struct faults *faults);

#endif
