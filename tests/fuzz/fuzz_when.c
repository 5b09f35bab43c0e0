/* tests/fuzz/fuzz_when.c: any bytes as a spec: taken or refused with a reason; what is taken goes
 * on strictly, back as well, and can be explained and resolved. */
#include <stdlib.h>

#include "when/when.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void require(bool is_so) {
    if (!is_so)
        abort();
}

static void walk(const struct alk__when *when, int64_t at_s) {
    int64_t next_s;
    int64_t prev_s;

    for (int i = 0; i < 4 && alk__when_next(when, 0, at_s, &next_s); i++, at_s = next_s) {
        require(next_s > at_s);
        require(alk__when_prev(when, 0, next_s + 1, &prev_s) && prev_s == next_s);
    }
}

/* What H resolves to is a spec with the same first boundary. */
static void check_resolved(const struct alk__when *when, const struct alk__buffer *text) {
    struct alk__when *resolved = NULL;
    int64_t first_s = -1;
    int64_t resolved_s = -1;

    if (text->length == 0)
        return;
    require(alk__when_parse((struct alk__text){text->bytes, text->length}, NULL, &resolved, NULL) ==
            ALK_OK);
    (void)alk__when_next(when, 0, 0, &first_s);
    (void)alk__when_next(resolved, 0, 0, &resolved_s);
    require(first_s == resolved_s);
    alk__when_free(resolved);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct alk__when_options options = {.name = "fuzz"};
    struct alk__buffer text = ALK__BUFFER_INIT(8192);
    struct alk__when *when = NULL;
    alk_error error = ALK_ERROR_INIT;

    if (alk__when_parse((struct alk__text){(const char *)bytes, length}, &options, &when, &error) <
        0) {
        require(error.status == ALK_INVALID && error.message[0] != '\0');
        return 0;
    }
    walk(when, INT64_MIN);
    walk(when, 1796083200);
    alk__when_resolve(when, &text);
    check_resolved(when, &text);
    alk__buffer_clear(&text);
    alk__when_explain(when, &text);
    require(!text.is_failed);
    alk__buffer_release(&text);
    alk__when_free(when);
    return 0;
}
