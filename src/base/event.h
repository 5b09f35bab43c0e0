/* base/event.h: reports one event through the callback a loop was given. */
#ifndef ALK_BASE_EVENT_H
#define ALK_BASE_EVENT_H

#include <alkstore/base.h>

struct alk__reporter {
    alk_event_fn report; /* NULL: nobody listens */
    void *context;
    const char *component;
};

/* An event with nothing set but level and name; the caller fills in what applies and sends it. */
alk_event alk__event(alk_level level, const char *name);
void alk__report(const struct alk__reporter *reporter, alk_event *event);

/* Hands every field of an event that applies to take, in the order of a log line: the one home of
 * what a line says. text is what stands there for people; is_number: it is digits, for JSON. */
typedef void (*alk__field_fn)(void *sink, const char *key, const char *text, bool is_number);
void alk__event_fields(const alk_event *event, int64_t now_us, alk__field_fn take, void *sink);

#endif
