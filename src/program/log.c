/* program/log.c: events become lines. */
#include "program/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/text.h"

/* A fault that was written a short while ago, and how many like it were not written since. */
struct fault {
    int64_t written_us; /* 0: this place is free */
    int64_t held_back;
    alk_level level;
    char name[64];
    char component[32];
    alk_error error;
    char subject[ALK_ERROR_SUBJECT_BYTES];
    int64_t job_id;
};

#define FAULTS 32
#define LINE_BYTES ((size_t)64 << 10)

struct alk__log {
    pthread_mutex_t lock;
    FILE *stream;
    const struct alk__clock *clock;
    alk_level level;
    enum alk__log_format format;
    struct fault faults[FAULTS];
};

struct alk__log *alk__log_new(FILE *stream, const struct alk__clock *clock) {
    struct alk__log *log = alk__alloc(sizeof(*log));

    if (log == NULL)
        return NULL;
    pthread_mutex_init(&log->lock, NULL);
    log->stream = stream;
    log->clock = clock;
    log->level = ALK_LEVEL_INFO;
    return log;
}

void alk__log_set(struct alk__log *log, alk_level level, enum alk__log_format format) {
    pthread_mutex_lock(&log->lock);
    log->level = level;
    log->format = format;
    pthread_mutex_unlock(&log->lock);
}

/* ---- JSON, the same fields as alk_event_print has ---- */

static void add_field(void *sink, const char *key, const char *text, bool is_number) {
    struct alk__buffer *line = sink;

    alk__buffer_addf(line, "%s\"%s\":", line->length == 0 ? "{" : ",", key);
    if (is_number)
        alk__buffer_add_text(line, text);
    else
        alk__json_add_string(line, alk__text_of(text));
}

static void print_json(const struct alk__log *log, const alk_event *event) {
    struct alk__buffer line = ALK__BUFFER_INIT(LINE_BYTES);

    alk__event_fields(event, alk__now_us(log->clock), add_field, &line);
    alk__buffer_add_text(&line, "}\n");
    if (!line.is_failed) /* else memory is out: the line is lost, the process is not */
        fwrite(line.bytes, 1, line.length, log->stream);
    fflush(log->stream);
    alk__buffer_release(&line);
}

static void print(const struct alk__log *log, const alk_event *event) {
    if (event->level < log->level)
        return;
    if (log->format == ALK__LOG_JSON)
        print_json(log, event);
    else
        alk_event_print(event, log->stream);
}

/* ---- faults that repeat ---- */

static bool is_same_fault(const struct fault *fault, const alk_event *event) {
    return fault->written_us != 0 && fault->job_id == event->job_id &&
           fault->error.status == event->error->status &&
           strcmp(fault->error.engine_code, event->error->engine_code) == 0 &&
           strncmp(fault->name, event->name, sizeof(fault->name) - 1) == 0 &&
           strncmp(fault->component, event->component, sizeof(fault->component) - 1) == 0 &&
           strncmp(fault->subject, event->subject, sizeof(fault->subject) - 1) == 0;
}

static struct fault *find_fault(struct alk__log *log, const alk_event *event) {
    for (size_t i = 0; i < FAULTS; i++) {
        if (is_same_fault(&log->faults[i], event))
            return &log->faults[i];
    }
    return NULL;
}

/* Writes what a place holds back, and clears it. */
static void empty(struct alk__log *log, struct fault *fault) {
    if (fault->held_back > 0) {
        alk_event event = alk__event(fault->level, fault->name);

        event.component = fault->component;
        event.subject = fault->subject;
        event.job_id = fault->job_id;
        event.error = &fault->error;
        event.count = fault->held_back;
        print(log, &event);
    }
    fault->written_us = 0;
    fault->held_back = 0;
}

/* Whoever stopped a minute ago has what it holds back written by the next event of anybody. */
static void empty_old(struct alk__log *log, int64_t now_us) {
    for (size_t i = 0; i < FAULTS; i++) {
        if (log->faults[i].written_us != 0 &&
            now_us - log->faults[i].written_us >= ALK__LOG_REPEAT_US)
            empty(log, &log->faults[i]);
    }
}

static void remember(struct alk__log *log, const alk_event *event, int64_t now_us) {
    struct fault *oldest = &log->faults[0];

    for (size_t i = 1; i < FAULTS; i++) {
        if (log->faults[i].written_us < oldest->written_us)
            oldest = &log->faults[i];
    }
    empty(log, oldest);
    oldest->written_us = now_us;
    oldest->level = event->level;
    oldest->error = *event->error;
    oldest->job_id = event->job_id;
    snprintf(oldest->name, sizeof(oldest->name), "%s", event->name);
    snprintf(oldest->component, sizeof(oldest->component), "%s", event->component);
    snprintf(oldest->subject, sizeof(oldest->subject), "%s", event->subject);
}

static void print_fault(struct alk__log *log, const alk_event *event) {
    int64_t now_us = alk__now_us(log->clock);
    struct fault *fault = find_fault(log, event);

    if (fault != NULL && now_us - fault->written_us < ALK__LOG_REPEAT_US) {
        fault->held_back++;
        return;
    }
    if (fault != NULL) { /* this line stands for what was held back, too */
        alk_event summed = *event;

        if (fault->held_back > 0)
            summed.count = fault->held_back + 1;
        fault->held_back = 0;
        fault->written_us = now_us;
        print(log, &summed);
    } else {
        print(log, event);
        remember(log, event, now_us);
    }
    empty_old(log, now_us);
}

void alk__log_event(const alk_event *event, void *context) {
    struct alk__log *log = context;

    pthread_mutex_lock(&log->lock);
    if (event->error != NULL && event->level >= ALK_LEVEL_WARNING)
        print_fault(log, event);
    else
        print(log, event);
    pthread_mutex_unlock(&log->lock);
}

void alk__log_say(struct alk__log *log, alk_level level, const char *name, const char *subject,
                  const alk_error *error, const char *format, ...) {
    char detail[ALK_ERROR_MESSAGE_BYTES];
    alk_event event = alk__event(level, name);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(detail, sizeof(detail), format, arguments);
    va_end(arguments);
    event.component = "program";
    event.subject = subject != NULL ? subject : "";
    event.detail = detail;
    event.error = error;
    alk__log_event(&event, log);
}

void alk__log_free(struct alk__log *log) {
    if (log == NULL)
        return;
    for (size_t i = 0; i < FAULTS; i++)
        empty(log, &log->faults[i]);
    pthread_mutex_destroy(&log->lock);
    alk__free(log);
}
