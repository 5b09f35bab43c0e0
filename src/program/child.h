/* program/child.h: runs a command to its end: a process group of its own, no shell.
 *
 * What the command wrote before it ended is read; what a process that it left behind writes later
 * is not waited for. */
#ifndef ALK_PROGRAM_CHILD_H
#define ALK_PROGRAM_CHILD_H

#include <alkstore/base.h>

#define ALK__CHILD_LINE_BYTES 4096
#define ALK__CHILD_TAIL_BYTES 4096
#define ALK__CHILD_GRACE_US INT64_C(10000000)

/* One line of what the command writes, without its line break; longer ones come in pieces of
 * ALK__CHILD_LINE_BYTES. */
typedef void (*alk__child_line_fn)(const char *line, size_t length, void *context);

/* What to run.
 *
 * argv, environment  NULL-terminated; argv[0] is looked for in PATH
 * is_attached        true: stdin, stdout and stderr are the caller's, and nothing of what follows
 *                    up to line is used
 * input              what the command reads from its stdin
 * line, context      told what it writes to stdout; line may be NULL
 * end_fds            two descriptors; when one becomes readable the command is told to end: TERM to
 *                    its group, after grace_us KILL. -1 = none
 * kill_fd            when it becomes readable: KILL at once. -1 = none */
struct alk__child {
    char *const *argv;
    char *const *environment;
    bool is_attached;
    const char *input;
    size_t input_length;
    alk__child_line_fn line;
    void *context;
    int end_fds[2];
    int kill_fd;
    int64_t grace_us;
};

/* How it ended.
 *
 * exit_code    0-255, -1 when a signal ended it
 * signal       that signal, 0 = none
 * was_told     whether it was told to end by one of the descriptors
 * tail         the last bytes it wrote to stderr, from the start of a character on, without a line
 *              break at the end; NUL behind it */
struct alk__child_end {
    int exit_code;
    int signal;
    bool was_told;
    size_t tail_length;
    char tail[ALK__CHILD_TAIL_BYTES + 1];
};

/* Runs it and waits until it ended. When it was told to end, also until nobody of its group holds
 * its output or all were killed. Thread-safe.
 * ALK_OK; ALK_ABSENT with a message when there is no such command; ALK_FAILED. */
alk_status alk__child_run(const struct alk__child *child, struct alk__child_end *ret_end,
                          alk_error *error);

#endif
