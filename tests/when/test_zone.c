/* tests/when/test_zone.c: names of zones, their files, good, changed, gone and hostile (S105). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "support/random_when.h"
#include "support/tsv.h"
#include "when/when.h"
#include "when/zone.h"

#define HEADER_BYTES 44

/* ---- a folder of zone files of our own ---- */

static char folder[] = "/tmp/alk-zones-XXXXXX";

static void path_of(const char *name, char *path, size_t size) {
    snprintf(path, size, "%s/%s", folder, name);
}

static void write_file(const char *name, const char *bytes, size_t length) {
    char path[256];

    path_of(name, path, sizeof(path));
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(length, fwrite(bytes, 1, length, file));
    assert_int_equal(0, fclose(file));
}

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state) {
    char command[256];

    (void)state;
    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    return system(command);
}

/* ---- zone files made by hand ---- */

struct made {
    char bytes[4096];
    size_t length;
};

static void add_bytes(struct made *file, const void *bytes, size_t length) {
    assert_true(file->length + length <= sizeof(file->bytes));
    memcpy(file->bytes + file->length, bytes, length);
    file->length += length;
}

static void add_number(struct made *file, int64_t number, int bytes) {
    for (int i = bytes - 1; i >= 0; i--) {
        char byte = (char)((uint64_t)number >> 8 * i);
        add_bytes(file, &byte, 1);
    }
}

static void add_header(struct made *file, char version, int times, int types, int chars) {
    add_bytes(file, "TZif", 4);
    add_bytes(file, &version, 1);
    for (int i = 0; i < 15; i++)
        add_number(file, 0, 1);
    add_number(file, 0, 4); /* isut */
    add_number(file, 0, 4); /* isstd */
    add_number(file, 0, 4); /* leap */
    add_number(file, times, 4);
    add_number(file, types, 4);
    add_number(file, chars, 4);
}

/* Version 2 with an empty first block, the given changes between type 0 and type 1, and a
 * footer. */
static struct made make(const int64_t *times, int count, int32_t offset_0, int32_t offset_1,
                        const char *footer) {
    struct made file = {.length = 0};

    add_header(&file, '2', 0, 1, 1);
    add_number(&file, 0, 6 + 1);
    add_header(&file, '2', count, 2, 4);
    for (int i = 0; i < count; i++)
        add_number(&file, times[i], 8);
    for (int i = 0; i < count; i++)
        add_number(&file, (i + 1) % 2, 1);
    add_number(&file, offset_0, 4);
    add_number(&file, 0, 2);
    add_number(&file, offset_1, 4);
    add_number(&file, 0x0100, 2);
    add_bytes(&file, "LMT", 4);
    add_bytes(&file, "\n", 1);
    add_bytes(&file, footer, strlen(footer));
    add_bytes(&file, "\n", 1);
    return file;
}

static const int64_t two_times[] = {1000000, 2000000};

static struct made make_plain(void) {
    return make(two_times, 2, 0, 3600, "XST0");
}

static struct alk__zone *parse_good(const struct made *file) {
    struct alk__zone *zone = NULL;
    alk_error error = ALK_ERROR_INIT;

    if (alk__tzif_parse((struct alk__text){file->bytes, file->length}, &zone, &error) < 0)
        fail_msg("%s", error.message);
    return zone;
}

static void assert_refused(const struct made *file, const char *why) {
    struct alk__zone *zone = NULL;
    alk_error error = ALK_ERROR_INIT;
    char expected[256];

    snprintf(expected, sizeof(expected), "the zone file is not right: %s", why);
    /* A copy of exactly its size: a reader that goes too far is caught by the sanitizers. */
    char *bytes = malloc(file->length == 0 ? 1 : file->length);
    assert_non_null(bytes);
    memcpy(bytes, file->bytes, file->length);
    assert_int_equal(ALK_INVALID,
                     alk__tzif_parse((struct alk__text){bytes, file->length}, &zone, &error));
    free(bytes);
    assert_null(zone);
    assert_string_equal(expected, error.message);
}

static void a_zone_is_the_changes_that_its_file_lists(void **state) {
    struct made file = make_plain();
    struct alk__zone *zone = parse_good(&file);
    struct alk__segment segment = alk__zone_segment(zone, 1500000);

    (void)state;
    assert_int_equal(3, zone->count);
    assert_int_equal(1000000, segment.start);
    assert_int_equal(2000000, segment.end);
    assert_int_equal(0, segment.before_s);
    assert_int_equal(3600, segment.offset_s);
    assert_int_equal(0, segment.after_s);
    segment = alk__zone_segment(zone, INT64_MIN);
    assert_true(segment.start == INT64_MIN && segment.end == 1000000);
    segment = alk__zone_segment(zone, INT64_MAX);
    assert_true(segment.start == 2000000 && segment.end == INT64_MAX);
    assert_int_equal(1000000, alk__zone_segment(zone, 999999).end);
    assert_int_equal(1000000, alk__zone_segment(zone, 1000000).start);
    alk__zone_unref(zone);
}

/* Changes that move no clock (a new abbreviation) are no changes here: folds and gaps would be cut
 * in two. */
static void changes_that_move_no_clock_are_left_out(void **state) {
    struct made file = make(two_times, 2, 3600, 3600, "XST-1");
    struct alk__zone *zone = parse_good(&file);

    (void)state;
    assert_int_equal(1, zone->count);
    alk__zone_unref(zone);
}

/* S105: whatever the bytes are, the answer is a refusal with its reason. */
static void files_that_are_not_right_are_refused(void **state) {
    const size_t block = HEADER_BYTES + 7;          /* the second header */
    const size_t types = block + HEADER_BYTES + 18; /* behind two times and their types */
    const int64_t wrong_times[] = {2000000, 2000000};
    struct made file = {.length = 0};

    (void)state;
    assert_refused(&file, "not a zone file");
    file = make_plain();
    file.bytes[0] = 't';
    assert_refused(&file, "not a zone file");
    file = make_plain();
    file.bytes[block] = 't';
    assert_refused(&file, "not a zone file");
    file = make_plain();
    file.bytes[4] = 0;
    assert_refused(&file, "it is of version 1, which has no times after 2037");
    file = make_plain();
    memset(file.bytes + block + 20, 0xff, 24);
    assert_refused(&file, "the file is cut off");
    file = make_plain();
    file.length -= strlen("\nXST0\n") + 1;
    assert_refused(&file, "the file is cut off");
    file = make_plain();
    memset(file.bytes + 20, 0xff, 24);
    assert_refused(&file, "the file is cut off");
    file = make_plain();
    file.bytes[block + 31] = 1;
    file.length += 12;
    assert_refused(&file, "it counts leap seconds (a 'right/' zone)");
    file = make_plain();
    file.bytes[block + 23] = 1;
    assert_refused(&file, "its counts do not agree");
    file = make_plain();
    file.bytes[block + 39] = 0;
    assert_refused(&file, "it has no or too many types");
    file = make(two_times, 2, 93600, 0, "XST0");
    assert_refused(&file, "an offset is out of range");
    file = make(two_times, 2, INT32_MIN, 0, "XST0");
    assert_refused(&file, "an offset is out of range");
    file = make_plain();
    file.bytes[types + 4] = 2;
    assert_refused(&file, "a type is wrong");
    file = make_plain();
    file.bytes[types + 5] = 4;
    assert_refused(&file, "a type is wrong");
    file = make(wrong_times, 2, 0, 3600, "XST0");
    assert_refused(&file, "its times do not ascend");
    file = make_plain();
    file.bytes[types - 1] = 2;
    assert_refused(&file, "a time has no type");
    file = make_plain();
    file.length--;
    assert_refused(&file, "its footer is missing");
    file = make_plain();
    add_bytes(&file, "x", 1);
    assert_refused(&file, "its footer is missing");
}

/* S105: cut off anywhere, one byte changed anywhere: a zone or a refusal, never harm (sanitizers
 * look on). */
static void no_damage_to_a_file_does_harm(void **state) {
    struct made file = make(two_times, 2, 0, 3600, "XST0XDT,M3.2.0,M11.1.0");
    uint64_t seed = 105;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        struct made damaged = file;
        struct alk__zone *zone = NULL;

        damaged.length = i % 2 == 0 ? file.length : (size_t)seeded_below(&seed, (int)file.length);
        for (int j = seeded_below(&seed, 4); j >= 0; j--)
            damaged.bytes[seeded_below(&seed, (int)file.length)] = (char)seeded_bits(&seed);
        if (alk__tzif_parse((struct alk__text){damaged.bytes, damaged.length}, &zone, NULL) < 0)
            continue;
        for (size_t j = 1; j < zone->count; j++)
            assert_true(zone->change[j].at > zone->change[j - 1].at &&
                        zone->change[j].offset_s != zone->change[j - 1].offset_s);
        alk__zone_unref(zone);
    }
}

/* ---- rules ---- */

static void rules_that_are_none_are_refused(void **state) {
    static const char *const texts[] = {
        "",
        "X",
        "XST",
        "XST25",
        "XST0:60",
        "XST0 ",
        "<X1>",
        "<1",
        "<>0",
        "XST0XDT",
        "XST0XD",
        "XST0XDT,M3",
        "XST0XDT,M3.2.0",
        "XST0XDT,M0.2.0,M11.1.0",
        "XST0XDT,M13.2.0,M11.1.0",
        "XST0XDT,M3.6.0,M11.1.0",
        "XST0XDT,M3.0.0,M11.1.0",
        "XST0XDT,M3.2.7,M11.1.0",
        "XST0XDT,J0,J365",
        "XST0XDT,J1,J366",
        "XST0XDT,0,366",
        "XST0XDT,0/168,365",
        "XST0XDT,0/-168,365",
        "XST0XDT,M3.2.0,M11.1.0x",
        "XST0XDT1,0/1:2:3:4,365",
    };
    struct alk__zone_rule rule;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        if (alk__zone_rule_parse(alk__text_of(texts[i]), &rule))
            fail_msg("'%s' is taken", texts[i]);
    }
}

static void assert_rule_year(const char *text, int64_t year, const char *first,
                             const char *second) {
    struct alk__zone_rule rule;
    struct alk__change pair[2];

    assert_true(alk__zone_rule_parse(alk__text_of(text), &rule));
    alk__zone_rule_year(&rule, year, pair);
    assert_int_equal(seconds_of(first), pair[0].at);
    assert_int_equal(seconds_of(second), pair[1].at);
}

/* S107: all the ways to write a rule; hours beyond the day as RFC 8536 has them. */
static void rules_give_the_changes_of_a_year(void **state) {
    (void)state;
    assert_rule_year("CET-1CEST,M3.5.0,M10.5.0/3", 2027, "2027-03-28T01:00:00Z",
                     "2027-10-31T01:00:00Z");
    assert_rule_year("EST5EDT,M3.2.0,M11.1.0", 2150, "2150-03-08T07:00:00Z",
                     "2150-11-01T06:00:00Z");
    assert_rule_year("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", 2027, "2027-04-03T15:00:00Z",
                     "2027-10-02T15:30:00Z");
    assert_rule_year("IST-1GMT0,M10.5.0,M3.5.0/1", 2027, "2027-03-28T01:00:00Z",
                     "2027-10-31T01:00:00Z");
    assert_rule_year("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", 2027, "2027-03-28T01:00:00Z",
                     "2027-10-31T01:00:00Z");
    assert_rule_year("EET-2EEST,M3.4.4/50,M10.4.4/50", 2027, "2027-03-27T00:00:00Z",
                     "2027-10-29T23:00:00Z");
    assert_rule_year("XST0XDT,J60/0,J300/0", 2028, "2028-03-01T00:00:00Z", "2028-10-26T23:00:00Z");
    assert_rule_year("XST0XDT,59/0,J300/0", 2028, "2028-02-29T00:00:00Z", "2028-10-26T23:00:00Z");
    assert_rule_year("XST0XDT,M2.5.2/0:30:15,J300/0", 2028, "2028-02-29T00:30:15Z",
                     "2028-10-26T23:00:00Z");
}

/* RFC 8536, 3.3.1: summer time all year: the file's one offset. */
static void summer_time_all_year_is_no_change(void **state) {
    const int64_t times[] = {1000000};
    struct made file = make(times, 1, -10800, -14400, "XXX3EDT4,0/0,J365/23");
    struct alk__zone *zone = parse_good(&file);

    (void)state;
    struct alk__segment segment = alk__zone_segment(zone, seconds_of("2100-06-01T00:00:00Z"));
    assert_int_equal(-14400, segment.offset_s);
    assert_int_equal(1000000, segment.start);
    assert_true(segment.end >= ALK__WHEN_END_S);
    alk__zone_unref(zone);
}

/* ---- names ---- */

static void assert_name_refused(struct alk__zones *zones, const char *name, const char *message) {
    struct alk__zone *zone = NULL;
    alk_error error = ALK_ERROR_INIT;

    assert_int_equal(ALK_INVALID, alk__zones_get(zones, name, &zone, &error));
    assert_null(zone);
    assert_string_equal(message, error.message);
}

/* S105, rule 11: no path, no abbreviation, no POSIX string. */
static void names_that_are_no_zone_are_refused(void **state) {
    static const char *const paths[] = {
        "",
        "/etc/passwd",
        "../zoneinfo/UTC",
        "Europe/../UTC",
        "Europe//Berlin",
        "Europe/",
        "Europe/Berlin/",
        "Europe/Ber lin",
        "Europe/Berlin\n",
        ".",
        "EST5EDT,M3.2.0,M11.1.0",
        ":Europe/Berlin",
    };
    struct alk__zones *zones = NULL;
    struct made file = make_plain();
    char message[256];

    (void)state;
    write_file("EST", file.bytes, file.length);
    write_file("EST5EDT", file.bytes, file.length);
    assert_int_equal(ALK_OK, alk__zones_new(folder, &zones, NULL));
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
        snprintf(message, sizeof(message), "'%s' is not the name of a zone (as in Europe/Berlin)",
                 strchr(paths[i], '\n') == NULL ? paths[i] : "Europe/Berlin?");
        assert_name_refused(zones, paths[i], message);
    }
    assert_name_refused(zones, "EST",
                        "zone 'EST' is an abbreviation; give a place, as in Europe/Berlin");
    assert_name_refused(zones, "EST5EDT",
                        "zone 'EST5EDT' is a POSIX string; give a place, as in Europe/Berlin, or "
                        "an offset, as in Etc/GMT-1 (which is east of Greenwich)");
    assert_name_refused(zones, "right/Europe/Berlin",
                        "zone 'right/Europe/Berlin': give it without 'right/'");
    snprintf(message, sizeof(message), "no zone 'Mars/Base' in %s", folder);
    assert_name_refused(zones, "Mars/Base", message);
    assert_name_refused(NULL, "Europe/Berlin",
                        "zone 'Europe/Berlin': only UTC works without zone files");
    alk__zones_free(zones);
}

/* S105: the column is that of CRON_TZ=; both zones and different is an error, both and the same is
 * not. */
static void a_spec_and_its_schedule_agree_on_the_zone(void **state) {
    static const struct {
        const char *zone, *spec, *message;
    } cases[] = {
        {"UTC", "CRON_TZ=UTC 0 0 * * *", NULL},
        {"", "CRON_TZ=UTC 0 0 * * *", NULL},
        {"UTC", "CRON_TZ=Test/Place 0 0 * * *",
         "CRON_TZ= differs from the schedule's zone 'UTC' at column 9 (give one of them)"},
        {NULL, "CRON_TZ= 0 0 * * *",
         "the name of a zone is missing at column 9 (as in "
         "CRON_TZ=Europe/Berlin)"},
        {NULL, "CRON_TZ=UTC",
         "field 1, minute, is missing at column 12"
         " (minute, hour, day of month, month, day of week, as in 0 6 * * MON-FRI)"},
        {NULL, "  CRON_TZ=MET 0 0 * * *",
         "CRON_TZ= at column 3: zone 'MET' is an abbreviation; give a place, as in "
         "Europe/Berlin"},
        {NULL, "TZ=UTC 0 0 * * *", "the prefix is written CRON_TZ= at column 1"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct alk__when_options options = {.zone = cases[i].zone};
        struct alk__when *when = NULL;
        alk_error error = ALK_ERROR_INIT;
        alk_status st = alk__when_parse(alk__text_of(cases[i].spec), &options, &when, &error);

        assert_int_equal(cases[i].message == NULL ? ALK_OK : ALK_INVALID, st);
        assert_string_equal(cases[i].message == NULL ? "" : cases[i].message, error.message);
        if (st == ALK_OK)
            assert_string_equal("UTC", alk__when_zone(when));
        alk__when_free(when);
    }
}

/* ---- files and the cache ---- */

/* S105: without files UTC works, and the message says what is missing. */
static void without_zone_files_utc_works(void **state) {
    struct alk__zones *zones = NULL;
    struct alk__zone *zone = NULL;
    uint64_t fingerprint = 1;

    (void)state;
    assert_int_equal(ALK_OK, alk__zones_new("/nonexistent", &zones, NULL));
    assert_name_refused(zones, "Europe/Berlin",
                        "zone 'Europe/Berlin': no zone files in /nonexistent, only UTC works "
                        "(install tzdata or set TZDIR)");
    assert_int_equal(ALK_OK, alk__zones_get(zones, "UTC", &zone, NULL));
    assert_int_equal(1, zone->count);
    assert_int_equal(ALK_OK, alk__zone_fingerprint(NULL, "UTC", &fingerprint, NULL));
    assert_int_equal(0, fingerprint);
    alk__zone_unref(zone);
    alk__zones_free(zones);
}

/* S105: TZDIR names the folder; the process's TZ never matters. */
static void tzdir_is_honoured_and_tz_is_not(void **state) {
    struct made file = make_plain();
    struct alk__when_options options = {.zone = "Test/Place"};
    struct alk__when *when = NULL;
    char path[256];
    int64_t at_s = 0;

    (void)state;
    path_of("Test", path, sizeof(path));
    assert_int_equal(0, mkdir(path, 0700));
    write_file("Test/Place", file.bytes, file.length);
    setenv("TZDIR", folder, 1);
    setenv("TZ", "Asia/Tokyo", 1);
    assert_int_equal(ALK_OK, alk__zones_new(NULL, &options.zones, NULL));
    unsetenv("TZDIR");
    assert_int_equal(ALK_OK, alk__when_parse(ALK__TEXT("@daily"), &options, &when, NULL));
    assert_true(alk__when_next(when, 0, 1036800, &at_s));
    assert_int_equal(1123200 - 3600, at_s);
    alk__when_free(when);
    assert_int_equal(ALK_OK, alk__when_parse(ALK__TEXT("@daily"), NULL, &when, NULL));
    assert_true(alk__when_next(when, 0, 1036800, &at_s));
    assert_int_equal(1123200, at_s);
    alk__when_free(when);
    alk__zones_free(options.zones);
    unsetenv("TZ");
}

/* Folders, files that are too long, and pipes, which would block. */
static void what_is_not_a_zone_file_is_refused(void **state) {
    struct alk__zones *zones = NULL;
    char path[256];

    (void)state;
    assert_int_equal(ALK_OK, alk__zones_new(folder, &zones, NULL));
    path_of("Folder", path, sizeof(path));
    assert_int_equal(0, mkdir(path, 0700));
    assert_name_refused(zones, "Folder", "zone 'Folder' is not a file");
    path_of("Pipe", path, sizeof(path));
    assert_int_equal(0, mkfifo(path, 0600));
    assert_name_refused(zones, "Pipe", "zone 'Pipe' is not a file");
    write_file("Long", "", 0);
    path_of("Long", path, sizeof(path));
    assert_int_equal(0, truncate(path, 65537));
    assert_name_refused(zones, "Long", "zone 'Long': the file is longer than 65536 bytes");
    write_file("Words", "Europe/Berlin", 13);
    assert_name_refused(zones, "Words",
                        "zone 'Words': the zone file is not right: not a zone file");
    alk__zones_free(zones);
}

/* A changed file: a new fingerprint and new boundaries for what is compiled from now on; a compiled
 * spec keeps its own. */
static void a_refresh_sees_what_changed(void **state) {
    struct made file = make_plain();
    struct made changed = make(two_times, 2, 7200, 10800, "XST-2");
    struct alk__when_options options = {.zone = "Changing"};
    struct alk__when *before = NULL;
    struct alk__when *after = NULL;
    uint64_t fingerprint = 0;
    char path[256];
    int64_t at_s = 0;

    (void)state;
    write_file("Changing", file.bytes, file.length);
    assert_int_equal(ALK_OK, alk__zones_new(folder, &options.zones, NULL));
    assert_int_equal(ALK_OK, alk__when_parse(ALK__TEXT("@daily"), &options, &before, NULL));
    assert_int_equal(0, alk__zones_refresh(options.zones));
    assert_int_equal(ALK_OK, alk__zone_fingerprint(options.zones, "Changing", &fingerprint, NULL));
    assert_int_equal(fingerprint, alk__when_fingerprint(before));

    write_file("Changing", changed.bytes, changed.length);
    assert_int_equal(1, alk__zones_refresh(options.zones));
    assert_int_equal(0, alk__zones_refresh(options.zones));
    assert_int_equal(ALK_OK, alk__when_parse(ALK__TEXT("@daily"), &options, &after, NULL));
    assert_true(alk__when_fingerprint(after) != alk__when_fingerprint(before));
    assert_true(alk__when_next(before, 0, 86400 * 40, &at_s) && at_s == 86400 * 41);
    assert_true(alk__when_next(after, 0, 86400 * 40, &at_s) && at_s == 86400 * 41 - 7200);
    alk__when_free(after);

    path_of("Changing", path, sizeof(path));
    assert_int_equal(0, unlink(path));
    assert_int_equal(1, alk__zones_refresh(options.zones));
    assert_int_equal(ALK_INVALID, alk__when_parse(ALK__TEXT("@daily"), &options, &after, NULL));
    write_file("Changing", file.bytes, file.length);
    assert_int_equal(ALK_OK, alk__when_parse(ALK__TEXT("@daily"), &options, &after, NULL));
    assert_int_equal(alk__when_fingerprint(after), alk__when_fingerprint(before));
    alk__when_free(after);
    alk__zones_free(options.zones);
    assert_true(alk__when_next(before, 0, 0, &at_s)); /* needs the cache no longer */
    alk__when_free(before);
}

/* S218: each allocation in turn fails: ALK_NOMEM, nothing leaks, the next try works. */
static void a_failed_allocation_is_an_error(void **state) {
    struct made file = make_plain();
    long n = 0;
    alk_status st;

    (void)state;
    write_file("Memory", file.bytes, file.length);
    do {
        struct alk__when_options options = {.zone = "Memory"};
        struct alk__when *when = NULL;
        alk_error error = ALK_ERROR_INIT;

        alk__alloc_fail_at(++n);
        st = alk__zones_new(folder, &options.zones, &error);
        if (st == ALK_OK)
            st = alk__when_parse(ALK__TEXT("0 3 * * *"), &options, &when, &error);
        alk__alloc_fail_at(0);
        assert_int_equal(st, error.status);
        assert_true(st == ALK_OK || st == ALK_NOMEM);
        if (st == ALK_NOMEM && options.zones != NULL)
            assert_int_equal(ALK_OK,
                             alk__when_parse(ALK__TEXT("0 3 * * *"), &options, &when, NULL));
        alk__when_free(when);
        alk__zones_free(options.zones);
    } while (st == ALK_NOMEM);
    assert_int_equal(6, n);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_zone_is_the_changes_that_its_file_lists),
        cmocka_unit_test(changes_that_move_no_clock_are_left_out),
        cmocka_unit_test(files_that_are_not_right_are_refused),
        cmocka_unit_test(no_damage_to_a_file_does_harm),
        cmocka_unit_test(rules_that_are_none_are_refused),
        cmocka_unit_test(rules_give_the_changes_of_a_year),
        cmocka_unit_test(summer_time_all_year_is_no_change),
        cmocka_unit_test(names_that_are_no_zone_are_refused),
        cmocka_unit_test(a_spec_and_its_schedule_agree_on_the_zone),
        cmocka_unit_test(without_zone_files_utc_works),
        cmocka_unit_test(tzdir_is_honoured_and_tz_is_not),
        cmocka_unit_test(what_is_not_a_zone_file_is_refused),
        cmocka_unit_test(a_refresh_sees_what_changed),
        cmocka_unit_test(a_failed_allocation_is_an_error),
    };

    return cmocka_run_group_tests_name("zone", tests, make_folder, remove_folder);
}
