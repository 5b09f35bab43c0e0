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

static void add_number(struct line *line, const char *key, int64_t number) {
    char text[24];

    if (number == -1)
        return;
    snprintf(text, sizeof(text), "%lld", (long long)number);
    add_text(line, key, text);
}

static void add_duration(struct line *line, const char *key, int64_t us) {
    char text[ALK__DURATION_BYTES];

    if (us == -1)
        return;
    alk__duration_format(us, text, sizeof(text));
    add_text(line, key, text);
}

static void add_time(struct line *line, const char *key, int64_t us) {
    char text[ALK__TIME_BYTES];

    if (us == ALK_NO_TIME)
        return;
    alk__time_format(us, text, sizeof(text));
    add_text(line, key, text);
}

static void add_error(struct line *line, const alk_error *error) {
    add_text(line, "error", error->message);
    add_text(line, "phase", alk_phase_text(error->phase));
    add_text(line, "code", error->engine_code);
    if (error->is_unknown)
        add_text(line, "outcome", "unknown");
}

void alk_event_print(const alk_event *event, void *context) {
    static const char *const levels[] = {"debug", "info", "warning", "error"};
    struct line line = {.length = 0};

    add_time(&line, "time", alk__now_us(NULL));
    add_text(&line, "level", (size_t)event->level < 4 ? levels[event->level] : "error");
    add_text(&line, "event", event->name);
    add_text(&line, "component", event->component);
    add_text(&line, "subject", event->subject);
    add_text(&line, "owner", event->owner);
    add_number(&line, "job", event->job_id);
    add_number(&line, "attempt", event->attempt);
    add_number(&line, "fence", event->fence);
    add_number(&line, "count", event->count);
    add_duration(&line, "duration", event->duration_us);
    add_time(&line, "fire_at", event->fire_at_us);
    add_time(&line, "last_fire_at", event->last_fire_at_us);
    add_text(&line, "detail", event->detail);
    if (event->error != NULL)
        add_error(&line, event->error);
    add(&line, "\n", 1);

    /* One call, so that lines of several threads do not mix; at once, so that a process that is
     * killed has said it. */
    fwrite(line.bytes, 1, line.length, context);
    fflush(context);
}
