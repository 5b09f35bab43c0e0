/* store/sql_files.h: the files of sql/, embedded when the library is built (cmake/sql.cmake).
 *
 * Each array is sorted by name in byte order and ends with {NULL, NULL}. A name is the file's
 * without ".sql" ("job_claim", "0001_first"), a text the whole file with its leading comment. */
#ifndef ALK_STORE_SQL_FILES_H
#define ALK_STORE_SQL_FILES_H

struct alk__sql_file {
    const char *name;
    const char *text;
};

extern const struct alk__sql_file alk__sql_postgres[];
extern const struct alk__sql_file alk__sql_sqlite[];
extern const struct alk__sql_file alk__sql_postgres_migrations[];
extern const struct alk__sql_file alk__sql_sqlite_migrations[];

#endif
