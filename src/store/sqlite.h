/* store/sqlite.h: what the files of the SQLite driver share: sqlite.c (connections, transactions),
 * sqlite_run.c (statements), sqlite_file.c (what a process knows of a file), sqlite_wake.c. */
#ifndef ALK_STORE_SQLITE_H
#define ALK_STORE_SQLITE_H

#include <sqlite3.h>
#include <sys/types.h>

#include "base/turns.h"
#include "store/driver.h"

/* A database file as this process has it open, shared by all its connections: one writer at a time
 * takes its turn here, so that threads of one process are served in order. */
struct alk__sqlite_file {
    struct alk__sqlite_file *next;
    dev_t device; /* 0, with an address as inode: in memory */
    ino_t inode;
    pid_t process;
    int uses;
    struct alk__turns writer;
};

/* Whether path may be opened here: not by the child of a process that had it open when it forked,
 * for the locks that SQLite believes to have are its parent's (S27). */
alk_status alk__sqlite_file_check(const char *path, alk_error *error);

/* The file behind path, or the memory behind settings; one more use. */
alk_status alk__sqlite_file_use(const struct alk__settings *settings,
                                struct alk__sqlite_file **ret_file, alk_error *error);
void alk__sqlite_file_release(struct alk__sqlite_file *file);

/* A statement of the table, prepared: the pieces of its text in order. */
struct alk__sqlite_statement {
    sqlite3_stmt **pieces;
    size_t count;
};

struct alk__session {
    const struct alk__settings *settings;
    sqlite3 *handle;
    struct alk__sqlite_file *file;
    bool is_joined; /* the handle is the host's */
    bool has_turn;  /* to write, of file->writer */
    bool is_broken;
    char version[32]; /* of the library that runs, which need not be the one compiled against */
    int64_t deadline_us;
    int64_t wait_ends_us; /* of the call that runs: until then its busy handler goes on */
    struct alk__sqlite_statement statements[ALK__STATEMENT_COUNT];
};

/* The failure of a call on the handle, with its words and code. */
alk_status alk__sqlite_fail(const struct alk__session *session, int code, alk_error *error);

/* Opens a handle on the settings' database and sets it up; nothing of it is left when it fails. */
alk_status alk__sqlite_connect(struct alk__session *session, alk_error *error);

/* The span a call may wait for others' locks: settings' busy time-out, but not past the deadline.
 */
void alk__sqlite_start_wait(struct alk__session *session);

alk_status alk__sqlite_run(struct alk__session *session, const struct alk__call *calls,
                           size_t call_count, enum alk__run_mode mode, size_t *ret_failed,
                           alk_error *error);
void alk__sqlite_finalize_all(struct alk__session *session);

#endif
