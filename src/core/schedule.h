/* core/schedule.h: what the files that change schedules share. */
#ifndef ALK_CORE_SCHEDULE_H
#define ALK_CORE_SCHEDULE_H

#include "core/plan.h"
#include "store/run.h"
#include <alkstore/schedule.h>

/* Everything that a schedule states; REANCHOR is not stated but done. */
#define ALK__SCHEDULE_FIELDS ((unsigned)ALK_SCHEDULE_REANCHOR - 1)

/* One put or change. Texts of given are borrowed. */
struct alk__edit {
    alk_schedule given;
    unsigned fields;
    bool may_insert; /* put: the whole is given, and it need not be there */
    struct alk__specs *specs;
    bool was_added; /* what came of it */
};

/* given may be of an older size. Checks all that can be before the database is touched (S33). */
alk_status alk__edit_init(struct alk__edit *edit, const alk_schedule *given, unsigned fields,
                          bool may_insert, struct alk__specs *specs, alk_error *error);

/* Does it, inside a transaction. ALK_OK; ALK_UNCHANGED; ALK_ABSENT; < 0. */
alk_status alk__edit_run(alk_conn *conn, struct alk__edit *edit, alk_error *error);

/* ---- what is given, as columns (schedule_fields.c) ---- */

/* Refuses fields that are out of range. */
alk_status alk__fields_check(const alk_schedule *given, unsigned fields, alk_error *error);

/* Sets the columns of the fields given; times that count from now, and the pause, by now_us. */
void alk__fields_set(struct alk__row_schedule *row, const alk_schedule *given, unsigned fields,
                     int64_t now_us);

/* Whether they have the same boundaries; whether they state the same. */
bool alk__fields_same_timing(const struct alk__row_schedule *left,
                             const struct alk__row_schedule *right);
bool alk__fields_same(const struct alk__row_schedule *left, const struct alk__row_schedule *right);

/* The columns as parameters of schedule_insert and schedule_update, behind the first. */
#define ALK__FIELDS_VALUES 26
void alk__fields_values(const struct alk__row_schedule *row, struct alk__value *values);

/* ---- rows ---- */

/* Reads the row, held, and then the time: not before, as it may have been waited for. */
alk_status alk__schedule_lock(alk_conn *conn, const char *name, struct alk__rows *rows,
                              int64_t *ret_now_us, alk_error *error);

alk_status alk__schedule_unreadable(const struct alk__row_schedule *row, alk_error *error);

/* One missed line of the ledger, by nobody's lease; none when nothing was missed. */
alk_status alk__schedule_missed(alk_conn *conn, int64_t id, const struct alk__plan *plan,
                                int64_t now_us, alk_error *error);

/* Ends a pause, and a quarantine with it: what was due up to until_us is missed, next is the first
 * boundary after it. A schedule whose spec is bad, or that cannot be read, is due at once, for the
 * tick to say so. */
alk_status alk__schedule_end_pause(alk_conn *conn, struct alk__specs *specs,
                                   const struct alk__row_schedule *row, int64_t until_us,
                                   alk_error *error);

/* Takes a schedule away with its history. ALK_OK; ALK_ABSENT. */
alk_status alk__schedule_remove(alk_conn *conn, const char *name, alk_error *error);

/* Prefixes a failure with the schedule's name and makes it the subject. Returns status. */
alk_status alk__schedule_named(alk_error *error, alk_status status, const char *name);

/* Runs function with context all or nothing, about the schedule of that name. */
alk_status alk__schedule_run(alk_conn *conn, const char *name, alk_tx_fn function, void *context,
                             alk_error *error);

#endif
