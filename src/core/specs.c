/* core/specs.c: the cache of compiled specs: a hash table whose entries also stand in a list, the
 * one used last in front; the one at its end makes room. */
#include "core/specs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "when/zone.h"

struct entry {
    struct entry *next; /* in its bucket */
    struct entry *newer;
    struct entry *older;
    struct alk__when *when;
    size_t bucket;
    size_t key_length;
    char key[];
};

struct alk__specs {
    struct alk__zones *zones;
    struct alk__buffer key; /* of the call that runs */
    struct entry *newest;
    struct entry *oldest;
    size_t count;
    size_t capacity;
    size_t bucket_count;
    struct entry *buckets[];
};

alk_status alk__specs_new(size_t capacity, struct alk__specs **ret_specs, alk_error *error) {
    size_t bucket_count = 2 * capacity;
    struct alk__specs *specs = alk__alloc(sizeof(*specs) + bucket_count * sizeof(struct entry *));

    if (specs == NULL)
        return alk__nomem(error);
    memset(specs, 0, sizeof(*specs) + bucket_count * sizeof(struct entry *));
    specs->capacity = capacity;
    specs->bucket_count = bucket_count;
    specs->key = (struct alk__buffer)ALK__BUFFER_INIT((size_t)1 << 16);
    alk_status status = alk__zones_new(NULL, &specs->zones, error);
    if (status < 0) {
        alk__free(specs);
        return status;
    }
    *ret_specs = specs;
    return ALK_OK;
}

static void entry_free(struct entry *entry) {
    alk__when_free(entry->when);
    alk__free(entry);
}

void alk__specs_free(struct alk__specs *specs) {
    if (specs == NULL)
        return;
    for (struct entry *entry = specs->newest, *older; entry != NULL; entry = older) {
        older = entry->older;
        entry_free(entry);
    }
    alk__buffer_release(&specs->key);
    alk__zones_free(specs->zones);
    alk__free(specs);
}

/* The name counts only for H: schedules of one spec share it. */
static void make_key(struct alk__buffer *key, const struct alk__spec *spec) {
    const char options[] = {(char)('0' + (int)spec->gap), (char)('0' + (int)spec->fold)};
    struct alk__text text = spec->text;

    alk__buffer_clear(key);
    alk__buffer_add(key, options, sizeof(options));
    alk__buffer_add(key, text.bytes, text.length);
    alk__buffer_add(key, "", 1);
    alk__buffer_add(key, spec->zone.bytes, spec->zone.length);
    alk__buffer_add(key, "", 1);
    if (text.length > 0 &&
        (memchr(text.bytes, 'H', text.length) || memchr(text.bytes, 'h', text.length)))
        alk__buffer_add(key, spec->name.bytes, spec->name.length);
}

static size_t bucket_of(const struct alk__specs *specs) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

    for (size_t i = 0; i < specs->key.length; i++)
        hash = (hash ^ (unsigned char)specs->key.bytes[i]) * UINT64_C(0x100000001b3);
    return hash % specs->bucket_count;
}

static struct entry *find(const struct alk__specs *specs, size_t bucket) {
    for (struct entry *entry = specs->buckets[bucket]; entry != NULL; entry = entry->next) {
        if (entry->key_length == specs->key.length &&
            memcmp(entry->key, specs->key.bytes, entry->key_length) == 0)
            return entry;
    }
    return NULL;
}

static void list_remove(struct alk__specs *specs, struct entry *entry) {
    *(entry->newer != NULL ? &entry->newer->older : &specs->newest) = entry->older;
    *(entry->older != NULL ? &entry->older->newer : &specs->oldest) = entry->newer;
}

static void list_add(struct alk__specs *specs, struct entry *entry) {
    entry->newer = NULL;
    entry->older = specs->newest;
    *(specs->newest != NULL ? &specs->newest->newer : &specs->oldest) = entry;
    specs->newest = entry;
}

static void drop_oldest(struct alk__specs *specs) {
    struct entry *entry = specs->oldest;
    struct entry **at = &specs->buckets[entry->bucket];

    while (*at != entry)
        at = &(*at)->next;
    *at = entry->next;
    list_remove(specs, entry);
    entry_free(entry);
    specs->count--;
}

static alk_status add(struct alk__specs *specs, size_t bucket, struct alk__when *when,
                      alk_error *error) {
    struct entry *entry = alk__alloc(sizeof(*entry) + specs->key.length);

    if (entry == NULL)
        return alk__nomem(error);
    if (specs->count == specs->capacity)
        drop_oldest(specs);
    *entry = (struct entry){.next = specs->buckets[bucket],
                            .when = when,
                            .bucket = bucket,
                            .key_length = specs->key.length};
    memcpy(entry->key, specs->key.bytes, specs->key.length);
    specs->buckets[bucket] = entry;
    list_add(specs, entry);
    specs->count++;
    return ALK_OK;
}

alk_status alk__specs_get(struct alk__specs *specs, const struct alk__spec *spec,
                          const struct alk__when **ret_when, alk_error *error) {
    make_key(&specs->key, spec);
    size_t bucket = bucket_of(specs);
    struct entry *entry = specs->key.is_failed ? NULL : find(specs, bucket);
    if (entry != NULL) {
        list_remove(specs, entry);
        list_add(specs, entry);
        *ret_when = entry->when;
        return ALK_OK;
    }

    struct alk__when_options options = {.name = spec->name.bytes,
                                        .zone = spec->zone.bytes,
                                        .zones = specs->zones,
                                        .gap = spec->gap,
                                        .fold = spec->fold};
    struct alk__when *when = NULL;
    alk_status status = alk__when_parse(spec->text, &options, &when, error);
    if (status < 0)
        return status;
    status = specs->key.is_failed ? alk__nomem(error) : add(specs, bucket, when, error);
    if (status < 0) {
        alk__when_free(when);
        return status;
    }
    *ret_when = when;
    return ALK_OK;
}

void alk__specs_refresh(struct alk__specs *specs) {
    if (alk__zones_refresh(specs->zones) == 0)
        return;
    while (specs->oldest != NULL)
        drop_oldest(specs);
}

void alk__fingerprint_text(uint64_t fingerprint, char text[ALK__FINGERPRINT_BYTES]) {
    snprintf(text, ALK__FINGERPRINT_BYTES, "%016" PRIx64, fingerprint);
}
