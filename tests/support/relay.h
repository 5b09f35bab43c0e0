/* support/relay.h: stands between a client and a PostgreSQL server on a Unix socket, in a
 * thread, and loses what it is told to lose: connections cut, bytes swallowed, an answer that
 * never comes back. */
#ifndef ALK_TEST_RELAY_H
#define ALK_TEST_RELAY_H

#include <stdbool.h>

struct relay;

/* Starts in front of the server of url, which names a Unix socket's folder. NULL when it cannot. */
struct relay *relay_start(const char *url);
void relay_stop(struct relay *relay);

/* The same database through the relay. */
const char *relay_url(const struct relay *relay);

/* From now on nothing goes through, in either direction, and nobody is told; new connections are
 * taken and get no answer. false: what comes from now on goes through again, what was swallowed
 * is lost. */
void relay_hold(struct relay *relay, bool is_held);

/* Cuts every connection now. */
void relay_cut(struct relay *relay);

/* When the client says words (as it does in a COMMIT) the connection is cut: before they reach
 * the server, or behind them, when the server has answered and before the client hears of it.
 * Once. */
void relay_cut_before(struct relay *relay, const char *words);
void relay_cut_behind(struct relay *relay, const char *words);

/* Likewise: the client hears the server say the same words back, and no more. */
void relay_cut_inside(struct relay *relay, const char *words);

/* Likewise, but the client is left waiting instead. */
void relay_hold_behind(struct relay *relay, const char *words);

/* How many connections were taken so far, and how often a client said something. */
int relay_taken(struct relay *relay);
int relay_said(struct relay *relay);

#endif
