/* loops/thread.c: starts the threads that loops need beside the caller's own. */
#include "loops/thread.h"
#include "base/error.h"
#include <signal.h>

/* A fault's signal goes to the thread that made it: blocked there it would kill the process past
 * the host's handler. */
static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};

alk_status alk__thread_start(pthread_t *ret_thread, void *(*function)(void *), void *context,
                             alk_error *error) {
    sigset_t blocked;
    sigset_t before;
    sigfillset(&blocked);
    for (size_t n = 0; n < sizeof faults / sizeof *faults; n++)
        sigdelset(&blocked, faults[n]);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    int code = pthread_create(ret_thread, NULL, function, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code != 0)
        return alk__fail(error, ALK_AGAIN, "start a thread: %s", alk__reason_of(code).text);
    return ALK_OK;
}
