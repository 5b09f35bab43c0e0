/* core/unique.h: unique keys of jobs (S58). A key is a row of unique_key: it is put there before
 * its job, and taken away by the claim or the settle of that job, or by time. */
#ifndef ALK_CORE_UNIQUE_H
#define ALK_CORE_UNIQUE_H

#include "base/arena.h"
#include "core/job.h"

/* Checks what a caller says of a unique key (alk_enqueue_options) and gives it to the job. */
alk_status alk__unique_set(struct alk__new_job *job, const char *key, alk_unique_scope scope,
                           int64_t for_us, alk_error *error);

bool alk__unique_any(const struct alk__new_job *jobs, size_t count);

/* Takes the keys of jobs to come, in the open transaction. A key that somebody else is just taking
 * or giving up is waited for.
 *
 * ids         drawn for the jobs, rising
 * ret_owners  count ids: of the job that has the key, or the job's own where it got it or has none
 * Returns ALK_OK; ALK_EMPTY when a key was given up between two looks: what was taken must be
 * undone before it is tried again, since keys are taken in one order only. */
alk_status alk__unique_take(alk_conn *conn, struct alk__arena *arena,
                            const struct alk__new_job *jobs, const int64_t *ids, size_t count,
                            int64_t *ret_owners, alk_error *error);

#endif
