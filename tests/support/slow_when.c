/* tests/support/slow_when.c: the second evaluator. */
#include "support/slow_when.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define DAY 86400
#define MARGIN (2 * DAY)

static void *grow(void *memory, size_t count, size_t size) {
    void *grown = realloc(memory, (count == 0 ? 1 : count) * size);

    if (grown == NULL)
        abort();
    return grown;
}

/* ---- zones, as libc knows them ---- */

static int64_t libc_offset(int64_t at_s) {
    time_t at = (time_t)at_s;
    struct tm tm;

    localtime_r(&at, &tm);
    return tm.tm_gmtoff;
}

static void add_stretch(struct slow_zone *zone, int64_t start, int64_t end, int64_t offset_s) {
    zone->stretches = grow(zone->stretches, zone->count + 1, sizeof(*zone->stretches));
    zone->stretches[zone->count++] = (struct slow_stretch){start, end, offset_s};
}

/* No stretch is shorter than this: if one was, the comparison would fail. */
#define LOOK (3 * 3600)

/* Looks every three hours and then at the middle until it has the second. */
struct slow_zone slow_zone_read(const char *name, int64_t from_s, int64_t to_s) {
    struct slow_zone zone = {.count = 0};
    int64_t start = from_s;

    setenv("TZ", name, 1);
    tzset();
    int64_t offset = libc_offset(from_s);
    for (int64_t at = from_s; at < to_s; at += LOOK) {
        int64_t next = at + LOOK;
        int64_t low = at;

        if (libc_offset(next) == offset)
            continue;
        while (next - low > 1) {
            int64_t middle = (low + next) / 2;
            if (libc_offset(middle) == offset)
                low = middle;
            else
                next = middle;
        }
        add_stretch(&zone, start, next, offset);
        start = next;
        offset = libc_offset(next);
    }
    add_stretch(&zone, start, INT64_MAX, offset);
    zone.stretches[0].start = INT64_MIN / 2;
    return zone;
}

void slow_zone_free(struct slow_zone *zone) {
    free(zone->stretches);
    *zone = (struct slow_zone){.count = 0};
}

/* ---- fields, from their text each time ---- */

struct spec {
    char fields[7][256]; /* second to year */
};

static struct spec split(const char *text) {
    struct spec spec = {.fields = {"0", "", "", "", "", "", "*"}};
    char copy[512];
    char *words[8] = {NULL};
    int count = 0;
    char *state = NULL;

    snprintf(copy, sizeof(copy), "%s", text);
    for (char *word = strtok_r(copy, " \t", &state); word != NULL && count < 8;
         word = strtok_r(NULL, " \t", &state))
        words[count++] = word;
    for (int i = 0; i < count && i < 7; i++)
        snprintf(spec.fields[count == 5 ? i + 1 : i], sizeof(spec.fields[0]), "%s", words[i]);
    return spec;
}

static const char month_names[] = "jan feb mar apr may jun jul aug sep oct nov dec ";
static const char weekday_names[] = "sun mon tue wed thu fri sat ";

/* A number or a name at *at, which moves behind it. */
static long value_at(const char **at, const char *names, long first) {
    char *end;
    long number = strtol(*at, &end, 10);

    if (end != *at) {
        *at = end;
        return number;
    }
    for (long i = 0; names[4 * i] != '\0'; i++) {
        if (strncasecmp(*at, names + 4 * i, 3) == 0) {
            *at += 3;
            return first + i;
        }
    }
    abort();
}

/* Whether value is in an item "*", "a", "a-b" with or without "/s". */
static bool item_matches(const char *item, long value, long low, long high, const char *names) {
    bool is_weekday = names == weekday_names;
    long from = low;
    long to = high;
    long step = 1;
    bool is_open = *item == '*' || *item == '?';

    if (is_open) {
        item++;
    } else {
        from = to = value_at(&item, names, low);
        if (*item == '-') {
            item++;
            to = value_at(&item, names, low);
            if (is_weekday && to == 0)
                to = 7;
        } else if (*item == '/') {
            to = high;
        }
    }
    if (*item == '/')
        step = strtol(item + 1, NULL, 10);
    for (long n = from; n <= to; n += step) {
        if (n == value || (is_weekday && n == value + 7))
            return true;
    }
    return false;
}

typedef bool item_fn(const char *item, const struct tm *day);

static bool any_item(const char *field, const struct tm *day, item_fn *matches) {
    char copy[2048];
    char *state = NULL;

    snprintf(copy, sizeof(copy), "%s", field[0] == '+' ? field + 1 : field);
    for (char *item = strtok_r(copy, ",", &state); item != NULL;
         item = strtok_r(NULL, ",", &state)) {
        if (matches(item, day))
            return true;
    }
    return false;
}

static int month_length(const struct tm *day) {
    struct tm next = {.tm_year = day->tm_year, .tm_mon = day->tm_mon + 1, .tm_mday = 1};
    time_t last = timegm(&next) - DAY;
    struct tm tm;

    gmtime_r(&last, &tm);
    return tm.tm_mday;
}

static int weekday_of(const struct tm *day, int mday) {
    return ((day->tm_wday + mday - day->tm_mday) % 7 + 35) % 7;
}

static bool is_workday(const struct tm *day, int mday) {
    return weekday_of(day, mday) >= 1 && weekday_of(day, mday) <= 5;
}

/* Looks 0, 1 and then 2 days away in both directions, inside the month. */
static int nearest_workday(const struct tm *day, int mday) {
    for (int away = 0; away <= 2; away++) {
        if (mday - away >= 1 && is_workday(day, mday - away))
            return mday - away;
        if (mday + away <= month_length(day) && is_workday(day, mday + away))
            return mday + away;
    }
    abort();
}

static bool day_item(const char *item, const struct tm *day) {
    int last = month_length(day);
    size_t length = strlen(item);

    if (strcmp(item, "LW") == 0) {
        while (!is_workday(day, last))
            last--;
        return day->tm_mday == last;
    }
    if (item[0] == 'L')
        return day->tm_mday == last - (item[1] == '-' ? atoi(item + 2) : 0);
    if (item[length - 1] == 'W')
        return atoi(item) <= last && day->tm_mday == nearest_workday(day, atoi(item));
    return item_matches(item, day->tm_mday, 1, 31, "");
}

static bool weekday_item(const char *item, const struct tm *day) {
    const char *behind = item;
    size_t length = strlen(item);

    if (strchr(item, '#') == NULL && item[length - 1] != 'L')
        return item_matches(item, day->tm_wday, 0, 6, weekday_names);
    if (value_at(&behind, weekday_names, 0) % 7 != day->tm_wday)
        return false;
    if (item[length - 1] == 'L')
        return day->tm_mday + 7 > month_length(day);
    return (day->tm_mday + 6) / 7 == atoi(behind + 1);
}

static bool month_item(const char *item, const struct tm *day) {
    return item_matches(item, day->tm_mon + 1, 1, 12, month_names);
}

static bool year_item(const char *item, const struct tm *day) {
    return item_matches(item, day->tm_year + 1900, 1970, 2199, "");
}

static bool hour_item(const char *item, const struct tm *time) {
    return item_matches(item, time->tm_hour, 0, 23, "");
}

static bool minute_item(const char *item, const struct tm *time) {
    return item_matches(item, time->tm_min, 0, 59, "");
}

static bool second_item(const char *item, const struct tm *time) {
    return item_matches(item, time->tm_sec, 0, 59, "");
}

static bool day_matches(const struct spec *spec, const struct tm *day) {
    const char *number = spec->fields[3];
    const char *weekday = spec->fields[5];
    bool is_number = any_item(number, day, day_item);
    bool is_weekday = any_item(weekday, day, weekday_item);
    bool is_either = strchr("*?", number[0]) == NULL && strchr("*?+", weekday[0]) == NULL;

    return day->tm_year >= 70 && day->tm_year < 300 && any_item(spec->fields[4], day, month_item) &&
           any_item(spec->fields[6], day, year_item) &&
           (is_either ? is_number || is_weekday : is_number && is_weekday);
}

/* ---- the times of a day ---- */

static bool is_all(const char *field, item_fn *matches, int *of_tm, const struct tm *tm, int size) {
    int count = 0;

    for (*of_tm = 0; *of_tm < size; ++*of_tm)
        count += any_item(field, tm, matches);
    return count == size;
}

static bool is_every_hour(const struct spec *spec) {
    struct tm tm = {.tm_hour = 0};

    return is_all(spec->fields[2], hour_item, &tm.tm_hour, &tm, 24);
}

static bool is_star(const struct spec *spec) {
    struct tm tm = {.tm_hour = 0};

    return spec->fields[0][0] == '*' || spec->fields[1][0] == '*' ||
           is_all(spec->fields[0], second_item, &tm.tm_sec, &tm, 60) ||
           is_all(spec->fields[1], minute_item, &tm.tm_min, &tm, 60);
}

static size_t times_of_day(const struct spec *spec, int times[DAY]) {
    bool is_second[60];
    size_t count = 0;
    struct tm tm = {.tm_hour = 0};

    for (tm.tm_sec = 0; tm.tm_sec < 60; tm.tm_sec++)
        is_second[tm.tm_sec] = any_item(spec->fields[0], &tm, second_item);
    for (tm.tm_hour = 0; tm.tm_hour < 24; tm.tm_hour++) {
        if (!any_item(spec->fields[2], &tm, hour_item))
            continue;
        for (tm.tm_min = 0; tm.tm_min < 60; tm.tm_min++) {
            if (!any_item(spec->fields[1], &tm, minute_item))
                continue;
            for (int second = 0; second < 60; second++) {
                if (is_second[second])
                    times[count++] = tm.tm_hour * 3600 + tm.tm_min * 60 + second;
            }
        }
    }
    return count;
}

/* ---- moments ---- */

struct moments {
    int64_t *times;
    size_t count, capacity;
    int64_t from_s, to_s;
};

static void add_moment(struct moments *moments, int64_t at_s) {
    if (at_s < moments->from_s || at_s >= moments->to_s)
        return;
    if (moments->count == moments->capacity) {
        moments->capacity = 2 * moments->capacity + 64;
        moments->times = grow(moments->times, moments->capacity, sizeof(int64_t));
    }
    moments->times[moments->count++] = at_s;
}

/* Every moment at which clocks show local_s, of which the fold rule picks; without one, the change
 * that left it out. near is a stretch that ended before all of this. */
static void add_local(struct moments *moments, const struct slow_zone *zone, size_t near,
                      int64_t local_s, bool is_gap_fired, enum slow_fold fold) {
    int64_t shown[8];
    int count = 0;

    for (size_t i = near; i < zone->count && zone->stretches[i].start - MARGIN < local_s; i++) {
        int64_t at = local_s - zone->stretches[i].offset_s;
        if (at >= zone->stretches[i].start && at < zone->stretches[i].end && count < 8)
            shown[count++] = at;
    }
    for (int i = 0; i < count; i++) {
        if ((fold == SLOW_FIRST && i > 0) || (fold == SLOW_LAST && i < count - 1))
            continue;
        add_moment(moments, shown[i]);
    }
    if (count > 0 || !is_gap_fired)
        return;
    for (size_t i = near; i + 1 < zone->count; i++) {
        int64_t change = zone->stretches[i].end;
        if (local_s >= change + zone->stretches[i].offset_s &&
            local_s < change + zone->stretches[i + 1].offset_s)
            add_moment(moments, change);
    }
}

static int compare(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left;
    int64_t b = *(const int64_t *)right;

    return (a > b) - (a < b);
}

static void sort_once(struct moments *moments) {
    size_t kept = 0;

    if (moments->count > 0)
        qsort(moments->times, moments->count, sizeof(int64_t), compare);
    for (size_t i = 0; i < moments->count; i++) {
        if (kept == 0 || moments->times[kept - 1] != moments->times[i])
            moments->times[kept++] = moments->times[i];
    }
    moments->count = kept;
}

size_t slow_boundaries(const char *text, const struct slow_zone *zone, bool is_gap_skipped,
                       enum slow_fold fold, int64_t from_s, int64_t to_s, int64_t **ret_times) {
    static int times[DAY];
    struct spec spec = split(text);
    size_t count = times_of_day(&spec, times);
    struct moments moments = {.from_s = from_s, .to_s = to_s};
    bool is_gap_fired = !is_gap_skipped && !is_every_hour(&spec);
    size_t near = 0;

    if (fold == SLOW_AUTO)
        fold = is_every_hour(&spec) || is_star(&spec) ? SLOW_BOTH : SLOW_FIRST;
    for (int64_t day = from_s / DAY * DAY - MARGIN; day < to_s + MARGIN; day += DAY) {
        time_t time = (time_t)day;
        struct tm tm;

        gmtime_r(&time, &tm);
        while (near + 1 < zone->count && zone->stretches[near].end < day - MARGIN)
            near++;
        if (!day_matches(&spec, &tm))
            continue;
        for (size_t i = 0; i < count; i++)
            add_local(&moments, zone, near, day + times[i], is_gap_fired, fold);
    }
    sort_once(&moments);
    *ret_times = moments.times;
    return moments.count;
}
