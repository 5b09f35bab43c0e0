/* base/stop: the token that ends loops, from anywhere. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"

#include <alkstore/base.h>

#define LONG_MS 30000

static alk_stop *new_stop(void) {
    alk_stop *stop = NULL;

    assert_int_equal(alk_stop_new(&stop, NULL), ALK_OK);
    return stop;
}

static bool is_readable(const alk_stop *stop, int timeout_ms) {
    struct pollfd poll_fd = {.fd = alk_stop_fd(stop), .events = POLLIN};

    return poll(&poll_fd, 1, timeout_ms) == 1 && poll_fd.revents == POLLIN;
}

static void a_token_is_not_set_until_it_is_set(void **state) {
    alk_stop *stop = new_stop();

    (void)state;
    assert_false(alk_stop_is_set(stop));
    assert_false(is_readable(stop, 0));
    for (int i = 0; i < 3; i++) {
        alk_stop_set(stop);
        assert_true(alk_stop_is_set(stop));
        assert_true(is_readable(stop, 0));
    }
    alk_stop_free(stop);
}

static void no_token_is_never_set(void **state) {
    (void)state;
    alk_stop_set(NULL);
    assert_false(alk_stop_is_set(NULL));
    assert_int_equal(alk_stop_fd(NULL), -1);
    alk_stop_free(NULL);
}

static void a_program_that_is_started_does_not_inherit_the_descriptor(void **state) {
    alk_stop *stop = new_stop();

    (void)state;
    assert_true(fcntl(alk_stop_fd(stop), F_GETFD) & FD_CLOEXEC);
    alk_stop_free(stop);
}

static alk_stop *signalled;

static void on_signal(int number) {
    (void)number;
    alk_stop_set(signalled);
}

/* S219: the handler runs inside malloc and printf too, where a lock would never be given back. */
static void a_signal_handler_may_set_it(void **state) {
    struct sigaction action = {.sa_handler = on_signal};
    struct sigaction before;

    (void)state;
    signalled = new_stop();
    sigaction(SIGUSR1, &action, &before);
    errno = EDOM;
    raise(SIGUSR1);
    assert_int_equal(errno, EDOM);
    assert_true(alk_stop_is_set(signalled));
    assert_true(is_readable(signalled, 0));
    alk_stop_free(signalled);

    /* A signal in the middle of a wait ends it. */
    signalled = new_stop();
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    struct itimerval soon = {.it_value = {.tv_usec = 20000}};
    setitimer(ITIMER_REAL, &soon, NULL);
    while (!is_readable(signalled, LONG_MS))
        assert_int_equal(errno, EINTR);
    assert_true(alk_stop_is_set(signalled));
    alk_stop_free(signalled);
    sigaction(SIGUSR1, &before, NULL);
    signal(SIGALRM, SIG_DFL);
}

/* S219: setting changes no errno of the code that was interrupted, even where writing fails. */
static void setting_leaves_errno_alone(void **state) {
    alk_stop *stop = new_stop();
    int kept = dup(alk_stop_fd(stop));

    (void)state;
    close(alk_stop_fd(stop));
    errno = EDOM;
    alk_stop_set(stop);
    assert_int_equal(errno, EDOM);
    assert_true(alk_stop_is_set(stop));
    dup2(kept, alk_stop_fd(stop));
    close(kept);
    alk_stop_free(stop);
}

static void *wait_for_stop(void *context) {
    return is_readable(context, LONG_MS) ? context : NULL;
}

/* S217 */
static void one_token_wakes_any_number_of_threads(void **state) {
    alk_stop *stop = new_stop();
    pthread_t threads[4];
    void *woken;

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, wait_for_stop, stop), 0);
    alk_stop_set(stop);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &woken);
        assert_ptr_equal(woken, stop);
    }
    alk_stop_free(stop);
}

/* S218 */
static void without_memory_or_a_descriptor_there_is_an_error_and_no_token(void **state) {
    alk_error error = ALK_ERROR_INIT;
    alk_stop *stop = NULL;
    struct rlimit limit;

    (void)state;
    alk__alloc_fail_at(1);
    assert_int_equal(alk_stop_new(&stop, &error), ALK_NOMEM);
    assert_string_equal(error.message, "out of memory");
    assert_null(stop);

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    struct rlimit none = {.rlim_cur = 0, .rlim_max = limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    alk_status status = alk_stop_new(&stop, &error);
    setrlimit(RLIMIT_NOFILE, &limit);
    assert_int_equal(status, ALK_AGAIN);
    assert_string_equal(error.message, "no descriptor for a stop token: Too many open files");
    assert_null(stop);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_is_not_set_until_it_is_set),
        cmocka_unit_test(no_token_is_never_set),
        cmocka_unit_test(a_program_that_is_started_does_not_inherit_the_descriptor),
        cmocka_unit_test(a_signal_handler_may_set_it),
        cmocka_unit_test(setting_leaves_errno_alone),
        cmocka_unit_test(one_token_wakes_any_number_of_threads),
        cmocka_unit_test(without_memory_or_a_descriptor_there_is_an_error_and_no_token),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
