/* fuzz_json: any bytes go through the JSON check. What is accepted is accepted inside an array too;
 * a refusal has one line of UTF-8; any bytes written as a string are JSON. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

#define LIMIT ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t length);

static void insist(bool is_true) {
    if (!is_true)
        abort();
}

static alk_status check(const struct alk__buffer *buffer, alk_error *error) {
    struct alk__text text = {buffer->bytes, buffer->length};

    return alk__json_check("payload", text, LIMIT, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t length) {
    struct alk__text text = {(const char *)input, length};
    struct alk__buffer buffer = ALK__BUFFER_INIT(LIMIT);
    alk_error error = ALK_ERROR_INIT;

    alk__buffer_add_text(&buffer, "[");
    alk__buffer_add(&buffer, text.bytes, text.length);
    alk__buffer_add_text(&buffer, ",1]");
    if (alk__json_check("payload", text, LIMIT, &error) == ALK_OK)
        insist(check(&buffer, &error) == ALK_OK || strstr(error.message, "deeper") != NULL);
    else
        insist(strchr(error.message, '\n') == NULL &&
               alk__utf8_is_valid(error.message, strlen(error.message), NULL));

    alk__buffer_clear(&buffer);
    alk__json_add_string(&buffer, text);
    insist(check(&buffer, NULL) == ALK_OK);
    alk__buffer_release(&buffer);
    return 0;
}
