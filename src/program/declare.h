/* program/declare.h: makes the schedules of a store what a configuration says (S123). */
#ifndef ALK_PROGRAM_DECLARE_H
#define ALK_PROGRAM_DECLARE_H

#include "program/config.h"
#include "program/log.h"

/* The set that a configuration states; NULL when it has no [schedule NAME] and names no set, and so
 * states nothing. */
const char *alk__declared_set(const struct alk__config *config);

/* Makes set what config says, all or nothing. ret_result is freed with alk_apply_result_free.
 * ALK_OK; ALK_INVALID naming schedule and column; < 0. */
alk_status alk__declare(const struct alk__config *config, const char *set, alk_conn *conn,
                        bool is_dry_run, alk_apply_result *ret_result, alk_error *error);

/* The same for a program that runs on: what changes is logged, and a database that does not answer
 * is waited for. ALK_OK; ALK_EMPTY when stop is set meanwhile; < 0. */
alk_status alk__declare_await(const struct alk__config *config, const char *set, alk_store *store,
                              alk_stop *stop, struct alk__log *log, alk_error *error);

/* The same once. */
alk_status alk__declare_once(const struct alk__config *config, const char *set, alk_store *store,
                             struct alk__log *log, alk_error *error);

#endif
