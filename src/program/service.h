/* program/service.h: what `alk run` and `alk work` are while they run: a store, a thread for each
 * loop, and a main thread that listens to signals.
 *
 *   TERM, INT    nothing new is taken, what runs may finish within the deadline; a further one:
 *                what runs is killed
 *   HUP          the configuration is read again, and zone files too. Its schedules are stated in
 *                one transaction, for which a database that does not answer is waited for; then
 *                loops that are no longer in it end when what they run is finished, new ones start.
 *                One that is refused, by the reader or by the store, is reported and the old one
 *                stays in force whole; one that is read meanwhile takes its place
 *   a loop fails it is run again for ever (supervise.h) */
#ifndef ALK_PROGRAM_SERVICE_H
#define ALK_PROGRAM_SERVICE_H

#include "program/config.h"

/* Reads the configuration again. */
typedef alk_status (*alk__reload_fn)(void *context, struct alk__config **ret_config,
                                     alk_error *error);

/* config    taken over; it says which loops run
 * reload    at HUP; NULL = HUP is only noted
 * is_drain  each worker ends when nothing is due in its queues, the service with the last loop
 * forget_missed  what was due before the scheduler started is not fired (schedules.md, part 9) */
struct alk__service_options {
    struct alk__config *config;
    alk__reload_fn reload;
    void *reload_context;
    bool is_drain;
    bool forget_missed;
};

/* Runs until a signal, or until every loop has ended by itself. Waits for a server that does not
 * answer.
 * ALK_OK; < 0 when the store cannot be used however long one waits. */
alk_status alk__service_run(const struct alk__service_options *options, alk_error *error);

/* States its schedules, then one tick of everything due (S157). ALK_OK; ALK_HELD with a message
 * saying by whom; < 0. */
alk_status alk__service_once(const struct alk__config *config, bool forget_missed,
                             alk_error *error);

#endif
