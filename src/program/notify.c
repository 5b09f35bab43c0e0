/* program/notify.c: the readiness datagram. */
#include "program/notify.h"

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"

void alk__notify(const char *message) {
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = path != NULL ? strlen(path) : 0;
    int fd;

    if (length < 2 || length >= sizeof(address.sun_path))
        return;
    memcpy(address.sun_path, path, length);
    if (path[0] == '@') /* an abstract name, which has no NUL behind it */
        address.sun_path[0] = '\0';
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    sendto(fd, message, strlen(message), MSG_NOSIGNAL | MSG_DONTWAIT,
           (const struct sockaddr *)&address,
           (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
    close(fd);
}

void alk__notify_reloading(void) {
    char message[64];

    snprintf(message, sizeof(message), "RELOADING=1\nMONOTONIC_USEC=%lld",
             (long long)alk__monotonic_us());
    alk__notify(message);
}
