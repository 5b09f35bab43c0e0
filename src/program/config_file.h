/* program/config_file.h: reads a file of [section NAME] and key = value lines, knowing nothing of
 * what they mean.
 *
 * A line is blank, a comment (# or ; as its first character), a section or an entry. A value goes
 * to the end of its line without the blanks around it; there is no comment behind it and nothing to
 * quote. */
#ifndef ALK_PROGRAM_CONFIG_FILE_H
#define ALK_PROGRAM_CONFIG_FILE_H

#include "base/arena.h"

#include <alkstore/base.h>

#define ALK__CONFIG_BYTES_MAX ((size_t)1 << 20)

/* One line that says something. key NULL: the head of a section; name "" where the section has
 * none. */
struct alk__config_line {
    const char *section;
    const char *name;
    const char *key;
    const char *value;
    int number; /* of the line, from 1 */
};

typedef alk_status (*alk__config_fn)(const struct alk__config_line *line, void *context,
                                     alk_error *error);

/* Reads the file and gives each section and entry to function, in order. Texts live in arena.
 * Whatever function refuses is prefixed with "FILE:LINE: ".
 * ALK_OK; ALK_ABSENT (no such file, with a message); ALK_FAILED (cannot be read); ALK_INVALID; what
 * function returned. */
alk_status alk__config_file_read(const char *path, struct alk__arena *arena,
                                 alk__config_fn function, void *context, alk_error *error);

#endif
