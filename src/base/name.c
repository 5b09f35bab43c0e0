/* base/name.c: the one rule for names (S212). */
#include "base/error.h"
#include "base/text.h"

alk_status alk__name_check(const char *what, const char *name, alk_error *error) {
    if (name == NULL || *name == '\0')
        return alk__fail(error, ALK_INVALID, "%s name is empty", what);

    struct alk__text text = alk__text_of(name);
    struct alk__excerpt shown = alk__excerpt_of(text);
    if (text.length > ALK__NAME_MAX)
        return alk__fail(error, ALK_INVALID, "%s name '%s' is %s bytes, above the limit of %d",
                         what, shown.text, alk__number_of(text.length).text, ALK__NAME_MAX);

    for (size_t at = 0, step; at < text.length; at += step) {
        step = alk__utf8_step(name + at, text.length - at);
        if (step == 0)
            return alk__fail(error, ALK_INVALID, "%s name '%s' is not UTF-8 at column %zu", what,
                             shown.text, at + 1);
        if (alk__utf8_is_control(name + at, step))
            return alk__fail(error, ALK_INVALID,
                             "%s name '%s' has a control character at column %zu", what, shown.text,
                             at + 1);
    }
    return ALK_OK;
}
