/* base/turns: waiters get a place in the order in which they came. The order is made sure of by
 * letting one thread after the other queue up, each seen waiting before the next starts. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/turns.h"

#define LONG (60 * ALK__SECOND)
#define THREADS 8

struct waiter {
    struct alk__turns *turns;
    int64_t timeout_us;
    enum alk__turn_answer answer;
    int number;
    int *order; /* where the numbers go, in the order of the places */
    int *count; /* guarded by the place itself */
    pthread_t thread;
};

static void *wait_and_give(void *context) {
    struct waiter *waiter = context;

    waiter->answer = alk__turns_take(waiter->turns, waiter->timeout_us);
    if (waiter->answer != ALK__TURN_GOT)
        return NULL;
    if (waiter->order != NULL)
        waiter->order[(*waiter->count)++] = waiter->number;
    alk__turns_give(waiter->turns);
    return NULL;
}

static void until_waiting(struct alk__turns *turns, int count) {
    int64_t deadline = alk__monotonic_us() + LONG;

    while (alk__turns_waiting(turns) != count) {
        assert_true(alk__monotonic_us() < deadline);
        sched_yield();
    }
}

static void start(struct waiter *waiter) {
    assert_int_equal(pthread_create(&waiter->thread, NULL, wait_and_give, waiter), 0);
}

static void places_go_to_waiters_in_the_order_they_came(void **state) {
    struct alk__turns turns;
    struct waiter waiters[THREADS];
    int order[THREADS];
    int count = 0;

    (void)state;
    assert_int_equal(alk__turns_init(&turns, 1), 0);
    assert_int_equal(alk__turns_take(&turns, 0), ALK__TURN_GOT);
    for (int i = 0; i < THREADS; i++) {
        waiters[i] = (struct waiter){&turns, LONG, ALK__TURN_TIMEOUT, i, order, &count, 0};
        start(&waiters[i]);
        until_waiting(&turns, i + 1);
    }
    alk__turns_give(&turns);
    for (int i = 0; i < THREADS; i++)
        pthread_join(waiters[i].thread, NULL);

    for (int i = 0; i < THREADS; i++)
        assert_int_equal(order[i], i);
    assert_int_equal(turns.free, 1);
    alk__turns_release(&turns);
}

static void *wait_and_keep(void *context) {
    struct waiter *waiter = context;

    waiter->answer = alk__turns_take(waiter->turns, waiter->timeout_us);
    return NULL;
}

/* From the moment it is given the place is the waiter's, whether that thread runs yet or not. */
static void a_place_that_somebody_waits_for_is_not_snatched(void **state) {
    struct alk__turns turns;
    struct waiter waiter = {.turns = &turns, .timeout_us = LONG};

    (void)state;
    for (int i = 0; i < 50; i++) {
        alk__turns_init(&turns, 1);
        alk__turns_take(&turns, 0);
        assert_int_equal(pthread_create(&waiter.thread, NULL, wait_and_keep, &waiter), 0);
        until_waiting(&turns, 1);
        alk__turns_give(&turns);
        assert_int_equal(alk__turns_take(&turns, 0), ALK__TURN_TIMEOUT);
        pthread_join(waiter.thread, NULL);
        assert_int_equal(waiter.answer, ALK__TURN_GOT);
        alk__turns_release(&turns);
    }
}

static void a_wait_ends_at_its_time_and_leaves_the_others_in_line(void **state) {
    struct alk__turns turns;
    struct waiter waiters[3];
    int order[3];
    int count = 0;

    (void)state;
    alk__turns_init(&turns, 1);
    alk__turns_take(&turns, 0);
    assert_int_equal(alk__turns_take(&turns, 0), ALK__TURN_TIMEOUT);
    assert_int_equal(alk__turns_take(&turns, -5), ALK__TURN_TIMEOUT);
    assert_int_equal(alk__turns_take(&turns, ALK__MS), ALK__TURN_TIMEOUT);
    assert_int_equal(alk__turns_waiting(&turns), 0);

    /* The one in the middle gives up. */
    for (int i = 0; i < 3; i++) {
        int64_t timeout_us = i == 1 ? 300 * ALK__MS : LONG;
        waiters[i] = (struct waiter){&turns, timeout_us, ALK__TURN_GOT, i, order, &count, 0};
    }
    start(&waiters[0]);
    until_waiting(&turns, 1);
    start(&waiters[1]);
    pthread_join(waiters[1].thread, NULL);
    start(&waiters[2]);
    until_waiting(&turns, 2);
    alk__turns_give(&turns);
    pthread_join(waiters[0].thread, NULL);
    pthread_join(waiters[2].thread, NULL);

    assert_int_equal(waiters[1].answer, ALK__TURN_TIMEOUT);
    assert_int_equal(count, 2);
    assert_int_equal(order[0], 0);
    assert_int_equal(order[1], 2);
    alk__turns_release(&turns);
}

static void as_many_as_there_are_places_hold_one_at_once(void **state) {
    struct alk__turns turns;

    (void)state;
    alk__turns_init(&turns, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(alk__turns_take(&turns, 0), ALK__TURN_GOT);
    assert_int_equal(alk__turns_take(&turns, 0), ALK__TURN_TIMEOUT);
    alk__turns_give(&turns);
    assert_int_equal(alk__turns_take(&turns, INT64_MAX), ALK__TURN_GOT);
    alk__turns_release(&turns);
}

static void closing_sends_everybody_away(void **state) {
    struct alk__turns turns;
    struct waiter waiters[THREADS];

    (void)state;
    alk__turns_init(&turns, 1);
    alk__turns_take(&turns, 0);
    for (int i = 0; i < THREADS; i++) {
        waiters[i] = (struct waiter){.turns = &turns, .timeout_us = INT64_MAX};
        start(&waiters[i]);
    }
    until_waiting(&turns, THREADS);
    alk__turns_close(&turns);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(waiters[i].thread, NULL);
        assert_int_equal(waiters[i].answer, ALK__TURN_CLOSED);
    }
    alk__turns_give(&turns);
    assert_int_equal(alk__turns_take(&turns, LONG), ALK__TURN_CLOSED);
    assert_int_equal(alk__turns_waiting(&turns), 0);
    alk__turns_release(&turns);
}

struct crowd {
    struct alk__turns turns;
    int64_t sum; /* guarded by the place */
};

#define ROUNDS 2000

static void *take_many_times(void *context) {
    struct crowd *crowd = context;

    for (int i = 0; i < ROUNDS; i++) {
        /* Some waits are short enough to end while the place is on its way. */
        if (alk__turns_take(&crowd->turns, i % 3 == 0 ? 20 : LONG) != ALK__TURN_GOT)
            continue;
        crowd->sum++;
        alk__turns_give(&crowd->turns);
    }
    return NULL;
}

/* S217 */
static void one_at_a_time_holds_the_place_and_none_is_lost(void **state) {
    struct crowd crowd = {.sum = 0};
    pthread_t threads[THREADS];

    (void)state;
    alk__turns_init(&crowd.turns, 1);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_many_times, &crowd), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_in_range(crowd.sum, THREADS * ROUNDS * 6 / 10, THREADS * ROUNDS);
    assert_int_equal(crowd.turns.free, 1);
    assert_int_equal(alk__turns_waiting(&crowd.turns), 0);
    alk__turns_release(&crowd.turns);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_go_to_waiters_in_the_order_they_came),
        cmocka_unit_test(a_place_that_somebody_waits_for_is_not_snatched),
        cmocka_unit_test(a_wait_ends_at_its_time_and_leaves_the_others_in_line),
        cmocka_unit_test(as_many_as_there_are_places_hold_one_at_once),
        cmocka_unit_test(closing_sends_everybody_away),
        cmocka_unit_test(one_at_a_time_holds_the_place_and_none_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
