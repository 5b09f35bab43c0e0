/* base/turns.h: a fair lock: waiters get it in the order they came, up to a deadline. */
#ifndef ALK_BASE_TURNS_H
#define ALK_BASE_TURNS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* count places, waited for in order; a mutex when count is 1. */
struct alk__turns {
    pthread_mutex_t lock;
    struct alk__turn *first;
    struct alk__turn *last;
    int free;
    int waiting;
    bool is_closed;
};

enum alk__turn_answer { ALK__TURN_GOT, ALK__TURN_TIMEOUT, ALK__TURN_CLOSED };

int alk__turns_init(struct alk__turns *turns, int count); /* 0 or an errno */
/* Waits for a place at most timeout_us on the monotonic clock: 0 and below does not wait, INT64_MAX
 * is for ever. A place that was given in time is kept, also when the turns are closed meanwhile. */
enum alk__turn_answer alk__turns_take(struct alk__turns *turns, int64_t timeout_us);
void alk__turns_give(struct alk__turns *turns);
void alk__turns_close(struct alk__turns *turns); /* every waiter gets ALK__TURN_CLOSED */
int alk__turns_waiting(struct alk__turns *turns);
/* Nobody may be waiting. */
void alk__turns_release(struct alk__turns *turns);

#endif
