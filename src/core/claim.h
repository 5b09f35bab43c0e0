/* core/claim.h: what a claiming statement brought back, sorted into jobs that run and verdicts; for
 * the files of core/ that claim. */
#ifndef ALK_CORE_CLAIM_H
#define ALK_CORE_CLAIM_H

#include "core/job.h"
#include "store/run.h"

/* The parameters of job_claim. */
#define ALK__CLAIM_VALUES 4
void alk__claim_values(const struct alk__claim *claim, struct alk__value values[ALK__CLAIM_VALUES]);

/* Sorts the rows of a claim. Takes rows over. queue and worker are copied. ALK_OK; ALK_EMPTY
 * without rows; ALK_NOMEM. */
alk_status alk__claim_sort(struct alk__rows *rows, const char *queue, const char *worker,
                           struct alk__claimed *ret_claimed, alk_error *error);

#endif
