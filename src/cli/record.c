/* cli/record.c: writes one JSON object on one line. */
#include <string.h>

#include "base/duration.h"
#include "base/json.h"
#include "cli/output.h"

#define RECORD_BYTES ((size_t)64 << 20)

static void add_name(struct alk__record *record, const char *name) {
    alk__buffer_add_text(&record->line, record->line.length == 1 ? "\"" : ",\"");
    alk__buffer_add_text(&record->line, name);
    alk__buffer_add_text(&record->line, "\":");
}

void alk__record_start(struct alk__record *record) {
    record->line = (struct alk__buffer)ALK__BUFFER_INIT(RECORD_BYTES);
    alk__buffer_add_text(&record->line, "{");
}

void alk__record_text(struct alk__record *record, const char *name, const char *value) {
    add_name(record, name);
    if (value == NULL)
        alk__buffer_add_text(&record->line, "null");
    else
        alk__json_add_string(&record->line, alk__text_of(value));
}

void alk__record_number(struct alk__record *record, const char *name, int64_t value) {
    add_name(record, name);
    alk__buffer_addf(&record->line, "%lld", (long long)value);
}

void alk__record_flag(struct alk__record *record, const char *name, bool value) {
    add_name(record, name);
    alk__buffer_add_text(&record->line, value ? "true" : "false");
}

void alk__record_time(struct alk__record *record, const char *name, int64_t us) {
    char text[ALK__TIME_BYTES];

    if (us != ALK_NO_TIME)
        alk__time_format(us, text, sizeof(text));
    alk__record_text(record, name, us != ALK_NO_TIME ? text : NULL);
}

void alk__record_texts(struct alk__record *record, const char *name, const char *const *texts,
                       size_t count) {
    add_name(record, name);
    alk__buffer_add_text(&record->line, "[");
    for (size_t i = 0; i < count; i++) {
        alk__buffer_add_text(&record->line, i == 0 ? "" : ",");
        alk__json_add_string(&record->line, alk__text_of(texts[i]));
    }
    alk__buffer_add_text(&record->line, "]");
}

void alk__record_value(struct alk__record *record, const char *name, const char *json) {
    size_t length = strlen(json);

    add_name(record, name);
    for (size_t start = 0, at = 0; at <= length; at++) {
        if (at < length && json[at] != '\n' && json[at] != '\r')
            continue;
        alk__buffer_add(&record->line, json + start, at - start);
        if (at < length)
            alk__buffer_add(&record->line, " ", 1);
        start = at + 1;
    }
}

void alk__record_end(struct alk__record *record) {
    alk__buffer_add_text(&record->line, "}\n");
    if (record->line.is_failed) /* half an object would be read as a whole one by nobody */
        fprintf(stderr, "alk: out of memory\n");
    else
        fwrite(record->line.bytes, 1, record->line.length, stdout);
    alk__buffer_release(&record->line);
}
