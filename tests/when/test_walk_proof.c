/* tests/when/test_walk_proof.c: next and prev against an independent evaluator: every zone of this
 * machine, from 1990 to 2100 (S229; a sample is in test_walk.c). ALK_TEST_SEED gives other
 * specs. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "support/random_when.h"
#include "support/tsv.h"

#define DAY INT64_C(86400)
#define NAMES_MAX 2000
#define DENSE_PER_ZONE 3

static char names[NAMES_MAX][512];
static int name_count;

static bool is_zone_file(const char *path) {
    FILE *file = fopen(path, "r");
    char magic[4] = "";

    if (file == NULL)
        return false;
    bool is_zone = fread(magic, 1, 4, file) == 4 && memcmp(magic, "TZif", 4) == 0;
    fclose(file);
    return is_zone;
}

/* Every zone file below folder/prefix. */
static void list_zones(const char *folder, const char *prefix) {
    char path[1024];

    snprintf(path, sizeof(path), "%s/%s", folder, prefix);
    DIR *directory = opendir(path);
    if (directory == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char name[512];
        struct stat status;

        snprintf(name, sizeof(name), "%s%s%s", prefix, prefix[0] == '\0' ? "" : "/", entry->d_name);
        snprintf(path, sizeof(path), "%s/%s", folder, name);
        if (entry->d_name[0] == '.' || strcmp(name, "right") == 0 || strcmp(name, "posix") == 0 ||
            stat(path, &status) != 0)
            continue;
        if (S_ISDIR(status.st_mode))
            list_zones(folder, name);
        else if (is_zone_file(path) && name_count < NAMES_MAX)
            snprintf(names[name_count++], sizeof(names[0]), "%s", name);
    }
    closedir(directory);
}

static int by_name(const void *left, const void *right) {
    return strcmp(left, right);
}

static uint64_t seed_of_run(void) {
    const char *text = getenv("ALK_TEST_SEED");

    return text == NULL ? 19902100 : strtoull(text, NULL, 10);
}

/* The names that rule 11 refuses. */
static bool is_refused(const char *name) {
    static const char abbreviations[] = " EST MST HST CET MET EET WET ";
    char word[80];

    snprintf(word, sizeof(word), " %s ", name);
    return strstr(abbreviations, word) != NULL ||
           (strchr(name, '/') == NULL && strpbrk(name, "0123456789+") != NULL);
}

static void compare_zone(struct alk__zones *zones, const char *name, uint64_t *seed) {
    const int64_t from = seconds_of("1990-01-01T00:00:00Z");
    const int64_t to = seconds_of("2100-01-01T00:00:00Z");
    struct slow_zone slow = slow_zone_read(name, from - 3 * DAY, to + 3 * DAY);

    compare_random_spec(seed, false, zones, name, &slow, from, to);
    for (int i = 0; i < DENSE_PER_ZONE && slow.count > 1; i++) {
        int64_t change = slow.stretches[seeded_below(seed, (int)slow.count - 1)].end;

        compare_random_spec(seed, true, zones, name, &slow, change - DAY / 2, change + DAY / 2);
    }
    slow_zone_free(&slow);
}

/* S229, S107 */
static void every_zone_agrees_with_the_slow_evaluator(void **state) {
    const char *folder = getenv("TZDIR") == NULL ? "/usr/share/zoneinfo" : getenv("TZDIR");
    struct alk__zones *zones = NULL;
    uint64_t seed = seed_of_run();
    int compared = 0;

    (void)state;
    list_zones(folder, "");
    qsort(names, (size_t)name_count, sizeof(names[0]), by_name);
    assert_int_equal(ALK_OK, alk__zones_new(folder, &zones, NULL));
    for (int i = 0; i < name_count; i++) {
        if (is_refused(names[i]))
            continue;
        compare_zone(zones, names[i], &seed);
        compared++;
    }
    alk__zones_free(zones);
    assert_true(compared > 300);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_zone_agrees_with_the_slow_evaluator),
    };

    return cmocka_run_group_tests_name("walk proof", tests, NULL, NULL);
}
