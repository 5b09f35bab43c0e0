/* cli/exit.h: how the program ends: one table from results to exit codes and to hints for people.
 * */
#ifndef ALK_CLI_EXIT_H
#define ALK_CLI_EXIT_H

#include <alkstore/base.h>

enum {
    ALK__EXIT_OK = 0,
    ALK__EXIT_FAILED = 1,
    ALK__EXIT_USAGE = 2,   /* also a refused name, payload, spec or value */
    ALK__EXIT_ABSENT = 3,  /* a named thing is not there */
    ALK__EXIT_HELD = 4,    /* somebody else has it */
    ALK__EXIT_NO_BASE = 69 /* the database is not available */
};

/* The exit code of a result. */
int alk__exit_code(alk_status status);

/* Writes "alk: message (hint)" to stderr as one line and gives the exit code of status. */
int alk__exit_report(alk_status status, const alk_error *error);

/* Writes "alk: warning" to stderr, nothing for "": something legal that may not be meant. */
void alk__say_warning(const char *warning);

#endif
