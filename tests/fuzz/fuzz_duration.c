/* fuzz_duration: any bytes are read as a duration and as a time. What is accepted is written and
 * read back as the same. */
#include <stdlib.h>

#include "base/duration.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t length);

static void insist(bool is_true) {
    if (!is_true)
        abort();
}

static void read_duration(struct alk__text text) {
    char written[ALK__DURATION_BYTES];
    alk_error error = ALK_ERROR_INIT;
    int64_t us = 0;
    int64_t again = -1;

    if (alk__duration_parse(text, &us, &error) != ALK_OK)
        return;
    alk__duration_format(us, written, sizeof(written));
    insist(alk__duration_parse(alk__text_of(written), &again, NULL) == ALK_OK && again == us);
}

static void read_time(struct alk__text text) {
    char written[ALK__TIME_BYTES];
    alk_error error = ALK_ERROR_INIT;
    int64_t us = 0;
    int64_t again = 0;

    if (alk__time_parse(text, &us, &error) != ALK_OK)
        return;
    alk__time_format(us, written, sizeof(written));
    insist(alk__time_parse(alk__text_of(written), &again, NULL) == ALK_OK && again == us);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t length) {
    struct alk__text text = {(const char *)input, length};

    read_duration(text);
    read_time(text);
    return 0;
}
