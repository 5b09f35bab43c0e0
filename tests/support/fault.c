/* support/fault.c: plans and counts on the store's fault seam. */
#include "support/fault.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static void count(struct faults *faults, const char *name) {
    for (int i = 0; i < FAULT_NAMES_MAX; i++) {
        if (faults->counts[i].name == NULL)
            faults->counts[i].name = name;
        if (strcmp(faults->counts[i].name, name) == 0) {
            faults->counts[i].count++;
            return;
        }
    }
    abort(); /* more names than there are statements */
}

/* The planned fault whose turn it is. The lock is held. */
static struct planned_fault *next(struct faults *faults, const char *name,
                                  enum alk__fault_moment moment) {
    struct planned_fault *found = NULL;

    for (int i = 0; i < faults->planned_count; i++) {
        struct planned_fault *fault = &faults->planned[i];
        if (fault->moment != moment || fault->left < 0 ||
            (fault->name != NULL && strcmp(fault->name, name) != 0))
            continue;
        if (fault->left > 1) {
            fault->left--;
            continue;
        }
        if (found == NULL)
            found = fault;
        if (fault->left == 1)
            fault->left = -1;
    }
    return found;
}

static alk_status step(alk_conn *conn, const char *name, enum alk__fault_moment moment,
                       void *context, alk_error *error) {
    struct faults *faults = context;
    struct planned_fault fault = {.status = ALK_OK};

    (void)conn;
    pthread_mutex_lock(&faults->lock);
    if (moment == ALK__BEFORE)
        count(faults, name);
    const struct planned_fault *found = next(faults, name, moment);
    if (found != NULL) {
        fault = *found;
        faults->happened++;
    }
    pthread_mutex_unlock(&faults->lock);

    if (fault.call != NULL)
        return fault.call(fault.context, error);
    return fault.status < 0 ? alk__fail(error, fault.status, "%s: made to fail", name) : ALK_OK;
}

void faults_install(struct faults *faults, alk_store *store) {
    *faults = (struct faults){.store = store};
    pthread_mutex_init(&faults->lock, NULL);
    alk__store_set_fault(store, step, faults);
}

void faults_remove(struct faults *faults) {
    alk__store_set_fault(faults->store, NULL, NULL);
    pthread_mutex_destroy(&faults->lock);
}

static void plan(struct faults *faults, struct planned_fault fault) {
    pthread_mutex_lock(&faults->lock);
    if (faults->planned_count == FAULTS_MAX)
        abort();
    faults->planned[faults->planned_count++] = fault;
    pthread_mutex_unlock(&faults->lock);
}

void faults_add(struct faults *faults, const char *name, int nth, enum alk__fault_moment moment,
                alk_status status) {
    plan(faults, (struct planned_fault){name, nth, moment, status, NULL, NULL});
}

void faults_call(struct faults *faults, const char *name, int nth, enum alk__fault_moment moment,
                 fault_fn *call, void *context) {
    plan(faults, (struct planned_fault){name, nth, moment, ALK_OK, call, context});
}

void faults_clear(struct faults *faults) {
    pthread_mutex_lock(&faults->lock);
    faults->planned_count = 0;
    pthread_mutex_unlock(&faults->lock);
}

int faults_count(struct faults *faults, const char *name) {
    int sum = 0;

    pthread_mutex_lock(&faults->lock);
    for (int i = 0; i < FAULT_NAMES_MAX && faults->counts[i].name != NULL; i++) {
        if (name == NULL || strcmp(faults->counts[i].name, name) == 0)
            sum += faults->counts[i].count;
    }
    pthread_mutex_unlock(&faults->lock);
    return sum;
}

int faults_happened(struct faults *faults) {
    pthread_mutex_lock(&faults->lock);
    int happened = faults->happened;
    pthread_mutex_unlock(&faults->lock);
    return happened;
}
