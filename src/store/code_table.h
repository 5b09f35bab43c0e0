/* store/code_table.h: the engine codes that are not simply a permanent failure, code by code (S35,
 * S168). Included several times: ALK__SQLITE_CODE(number, name, status),
 * ALK__POSTGRES_CODE(sqlstate or its first letters, name, status).
 *
 * The first line that fits counts. A primary SQLite code stands for all its extended ones. */

/* clang-format off */
#ifdef ALK__SQLITE_CODE
ALK__SQLITE_CODE(  5, "SQLITE_BUSY",                    ALK_AGAIN)
ALK__SQLITE_CODE(  6, "SQLITE_LOCKED",                  ALK_AGAIN)
ALK__SQLITE_CODE(  7, "SQLITE_NOMEM",                   ALK_NOMEM)
ALK__SQLITE_CODE(516, "SQLITE_ABORT_ROLLBACK",          ALK_AGAIN)
ALK__SQLITE_CODE(  9, "SQLITE_INTERRUPT",               ALK_AGAIN)
ALK__SQLITE_CODE( 13, "SQLITE_FULL",                    ALK_AGAIN)
ALK__SQLITE_CODE( 15, "SQLITE_PROTOCOL",                ALK_AGAIN)
ALK__SQLITE_CODE( 17, "SQLITE_SCHEMA",                  ALK_AGAIN)
ALK__SQLITE_CODE( 18, "SQLITE_TOOBIG",                  ALK_DATA)
ALK__SQLITE_CODE( 19, "SQLITE_CONSTRAINT",              ALK_DATA)
ALK__SQLITE_CODE( 20, "SQLITE_MISMATCH",                ALK_DATA)
ALK__SQLITE_CODE(3082, "SQLITE_IOERR_NOMEM",            ALK_NOMEM)
ALK__SQLITE_CODE(778, "SQLITE_IOERR_WRITE",             ALK_AGAIN)
ALK__SQLITE_CODE(1034, "SQLITE_IOERR_FSYNC",            ALK_AGAIN)
ALK__SQLITE_CODE(1546, "SQLITE_IOERR_TRUNCATE",         ALK_AGAIN)
ALK__SQLITE_CODE(2058, "SQLITE_IOERR_UNLOCK",           ALK_AGAIN)
ALK__SQLITE_CODE(2314, "SQLITE_IOERR_RDLOCK",           ALK_AGAIN)
ALK__SQLITE_CODE(2826, "SQLITE_IOERR_BLOCKED",          ALK_AGAIN)
ALK__SQLITE_CODE(3594, "SQLITE_IOERR_CHECKRESERVEDLOCK", ALK_AGAIN)
ALK__SQLITE_CODE(3850, "SQLITE_IOERR_LOCK",             ALK_AGAIN)
ALK__SQLITE_CODE(4874, "SQLITE_IOERR_SHMSIZE",          ALK_AGAIN)
ALK__SQLITE_CODE(5130, "SQLITE_IOERR_SHMLOCK",          ALK_AGAIN)
ALK__SQLITE_CODE(5386, "SQLITE_IOERR_SHMMAP",           ALK_AGAIN)
#endif

#ifdef ALK__POSTGRES_CODE
ALK__POSTGRES_CODE("08",    "connection_exception",                ALK_AGAIN)
ALK__POSTGRES_CODE("22",    "data_exception",                      ALK_DATA)
ALK__POSTGRES_CODE("23",    "integrity_constraint_violation",      ALK_DATA)
ALK__POSTGRES_CODE("25006", "read_only_sql_transaction",           ALK_AGAIN)
ALK__POSTGRES_CODE("25P03", "idle_in_transaction_session_timeout", ALK_AGAIN)
ALK__POSTGRES_CODE("25P04", "transaction_timeout",                 ALK_AGAIN)
ALK__POSTGRES_CODE("40001", "serialization_failure",               ALK_AGAIN)
ALK__POSTGRES_CODE("40P01", "deadlock_detected",                   ALK_AGAIN)
ALK__POSTGRES_CODE("44",    "with_check_option_violation",         ALK_DATA)
ALK__POSTGRES_CODE("53",    "insufficient_resources",              ALK_AGAIN)
ALK__POSTGRES_CODE("54000", "program_limit_exceeded",              ALK_DATA)
ALK__POSTGRES_CODE("55P03", "lock_not_available",                  ALK_AGAIN)
ALK__POSTGRES_CODE("57014", "query_canceled",                      ALK_AGAIN)
ALK__POSTGRES_CODE("57P01", "admin_shutdown",                      ALK_AGAIN)
ALK__POSTGRES_CODE("57P02", "crash_shutdown",                      ALK_AGAIN)
ALK__POSTGRES_CODE("57P03", "cannot_connect_now",                  ALK_AGAIN)
ALK__POSTGRES_CODE("57P05", "idle_session_timeout",                ALK_AGAIN)
ALK__POSTGRES_CODE("P0",    "plpgsql_error",                       ALK_DATA)
#endif
/* clang-format on */
