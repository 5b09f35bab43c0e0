/* cli/schedule.h: how schedules are shown; shared by the files schedule_*.c. */
#ifndef ALK_CLI_SCHEDULE_H
#define ALK_CLI_SCHEDULE_H

#include "cli/command.h"
#include "cli/output.h"

/* "no schedule 'nightly'", ALK_ABSENT. */
alk_status alk__schedule_absent(const char *name, alk_error *error);

/* Reads a schedule and says when it fires next: a line, or the whole as JSON. */
alk_status alk__schedule_print_next(const struct alk__arguments *arguments, alk_conn *conn,
                                    const char *name, alk_error *error);

/* Schedules as they are printed. */
struct alk__listing alk__schedule_rows(const alk_schedule_row *schedules, size_t count,
                                       int64_t now_us);

/* Prints the first of those that need somebody: quarantined, unreadable, or never due although they
 * should be (S143, S145). */
alk_status alk__schedule_list_bad(const struct alk__arguments *arguments, alk_conn *conn, int limit,
                                  alk_error *error);

#endif
