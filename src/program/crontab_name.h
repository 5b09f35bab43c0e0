/* program/crontab_name.h: a name for a schedule, from the command it runs. */
#ifndef ALK_PROGRAM_CRONTAB_NAME_H
#define ALK_PROGRAM_CRONTAB_NAME_H

#include "base/text.h"

#define ALK__CRONTAB_NAME_BYTES 64

/* The base name of the program that the command line runs, of letters, digits and ._- only; "job"
 * where there is none. */
void alk__crontab_name(const char *command, char name[ALK__CRONTAB_NAME_BYTES]);

#endif
