/* program/log.h: the program's log: one event a line on stderr, as logfmt or JSON with the same
 * field names (S205).
 *
 * A fault that repeats is written once a minute: count then says how many of them the line stands
 * for. What is written is what an event has; payloads are never part of one (S213). */
#ifndef ALK_PROGRAM_LOG_H
#define ALK_PROGRAM_LOG_H

#include "base/clock.h"
#include "base/event.h"
#include "program/config.h"

#define ALK__LOG_REPEAT_US ALK__MINUTE

struct alk__log;

/* A log that writes to stream, which stays the caller's. clock NULL = the system's. NULL when
 * memory is out. */
struct alk__log *alk__log_new(FILE *stream, const struct alk__clock *clock);

/* Which events are written, and how. May be called while others write. */
void alk__log_set(struct alk__log *log, alk_level level, enum alk__log_format format);

/* An alk_event_fn; context is the log. Thread-safe. */
void alk__log_event(const alk_event *event, void *context);

/* One event of the program itself. subject and error may be NULL; the detail is made by format. */
void alk__log_say(struct alk__log *log, alk_level level, const char *name, const char *subject,
                  const alk_error *error, const char *format, ...) ALK_PRINTF(6, 7);

/* Writes what was held back, and frees. NULL is allowed. */
void alk__log_free(struct alk__log *log);

#endif
