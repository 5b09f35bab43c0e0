/* program/local_zone.c: the name behind /etc/localtime. */
#include "program/local_zone.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

/* The last part of where the link points to, behind "zoneinfo/"; false if it has none. */
static bool read_link(const char *path, char *name) {
    static const char part[] = "zoneinfo/";
    char target[PATH_MAX];
    ssize_t length = readlink(path, target, sizeof(target) - 1);
    const char *found;

    if (length < 0)
        return false;
    target[length] = '\0';
    found = strstr(target, part);
    if (found == NULL || strlen(found + strlen(part)) >= ALK__LOCAL_ZONE_BYTES)
        return false;
    snprintf(name, ALK__LOCAL_ZONE_BYTES, "%s", found + strlen(part));
    return name[0] != '\0';
}

/* The first word of a file. */
static bool read_word(const char *path, char *name) {
    FILE *file = fopen(path, "re");
    bool is_read = file != NULL && fgets(name, ALK__LOCAL_ZONE_BYTES, file) != NULL;

    if (file != NULL)
        fclose(file);
    if (!is_read)
        return false;
    name[strcspn(name, " \t\r\n")] = '\0';
    return name[0] != '\0';
}

alk_status alk__local_zone(const char *folder, char name[ALK__LOCAL_ZONE_BYTES], alk_error *error) {
    char localtime_path[PATH_MAX], timezone_path[PATH_MAX];

    snprintf(localtime_path, sizeof(localtime_path), "%s/localtime", folder);
    snprintf(timezone_path, sizeof(timezone_path), "%s/timezone", folder);
    if (read_link(localtime_path, name) || read_word(timezone_path, name))
        return ALK_OK;
    if (access(localtime_path, F_OK) == 0 || errno != ENOENT)
        return alk__fail(error, ALK_INVALID, "'%s' does not say the name of this machine's zone",
                         localtime_path);
    snprintf(name, ALK__LOCAL_ZONE_BYTES, "UTC");
    return ALK_OK;
}
