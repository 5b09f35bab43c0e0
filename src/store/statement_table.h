/* store/statement_table.h: every statement: name, .sql file, parameter types, row type, flags
 * (statement.h). Included several times. */

/* clang-format off */
ALK__STATEMENT(ALK__META_GET,        "meta_get",        "",       alk__row_meta,   ALK__READ)
ALK__STATEMENT(ALK__CLOCK_GET,       "clock_get",       "",       alk__row_number, ALK__READ)
ALK__STATEMENT(ALK__STORE_LOOK,      "store_look",      "s",      alk__row_number, ALK__READ)
ALK__STATEMENT(ALK__META_PUT,        "meta_put",        "iii",    alk__row_none,   ALK__WRITE)
ALK__STATEMENT(ALK__MIGRATE_LOCK,    "migrate_lock",    "i",      alk__row_none,   ALK__POSTGRES_ONLY)
ALK__STATEMENT(ALK__WAKE_OTHERS,     "wake_others",     "ss",     alk__row_none,   ALK__POSTGRES_ONLY)
/* clang-format on */
