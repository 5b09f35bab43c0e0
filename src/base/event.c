/* base/event.c: events on their way to a callback, and the callback that prints them as logfmt
 * lines. */
#include "base/event.h"

#include <string.h>

#include "base/clock.h"
#include "base/duration.h"
#include "base/text.h"

alk_event alk__event(alk_level level, const char *name) {
    return (alk_event){
        .level = level,
        .name = name,
        .component = "",
        .subject = "",
        .owner = "",
        .job_id = -1,
        .attempt = -1,
        .fence = -1,
        .count = -1,
        .duration_us = -1,
        .fire_at_us = ALK_NO_TIME,
        .last_fire_at_us = ALK_NO_TIME,
        .detail = "",
    };
}

void alk__report(const struct alk__reporter *reporter, alk_event *event) {
    if (reporter == NULL || reporter->report == NULL)
        return;
    if (event->component[0] == '\0' && reporter->component != NULL)
        event->component = reporter->component;
    reporter->report(event, reporter->context);
}

/* A value takes at most VALUE_BYTES and there are six texts, so that every field of every event has
 * room: nothing is allocated, an event about the end of memory is printed too. */
#define VALUE_BYTES 1536
#define LINE_BYTES (8 * VALUE_BYTES)

struct line {
    char bytes[LINE_BYTES];
    size_t length;
};

static void add(struct line *line, const char *bytes, size_t length) {
    memcpy(line->bytes + line->length, bytes, length);
    line->length += length;
}

static void add_key(struct line *line, const char *key) {
    if (line->length > 0)
        add(line, " ", 1);
    add(line, key, strlen(key));
    add(line, "=", 1);
}

static bool needs_quotes(struct alk__text text) {
    for (size_t at = 0, step; at < text.length; at += step) {
        step = alk__utf8_step(text.bytes + at, text.length - at);
        if (step == 0 || alk__utf8_is_control(text.bytes + at, step) ||
            strchr(" \"=\\", text.bytes[at]) != NULL)
            return true;
    }
    return false;
}

/* One character as it stands between quotes; gives how long it is there, at most 6 bytes. */
static size_t escape(const char *bytes, size_t step, char written[8]) {
    static const char plain[] = "\"\\\n\r\t";
    static const char letters[] = "\"\\nrt";
    const char *found = step == 1 ? strchr(plain, bytes[0]) : NULL;

    if (found != NULL)
        return (size_t)snprintf(written, 8, "\\%c", letters[found - plain]);
    if (step == 0)
        return (size_t)snprintf(written, 8, "\xEF\xBF\xBD");
    if (alk__utf8_is_control(bytes, step)) /* a second byte of U+0080-U+009F is the number itself */
        return (size_t)snprintf(written, 8, "\\u%04x", (unsigned)(unsigned char)bytes[step - 1]);
    memcpy(written, bytes, step);
    return step;
}

static void add_text(struct line *line, const char *key, const char *value) {
    struct alk__text text = alk__text_of(value);

    if (text.length == 0)
        return;
    bool is_quoted = needs_quotes(text) || text.length > VALUE_BYTES;
    size_t end = line->length + VALUE_BYTES;

    add_key(line, key);
    if (is_quoted)
        add(line, "\"", 1);
    for (size_t at = 0; at < text.length;) {
        char written[8];
        size_t step = alk__utf8_step(text.bytes + at, text.length - at);
        size_t length = escape(text.bytes + at, step, written);

        if (line->length + length > end) {
            add(line, "...", 3);
            break;
        }
        add(line, written, length);
        at += step > 0 ? step : 1;
    }
    if (is_quoted)
        add(line, "\"", 1);
}

/* ---- the fields of an event ---- */

struct fields {
    alk__field_fn take;
    void *sink;
};

static void field_text(const struct fields *fields, const char *key, const char *text) {
    if (text != NULL && text[0] != '\0')
        fields->take(fields->sink, key, text, false);
}

static void field_number(const struct fields *fields, const char *key, int64_t number) {
    char text[24];

    if (number == -1)
        return;
    snprintf(text, sizeof(text), "%lld", (long long)number);
    fields->take(fields->sink, key, text, true);
}

static void field_duration(const struct fields *fields, const char *key, int64_t us) {
    char text[ALK__DURATION_BYTES];

    if (us == -1)
        return;
    alk__duration_format(us, text, sizeof(text));
    fields->take(fields->sink, key, text, false);
}

static void field_time(const struct fields *fields, const char *key, int64_t us) {
    char text[ALK__TIME_BYTES];

    if (us == ALK_NO_TIME)
        return;
    alk__time_format(us, text, sizeof(text));
    fields->take(fields->sink, key, text, false);
}

static void field_error(const struct fields *fields, const alk_error *error) {
    field_text(fields, "error", error->message);
    field_text(fields, "phase", alk_phase_text(error->phase));
    field_text(fields, "code", error->engine_code);
    if (error->is_unknown)
        field_text(fields, "outcome", "unknown");
}

void alk__event_fields(const alk_event *event, int64_t now_us, alk__field_fn take, void *sink) {
    static const char *const levels[] = {"debug", "info", "warning", "error"};
    const struct fields fields = {take, sink};

    field_time(&fields, "time", now_us);
    field_text(&fields, "level", (size_t)event->level < 4 ? levels[event->level] : "error");
    field_text(&fields, "event", event->name);
    field_text(&fields, "component", event->component);
    field_text(&fields, "subject", event->subject);
    field_text(&fields, "owner", event->owner);
    field_number(&fields, "job", event->job_id);
    field_number(&fields, "attempt", event->attempt);
    field_number(&fields, "fence", event->fence);
    field_number(&fields, "count", event->count);
    field_duration(&fields, "duration", event->duration_us);
    field_time(&fields, "fire_at", event->fire_at_us);
    field_time(&fields, "last_fire_at", event->last_fire_at_us);
    field_text(&fields, "detail", event->detail);
    if (event->error != NULL)
        field_error(&fields, event->error);
}

static void add_field(void *sink, const char *key, const char *text, bool is_number) {
    (void)is_number;
    add_text(sink, key, text);
}

void alk_event_print(const alk_event *event, void *context) {
    struct line line = {.length = 0};

    alk__event_fields(event, alk__now_us(NULL), add_field, &line);
    add(&line, "\n", 1);

    /* One call, so that lines of several threads do not mix; at once, so that a process that is
     * killed has said it. */
    fwrite(line.bytes, 1, line.length, context);
    fflush(context);
}
