/* program/signals.c: TERM, INT and HUP by signalfd. */
#include "program/signals.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"

static sigset_t awaited(void) {
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    return set;
}

alk_status alk__signals_open(struct alk__signals *signals, alk_error *error) {
    sigset_t set = awaited();

    signals->last_stop_us = ALK_NO_TIME;
    signals->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals->fd < 0)
        return alk__fail(error, ALK_FAILED, "no descriptor for signals: %s",
                         alk__reason_of(errno).text);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    return ALK_OK;
}

enum alk__signal alk__signals_next(struct alk__signals *signals) {
    struct signalfd_siginfo info;
    int64_t now_us = alk__monotonic_us();
    int64_t last_us = signals->last_stop_us;

    if (read(signals->fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
        return ALK__SIGNAL_NONE;
    if (info.ssi_signo == SIGHUP)
        return ALK__SIGNAL_RELOAD;
    if (last_us == ALK_NO_TIME) {
        signals->last_stop_us = now_us;
        return ALK__SIGNAL_STOP;
    }
    return now_us - last_us < ALK__SIGNAL_REPEAT_US ? ALK__SIGNAL_NONE : ALK__SIGNAL_AT_ONCE;
}

void alk__signals_close(struct alk__signals *signals) {
    close(signals->fd);
    signals->fd = -1;
}
