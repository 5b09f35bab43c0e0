/* program/schedule_settings.c: how a value of the table is read and printed. */
#include "program/schedule_settings.h"

#include <assert.h>
#include <string.h>

#include "base/duration.h"
#include "base/error.h"
#include "program/value.h"

#define WORD(name, text) text,
static const char *const words_of_gap[] = {ALK_DST_GAP_MAP(WORD) NULL};
static const char *const words_of_fold[] = {ALK_DST_FOLD_MAP(WORD) NULL};
static const char *const words_of_catchup[] = {ALK_CATCHUP_MAP(WORD) NULL};
static const char *const words_of_overlap[] = {ALK_OVERLAP_MAP(WORD) NULL};
#undef WORD

static_assert(sizeof(alk_catchup) == sizeof(unsigned), "enums are read and written as unsigned");

#define KIND_TEXT ALK__SCHEDULE_TEXT
#define KIND_PAYLOAD ALK__SCHEDULE_PAYLOAD_TEXT
#define KIND_INT ALK__SCHEDULE_INT
#define KIND_INTEGER ALK__SCHEDULE_INTEGER
#define KIND_DURATION ALK__SCHEDULE_DURATION
#define KIND_TIME ALK__SCHEDULE_TIME
#define KIND_CHOICE ALK__SCHEDULE_CHOICE

const struct alk__schedule_setting alk__schedule_settings[] = {
#define ROW(FIELD, member, option, key, argument, kind, least, most, choices, help)                \
    {key, ALK_SCHEDULE_##FIELD, KIND_##kind, offsetof(alk_schedule, member), least, most, choices},
    ALK__SCHEDULE_SETTINGS(ROW)
#undef ROW
};

static const alk_schedule presets = ALK_SCHEDULE_INIT;

const struct alk__schedule_setting *alk__schedule_setting_find(const char *key) {
    for (size_t i = 0; i < ALK__SCHEDULE_PLACES; i++) {
        if (strcmp(alk__schedule_settings[i].key, key) == 0)
            return &alk__schedule_settings[i];
    }
    return NULL;
}

/* ---- reading ---- */

static void set_preset(const struct alk__schedule_setting *setting, alk_schedule *schedule) {
    static const size_t sizes[] = {
        [ALK__SCHEDULE_TEXT] = sizeof(char *),      [ALK__SCHEDULE_PAYLOAD_TEXT] = sizeof(char *),
        [ALK__SCHEDULE_INT] = sizeof(int),          [ALK__SCHEDULE_INTEGER] = sizeof(int64_t),
        [ALK__SCHEDULE_DURATION] = sizeof(int64_t), [ALK__SCHEDULE_TIME] = sizeof(int64_t),
        [ALK__SCHEDULE_CHOICE] = sizeof(unsigned),
    };

    memcpy((char *)schedule + setting->offset, (const char *)&presets + setting->offset,
           sizes[setting->kind]);
    if (setting->kind == ALK__SCHEDULE_PAYLOAD_TEXT)
        schedule->payload_length = 0;
}

static alk_status read_int(const struct alk__schedule_setting *setting, const char *label,
                           const char *text, int *ret_number, alk_error *error) {
    int64_t number;
    alk_status st = alk__value_integer(label, text, setting->least, setting->most, &number, error);

    if (st == ALK_OK)
        *ret_number = (int)number;
    return st;
}

static alk_status read_choice(const struct alk__schedule_setting *setting, const char *label,
                              const char *text, unsigned *ret_choice, alk_error *error) {
    size_t place;
    alk_status st = alk__value_choice(label, text, setting->choices, &place, error);

    if (st == ALK_OK)
        *ret_choice = (unsigned)place;
    return st;
}

alk_status alk__schedule_setting_read(const struct alk__schedule_setting *setting,
                                      const char *label, const char *text, alk_schedule *schedule,
                                      alk_error *error) {
    void *field = (char *)schedule + setting->offset;

    if (text[0] == '\0' && setting->kind == ALK__SCHEDULE_PAYLOAD_TEXT)
        return alk__fail(error, ALK_INVALID, "%s is empty (null is written null)", label);
    if (text[0] == '\0' && setting->kind == ALK__SCHEDULE_TEXT && setting->least > 0)
        return alk__fail(error, ALK_INVALID, "%s is empty", label);
    set_preset(setting, schedule);
    if (text[0] == '\0')
        return ALK_OK;
    switch (setting->kind) {
    case ALK__SCHEDULE_PAYLOAD_TEXT:
        schedule->payload_length = strlen(text);
        *(const char **)field = text;
        return ALK_OK;
    case ALK__SCHEDULE_TEXT:
        *(const char **)field = text;
        return ALK_OK;
    case ALK__SCHEDULE_INT:
        return read_int(setting, label, text, field, error);
    case ALK__SCHEDULE_INTEGER:
        return alk__value_integer(label, text, setting->least, setting->most, field, error);
    case ALK__SCHEDULE_DURATION:
        return alk__value_duration(label, text, setting->least, setting->most, field, error);
    case ALK__SCHEDULE_TIME:
        return alk__value_time(label, text, field, error);
    case ALK__SCHEDULE_CHOICE:
        return read_choice(setting, label, text, field, error);
    }
    return ALK_OK;
}

/* ---- printing ---- */

static void print_number(int64_t number, FILE *stream) {
    fprintf(stream, "%lld", (long long)number);
}

static void print_us(const struct alk__schedule_setting *setting, int64_t us, FILE *stream) {
    char text[ALK__DURATION_BYTES > ALK__TIME_BYTES ? ALK__DURATION_BYTES : ALK__TIME_BYTES];

    if (us == ALK_NO_TIME)
        return;
    if (setting->kind == ALK__SCHEDULE_TIME)
        alk__time_format(us, text, sizeof(text));
    else
        alk__duration_format(us, text, sizeof(text));
    fprintf(stream, "%s", text);
}

void alk__schedule_setting_print(const struct alk__schedule_setting *setting,
                                 const alk_schedule *schedule, FILE *stream) {
    const void *field = (const char *)schedule + setting->offset;

    switch (setting->kind) {
    case ALK__SCHEDULE_TEXT:
    case ALK__SCHEDULE_PAYLOAD_TEXT:
        if (*(const char *const *)field != NULL)
            fprintf(stream, "%s", *(const char *const *)field);
        break;
    case ALK__SCHEDULE_INT:
        if (*(const int *)field >= setting->least)
            print_number(*(const int *)field, stream);
        break;
    case ALK__SCHEDULE_INTEGER:
        if (*(const int64_t *)field >= setting->least)
            print_number(*(const int64_t *)field, stream);
        break;
    case ALK__SCHEDULE_DURATION:
    case ALK__SCHEDULE_TIME:
        print_us(setting, *(const int64_t *)field, stream);
        break;
    case ALK__SCHEDULE_CHOICE:
        fprintf(stream, "%s", setting->choices[*(const unsigned *)field]);
        break;
    }
}

/* ---- the spec ---- */

alk_status alk__schedule_check(const alk_schedule *schedule, alk_when **ret_when,
                               alk_error *error) {
    alk_when_options options = ALK_WHEN_OPTIONS_INIT;
    alk_when *when = NULL;
    alk_status st;

    options.zone = schedule->zone;
    options.name = schedule->name;
    options.gap = (alk_gap)schedule->dst_gap;
    options.fold = (alk_fold)schedule->dst_fold;
    st = alk_when_parse(schedule->spec, &options, &when, error);
    if (st == ALK_OK && ret_when != NULL)
        *ret_when = when;
    else
        alk_when_free(when);
    return st;
}
