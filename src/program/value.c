/* program/value.c: numbers, durations, times and words as people write them. */
#include "program/value.h"

#include <string.h>

#include "base/duration.h"
#include "base/error.h"
#include "base/scan.h"
#include "base/text.h"

#define INTEGER_DIGITS 18

alk_status alk__value_integer(const char *label, const char *text, int64_t least, int64_t most,
                              int64_t *ret_number, alk_error *error) {
    struct alk__scan scan = {alk__text_of(text), 0};
    bool is_negative = alk__scan_take(&scan, '-');
    int64_t number;
    bool is_number =
        alk__scan_digits(&scan, INTEGER_DIGITS, &number) > 0 && alk__scan_peek(&scan) == -1;

    number = is_number && is_negative ? -number : number;
    if (!is_number || number < least || number > most)
        return alk__fail(error, ALK_INVALID, "%s is a number from %lld to %lld, not '%s'", label,
                         (long long)least, (long long)most,
                         alk__excerpt_of(alk__text_of(text)).text);
    *ret_number = number;
    return ALK_OK;
}

alk_status alk__value_duration(const char *label, const char *text, int64_t least, int64_t most,
                               int64_t *ret_us, alk_error *error) {
    char least_text[ALK__DURATION_BYTES], most_text[ALK__DURATION_BYTES];
    int64_t us;
    alk_status st = alk__duration_parse(alk__text_of(text), &us, error);

    if (st != ALK_OK)
        return alk__wrap(error, st, "%s", label);
    if (us < least || us > most) {
        alk__duration_format(least, least_text, sizeof(least_text));
        alk__duration_format(most, most_text, sizeof(most_text));
        return alk__fail(error, ALK_INVALID, "%s is from %s to %s, not '%s'", label, least_text,
                         most_text, alk__excerpt_of(alk__text_of(text)).text);
    }
    *ret_us = us;
    return ALK_OK;
}

alk_status alk__value_time(const char *label, const char *text, int64_t *ret_us, alk_error *error) {
    alk_status st = alk__time_parse(alk__text_of(text), ret_us, error);

    return st == ALK_OK ? ALK_OK : alk__wrap(error, st, "%s", label);
}

static alk_status refuse_choice(const char *label, const char *text, const char *const *choices,
                                alk_error *error) {
    struct alk__buffer words = ALK__BUFFER_INIT(256);

    for (size_t i = 0; choices[i] != NULL; i++)
        alk__buffer_addf(&words, "%s%s", i == 0 ? "" : ", ", choices[i]);
    alk__fail(error, ALK_INVALID, "%s is one of %s, not '%s'", label,
              words.bytes != NULL ? words.bytes : "", alk__excerpt_of(alk__text_of(text)).text);
    alk__buffer_release(&words);
    return ALK_INVALID;
}

alk_status alk__value_choice(const char *label, const char *text, const char *const *choices,
                             size_t *ret_place, alk_error *error) {
    size_t place = 0;

    while (choices[place] != NULL && strcmp(choices[place], text) != 0)
        place++;
    if (choices[place] == NULL)
        return refuse_choice(label, text, choices, error);
    *ret_place = place;
    return ALK_OK;
}
