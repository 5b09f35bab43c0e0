/* store/postgres_join.c: when a host's connection may be used (S31b). Looked at before every
 * call: the host uses it in between. All of it is known to libpq without a round trip. */
#include "store/postgres.h"

#include <string.h>

#include "base/error.h"

static bool is_utf8(PGconn *connection, const char *parameter) {
    const char *encoding = PQparameterStatus(connection, parameter);

    return encoding != NULL && strcmp(encoding, "UTF8") == 0;
}

alk_status alk__postgres_check_joined(PGconn *connection, alk_error *error) {
    if (PQstatus(connection) != CONNECTION_OK)
        return alk__fail(error, ALK_USAGE, "the joined connection is not connected");
    if (PQpipelineStatus(connection) != PQ_PIPELINE_OFF)
        return alk__fail(error, ALK_USAGE, "the joined connection is in pipeline mode");
    if (PQtransactionStatus(connection) == PQTRANS_ACTIVE)
        return alk__fail(error, ALK_USAGE, "the joined connection has a query in flight");
    if (PQtransactionStatus(connection) == PQTRANS_INERROR)
        return alk__fail(error, ALK_USAGE, "the transaction of the joined connection has failed");
    if (!is_utf8(connection, "client_encoding"))
        return alk__fail(error, ALK_USAGE, "the joined connection's client_encoding is not UTF8");
    return alk__postgres_check_server(connection, error);
}
