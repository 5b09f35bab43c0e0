/* Signals by descriptor, and the datagrams of readiness. */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "program/notify.h"
#include "program/signals.h"

static struct alk__signals signals;

static int open_signals(void **state) {
    (void)state;
    return alk__signals_open(&signals, NULL) == ALK_OK ? 0 : -1;
}

static int close_signals(void **state) {
    (void)state;
    while (alk__signals_next(&signals) != ALK__SIGNAL_NONE)
        continue;
    alk__signals_close(&signals);
    return 0;
}

static void none_is_none(void **state) {
    (void)state;
    assert_int_equal(alk__signals_next(&signals), ALK__SIGNAL_NONE);
}

static void term_and_int_stop(void **state) {
    struct pollfd fd = {.fd = signals.fd, .events = POLLIN};

    (void)state;
    kill(getpid(), SIGTERM);
    assert_int_equal(poll(&fd, 1, 30000), 1);
    assert_int_equal(alk__signals_next(&signals), ALK__SIGNAL_STOP);
    signals.last_stop_us = ALK_NO_TIME;
    kill(getpid(), SIGINT);
    assert_int_equal(alk__signals_next(&signals), ALK__SIGNAL_STOP);
}

static void a_repeat_within_100_ms_is_the_same_one(void **state) {
    (void)state;
    kill(getpid(), SIGTERM);
    assert_int_equal(alk__signals_next(&signals), ALK__SIGNAL_STOP);
    signals.last_stop_us = alk__monotonic_us() + 3600 * ALK__SECOND; /* a machine that is slow */
    kill(getpid(), SIGINT);
    assert_int_equal(alk__signals_next(&signals), ALK__SIGNAL_NONE);
}

static void a_second_one_is_at_once(void **state) {
    (void)state;
    kill(getpid(), SIGTERM);
    assert_int_equal(alk__signals_next(&signals), ALK__SIGNAL_STOP);
    signals.last_stop_us -= ALK__SIGNAL_REPEAT_US;
    kill(getpid(), SIGTERM);
    assert_int_equal(alk__signals_next(&signals), ALK__SIGNAL_AT_ONCE);
}

static void hup_reads_the_configuration_again(void **state) {
    (void)state;
    kill(getpid(), SIGHUP);
    assert_int_equal(alk__signals_next(&signals), ALK__SIGNAL_RELOAD);
}

static void a_broken_pipe_is_no_end(void **state) {
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    assert_int_equal(write(ends[1], "x", 1), -1);
    close(ends[1]);
}

/* ---- notify ---- */

static int socket_at(const char *name, size_t length) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    memcpy(address.sun_path, name, length);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)),
                     0);
    return fd;
}

static void assert_hears(int fd, const char *message) {
    char text[128] = "";
    ssize_t length = recv(fd, text, sizeof(text) - 1, 0);

    assert_true(length > 0);
    assert_memory_equal(text, message, strlen(message));
}

static void whoever_supervises_is_told(void **state) {
    char path[64];
    int fd;

    (void)state;
    snprintf(path, sizeof(path), "/tmp/alk-notify.%d", (int)getpid());
    fd = socket_at(path, strlen(path) + 1);
    setenv("NOTIFY_SOCKET", path, 1);
    alk__notify("READY=1");
    assert_hears(fd, "READY=1");
    alk__notify_reloading();
    assert_hears(fd, "RELOADING=1\nMONOTONIC_USEC=");
    close(fd);
    unlink(path);
}

static void an_abstract_socket_is_told(void **state) {
    char name[64];
    int fd;

    (void)state;
    snprintf(name, sizeof(name), "@alk-notify.%d", (int)getpid());
    setenv("NOTIFY_SOCKET", name, 1);
    name[0] = '\0';
    fd = socket_at(name, 1 + strlen(name + 1));
    alk__notify("STOPPING=1");
    assert_hears(fd, "STOPPING=1");
    close(fd);
}

static void nobody_there_is_no_trouble(void **state) {
    char path[300];

    (void)state;
    unsetenv("NOTIFY_SOCKET");
    alk__notify("READY=1");
    setenv("NOTIFY_SOCKET", "/nowhere/socket", 1);
    alk__notify("READY=1");
    memset(path, 'x', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    setenv("NOTIFY_SOCKET", path, 1);
    alk__notify("READY=1");
}

int main(void) {
#define TEST(body) cmocka_unit_test_setup_teardown(body, open_signals, close_signals)
    const struct CMUnitTest tests[] = {
        TEST(none_is_none),
        TEST(term_and_int_stop),
        TEST(a_repeat_within_100_ms_is_the_same_one),
        TEST(a_second_one_is_at_once),
        TEST(hup_reads_the_configuration_again),
        TEST(a_broken_pipe_is_no_end),
        cmocka_unit_test(whoever_supervises_is_told),
        cmocka_unit_test(an_abstract_socket_is_told),
        cmocka_unit_test(nobody_there_is_no_trouble),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
