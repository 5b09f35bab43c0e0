/* program/job_environment.h: what a command finds in its environment about the job it runs. */
#ifndef ALK_PROGRAM_JOB_ENVIRONMENT_H
#define ALK_PROGRAM_JOB_ENVIRONMENT_H

#include "base/arena.h"

#include <alkstore/job.h>

/* The program's own environment and
 *
 *   ALK_JOB_ID, ALK_JOB_QUEUE, ALK_JOB_ATTEMPT
 *   ALK_SCHEDULE, ALK_FIRE_AT, ALK_PREVIOUS_FIRE_AT, ALK_CATCHUP
 *           from the headers of a fired job (S118)
 *   ALK_HEADER_NAME
 *           from every other header: letters in upper case, what is neither letter nor digit as _;
 *           a text as it is, all else as JSON
 *
 * and none of these that the program itself was started with.
 *
 * ret_environment  NULL-terminated, in arena
 * ALK_OK; ALK_NOMEM. */
alk_status alk__job_environment(struct alk__arena *arena, const alk_job *job,
                                char ***ret_environment, alk_error *error);

#endif
