/* support/server.h: the PostgreSQL server of a test run, spoken to directly, for looking at what
 * the library did and for getting in its way. A test that needs it begins with server_needed(),
 * which skips it where there is no server (S222). */
#ifndef ALK_TEST_SERVER_H
#define ALK_TEST_SERVER_H

#include <libpq-fe.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/clock.h"
#include "store/driver.h"

/* The server's URL; skips the test when there is none, or fails it with ALK_TEST_REQUIRE=postgres
 * (S224). */
const char *server_needed(void);

/* A connection; a failed one fails the test. */
PGconn *server_connect(const char *url);

/* Runs SQL; printf's format. A failure fails the test. */
void server_do(PGconn *connection, const char *format, ...) ALK_PRINTF(2, 3);

/* The number that SQL gives. */
int64_t server_number(PGconn *connection, const char *format, ...) ALK_PRINTF(2, 3);

#define WAIT_US (30 * ALK__SECOND)

/* Waits until SQL gives the number; fails the test after WAIT_US. */
void server_wait(PGconn *connection, int64_t number, const char *format, ...) ALK_PRINTF(3, 4);

/* Settings for the driver alone, without a store; statements can be given other texts. The
 * schema has no tables. */
struct server_settings {
    struct alk__settings settings;
    struct alk__arena arena;
    const char *texts[ALK__STATEMENT_COUNT];
};
void server_settings_init(struct server_settings *settings, const char *url);
void server_settings_free(struct server_settings *settings);

#endif
