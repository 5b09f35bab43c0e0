/* alkstore.h: durable background work in the database an application already has.
 *
 * Four concepts. A *lease* is a name held by one owner until a time. A *job* is a row of work in a
 * queue: claimed with a stamp, settled with that stamp. A *schedule* is a row that puts a job in a
 * queue at each boundary of its spec. A *handler* is what a worker does with a job. A store keeps
 * them in SQLite or PostgreSQL with one meaning on both.
 *
 * Calls. Every operation takes an alk_conn and takes part in its transaction if there is one;
 * without one it is atomic by itself. Results are an alk_status: 0 worked; above 0 it worked and
 * the answer is no; below 0 it failed, and the alk_error, the last parameter, which may be NULL,
 * says why. Option structs start with their size, have an _INIT macro, and NULL means defaults.
 *
 * Ownership. What a call hands out is freed by the one call its header names. What a call is given
 * it copies. ret_ results are written on success only, unless the header says otherwise.
 *
 * Threads. alk_store, alk_stop and alk_when are shared by threads; an alk_conn is used by one
 * thread at a time; lists belong to whoever has them. The library starts no thread unless asked
 * (alk_worker_run and alk_lease_hold are asked), installs no signal handler, never exits and never
 * writes to a stream.
 *
 * Forks. A child must not use what its parent opened: a use there fails with ALK_USAGE and closes
 * nothing (S27). A child opens a store of its own; on SQLite only when its parent had not that file
 * open.
 *
 * Times are int64_t microseconds since 1970 UTC, names end in _us; ALK_NO_TIME where there is
 * none. */
#ifndef ALKSTORE_H
#define ALKSTORE_H

#include <alkstore/admin.h>
#include <alkstore/base.h>
#include <alkstore/job.h>
#include <alkstore/lease.h>
#include <alkstore/schedule.h>
#include <alkstore/store.h>
#include <alkstore/when.h>
#include <alkstore/worker.h>

#endif
