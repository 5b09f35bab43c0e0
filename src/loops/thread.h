/* loops/thread.h: starts the threads that loops need beside the caller's own. */
#ifndef ALK_LOOPS_THREAD_H
#define ALK_LOOPS_THREAD_H

#include <alkstore/base.h>
#include <pthread.h>

/* Starts a thread. Signals are the host's: the thread leaves them to the threads the host has, but
 * for those that its own faults raise. ALK_AGAIN when the process may not have more threads. */
alk_status alk__thread_start(pthread_t *ret_thread, void *(*function)(void *), void *context,
                             alk_error *error);

#endif
