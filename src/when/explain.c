/* when/explain.c: says in plain words when a spec fires. It reads the sets, not the text: what it
 * says is what is done. */
#include "base/clock.h"
#include "base/duration.h"
#include "when/compiled.h"

#define ALL_DAYS UINT32_C(0xfffffffe)
#define ALL_MONTHS UINT32_C(0x1ffe)
#define ALL_WEEKDAYS UINT32_C(0x7f)
#define YEARS (ALK__WHEN_YEAR_LAST - ALK__WHEN_YEAR_FIRST + 1)
#define CLOCK_TIMES_MAX 6

static const char *const months[] = {"",        "January",  "February", "March",  "April",
                                     "May",     "June",     "July",     "August", "September",
                                     "October", "November", "December"};
static const char *const weekdays[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                       "Thursday", "Friday", "Saturday"};
static const char *const ordinals[] = {"first", "second", "third", "fourth", "fifth"};

/* ---- lists ---- */

/* "a, b and c": pieces are written one by one, each knowing how many are still to come. */
struct list {
    struct alk__buffer *text;
    int left;
    bool is_begun;
};

static void next_piece(struct list *list) {
    list->left--;
    if (list->is_begun)
        alk__buffer_add_text(list->text, list->left > 0 ? ", " : " and ");
    list->is_begun = true;
}

static int count_bits(uint64_t set) {
    return __builtin_popcountll(set);
}

/* Sets of up to 256 values here: years do not fit in one word. */
static bool has(const uint64_t *set, int n) {
    return set[n / 64] >> n % 64 & 1;
}

/* The end of the run of neighbours that begins at n; a run of two is two pieces. */
static int run_end(const uint64_t *set, int size, int n) {
    int end = n;

    while (end + 1 < size && has(set, end + 1))
        end++;
    return end - n >= 2 ? end : n;
}

static int count_pieces(const uint64_t *set, int size) {
    int count = 0;

    for (int n = 0; n < size; n++) {
        if (has(set, n)) {
            count++;
            n = run_end(set, size, n);
        }
    }
    return count;
}

static void add_value(struct alk__buffer *text, const char *const *names, int value) {
    if (names != NULL)
        alk__buffer_add_text(text, names[value]);
    else
        alk__buffer_addf(text, "%d", value);
}

static void add_pieces(struct list *list, const char *const *names, int base, const uint64_t *set,
                       int size) {
    for (int n = 0; n < size; n++) {
        if (!has(set, n))
            continue;
        int end = run_end(set, size, n);
        next_piece(list);
        add_value(list->text, names, base + n);
        if (end > n) {
            alk__buffer_add_text(list->text, " to ");
            add_value(list->text, names, base + end);
        }
        n = end;
    }
}

/* A long set with one step between its values: the step, else 0. */
static int step_of(uint64_t set) {
    const int few = 6;
    int first = __builtin_ctzll(set);
    int last = 63 - __builtin_clzll(set);
    int step = 1;

    if (count_bits(set) <= few)
        return 0;
    while (!(set >> (first + step) & 1))
        step++;
    for (int n = first; n <= last; n++) {
        if ((set >> n & 1) != ((n - first) % step == 0))
            return 0;
    }
    return step > 1 ? step : 0;
}

static void add_set(struct alk__buffer *text, const char *const *names, uint64_t set) {
    struct list list = {text, count_pieces(&set, 64), false};
    int step = step_of(set);

    if (step == 0) {
        add_pieces(&list, names, 0, &set, 64);
        return;
    }
    add_value(text, names, __builtin_ctzll(set));
    alk__buffer_add_text(text, " to ");
    add_value(text, names, 63 - __builtin_clzll(set));
    alk__buffer_addf(text, " in steps of %d", step);
}

/* ---- the time of day ---- */

/* The step of a set that has each value from 0 on that the step divides, and goes on evenly into
 * the next round: 1 for all; 0 for other sets. */
static int even_step_of(uint64_t set, int size) {
    for (int step = 1; step <= size / 2; step++) {
        uint64_t multiples = 0;

        for (int n = 0; n < size; n += step)
            multiples |= UINT64_C(1) << n;
        if (size % step == 0 && set == multiples)
            return step;
    }
    return 0;
}

/* "every minute", "every 5 minutes", "minute 5", "minutes 5 and 10" */
static void add_unit(struct alk__buffer *text, const char *unit, uint64_t set, int size) {
    int step = even_step_of(set, size);

    if (step > 0) {
        alk__buffer_add_text(text, "every ");
        if (step > 1)
            alk__buffer_addf(text, "%d ", step);
        alk__buffer_addf(text, "%s%s", unit, step > 1 ? "s" : "");
        return;
    }
    alk__buffer_addf(text, "%s%s ", unit, count_bits(set) == 1 ? "" : "s");
    add_set(text, NULL, set);
}

static void add_clock_times(const struct alk__cron *cron, struct alk__buffer *text) {
    struct list list = {text, count_bits(cron->hours) * count_bits(cron->minutes), false};

    alk__buffer_add_text(text, "at ");
    for (int hour = 0; hour < 24; hour++) {
        for (int minute = 0; minute < 60; minute++) {
            if (!(cron->hours >> hour & 1 && cron->minutes >> minute & 1))
                continue;
            next_piece(&list);
            alk__buffer_addf(text, "%02d:%02d", hour, minute);
            if (cron->seconds != 1)
                alk__buffer_addf(text, ":%02d", __builtin_ctzll(cron->seconds));
        }
    }
}

/* From the finest unit that is not at its start to the coarsest that is restricted. */
static void add_time(const struct alk__cron *cron, struct alk__buffer *text) {
    const struct {
        const char *name;
        uint64_t set;
        int size;
    } units[] = {
        {"second", cron->seconds, 60}, {"minute", cron->minutes, 60}, {"hour", cron->hours, 24}};
    int first = cron->seconds == 1 ? 1 : 0;
    int last = first;

    if (count_bits(cron->seconds) == 1 &&
        count_bits(cron->hours) * count_bits(cron->minutes) <= CLOCK_TIMES_MAX) {
        add_clock_times(cron, text);
        return;
    }
    for (int i = first + 1; i < 3; i++) {
        if (even_step_of(units[i].set, units[i].size) != 1)
            last = i;
    }
    if (even_step_of(units[first].set, units[first].size) == 0) {
        alk__buffer_add_text(text, "at ");
        last = last == first ? first + 1 : last;
    }
    for (int i = first; i <= last; i++) {
        if (i > first)
            alk__buffer_add_text(text, " of ");
        add_unit(text, units[i].name, units[i].set, units[i].size);
    }
}

/* ---- the days ---- */

static void add_day_numbers(struct alk__buffer *text, uint32_t days) {
    alk__buffer_add_text(text, count_bits(days) == 1 ? "day " : "days ");
    add_set(text, NULL, days);
}

static void add_numbers(const struct alk__cron *cron, struct alk__buffer *text) {
    struct list list = {text,
                        (cron->days != 0) + count_bits(cron->days_before_last) +
                            (cron->workdays != 0) + cron->is_last_workday,
                        false};

    if (cron->days != 0) {
        next_piece(&list);
        add_day_numbers(text, cron->days);
    }
    for (int n = 0; n < 31; n++) {
        if (!(cron->days_before_last >> n & 1))
            continue;
        next_piece(&list);
        if (n > 0)
            alk__buffer_addf(text, "%d day%s before ", n, n == 1 ? "" : "s");
        alk__buffer_add_text(text, "the last day");
    }
    if (cron->workdays != 0) {
        next_piece(&list);
        alk__buffer_add_text(text, "the workday (Monday to Friday) nearest to ");
        add_day_numbers(text, cron->workdays);
    }
    if (cron->is_last_workday) {
        next_piece(&list);
        alk__buffer_add_text(text, "the last workday (Monday to Friday)");
    }
    alk__buffer_add_text(text, " of the month");
}

static void add_weekdays(const struct alk__cron *cron, struct alk__buffer *text) {
    uint64_t days = cron->weekdays;
    struct list list = {text,
                        count_pieces(&days, 7) + count_bits(cron->nth_weekdays) +
                            count_bits(cron->last_weekdays),
                        false};

    add_pieces(&list, weekdays, 0, &days, 7);
    for (int n = 0; n < 35; n++) {
        if (!(cron->nth_weekdays >> n & 1))
            continue;
        next_piece(&list);
        alk__buffer_addf(text, "the %s %s of the month", ordinals[n / 7], weekdays[n % 7]);
    }
    for (int n = 0; n < 7; n++) {
        if (!(cron->last_weekdays >> n & 1))
            continue;
        next_piece(&list);
        alk__buffer_addf(text, "the last %s of the month", weekdays[n]);
    }
}

static void add_days(const struct alk__cron *cron, struct alk__buffer *text) {
    bool is_every_number = cron->days == ALL_DAYS;
    bool is_every_weekday = cron->weekdays == ALL_WEEKDAYS;

    if ((is_every_number && is_every_weekday) ||
        (cron->is_either_day && (is_every_number || is_every_weekday))) {
        if (cron->hours != ALK__CRON_EVERY_HOUR)
            alk__buffer_add_text(text, " every day");
        return;
    }
    alk__buffer_add_text(text, " on ");
    if (!is_every_number)
        add_numbers(cron, text);
    if (!is_every_number && !is_every_weekday)
        alk__buffer_add_text(text, cron->is_either_day ? ", and also on " : ", if it is also ");
    if (!is_every_weekday)
        add_weekdays(cron, text);
}

static void add_years(const struct alk__cron *cron, struct alk__buffer *text) {
    struct list list = {text, count_pieces(cron->years, YEARS), false};

    if (has(cron->years, 0) && run_end(cron->years, YEARS, 0) == YEARS - 1)
        return;
    alk__buffer_add_text(text, " in ");
    add_pieces(&list, NULL, ALK__WHEN_YEAR_FIRST, cron->years, YEARS);
}

/* ---- the whole ---- */

static void add_changes(const struct alk__when *when, struct alk__buffer *text) {
    static const char *const passes[] = {
        [ALK__FOLD_AUTO] = "",
        [ALK__FOLD_FIRST] = "the first time only",
        [ALK__FOLD_LAST] = "the second time only",
        [ALK__FOLD_BOTH] = "both times",
    };

    bool is_every_hour = when->cron.hours == ALK__CRON_EVERY_HOUR;

    if (when->zone->count == 1 || (is_every_hour && when->fold == ALK__FOLD_BOTH))
        return;
    alk__buffer_add_text(text, "; a time that clocks skip ");
    alk__buffer_add_text(text,
                         when->is_gap_fired ? "is made up for when they change" : "is left out");
    alk__buffer_addf(text, ", one that comes twice runs %s", passes[when->fold]);
}

static void explain_cron(const struct alk__when *when, struct alk__buffer *text) {
    add_time(&when->cron, text);
    add_days(&when->cron, text);
    if (when->cron.months != ALL_MONTHS) {
        alk__buffer_add_text(text, " in ");
        add_set(text, months, when->cron.months);
    }
    add_years(&when->cron, text);
    alk__buffer_addf(text, ", %s%s", when->zone_name, when->zone->count > 1 ? " time" : "");
    add_changes(when, text);
}

static void explain_every(const struct alk__every *every, struct alk__buffer *text) {
    char period[ALK__DURATION_BYTES];
    char phase[ALK__DURATION_BYTES];

    alk__duration_format(every->period_s * ALK__SECOND, period, sizeof(period));
    alk__duration_format(every->phase_s * ALK__SECOND, phase, sizeof(phase));
    if (every->has_phase)
        alk__buffer_addf(text,
                         "every %s of elapsed time, counted from %s after 1970-01-01T00:00:00Z",
                         period, phase);
    else
        alk__buffer_addf(text, "every %s of elapsed time, counted from when the schedule was made",
                         period);
}

void alk__when_explain(const struct alk__when *when, struct alk__buffer *text) {
    char time[ALK__TIME_BYTES];

    switch (when->kind) {
    case ALK__WHEN_CRON:
        explain_cron(when, text);
        return;
    case ALK__WHEN_EVERY:
        explain_every(&when->every, text);
        return;
    case ALK__WHEN_AT:
        alk__time_format(when->at_s * ALK__SECOND, time, sizeof(time));
        alk__buffer_addf(text, "once, at %s", time);
    }
}
