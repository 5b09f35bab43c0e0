/* base/stop.c: the stop token, a flag to ask and a descriptor to wait for. */
#include <errno.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"

struct alk_stop {
    atomic_bool is_set;
    int fd;
};

_Static_assert(ATOMIC_BOOL_LOCK_FREE == 2, "a signal handler may not meet a lock");

alk_status alk_stop_new(alk_stop **ret_stop, alk_error *error) {
    alk_stop *stop = alk__alloc(sizeof(*stop));

    if (stop == NULL)
        return alk__nomem(error);
    atomic_init(&stop->is_set, false);
    stop->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (stop->fd < 0) {
        alk__fail(error, ALK_AGAIN, "no descriptor for a stop token: %s",
                  alk__reason_of(errno).text);
        alk__free(stop);
        return ALK_AGAIN;
    }
    *ret_stop = stop;
    return ALK_OK;
}

void alk_stop_set(alk_stop *stop) {
    const uint64_t one = 1;
    int saved = errno;

    /* Once is enough for the descriptor, and the counter cannot fill up. */
    if (stop != NULL && !atomic_exchange(&stop->is_set, true))
        while (write(stop->fd, &one, sizeof(one)) < 0 && errno == EINTR)
            continue;
    errno = saved;
}

bool alk_stop_is_set(const alk_stop *stop) {
    return stop != NULL && atomic_load(&stop->is_set);
}

int alk_stop_fd(const alk_stop *stop) {
    return stop == NULL ? -1 : stop->fd;
}

void alk_stop_free(alk_stop *stop) {
    if (stop == NULL)
        return;
    close(stop->fd);
    alk__free(stop);
}
