/* program/child.c: starting a command, listening to it, and ending it when it must end. */
#include "program/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"

enum watched { EXITED, OUTPUT, ERRORS, END_ONE, END_TWO, KILL, WATCHED };

/* A command that runs. fds[i].fd is -1 where there is nothing to watch, or nothing any more. */
struct running {
    const struct alk__child *child;
    struct alk__child_end *end;
    pid_t pid;
    struct pollfd fds[WATCHED];
    int64_t kill_at_us; /* monotonic; ALK_NO_TIME: nobody told it to end */
    bool is_killed;
    bool has_exited;
    char line[ALK__CHILD_LINE_BYTES];
    size_t line_length;
};

static void close_watched(struct running *running, enum watched which) {
    if (running->fds[which].fd >= 0)
        close(running->fds[which].fd);
    running->fds[which].fd = -1;
}

/* ---- what it writes ---- */

static void end_line(struct running *running) {
    if (running->child->line != NULL)
        running->child->line(running->line, running->line_length, running->child->context);
    running->line_length = 0;
}

static void take_output(struct running *running, const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] == '\n') {
            end_line(running);
            continue;
        }
        if (running->line_length == sizeof(running->line))
            end_line(running);
        running->line[running->line_length++] = bytes[i];
    }
}

/* Keeps the last ALK__CHILD_TAIL_BYTES; length is at most that. */
static void take_errors(struct alk__child_end *end, const char *bytes, size_t length) {
    size_t dropped = end->tail_length + length > ALK__CHILD_TAIL_BYTES
                         ? end->tail_length + length - ALK__CHILD_TAIL_BYTES
                         : 0;

    memmove(end->tail, end->tail + dropped, end->tail_length - dropped);
    end->tail_length -= dropped;
    memcpy(end->tail + end->tail_length, bytes, length);
    end->tail_length += length;
}

/* Reads what is there now; the descriptor is closed at its end. False when there was nothing. */
static bool read_some(struct running *running, enum watched which) {
    char bytes[ALK__CHILD_TAIL_BYTES];
    ssize_t length = read(running->fds[which].fd, bytes, sizeof(bytes));

    if (length < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (length <= 0) {
        close_watched(running, which);
        return false;
    }
    if (which == OUTPUT)
        take_output(running, bytes, (size_t)length);
    else
        take_errors(running->end, bytes, (size_t)length);
    return true;
}

/* What a pipe holds at this moment, and not what somebody goes on to write: a pipe holds at most 1
 * MiB. */
static void drain(struct running *running, enum watched which) {
    for (int reads = 0; reads < 256 && running->fds[which].fd >= 0; reads++) {
        if (!read_some(running, which))
            break;
    }
    close_watched(running, which);
}

static void finish_output(struct running *running) {
    struct alk__child_end *end = running->end;
    size_t start = 0;

    drain(running, OUTPUT);
    drain(running, ERRORS);
    if (running->line_length > 0)
        end_line(running);
    while (end->tail_length > 0 && strchr("\r\n", end->tail[end->tail_length - 1]) != NULL)
        end->tail_length--;
    while (start < end->tail_length && ((unsigned char)end->tail[start] & 0xC0) == 0x80)
        start++;
    memmove(end->tail, end->tail + start, end->tail_length - start);
    end->tail_length -= start;
    for (size_t i = 0; i < end->tail_length; i++) { /* a text ends at a zero */
        if (end->tail[i] == '\0')
            end->tail[i] = ' ';
    }
    end->tail[end->tail_length] = '\0';
}

/* ---- starting ---- */

/* The command's ends of its three streams. */
struct streams {
    int input;
    int output;
    int errors;
};

static void close_streams(const struct streams *streams) {
    int fds[] = {streams->input, streams->output, streams->errors};

    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
}

/* A file in memory: written before the command starts, so that it may read or not read it as it
 * likes. */
static int open_input(const struct alk__child *child) {
    int fd = memfd_create("payload", MFD_CLOEXEC);

    for (size_t at = 0; fd >= 0 && at < child->input_length;) {
        ssize_t written = write(fd, child->input + at, child->input_length - at);

        if (written < 0 && errno != EINTR) {
            close(fd);
            return -1;
        }
        at += written > 0 ? (size_t)written : 0;
    }
    if (fd >= 0)
        lseek(fd, 0, SEEK_SET);
    return fd;
}

/* Only our end does not block: the other one is the command's, which knows nothing of that. */
static int open_pipe(struct pollfd *ret_ours) {
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    ret_ours->fd = ends[0];
    return ends[1];
}

static bool open_streams(struct running *running, struct streams *streams) {
    streams->input = open_input(running->child);
    streams->output = streams->input < 0 ? -1 : open_pipe(&running->fds[OUTPUT]);
    streams->errors = streams->output < 0 ? -1 : open_pipe(&running->fds[ERRORS]);
    return streams->errors >= 0;
}

/* No signal is blocked or ignored in the command, whatever is in the program. */
static int set_attributes(posix_spawnattr_t *attributes) {
    sigset_t none, all;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &all);
    posix_spawnattr_setpgroup(attributes, 0);
    return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                    POSIX_SPAWN_SETPGROUP);
}

/* 0 or an errno, that of the exec included. */
static int spawn(struct running *running, const struct streams *streams) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    const struct alk__child *child = running->child;
    int number = posix_spawn_file_actions_init(&actions);

    if (number != 0)
        return number;
    number = posix_spawnattr_init(&attributes);
    if (number != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return number;
    }
    number = set_attributes(&attributes);
    if (number == 0 && !child->is_attached) {
        posix_spawn_file_actions_adddup2(&actions, streams->input, STDIN_FILENO);
        posix_spawn_file_actions_adddup2(&actions, streams->output, STDOUT_FILENO);
        number = posix_spawn_file_actions_adddup2(&actions, streams->errors, STDERR_FILENO);
    }
    if (number == 0)
        number = posix_spawnp(&running->pid, child->argv[0], &actions, &attributes, child->argv,
                              child->environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return number;
}

static alk_status refuse_start(const struct alk__child *child, int number, alk_error *error) {
    if (number == ENOENT)
        return alk__fail(error, ALK_ABSENT, "command '%s' not found", child->argv[0]);
    return alk__fail(error, ALK_FAILED, "command '%s' cannot be started: %s", child->argv[0],
                     alk__reason_of(number).text);
}

static alk_status start(struct running *running, alk_error *error) {
    struct streams streams = {-1, -1, -1};
    int number = 0;

    if (!running->child->is_attached && !open_streams(running, &streams))
        number = errno;
    if (number == 0)
        number = spawn(running, &streams);
    close_streams(&streams);
    if (number == 0) {
        running->fds[EXITED].fd = pidfd_open(running->pid, 0);
        if (running->fds[EXITED].fd >= 0)
            return ALK_OK;
        number = errno;
        kill(-running->pid, SIGKILL);
        waitpid(running->pid, NULL, 0);
    }
    close_watched(running, OUTPUT);
    close_watched(running, ERRORS);
    return refuse_start(running->child, number, error);
}

/* ---- until it ended ---- */

static void tell(struct running *running) {
    running->end->was_told = true;
    running->kill_at_us = alk__add_us(alk__monotonic_us(), running->child->grace_us);
    running->fds[END_ONE].fd = running->fds[END_TWO].fd = -1; /* said once is enough */
    kill(-running->pid, SIGTERM);
    kill(-running->pid, SIGCONT); /* who is stopped could not end */
}

static void kill_group(struct running *running) {
    running->end->was_told = true;
    running->is_killed = true;
    running->kill_at_us = ALK_NO_TIME;
    running->fds[END_ONE].fd = running->fds[END_TWO].fd = running->fds[KILL].fd = -1;
    kill(-running->pid, SIGKILL);
}

static int wait_ms(const struct running *running) {
    int64_t left_us;

    if (running->kill_at_us == ALK_NO_TIME)
        return -1;
    left_us = running->kill_at_us - alk__monotonic_us();
    return left_us <= 0 ? 0 : (int)(left_us / ALK__MS + 1 < 1000 ? left_us / ALK__MS + 1 : 1000);
}

/* Whether nothing is left to wait for. Somebody of its group who still holds the output is waited
 * for only when the command was told to end: until the grace is over. */
static bool is_over(const struct running *running) {
    bool is_silent = running->fds[OUTPUT].fd < 0 && running->fds[ERRORS].fd < 0;

    return running->has_exited && (!running->end->was_told || running->is_killed || is_silent);
}

static void look(struct running *running) {
    struct pollfd *fds = running->fds;

    if (poll(fds, WATCHED, wait_ms(running)) < 0)
        return; /* a signal: nothing was looked at */
    if (fds[OUTPUT].revents != 0)
        read_some(running, OUTPUT);
    if (fds[ERRORS].revents != 0)
        read_some(running, ERRORS);
    if (fds[EXITED].revents != 0) {
        running->has_exited = true;
        close_watched(running, EXITED);
    }
    if (fds[KILL].revents != 0)
        kill_group(running);
    else if (fds[END_ONE].revents != 0 || fds[END_TWO].revents != 0)
        tell(running);
    if (running->kill_at_us != ALK_NO_TIME && alk__monotonic_us() >= running->kill_at_us)
        kill_group(running);
}

/* The command's own number is free for others only after this: until then its group is certainly
 * its own. */
static void reap(struct running *running) {
    int status = 0;

    if (running->end->was_told)
        kill(-running->pid, SIGKILL);
    while (waitpid(running->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    running->end->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    running->end->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

alk_status alk__child_run(const struct alk__child *child, struct alk__child_end *ret_end,
                          alk_error *error) {
    struct running running = {.child = child, .end = ret_end, .kill_at_us = ALK_NO_TIME};
    const int fds[WATCHED] = {-1, -1, -1, child->end_fds[0], child->end_fds[1], child->kill_fd};
    alk_status st;

    for (size_t i = 0; i < WATCHED; i++)
        running.fds[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
    *ret_end = (struct alk__child_end){.exit_code = -1};
    st = start(&running, error);
    if (st != ALK_OK)
        return st;
    while (!is_over(&running))
        look(&running);
    finish_output(&running);
    reap(&running);
    return ALK_OK;
}
