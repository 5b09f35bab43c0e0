/* program/lease_run.h: a command that runs while a lease is held (S180). */
#ifndef ALK_PROGRAM_LEASE_RUN_H
#define ALK_PROGRAM_LEASE_RUN_H

#include <alkstore/lease.h>

/* Runs argv, attached to the caller's streams, while the lease name is held; ALK_LEASE_NAME and
 * ALK_LEASE_FENCE are in its environment. When the lease is lost, or this process gets TERM or INT,
 * the command gets TERM, and KILL after 10 s.
 *
 * ret_exit_code  the command's, or 128 + the signal that ended it; set when it ran
 * ALK_OK (it ran); ALK_HELD with a message saying by whom; ALK_LOST; ALK_ABSENT with a message (no
 * such command); < 0. */
alk_status alk__lease_run(alk_store *store, const char *name, int64_t ttl_us, char *const *argv,
                          int *ret_exit_code, alk_error *error);

#endif
