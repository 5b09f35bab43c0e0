/* cli/input.c: stdin and files. */
#include "cli/input.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"

alk_status alk__input_open(struct alk__input *input, const char *path, alk_error *error) {
    bool is_stdin = strcmp(path, "-") == 0;

    input->name = is_stdin ? "stdin" : path;
    input->line = 0;
    input->file = is_stdin ? stdin : fopen(path, "re");
    if (input->file == NULL)
        return alk__fail(error, errno == ENOENT ? ALK_ABSENT : ALK_FAILED, "cannot read '%s': %s",
                         path, alk__reason_of(errno).text);
    return ALK_OK;
}

static alk_status check(const struct alk__input *input, alk_error *error) {
    if (ferror(input->file))
        return alk__fail(error, ALK_FAILED, "cannot read '%s': %s", input->name,
                         alk__reason_of(errno).text);
    return ALK_OK;
}

alk_status alk__input_line(struct alk__input *input, struct alk__buffer *buffer, alk_error *error) {
    int byte = getc_unlocked(input->file);

    alk__buffer_clear(buffer);
    if (byte == EOF)
        return check(input, error) == ALK_OK ? ALK_EMPTY : ALK_FAILED;
    input->line++;
    for (; byte != EOF && byte != '\n'; byte = getc_unlocked(input->file)) {
        char one = (char)byte;

        alk__buffer_add(buffer, &one, 1);
    }
    if (buffer->is_failed)
        return alk__fail(error, ALK_INVALID, "is longer than %s bytes",
                         alk__number_of(buffer->maximum).text);
    return check(input, error);
}

alk_status alk__input_all(struct alk__input *input, struct alk__buffer *buffer, alk_error *error) {
    char bytes[8192];
    size_t length;

    while (buffer->length < buffer->maximum &&
           (length = fread(bytes, 1, sizeof(bytes), input->file)) > 0) {
        size_t room = buffer->maximum - buffer->length;

        alk__buffer_add(buffer, bytes, length < room ? length : room);
        if (buffer->is_failed)
            return alk__nomem(error);
    }
    return check(input, error);
}

void alk__input_close(struct alk__input *input) {
    if (input->file != NULL && input->file != stdin)
        fclose(input->file);
}
