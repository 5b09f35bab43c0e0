/* cli/input.h: reads what a person pipes in or names. */
#ifndef ALK_CLI_INPUT_H
#define ALK_CLI_INPUT_H

#include "base/text.h"

/* A file that is read line by line, "-" = stdin. */
struct alk__input {
    const char *name; /* for messages */
    FILE *file;
    size_t line; /* the number of the line read last */
};

/* ALK_OK; ALK_ABSENT with a message (no such file); ALK_FAILED. */
alk_status alk__input_open(struct alk__input *input, const char *path, alk_error *error);

/* Reads the next line without its break into buffer, which is cleared first.
 * ALK_OK; ALK_EMPTY at the end; ALK_INVALID when it is longer than buffer may be; ALK_FAILED. */
alk_status alk__input_line(struct alk__input *input, struct alk__buffer *buffer, alk_error *error);

/* Reads all that is left, up to what buffer may hold; what is more is cut off and left to whoever
 * checks the length. */
alk_status alk__input_all(struct alk__input *input, struct alk__buffer *buffer, alk_error *error);

void alk__input_close(struct alk__input *input);

#endif
