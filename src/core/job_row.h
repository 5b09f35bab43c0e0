/* core/job_row.h: jobs as the interface shows them, out of the rows that hold them; shared by the
 * calls that read and claim. */
#ifndef ALK_CORE_JOB_ROW_H
#define ALK_CORE_JOB_ROW_H

#include "store/rows.h"
#include <alkstore/job.h>

/* What a list's memory pointer is: the rows whose texts the jobs show, and what else belongs to
 * them. */
struct alk__job_memory {
    struct alk__rows rows;
    struct alk__arena arena;
};

/* An empty list that took over rows, with room for as many jobs; NULL when there is no memory
 * (rows are then freed). */
struct alk__job_memory *alk__job_list_start(alk_job_list *list, struct alk__rows *rows);

/* The job in a row; its state is left to the caller. Texts stay where they are. */
alk_job alk__job_of(const struct alk__row_job *row);

#endif
