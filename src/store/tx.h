/* store/tx.h: what run.c needs of tx.c. */
#ifndef ALK_STORE_TX_H
#define ALK_STORE_TX_H

#include "store/store.h"

/* What every call on a connection starts with: is it of this process (S27), is it whole, is the
 * transaction that was begun still there (S33), how long may the call take. */
alk_status alk__enter(alk_conn *conn, alk_error *error);

/* The seam for tests, before and after each step (run.h). */
alk_status alk__fault(alk_conn *conn, const char *name, enum alk__fault_moment moment,
                      alk_error *error);

/* ALK_USAGE when this thread holds a transaction on another connection of the store (S26). */
alk_status alk__tx_check_thread(const alk_conn *conn, alk_error *error);

/* The same for a COMMIT: ALK_USAGE unless alk_begin opened a transaction; one that is not there any
 * more is over then. */
alk_status alk__enter_ours(alk_conn *conn, alk_error *error);

/* Begin, commit and roll back after alk__enter. After a failed commit the transaction is over. */
alk_status alk__tx_begin(alk_conn *conn, const struct alk__tx_limits *limits, alk_error *error);
alk_status alk__tx_commit(alk_conn *conn, alk_error *error);
void alk__tx_roll_back(alk_conn *conn);

/* For a driver that ended the transaction in its own round trip. */
void alk__tx_end(alk_conn *conn, bool is_committed);

#endif
