/* program/signals.h: the signals of a program that runs on, read from a descriptor: no code of ours
 * runs in a handler. */
#ifndef ALK_PROGRAM_SIGNALS_H
#define ALK_PROGRAM_SIGNALS_H

#include <alkstore/base.h>

/* A TERM or INT this soon after another is the same one: a terminal and a supervisor may both send
 * it. */
#define ALK__SIGNAL_REPEAT_US INT64_C(100000)

struct alk__signals {
    int fd;
    int64_t last_stop_us; /* monotonic, ALK_NO_TIME = none yet */
};

enum alk__signal {
    ALK__SIGNAL_NONE,
    ALK__SIGNAL_STOP,    /* the first TERM or INT */
    ALK__SIGNAL_AT_ONCE, /* a further one */
    ALK__SIGNAL_RELOAD   /* HUP */
};

/* From here on TERM, INT and HUP wait in the descriptor and PIPE is ignored, in this thread and
 * those it starts. */
alk_status alk__signals_open(struct alk__signals *signals, alk_error *error);

/* The next one, ALK__SIGNAL_NONE when there is none or it repeats the one before. Does not block.
 * */
enum alk__signal alk__signals_next(struct alk__signals *signals);

/* The signals stay blocked: the process is about to end, and one that comes now changes nothing. */
void alk__signals_close(struct alk__signals *signals);

#endif
