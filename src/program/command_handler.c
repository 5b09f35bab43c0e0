/* program/command_handler.c: a job's command, from the attempt to its outcome. */
#include "program/command_handler.h"

#include <string.h>

#include "base/duration.h"
#include "base/event.h"
#include "program/child.h"
#include "program/job_environment.h"

/* Who wrote a line. */
struct source {
    const struct alk__command *command;
    const alk_job *job;
};

static void report_line(const char *line, size_t length, void *context) {
    const struct source *source = context;
    const struct alk__reporter reporter = {source->command->event, source->command->event_context,
                                           "command"};
    alk_event event = alk__event(ALK_LEVEL_INFO, "output");
    char text[ALK__CHILD_LINE_BYTES + 1];

    memcpy(text, line, length);
    text[length] = '\0';
    for (char *byte = text; byte < text + length; byte++)
        *byte = *byte == '\0' ? ' ' : *byte;
    event.subject = source->job->queue;
    event.job_id = source->job->id;
    event.attempt = source->job->attempt;
    event.detail = text;
    alk__report(&reporter, &event);
}

/* Why an attempt failed: what the command says itself, or how it ended if it says nothing. */
static void set_reason(alk_attempt *attempt, const struct alk__child_end *end) {
    if (end->tail_length > 0)
        alk_attempt_set_error(attempt, "%s", end->tail);
    else if (end->signal != 0)
        alk_attempt_set_error(attempt, "ended by signal %d", end->signal);
    else
        alk_attempt_set_error(attempt, "exit code %d", end->exit_code);
}

static void set_overdue(alk_attempt *attempt, int64_t timeout_us,
                        const struct alk__child_end *end) {
    char limit[ALK__DURATION_BYTES];

    alk__duration_format(timeout_us, limit, sizeof(limit));
    alk_attempt_set_error(attempt, "not done in %s%s%s", limit, end->tail_length > 0 ? ": " : "",
                          end->tail);
}

static alk_outcome outcome_of(alk_attempt *attempt, const struct alk__child_end *end) {
    if (end->exit_code == 0)
        return ALK_DONE;
    set_reason(attempt, end);
    if (end->exit_code == ALK__EXIT_DEAD)
        return ALK_DEAD;
    return end->exit_code == ALK__EXIT_UNAVAILABLE ? ALK_UNAVAILABLE : ALK_RETRY;
}

static alk_outcome run(alk_attempt *attempt, const struct alk__command *command,
                       char *const *environment) {
    const alk_job *job = alk_attempt_job(attempt);
    struct source source = {command, job};
    const struct alk__child child = {
        .argv = command->argv,
        .environment = environment,
        .input = job->payload,
        .input_length = job->payload_length,
        .line = report_line,
        .context = &source,
        .end_fds = {alk_attempt_end_fd(attempt), -1},
        .kill_fd = alk_stop_fd(command->at_once),
        .grace_us = command->grace_us,
    };
    struct alk__child_end end;
    alk_error error = ALK_ERROR_INIT;

    if (alk__child_run(&child, &end, &error) != ALK_OK) {
        alk_attempt_set_error(attempt, "%s", error.message);
        return ALK_RETRY;
    }
    if (!end.was_told)
        return outcome_of(attempt, &end);
    if (!alk_attempt_is_overdue(attempt))
        return ALK_RELEASE;
    set_overdue(attempt, command->timeout_us, &end);
    return ALK_RETRY;
}

alk_outcome alk__command_handle(alk_attempt *attempt, void *context) {
    struct alk__arena memory = {NULL};
    alk_error error = ALK_ERROR_INIT;
    char **environment;
    alk_outcome outcome = ALK_RETRY;

    if (alk__job_environment(&memory, alk_attempt_job(attempt), &environment, &error) == ALK_OK)
        outcome = run(attempt, context, environment);
    else
        alk_attempt_set_error(attempt, "%s", error.message);
    alk__arena_free(&memory);
    return outcome;
}
