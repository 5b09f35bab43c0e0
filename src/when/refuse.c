/* when/refuse.c: what the parsers of specs say: refusals with their column, warnings. */
#include <stdarg.h>
#include <string.h>

#include "base/error.h"
#include "when/compiled.h"

alk_status alk__when_refuse(struct alk__when_parser *parser, size_t at, const char *hint,
                            const char *format, ...) {
    char reason[256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(reason, sizeof(reason), format, arguments);
    va_end(arguments);
    if (hint == NULL)
        return alk__fail(parser->error, ALK_INVALID, "%s at column %zu", reason, at + 1);
    return alk__fail(parser->error, ALK_INVALID, "%s at column %zu (%s)", reason, at + 1, hint);
}

void alk__when_warn(struct alk__when *when, const char *format, ...) {
    size_t length = strlen(when->warning);
    va_list arguments;

    if (length > 0)
        length += (size_t)snprintf(when->warning + length, sizeof(when->warning) - length, "; ");
    if (length >= sizeof(when->warning))
        return;
    va_start(arguments, format);
    vsnprintf(when->warning + length, sizeof(when->warning) - length, format, arguments);
    va_end(arguments);
}
