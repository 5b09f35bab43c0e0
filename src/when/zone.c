/* when/zone.c: the cache of zone files, and the look-up in one zone. */
#include "when/zone.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "when/compiled.h"

#define FILE_BYTES_MAX ((size_t)1 << 16) /* the largest file of tzdata has 4,000 */
#define PATH_BYTES 4096

struct entry {
    struct entry *next;
    struct alk__zone *zone; /* NULL: its file is gone or wrong, to be read again when asked for */
    char name[ALK__ZONE_NAME_MAX + 1];
};

struct alk__zones {
    pthread_mutex_t lock; /* over entries; held while a file is read */
    struct entry *entries;
    const char *folders[4]; /* NULL behind the last */
    char folder[PATH_BYTES];
};

static const struct alk__change utc_change = {INT64_MIN, 0};
static struct alk__zone utc = {.count = 1, .change = &utc_change};

/* ---- names ---- */

/* Names of tzdata that are abbreviations: what they mean depends on who reads them (rule 11). */
static const char *const abbreviations[] = {"EST", "MST", "HST", "CET", "MET", "EET", "WET"};

static bool is_name_byte(char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || byte == '-' || byte == '+';
}

/* Parts of letters, digits, '_', '-' and '+' between single slashes: never "..", never absolute. */
static bool is_path_of_names(const char *name) {
    for (const char *at = name; *at != '\0'; at++) {
        bool is_part_start = at == name || at[-1] == '/';

        if (*at == '/' ? is_part_start || at[1] == '\0' : !is_name_byte(*at))
            return false;
    }
    return name[0] != '\0' && strlen(name) <= ALK__ZONE_NAME_MAX;
}

static bool begins_with(const char *text, const char *word) {
    return strncmp(text, word, strlen(word)) == 0;
}

static alk_status check_name(const char *name, alk_error *error) {
    if (!is_path_of_names(name))
        return alk__fail(error, ALK_INVALID, "'%s' is not the name of a zone (as in Europe/Berlin)",
                         alk__excerpt_of(alk__text_of(name)).text);
    if (begins_with(name, "right/") || begins_with(name, "posix/"))
        return alk__fail(error, ALK_INVALID, "zone '%s': give it without '%.6s'", name, name);
    if (strchr(name, '/') != NULL)
        return ALK_OK;
    for (size_t i = 0; i < sizeof(abbreviations) / sizeof(*abbreviations); i++) {
        if (strcmp(name, abbreviations[i]) == 0)
            return alk__fail(error, ALK_INVALID,
                             "zone '%s' is an abbreviation; give a place, as in Europe/Berlin",
                             name);
    }
    if (strpbrk(name, "0123456789+") != NULL)
        return alk__fail(error, ALK_INVALID,
                         "zone '%s' is a POSIX string; give a place, as in Europe/Berlin, or an "
                         "offset, as in Etc/GMT-1 (which is east of Greenwich)",
                         name);
    return ALK_OK;
}

/* ---- files ---- */

static bool is_folder(const char *path) {
    struct stat status;

    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* The first file of that name in the folders; -1 with errno. */
static int open_file(const struct alk__zones *zones, const char *name) {
    char path[PATH_BYTES + ALK__ZONE_NAME_MAX + 2];
    int fd = -1;

    errno = ENOENT;
    for (size_t i = 0; zones->folders[i] != NULL && fd < 0; i++) {
        snprintf(path, sizeof(path), "%s/%s", zones->folders[i], name);
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (fd < 0 && errno != ENOENT && errno != ENOTDIR)
            break;
    }
    return fd;
}

static alk_status refuse_missing(const struct alk__zones *zones, const char *name,
                                 alk_error *error) {
    for (size_t i = 0; zones->folders[i] != NULL; i++) {
        if (is_folder(zones->folders[i]))
            return alk__fail(error, ALK_INVALID, "no zone '%s' in %s", name, zones->folders[i]);
    }
    return alk__fail(error, ALK_INVALID,
                     "zone '%s': no zone files in %s, only UTC works (install tzdata or set TZDIR)",
                     name, zones->folders[0]);
}

/* A process without descriptors can read it later; anything else is a matter of the file. */
static alk_status status_of_errno(int number) {
    return number == EMFILE || number == ENFILE || number == ENOMEM ? ALK_AGAIN : ALK_INVALID;
}

/* Reads up to size bytes; -1 with errno. */
static ssize_t read_all(int fd, char *bytes, size_t size) {
    size_t length = 0;

    while (length < size) {
        ssize_t count = read(fd, bytes + length, size - length);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return -1;
        if (count == 0)
            break;
        length += (size_t)count;
    }
    return (ssize_t)length;
}

static alk_status parse_open_file(int fd, const char *name, char *bytes,
                                  struct alk__zone **ret_zone, alk_error *error) {
    struct stat status;

    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return alk__fail(error, ALK_INVALID, "zone '%s' is not a file", name);
    ssize_t length = read_all(fd, bytes, FILE_BYTES_MAX + 1);
    if (length < 0)
        return alk__fail(error, ALK_INVALID, "zone '%s': %s", name, alk__reason_of(errno).text);
    if ((size_t)length > FILE_BYTES_MAX)
        return alk__fail(error, ALK_INVALID, "zone '%s': the file is longer than %zu bytes", name,
                         FILE_BYTES_MAX);
    alk_status st = alk__tzif_parse((struct alk__text){bytes, (size_t)length}, ret_zone, error);
    return st < 0 ? alk__wrap(error, st, "zone '%s'", name) : st;
}

static alk_status read_zone(const struct alk__zones *zones, const char *name,
                            struct alk__zone **ret_zone, alk_error *error) {
    int fd = open_file(zones, name);

    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return refuse_missing(zones, name, error);
    if (fd < 0)
        return alk__fail(error, status_of_errno(errno), "zone '%s': %s", name,
                         alk__reason_of(errno).text);
    char *bytes = alk__alloc(FILE_BYTES_MAX + 1);
    alk_status st =
        bytes == NULL ? alk__nomem(error) : parse_open_file(fd, name, bytes, ret_zone, error);
    alk__free(bytes);
    close(fd);
    return st;
}

/* ---- the cache ---- */

alk_status alk__zones_new(const char *folder, struct alk__zones **ret_zones, alk_error *error) {
    struct alk__zones *zones = alk__alloc(sizeof(*zones));

    if (zones == NULL)
        return alk__nomem(error);
    if (folder == NULL)
        folder = getenv("TZDIR");
    if (folder != NULL && strlen(folder) >= sizeof(zones->folder)) {
        alk__free(zones);
        return alk__fail(error, ALK_INVALID, "the name of the folder of zone files is too long");
    }
    if (folder != NULL && folder[0] != '\0') {
        snprintf(zones->folder, sizeof(zones->folder), "%s", folder);
        zones->folders[0] = zones->folder;
    } else {
        zones->folders[0] = "/usr/share/zoneinfo";
        zones->folders[1] = "/usr/lib/zoneinfo";
        zones->folders[2] = "/usr/share/lib/zoneinfo";
    }
    int number = pthread_mutex_init(&zones->lock, NULL);
    if (number != 0) {
        alk__free(zones);
        return alk__fail(error, ALK_AGAIN, "mutex: %s", alk__reason_of(number).text);
    }
    *ret_zones = zones;
    return ALK_OK;
}

void alk__zones_free(struct alk__zones *zones) {
    struct entry *next;

    if (zones == NULL)
        return;
    for (struct entry *entry = zones->entries; entry != NULL; entry = next) {
        next = entry->next;
        alk__zone_unref(entry->zone);
        alk__free(entry);
    }
    pthread_mutex_destroy(&zones->lock);
    alk__free(zones);
}

static struct alk__zone *ref(struct alk__zone *zone) {
    if (zone != &utc)
        atomic_fetch_add(&zone->users, 1);
    return zone;
}

void alk__zone_unref(struct alk__zone *zone) {
    if (zone != NULL && zone != &utc && atomic_fetch_sub(&zone->users, 1) == 1)
        alk__free(zone);
}

/* The entry of that name, with its zone read; the lock is held. */
static alk_status get_entry(struct alk__zones *zones, const char *name, struct entry **ret_entry,
                            alk_error *error) {
    struct alk__zone *zone = NULL;
    struct entry *entry = zones->entries;

    while (entry != NULL && strcmp(entry->name, name) != 0)
        entry = entry->next;
    if (entry != NULL && entry->zone != NULL) {
        *ret_entry = entry;
        return ALK_OK;
    }
    alk_status st = read_zone(zones, name, &zone, error);
    if (st < 0)
        return st;
    if (entry == NULL) {
        entry = alk__alloc(sizeof(*entry));
        if (entry == NULL) {
            alk__zone_unref(zone);
            return alk__nomem(error);
        }
        snprintf(entry->name, sizeof(entry->name), "%s", name);
        entry->next = zones->entries;
        zones->entries = entry;
    }
    entry->zone = zone;
    *ret_entry = entry;
    return ALK_OK;
}

alk_status alk__zones_get(struct alk__zones *zones, const char *name, struct alk__zone **ret_zone,
                          alk_error *error) {
    struct entry *entry = NULL;
    alk_status st;

    if (strcmp(name, "UTC") == 0) {
        *ret_zone = &utc;
        return ALK_OK;
    }
    if ((st = check_name(name, error)) < 0)
        return st;
    if (zones == NULL)
        return alk__fail(error, ALK_INVALID, "zone '%s': only UTC works without zone files", name);
    pthread_mutex_lock(&zones->lock);
    st = get_entry(zones, name, &entry, error);
    if (st >= 0)
        *ret_zone = ref(entry->zone);
    pthread_mutex_unlock(&zones->lock);
    return st;
}

alk_status alk__zone_fingerprint(struct alk__zones *zones, const char *name,
                                 uint64_t *ret_fingerprint, alk_error *error) {
    struct alk__zone *zone;
    alk_status st = alk__zones_get(zones, name, &zone, error);

    if (st < 0)
        return st;
    *ret_fingerprint = zone->fingerprint;
    alk__zone_unref(zone);
    return ALK_OK;
}

int alk__zones_refresh(struct alk__zones *zones) {
    int changed = 0;

    pthread_mutex_lock(&zones->lock);
    for (struct entry *entry = zones->entries; entry != NULL; entry = entry->next) {
        struct alk__zone *before = entry->zone;
        struct alk__zone *now = NULL;

        if (before == NULL)
            continue;
        (void)read_zone(zones, entry->name, &now, NULL);
        changed += now == NULL || now->fingerprint != before->fingerprint;
        entry->zone = now;
        alk__zone_unref(before);
    }
    pthread_mutex_unlock(&zones->lock);
    return changed;
}

/* ---- one zone ---- */

struct alk__segment alk__zone_segment(const struct alk__zone *zone, int64_t at_s) {
    const struct alk__change *change = zone->change;
    size_t low = 0;
    size_t high = zone->count; /* change[low].at <= at_s < change[high].at */

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (change[middle].at <= at_s)
            low = middle;
        else
            high = middle;
    }
    return (struct alk__segment){
        .start = change[low].at,
        .end = high < zone->count ? change[high].at : INT64_MAX,
        .before_s = change[low > 0 ? low - 1 : low].offset_s,
        .offset_s = change[low].offset_s,
        .after_s = change[high < zone->count ? high : low].offset_s,
    };
}
