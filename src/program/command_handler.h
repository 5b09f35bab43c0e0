/* program/command_handler.h: the handler that runs a command for each job. Specified in
 * docs/spec/jobs.md (S84) and below.
 *
 *   exit 0                  done
 *   exit 65                 dead: the job can never be done
 *   exit 69                 unavailable: what the command needs is down
 *   any other end           retry
 *   time over               TERM to its process group, KILL after the grace; retry
 *   claim lost, stop over   the same; the job is given back
 *
 * The payload is its stdin, its stdout goes to the log by line, the last 4 KiB of its stderr are
 * the attempt's error. */
#ifndef ALK_PROGRAM_COMMAND_HANDLER_H
#define ALK_PROGRAM_COMMAND_HANDLER_H

#include <alkstore/worker.h>

#define ALK__EXIT_DEAD 65
#define ALK__EXIT_UNAVAILABLE 69

/* The context of alk__command_handle.
 *
 * argv            NULL-terminated
 * timeout_us      the worker's, for the message
 * grace_us        between TERM and KILL
 * at_once         when set, commands are killed at once; may be NULL
 * event, context  told each line of stdout */
struct alk__command {
    char *const *argv;
    int64_t timeout_us;
    int64_t grace_us;
    const alk_stop *at_once;
    alk_event_fn event;
    void *event_context;
};

/* An alk_handler; context is a struct alk__command. */
alk_outcome alk__command_handle(alk_attempt *attempt, void *context);

#endif
