/* base/turns.c: a fair lock. A place that is given goes straight to the first waiter, so nobody who
 * comes later can take it first. Each waiter sleeps on a condition of its own: one give wakes one
 * thread. */
#include "base/turns.h"

#include <errno.h>
#include <time.h>

#include "base/clock.h"

struct alk__turn {
    struct alk__turn *next;
    pthread_cond_t wake;
    bool has_place;
};

int alk__turns_init(struct alk__turns *turns, int count) {
    *turns = (struct alk__turns){.free = count};
    return pthread_mutex_init(&turns->lock, NULL);
}

static int init_wake(pthread_cond_t *wake) {
    pthread_condattr_t attributes;
    int failed = pthread_condattr_init(&attributes);

    if (failed != 0)
        return failed;
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    failed = pthread_cond_init(wake, &attributes);
    pthread_condattr_destroy(&attributes);
    return failed;
}

static void append(struct alk__turns *turns, struct alk__turn *turn) {
    if (turns->last == NULL)
        turns->first = turn;
    else
        turns->last->next = turn;
    turns->last = turn;
    turns->waiting++;
}

static void unlink_turn(struct alk__turns *turns, const struct alk__turn *turn) {
    struct alk__turn *before = NULL;

    for (struct alk__turn *at = turns->first; at != turn; at = at->next)
        before = at;
    if (before == NULL)
        turns->first = turn->next;
    else
        before->next = turn->next;
    if (turns->last == turn)
        turns->last = before;
    turns->waiting--;
}

/* The lock is held. A place that was given before the wait ended is kept, whatever ended it. */
static enum alk__turn_answer wait_for_place(struct alk__turns *turns, int64_t deadline_us) {
    struct alk__turn turn = {.next = NULL};
    struct timespec until = {
        .tv_sec = (time_t)(deadline_us / ALK__SECOND),
        .tv_nsec = (long)(deadline_us % ALK__SECOND * 1000),
    };
    bool is_late = false;

    if (init_wake(&turn.wake) != 0)
        return ALK__TURN_TIMEOUT;
    append(turns, &turn);
    while (!turn.has_place && !turns->is_closed && !is_late)
        is_late = pthread_cond_timedwait(&turn.wake, &turns->lock, &until) == ETIMEDOUT;
    if (!turn.has_place)
        unlink_turn(turns, &turn);
    pthread_cond_destroy(&turn.wake);

    if (turn.has_place)
        return ALK__TURN_GOT;
    return turns->is_closed ? ALK__TURN_CLOSED : ALK__TURN_TIMEOUT;
}

enum alk__turn_answer alk__turns_take(struct alk__turns *turns, int64_t timeout_us) {
    enum alk__turn_answer answer = ALK__TURN_TIMEOUT;

    pthread_mutex_lock(&turns->lock);
    if (turns->is_closed) {
        answer = ALK__TURN_CLOSED;
    } else if (turns->free > 0) {
        turns->free--;
        answer = ALK__TURN_GOT;
    } else if (timeout_us > 0) {
        answer = wait_for_place(turns, alk__add_us(alk__monotonic_us(), timeout_us));
    }
    pthread_mutex_unlock(&turns->lock);
    return answer;
}

void alk__turns_give(struct alk__turns *turns) {
    pthread_mutex_lock(&turns->lock);
    struct alk__turn *turn = turns->is_closed ? NULL : turns->first;
    if (turn == NULL) {
        turns->free++;
    } else {
        unlink_turn(turns, turn);
        turn->has_place = true;
        pthread_cond_signal(&turn->wake);
    }
    pthread_mutex_unlock(&turns->lock);
}

void alk__turns_close(struct alk__turns *turns) {
    pthread_mutex_lock(&turns->lock);
    turns->is_closed = true;
    for (struct alk__turn *turn = turns->first; turn != NULL; turn = turn->next)
        pthread_cond_signal(&turn->wake);
    pthread_mutex_unlock(&turns->lock);
}

int alk__turns_waiting(struct alk__turns *turns) {
    pthread_mutex_lock(&turns->lock);
    int waiting = turns->waiting;
    pthread_mutex_unlock(&turns->lock);
    return waiting;
}

void alk__turns_release(struct alk__turns *turns) {
    pthread_mutex_destroy(&turns->lock);
}
