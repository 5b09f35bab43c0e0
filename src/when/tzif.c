/* when/tzif.c: reads a zone file (RFC 8536) and unrolls it: what it lists, then what its rule gives
 * up to 2200.
 *
 * The bytes may come from anywhere: every count is checked against the length of the file before
 * anything is read. */
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/scan.h"
#include "when/compiled.h"

#define HEADER_BYTES 44
#define TYPE_BYTES 6
#define TYPES_MAX 256

struct header {
    uint32_t isut_count, isstd_count, leap_count, time_count, type_count, char_count;
    char version;
};

/* One block of data: where its parts begin. */
struct block {
    struct header header;
    const unsigned char *times, *indices, *types;
    size_t length;
};

static uint64_t big_endian(const unsigned char *bytes, int count) {
    uint64_t number = 0;

    for (int i = 0; i < count; i++)
        number = number << 8 | bytes[i];
    return number;
}

static uint32_t big_endian_32(const unsigned char *bytes) {
    return (uint32_t)big_endian(bytes, 4);
}

/* The header at the start of bytes and the length of its block with times of time_bytes each. NULL
 * or what is wrong. */
static const char *read_block(struct alk__text bytes, size_t time_bytes, struct block *block) {
    const unsigned char *at = (const unsigned char *)bytes.bytes;
    struct header *header = &block->header;

    if (bytes.length < HEADER_BYTES || memcmp(at, "TZif", 4) != 0)
        return "not a zone file";
    *header = (struct header){
        .version = (char)at[4],
        .isut_count = big_endian_32(at + 20),
        .isstd_count = big_endian_32(at + 24),
        .leap_count = big_endian_32(at + 28),
        .time_count = big_endian_32(at + 32),
        .type_count = big_endian_32(at + 36),
        .char_count = big_endian_32(at + 40),
    };
    /* 64 bits hold the sum of six counts of 32 bits, each times 12 at most. */
    uint64_t length = HEADER_BYTES + (uint64_t)header->time_count * (time_bytes + 1) +
                      (uint64_t)header->type_count * TYPE_BYTES + header->char_count +
                      (uint64_t)header->leap_count * (time_bytes + 4) + header->isstd_count +
                      header->isut_count;
    if (length > bytes.length)
        return "the file is cut off";
    block->times = at + HEADER_BYTES;
    block->indices = block->times + header->time_count * time_bytes;
    block->types = block->indices + header->time_count;
    block->length = (size_t)length;
    return NULL;
}

static const char *check_types(const struct block *block) {
    const struct header *header = &block->header;

    if (header->leap_count != 0)
        return "it counts leap seconds (a 'right/' zone)";
    if (header->type_count == 0 || header->type_count > TYPES_MAX)
        return "it has no or too many types";
    if ((header->isut_count != 0 && header->isut_count != header->type_count) ||
        (header->isstd_count != 0 && header->isstd_count != header->type_count))
        return "its counts do not agree";
    for (size_t i = 0; i < header->type_count; i++) {
        const unsigned char *type = block->types + i * TYPE_BYTES;
        int32_t offset = (int32_t)big_endian_32(type);

        if (offset <= -ALK__ZONE_OFFSET_MAX_S || offset >= ALK__ZONE_OFFSET_MAX_S)
            return "an offset is out of range";
        if (type[4] > 1 || type[5] >= header->char_count)
            return "a type is wrong";
    }
    return NULL;
}

static int64_t time_at(const struct block *block, size_t i) {
    return (int64_t)big_endian(block->times + 8 * i, 8);
}

static const char *check_times(const struct block *block) {
    for (size_t i = 0; i < block->header.time_count; i++) {
        if (i > 0 && time_at(block, i) <= time_at(block, i - 1))
            return "its times do not ascend";
        if (block->indices[i] >= block->header.type_count)
            return "a time has no type";
    }
    return NULL;
}

static int32_t offset_of_type(const struct block *block, size_t type) {
    return (int32_t)big_endian_32(block->types + type * TYPE_BYTES);
}

/* ---- the footer ---- */

/* The text between the two newlines behind the block; empty: nothing changes after the last listed
 * time. */
static const char *read_footer(struct alk__text rest, struct alk__zone_rule *rule) {
    if (rest.length < 2 || rest.bytes[0] != '\n' || rest.bytes[rest.length - 1] != '\n')
        return "its footer is missing";
    struct alk__text text = {rest.bytes + 1, rest.length - 2};
    return text.length == 0 || alk__zone_rule_parse(text, rule) ? NULL : "its footer is no rule";
}

/* ---- unrolling ---- */

/* Two changes a year, from the year before 1970 to the one after the last. */
#define RULE_CHANGES_MAX (2 * (ALK__WHEN_YEAR_LAST + 1 - (ALK__WHEN_YEAR_FIRST - 1) + 1))

struct unrolled {
    struct alk__change *change;
    size_t count;
};

/* Neighbours with one offset become one; of two at one second the one that is added later
 * counts. */
static void append(struct unrolled *all, int64_t at, int32_t offset_s) {
    if (all->count > 0 && all->change[all->count - 1].at == at)
        all->count--;
    if (all->count > 0 && all->change[all->count - 1].offset_s == offset_s)
        return;
    all->change[all->count++] = (struct alk__change){at, offset_s};
}

/* Keeps the order of equals: what a rule gives is sorted but for a few neighbours. */
static void insert(struct alk__change *changes, size_t count, struct alk__change change) {
    while (count > 0 && changes[count - 1].at > change.at) {
        changes[count] = changes[count - 1];
        count--;
    }
    changes[count] = change;
}

static void append_rule(struct unrolled *all, const struct alk__zone_rule *rule, int64_t after_s) {
    struct alk__change changes[RULE_CHANGES_MAX];
    struct alk__change pair[2];
    size_t count = 0;

    for (int64_t year = ALK__WHEN_YEAR_FIRST - 1; year <= ALK__WHEN_YEAR_LAST + 1; year++) {
        alk__zone_rule_year(rule, year, pair);
        insert(changes, count++, pair[0]);
        insert(changes, count++, pair[1]);
    }
    for (size_t i = 0; i < count; i++) {
        if (changes[i].at > after_s)
            append(all, changes[i].at, changes[i].offset_s);
    }
}

static void unroll(const struct block *block, const struct alk__zone_rule *rule,
                   struct unrolled *all) {
    int64_t last_s = INT64_MIN;

    append(all, INT64_MIN, offset_of_type(block, 0));
    for (size_t i = 0; i < block->header.time_count; i++) {
        last_s = time_at(block, i);
        append(all, last_s, offset_of_type(block, block->indices[i]));
    }
    if (rule->has_summer)
        append_rule(all, rule, last_s);
}

/* ---- the file ---- */

/* Finds and checks everything. NULL or what is wrong. */
static const char *read_file(struct alk__text bytes, struct block *block,
                             struct alk__zone_rule *rule) {
    const char *wrong = read_block(bytes, 4, block);

    if (wrong != NULL)
        return wrong;
    if (block->header.version < '2')
        return "it is of version 1, which has no times after 2037";
    bytes.bytes += block->length;
    bytes.length -= block->length;
    if ((wrong = read_block(bytes, 8, block)) != NULL || (wrong = check_types(block)) != NULL ||
        (wrong = check_times(block)) != NULL)
        return wrong;
    bytes.bytes += block->length;
    bytes.length -= block->length;
    return read_footer(bytes, rule);
}

alk_status alk__tzif_parse(struct alk__text bytes, struct alk__zone **ret_zone, alk_error *error) {
    struct alk__zone_rule rule = {.has_summer = false};
    struct block block;
    const char *wrong = read_file(bytes, &block, &rule);

    if (wrong != NULL)
        return alk__fail(error, ALK_INVALID, "the zone file is not right: %s", wrong);

    size_t most = 1 + block.header.time_count + RULE_CHANGES_MAX;
    struct alk__zone *zone = alk__alloc(sizeof(*zone) + most * sizeof(*zone->change));
    if (zone == NULL)
        return alk__nomem(error);
    struct unrolled all = {.change = (struct alk__change *)(zone + 1)};
    unroll(&block, &rule, &all);
    *zone = (struct alk__zone){
        .fingerprint = alk__hash_finish(alk__hash_add(ALK__HASH_START, bytes.bytes, bytes.length)),
        .count = all.count,
        .change = all.change,
    };
    atomic_init(&zone->users, 1);
    *ret_zone = zone;
    return ALK_OK;
}
