/* store/store.h: what alk_store and alk_conn are made of; for the files of store/ that are no
 * driver. */
#ifndef ALK_STORE_STORE_H
#define ALK_STORE_STORE_H

#include <pthread.h>
#include <sys/types.h>

#include "base/turns.h"
#include "store/driver.h"
#include "store/sql_files.h"

/* Connections that are open, at most settings.pool_max (pool.c). A place is held by who has
 * borrowed one or is opening one; idle ones hold none: a new one is opened only when none is idle,
 * so open = places taken + idle never exceeds the places. */
struct alk__pool {
    struct alk__turns turns;
    pthread_mutex_t lock;
    pthread_cond_t user_left;
    struct alk_conn *idle; /* a stack: the one used last is the warmest */
    int open;
    int idle_count;
    int users; /* who wait for one, have one or have joined one: the store must outlive them */
};

struct alk_store {
    struct alk__arena arena; /* the texts of settings */
    struct alk__settings settings;
    const struct alk__driver *driver;
    struct alk__reporter reporter;
    pid_t process; /* that opened it (S27) */
    struct alk__pool pool;

    pthread_mutex_t lock;
    /* tx.c: the connections that hold a transaction, and all joined ones (S26) */
    struct alk_conn *register_first;
    struct alk__wake *wakes; /* wake.c */
    alk__fault_fn fault;
    void *fault_context;
};

struct alk_conn {
    alk_store *store;
    struct alk__session *session;
    struct alk_conn *next; /* idle ones of the pool */
    bool is_joined;
    bool is_broken;
    bool has_begun; /* a transaction of ours is open; a host's is not ours */
    bool has_wake;  /* somebody is to be woken when it commits (S92) */
    int savepoints; /* that are open */
    int64_t deadline_us;
    int64_t call_limit_us;

    struct alk_conn *register_next;
    pthread_t thread; /* that holds the transaction, or used the joined connection last */
    bool is_registered;
};

/* A use in a forked child of the process that opened the store is ALK_USAGE (S27). */
alk_status alk__store_check_process(const alk_store *store, alk_error *error);

/* url.c: reads url and options (with its size already checked) into settings, texts in arena. */
alk_status alk__settings_read(struct alk__arena *arena, const char *url,
                              const alk_store_options *options, struct alk__settings *ret_settings,
                              alk_error *error);

/* url with every password in it replaced by ***, in arena; NULL when there is no memory. */
char *alk__url_masked(struct alk__arena *arena, const char *url);

alk_status alk__pool_init(struct alk__pool *pool, int size, alk_error *error);
void alk__pool_shut(alk_store *store); /* waits until all is given back (S25) */
void alk__pool_release(struct alk__pool *pool);
alk_status alk__conn_new(alk_store *store, struct alk__session *session, alk_conn **ret_conn,
                         alk_error *error);
void alk__pool_joined(alk_store *store); /* counts a joined connection as borrowed */

/* tx.c: the register of transactions (S26). */
void alk__register_add(alk_conn *conn);
void alk__register_remove(alk_conn *conn);
/* Ends what is open on a connection that is given back (S22). */
void alk__conn_reset(alk_conn *conn);

/* migrate.c: brings the schema to the newest version of chain, a list of files ended by {NULL,
 * NULL}; tests run a made-up one (S6). settings say what may be done (S2). */
alk_status alk__migrate(alk_conn *conn, const struct alk__sql_file *chain, alk_error *error);

/* wake.c: wakes those of this process. */
void alk__wake_all(alk_store *store);

#endif
