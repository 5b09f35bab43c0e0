/* core/lease.h: what the loops need of leases beyond <alkstore/lease.h>. */
#ifndef ALK_CORE_LEASE_H
#define ALK_CORE_LEASE_H

#include <alkstore/lease.h>

/* Renews the lease and reads when the soonest schedule is due, in one transaction and, on
 * PostgreSQL, one round trip (S150).
 *
 * lease            expires_at_us is set anew
 * ret_next_due_us  the smallest next_fire_at of the schedules that are neither paused nor done nor
 *                  written by a newer version,
 *                  ALK_NO_TIME = there is none
 * ret_now_us       the database's clock
 * Returns ALK_OK; ALK_LOST when the lease is no longer ours (nothing else is then written). */
alk_status alk__lease_renew_and_due(alk_conn *conn, alk_lease *lease, int64_t *ret_next_due_us,
                                    int64_t *ret_now_us, int64_t *ret_behind_us, alk_error *error);

#endif
