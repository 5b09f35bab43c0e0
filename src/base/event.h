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

#endif
