/* program/crontab.h: reads a crontab line by line, as cron(5) of Debian and cronie has it.
 *
 * It knows how a line is cut and nothing of what it means: specs are strings, and variables are
 * not applied to anything. Pure; any bytes may come in. */
#ifndef ALK_PROGRAM_CRONTAB_H
#define ALK_PROGRAM_CRONTAB_H

#include "base/arena.h"
#include "base/text.h"

enum alk__crontab_kind {
    ALK__CRONTAB_BLANK,
    ALK__CRONTAB_COMMENT,
    ALK__CRONTAB_VARIABLE, /* name, value */
    ALK__CRONTAB_ENTRY,    /* spec, user, command, input */
    ALK__CRONTAB_BROKEN    /* reason */
};

/* text     the line without the blanks around it, as it stands there
 * value    without the quotes around it; nothing in it is expanded
 * spec     five fields with one blank between them, or a word with @
 * user     who runs it in a system's crontab, NULL in others
 * command  for the shell: up to the first % without a backslash, \% having become %
 * input    for its stdin: what stands behind that %, further ones being line breaks, with a line
 *          break at its end; "" where nothing stands there, NULL without a %
 * reason   why it is neither */
struct alk__crontab_line {
    enum alk__crontab_kind kind;
    int number; /* from 1 */
    struct alk__text text;
    const char *name, *value;
    const char *spec, *user, *command, *input;
    const char *reason;
};

/* Start it with text, is_system and memory, which all strings of the lines live in. */
struct alk__crontab {
    struct alk__text text;
    bool is_system; /* a user stands before each command */
    struct alk__arena *memory;
    size_t at;
    int number;
};

/* The next line. ALK_OK; ALK_EMPTY at the end; ALK_NOMEM. */
alk_status alk__crontab_next(struct alk__crontab *crontab, struct alk__crontab_line *ret_line,
                             alk_error *error);

#endif
