/* base/utf8.c: UTF-8 as RFC 3629 has it. */
#include "base/utf8.h"

static bool is_tail(unsigned char byte) {
    return byte >= 0x80 && byte <= 0xBF;
}

/* The second byte carries the limits: nothing overlong, no surrogates, nothing above U+10FFFF. */
static bool is_second(unsigned char first, unsigned char second) {
    switch (first) {
    case 0xE0:
        return second >= 0xA0 && second <= 0xBF;
    case 0xED:
        return second >= 0x80 && second <= 0x9F;
    case 0xF0:
        return second >= 0x90 && second <= 0xBF;
    case 0xF4:
        return second >= 0x80 && second <= 0x8F;
    default:
        return is_tail(second);
    }
}

size_t alk__utf8_step(const char *bytes, size_t length) {
    if (length == 0)
        return 0;

    unsigned char first = (unsigned char)bytes[0];
    if (first < 0x80)
        return first == 0 ? 0 : 1;
    size_t step = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
    if (step == 0 || step > length || !is_second(first, (unsigned char)bytes[1]))
        return 0;
    for (size_t i = 2; i < step; i++)
        if (!is_tail((unsigned char)bytes[i]))
            return 0;
    return step;
}

bool alk__utf8_is_control(const char *bytes, size_t step) {
    unsigned char first = (unsigned char)bytes[0];

    if (step == 1)
        return first < 0x20 || first == 0x7F;
    return step == 2 && first == 0xC2 && (unsigned char)bytes[1] < 0xA0;
}

bool alk__utf8_is_valid(const char *bytes, size_t length, size_t *ret_at) {
    for (size_t at = 0, step; at < length; at += step) {
        step = alk__utf8_step(bytes + at, length - at);
        if (step == 0) {
            if (ret_at != NULL)
                *ret_at = at;
            return false;
        }
    }
    return true;
}
