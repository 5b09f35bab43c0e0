/* program/supervise.h: the respawn recipe (S78): what fails is run again, with back-off, for ever.
 * */
#ifndef ALK_PROGRAM_SUPERVISE_H
#define ALK_PROGRAM_SUPERVISE_H

#include "program/log.h"

#include <alkstore.h>

/* What is run until it ends by itself: a loop of the library. */
typedef alk_status (*alk__run_fn)(void *context, alk_stop *stop, alk_error *error);

/* Runs run again and again until it returns >= 0, its failure is of class closed, or stop is set.
 * Every failure is logged with subject, and followed by a wait of alk_respawn_us, which a stop
 * ends.
 * Returns what run returned last; ALK_OK after a stop. */
alk_status alk__supervise(const char *subject, alk__run_fn run, void *context, alk_stop *stop,
                          struct alk__log *log, alk_error *error);

/* Whether the store that config names can be one, without a look at it. ALK_OK; ALK_INVALID. */
alk_status alk__store_check(const struct alk__config *config, alk_error *error);

/* Opens the store that config names, which must exist (S2).
 *
 * connections  how many the loops need; the pool has at least as many unless pool_max is set */
alk_status alk__store_open(const struct alk__config *config, int connections, struct alk__log *log,
                           alk_store **ret_store, alk_error *error);

/* The same, but waits for a server that does not answer, and says so in the log once a minute.
 * ALK_EMPTY when stop is set meanwhile. */
alk_status alk__store_await(const struct alk__config *config, int connections, alk_stop *stop,
                            struct alk__log *log, alk_store **ret_store, alk_error *error);

/* Waits that long, or until stop is set. */
void alk__stop_wait(const alk_stop *stop, int64_t us);

#endif
