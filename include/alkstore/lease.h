/* alkstore/lease.h: names held by one owner until a time. Specified in docs/spec/leases.md.
 *
 *   free --acquire--> held(owner, fence) --renew before it lapses--> held(same fence, later end)
 *   held --release--> free        held --its end passes--> lapsed --acquire--> held(other owner,
 *   higher fence)
 *
 * The fence is higher at every acquisition, also across a release, a restart, a crash and a
 * restored backup (S177): work done under a lease can be refused by comparing fences. */
#ifndef ALKSTORE_LEASE_H
#define ALKSTORE_LEASE_H

#include <alkstore/store.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ALK_NAME_BYTES 201 /* a name of at most 200 bytes and its NUL (S212) */

/* One lease as acquired. owner is the owner's text followed by a random token, so that two
 * processes that give the same text do not share a lease (S175). */
typedef struct alk_lease {
    char name[ALK_NAME_BYTES];
    char owner[ALK_NAME_BYTES + 32];
    int64_t fence;
    int64_t ttl_us;
    int64_t acquired_at_us;
    int64_t expires_at_us; /* by the database's clock */
} alk_lease;

/* Acquires a lease that is free or lapsed.
 *
 * name       1-200 bytes (S212)
 * owner      1-200 bytes for people to read ("host/pid"); a token is added
 * ttl_us     > 0 (S175)
 * ret_lease  receives the lease
 * Returns ALK_OK; ALK_HELD (ret_lease then receives who holds it); ALK_INVALID. */
ALK_API alk_status alk_lease_acquire(alk_conn *conn, const char *name, const char *owner,
                                     int64_t ttl_us, alk_lease *ret_lease, alk_error *error);

/* Extends the lease to now + its TTL, only while it is still the caller's and has not lapsed
 * (S176).
 * Returns ALK_OK (expires_at_us is set anew); ALK_LOST. */
ALK_API alk_status alk_lease_renew(alk_conn *conn, alk_lease *lease, alk_error *error);

/* Gives the lease back; its fence is remembered (S177). Returns ALK_OK; ALK_ABSENT when it was no
 * longer the caller's: then nothing changes (S179). */
ALK_API alk_status alk_lease_release(alk_conn *conn, const alk_lease *lease, alk_error *error);

/* Reads who holds a lease. ALK_OK; ALK_ABSENT when nobody does. */
ALK_API alk_status alk_lease_get(alk_conn *conn, const char *name, alk_lease *ret_lease,
                                 alk_error *error);

/* Ends a lease whoever holds it; for operators (S181). ret_lease (may be NULL) receives what was
 * broken. ALK_OK; ALK_ABSENT. */
ALK_API alk_status alk_lease_break(alk_conn *conn, const char *name, alk_lease *ret_lease,
                                   alk_error *error);

typedef struct alk_lease_list {
    size_t count;
    alk_lease *leases;
    int64_t now_us; /* the database's clock at the read, to compute ages */
    void *memory;
} alk_lease_list;

/* The leases that are held now, by name (S181). Freed with alk_lease_list_free. */
ALK_API alk_status alk_lease_list_get(alk_conn *conn, alk_lease_list *ret_list, alk_error *error);
ALK_API void alk_lease_list_free(alk_lease_list *list);

/* What runs under a held lease: lost becomes set when the lease is gone (S180). */
typedef alk_status (*alk_lease_fn)(const alk_lease *lease, const alk_stop *lost, void *context,
                                   alk_error *error);

/* Acquires, runs function in the calling thread, renews from a thread of its own at a third of the
 * TTL, releases at the end (S180). Holds one connection of the store's pool while it runs.
 *
 * wait_us  how long to wait for a lease that is held, 0 = not at all, INT64_MAX = for ever
 * stop     ends the waiting, may be NULL
 * Returns function's status; ALK_HELD; ALK_LOST when the lease was lost while function ran and
 * function itself succeeded; ALK_EMPTY when stopped while waiting. */
ALK_API alk_status alk_lease_hold(alk_store *store, const char *name, const char *owner,
                                  int64_t ttl_us, int64_t wait_us, alk_stop *stop,
                                  alk_lease_fn function, void *context, alk_error *error);

#ifdef __cplusplus
}
#endif
#endif
