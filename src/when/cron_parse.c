/* when/cron_parse.c: the fields of a cron spec become sets (schedules.md, part 2). Refuses, never
 * guesses. */
#include <string.h>
#include <strings.h>

#include "when/compiled.h"

enum { SECOND, MINUTE, HOUR, DAY, MONTH, WEEKDAY, YEAR, FIELDS };

static const struct field {
    const char *name;
    int low, high;     /* of values; '*', N/s and H in weekdays end at 6 */
    int hash_high;     /* the end of H without a range; below low: H does not stand here */
    const char *names; /* three letters each, from low on */
    char unit;         /* for @every in a hint, 0 for none */
} fields[FIELDS] = {
    [SECOND] = {"second", 0, 59, 59, "", 's'},
    [MINUTE] = {"minute", 0, 59, 59, "", 'm'},
    [HOUR] = {"hour", 0, 23, 23, "", 'h'},
    [DAY] = {"day of month", 1, 31, 28, "", 'd'},
    [MONTH] = {"month", 1, 12, 12, "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC", 0},
    [WEEKDAY] = {"day of week", 0, 7, 6, "SUNMONTUEWEDTHUFRISAT", 0},
    [YEAR] = {"year", ALK__WHEN_YEAR_FIRST, ALK__WHEN_YEAR_LAST, 0, "", 0},
};

/* One field while it is read. The text of the scan ends with the field; its columns are those of
 * the spec. */
struct cursor {
    struct alk__when_parser *parser;
    struct alk__scan *scan;
    const struct field *field;
    int which;
    uint64_t set[4]; /* bit value - base */
    bool is_all;     /* begins with '*' or '?' */
    size_t copied;   /* so much of the spec was copied to when->resolved */
};

/* low to high by step, step 1 for every one. */
struct range {
    int low, high, step;
};

static int top_of(const struct cursor *cursor) {
    return cursor->which == WEEKDAY ? 6 : cursor->field->high;
}

static int base_of(const struct cursor *cursor) {
    return cursor->which == YEAR ? ALK__WHEN_YEAR_FIRST : 0;
}

static void add(struct cursor *cursor, struct range range) {
    for (int value = range.low; value <= range.high; value += range.step) {
        int n = (cursor->which == WEEKDAY ? value % 7 : value) - base_of(cursor);
        cursor->set[n / 64] |= UINT64_C(1) << n % 64;
    }
}

/* ---- refusals ---- */

static bool is_letter(int byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

static bool is_item_end(const struct cursor *cursor) {
    return alk__scan_peek(cursor->scan) == -1 || alk__scan_peek(cursor->scan) == ',';
}

static alk_status refuse_next(struct cursor *cursor, const char *hint) {
    int byte = alk__scan_peek(cursor->scan);

    if (byte == -1)
        return alk__when_refuse(cursor->parser, cursor->scan->at, hint, "the %s is not complete",
                                cursor->field->name);
    return alk__when_refuse(cursor->parser, cursor->scan->at, hint, "'%c' is not allowed in the %s",
                            byte, cursor->field->name);
}

static const char *hint_of_names(const struct cursor *cursor) {
    switch (cursor->which) {
    case MONTH:
        return "months are 1-12 or JAN-DEC";
    case WEEKDAY:
        return "days are 0-7 or SUN-SAT";
    default:
        return NULL;
    }
}

/* What people write here because another cron takes it. */
static const char *hint_for(const struct cursor *cursor) {
    bool is_day = cursor->which == DAY || cursor->which == WEEKDAY;

    switch (alk__scan_peek(cursor->scan)) {
    case '?':
        return is_day ? "'?' stands alone" : "'?' stands only in a day field; write *";
    case '+':
        return cursor->which == WEEKDAY ? "'+' stands only at the start"
                                        : "'+' stands only before the day of week";
    case '-':
        return "a range has two ends and values have no sign";
    case 'L':
        return is_day ? "as in L, L-2 or LW for days of the month, FRIL for days of the week"
                      : "'L' stands only in a day field";
    case 'W':
        return cursor->which == DAY ? "as in 15W or LW, not in a range"
                                    : "'W' stands only in the day of month";
    case '#':
        return cursor->which == WEEKDAY ? "as in MON#1, not in a range"
                                        : "'#' stands only in the day of week";
    case 'h':
    case 'l':
    case 'w':
        return "H, L and W are capitals";
    case '/':
        return "a step follows *, a value, a range or H";
    case '~':
        return "write H";
    default:
        return is_letter(alk__scan_peek(cursor->scan)) ? hint_of_names(cursor) : NULL;
    }
}

static alk_status refuse_item(struct cursor *cursor) {
    return refuse_next(cursor, hint_for(cursor));
}

/* ---- numbers, names, steps ---- */

static alk_status read_number(struct cursor *cursor, int low, int high, const char *what,
                              int *ret_value) {
    size_t start = cursor->scan->at;
    int64_t number;

    if (alk__scan_digits(cursor->scan, 9, &number) == 0)
        return refuse_item(cursor);
    if (alk__scan_is_digit(cursor->scan) || number < low || number > high) {
        size_t end = cursor->scan->at;
        while (alk__scan_is_digit(cursor->scan))
            end = ++cursor->scan->at;
        return alk__when_refuse(cursor->parser, start, NULL, "%s %.*s is out of range %d-%d", what,
                                (int)(end - start < 20 ? end - start : 20),
                                cursor->scan->text.bytes + start, low, high);
    }
    *ret_value = (int)number;
    return ALK_OK;
}

static bool take_name(struct cursor *cursor, int *ret_value) {
    const char *names = cursor->field->names;
    struct alk__scan *scan = cursor->scan;

    if (scan->text.length - scan->at < 3)
        return false;
    for (int i = 0; names[3 * i] != '\0'; i++) {
        if (strncasecmp(scan->text.bytes + scan->at, names + 3 * i, 3) == 0) {
            scan->at += 3;
            *ret_value = cursor->field->low + i;
            return true;
        }
    }
    return false;
}

/* A number or a name. is_end: the end of a range, where SUN is 7. */
static alk_status read_value(struct cursor *cursor, bool is_end, int *ret_value) {
    const struct field *field = cursor->field;

    if (take_name(cursor, ret_value)) {
        if (is_end && cursor->which == WEEKDAY && *ret_value == 0)
            *ret_value = 7;
        return ALK_OK;
    }
    if (field->names[0] != '\0' && is_letter(alk__scan_peek(cursor->scan)))
        return refuse_next(cursor, hint_of_names(cursor));
    return read_number(cursor, field->low, field->high, field->name, ret_value);
}

/* A step that is too long for its range. is_star: the range is the whole field. */
static alk_status refuse_step(struct cursor *cursor, size_t at, struct range range, bool is_star) {
    char hint[64] = "";

    if (is_star && cursor->field->unit != 0)
        snprintf(hint, sizeof(hint), "use @every %d%c", range.step, cursor->field->unit);
    return alk__when_refuse(cursor->parser, at, hint[0] == '\0' ? NULL : hint,
                            "step %d is longer than the range %d-%d of the %s", range.step,
                            range.low, range.high, cursor->field->name);
}

/* "/s" where it is there. */
static alk_status read_step(struct cursor *cursor, bool is_star, struct range *range) {
    if (!alk__scan_take(cursor->scan, '/'))
        return ALK_OK;
    size_t start = cursor->scan->at;
    alk_status st = read_number(cursor, 0, 999999999, "step", &range->step);
    if (st < 0)
        return st;
    if (range->step == 0)
        return alk__when_refuse(cursor->parser, start, NULL, "a step is not 0");
    if (range->step > range->high - range->low)
        return refuse_step(cursor, start, *range, is_star);
    return ALK_OK;
}

/* A step over an open range that does not go into it starts anew with each hour, day, month or year
 * (rule 3). */
static void warn_of_step(struct cursor *cursor, struct range range) {
    static const char *const next[FIELDS] = {"minute", "hour", "day", "month", "year", "week", ""};
    int size = top_of(cursor) - cursor->field->low + 1;

    if (cursor->which != YEAR && size % range.step != 0)
        alk__when_warn(cursor->parser->when,
                       "step %d of the %s starts anew with each %s: the last one is shorter",
                       range.step, cursor->field->name, next[cursor->which]);
}

/* ---- H ---- */

/* Copies the spec up to end to when->resolved, then numbers in place of what the cursor has read
 * since. */
static alk_status resolve(struct cursor *cursor, size_t end, const char *numbers) {
    char *resolved = cursor->parser->when->resolved;
    size_t length = strlen(resolved);
    size_t room = sizeof(cursor->parser->when->resolved) - length;
    int written = snprintf(resolved + length, room, "%.*s%s", (int)(end - cursor->copied),
                           cursor->scan->text.bytes + cursor->copied, numbers);

    cursor->copied = cursor->scan->at;
    if ((size_t)written >= room)
        return alk__when_refuse(cursor->parser, end, NULL,
                                "with numbers in place of H the spec is longer than %d bytes",
                                ALK__WHEN_BYTES_MAX);
    return ALK_OK;
}

static alk_status resolve_range(struct cursor *cursor, size_t start, struct range range) {
    char numbers[48];

    if (range.low == range.high)
        snprintf(numbers, sizeof(numbers), "%d", range.low);
    else
        snprintf(numbers, sizeof(numbers), "%d-%d/%d", range.low, range.high, range.step);
    return resolve(cursor, start, numbers);
}

static uint64_t hash_of(const struct cursor *cursor) {
    const char *name = cursor->parser->name;
    char digit = (char)('0' + cursor->which);
    uint64_t state = alk__hash_add(ALK__HASH_START, name, strlen(name) + 1);

    return alk__hash_finish(alk__hash_add(state, &digit, 1));
}

/* "(a-b)" behind H. */
static alk_status read_hash_range(struct cursor *cursor, struct range *range) {
    size_t start = cursor->scan->at + 1;
    alk_status st;

    if (!alk__scan_take(cursor->scan, '('))
        return ALK_OK;
    if ((st = read_value(cursor, false, &range->low)) < 0)
        return st;
    if (!alk__scan_take(cursor->scan, '-'))
        return refuse_next(cursor, "as in H(0-29)");
    if ((st = read_value(cursor, true, &range->high)) < 0)
        return st;
    if (!alk__scan_take(cursor->scan, ')'))
        return refuse_next(cursor, "as in H(0-29)");
    if (range->low > range->high)
        return alk__when_refuse(cursor->parser, start, NULL, "the range %d-%d runs backwards",
                                range->low, range->high);
    return ALK_OK;
}

static alk_status read_hash(struct cursor *cursor) {
    struct range range = {cursor->field->low, cursor->field->hash_high, 1};
    size_t start = cursor->scan->at++;
    alk_status st;

    if (cursor->which == YEAR)
        return alk__when_refuse(cursor->parser, start, NULL, "H does not stand in the year");
    if (cursor->parser->name == NULL)
        return alk__when_refuse(cursor->parser, start, NULL,
                                "H needs the name of the schedule, which is not given");
    bool is_open = alk__scan_peek(cursor->scan) != '(';
    if ((st = read_hash_range(cursor, &range)) < 0)
        return st;
    bool has_step = alk__scan_peek(cursor->scan) == '/';
    if ((st = read_step(cursor, is_open, &range)) < 0)
        return st;

    uint64_t hash = hash_of(cursor);
    if (has_step) {
        if (is_open)
            warn_of_step(cursor, range);
        range.low += (int)(hash % (uint64_t)range.step);
        range.high -= (range.high - range.low) % range.step;
    } else {
        range.low += (int)(hash % (uint64_t)(range.high - range.low + 1));
        range.high = range.low;
    }
    add(cursor, range);
    return resolve_range(cursor, start, range);
}

/* ---- days ---- */

/* L, L-n, LW in the day of month. */
static alk_status read_last_day(struct cursor *cursor) {
    struct alk__cron *cron = &cursor->parser->when->cron;
    int before = 0;

    cursor->scan->at++;
    if (alk__scan_take(cursor->scan, 'W')) {
        cron->is_last_workday = true;
        return ALK_OK;
    }
    if (alk__scan_take(cursor->scan, '-')) {
        alk_status st = read_number(cursor, 0, 30, "number", &before);
        if (st < 0)
            return st;
    }
    cron->days_before_last |= UINT32_C(1) << before;
    return ALK_OK;
}

/* #n and #L behind a day of the week. */
static alk_status read_nth(struct cursor *cursor, int weekday) {
    struct alk__cron *cron = &cursor->parser->when->cron;
    int n;

    cursor->scan->at++;
    if (alk__scan_take(cursor->scan, 'L')) {
        cron->last_weekdays |= UINT32_C(1) << weekday;
        return ALK_OK;
    }
    alk_status st = read_number(cursor, 1, 5, "number", &n);
    if (st < 0)
        return st;
    cron->nth_weekdays |= UINT64_C(1) << (7 * (n - 1) + weekday);
    return ALK_OK;
}

/* What may follow a day alone. false: nothing of this kind does. */
static bool take_day_suffix(struct cursor *cursor, int value, alk_status *ret_st) {
    struct alk__cron *cron = &cursor->parser->when->cron;
    int next = alk__scan_peek(cursor->scan);

    *ret_st = ALK_OK;
    if (cursor->which == DAY && next == 'W') {
        cursor->scan->at++;
        cron->workdays |= UINT32_C(1) << value;
        return true;
    }
    if (cursor->which == WEEKDAY && next == 'L') {
        cursor->scan->at++;
        cron->last_weekdays |= UINT32_C(1) << value % 7;
        return true;
    }
    if (cursor->which == WEEKDAY && next == '#') {
        *ret_st = read_nth(cursor, value % 7);
        return true;
    }
    return false;
}

/* ---- items ---- */

static alk_status refuse_backwards(struct cursor *cursor, size_t start, struct range range) {
    char hint[80];

    snprintf(hint, sizeof(hint), "write %d-%d,%d-%d", range.low, top_of(cursor), cursor->field->low,
             range.high);
    return alk__when_refuse(cursor->parser, start, range.low <= top_of(cursor) ? hint : NULL,
                            "the range %d-%d runs backwards", range.low, range.high);
}

/* "-b" and "/s" behind a value, or nothing. */
static alk_status read_range(struct cursor *cursor, size_t start, int value) {
    struct range range = {value, value, 1};
    alk_status st;

    if (alk__scan_take(cursor->scan, '-')) {
        if ((st = read_value(cursor, true, &range.high)) < 0)
            return st;
        if (range.low > range.high)
            return refuse_backwards(cursor, start, range);
        if ((st = read_step(cursor, false, &range)) < 0)
            return st;
        if (cursor->which == WEEKDAY && range.high - range.low == 7 && range.step == 1)
            alk__when_warn(cursor->parser->when, "from Sunday to Sunday is every day of the week");
    } else if (alk__scan_peek(cursor->scan) == '/') {
        range.high = top_of(cursor);
        if (range.low > range.high)
            return alk__when_refuse(cursor->parser, start, "write 0 for Sunday",
                                    "nothing follows day 7 in the week");
        if ((st = read_step(cursor, false, &range)) < 0)
            return st;
        warn_of_step(cursor, range);
    }
    add(cursor, range);
    return ALK_OK;
}

static alk_status read_star(struct cursor *cursor) {
    struct range range = {cursor->field->low, top_of(cursor), 1};

    cursor->scan->at++;
    alk_status st = read_step(cursor, true, &range);
    if (st < 0)
        return st;
    warn_of_step(cursor, range);
    add(cursor, range);
    return ALK_OK;
}

static alk_status read_item(struct cursor *cursor) {
    size_t start = cursor->scan->at;
    bool is_day = cursor->which == DAY || cursor->which == WEEKDAY;
    int value = 0;
    alk_status st;

    switch (alk__scan_peek(cursor->scan)) {
    case -1:
    case ',':
        return alk__when_refuse(cursor->parser, start, NULL, "a value of the %s is missing",
                                cursor->field->name);
    case '*':
        return read_star(cursor);
    case 'H':
        return read_hash(cursor);
    case '?':
        if (!is_day)
            return refuse_item(cursor);
        cursor->scan->at++;
        add(cursor, (struct range){cursor->field->low, top_of(cursor), 1});
        return ALK_OK;
    case 'L':
        if (cursor->which == DAY)
            return read_last_day(cursor);
        return refuse_item(cursor);
    default:
        if ((st = read_value(cursor, false, &value)) < 0)
            return st;
        if (take_day_suffix(cursor, value, &st))
            return st;
        return read_range(cursor, start, value);
    }
}

static alk_status read_field(struct cursor *cursor) {
    int first = alk__scan_peek(cursor->scan);
    alk_status st;

    cursor->is_all = first == '*' || first == '?';
    do {
        if ((st = read_item(cursor)) < 0)
            return st;
        if (!is_item_end(cursor))
            return refuse_item(cursor);
    } while (alk__scan_take(cursor->scan, ','));
    return ALK_OK;
}

/* ---- fields ---- */

struct span {
    size_t start, end;
};

static bool is_blank(char byte) {
    return byte == ' ' || byte == '\t';
}

/* Cuts the rest of the spec at its blanks; more than FIELDS are counted, not kept. */
static int split(const struct alk__scan *scan, struct span spans[FIELDS + 1]) {
    int count = 0;
    size_t at = scan->at;

    while (at < scan->text.length && count <= FIELDS) {
        struct span span = {.start = at};
        while (at < scan->text.length && !is_blank(scan->text.bytes[at]))
            at++;
        span.end = at;
        spans[count++] = span;
        while (at < scan->text.length && is_blank(scan->text.bytes[at]))
            at++;
    }
    return count;
}

static alk_status refuse_count(struct alk__when_parser *parser, const struct span *spans,
                               int count) {
    if (count > FIELDS)
        return alk__when_refuse(parser, spans[FIELDS].start, NULL,
                                "a spec has 5, 6 (seconds first) or 7 fields (with a year); "
                                "field 8 is one too many");
    /* Of five fields the first is the minute. */
    return alk__when_refuse(parser, parser->scan.text.length,
                            "minute, hour, day of month, month, day of week, as in 0 6 * * MON-FRI",
                            "field %d, %s, is missing", count + 1, fields[MINUTE + count].name);
}

static void keep_field(struct cursor *cursor) {
    struct alk__cron *cron = &cursor->parser->when->cron;
    const uint64_t whole = (UINT64_C(1) << 60) - 1;

    switch (cursor->which) {
    case SECOND:
        cron->seconds = cursor->set[0];
        cron->is_star_minute |= cursor->is_all || cursor->set[0] == whole;
        break;
    case MINUTE:
        cron->minutes = cursor->set[0];
        cron->is_star_minute |= cursor->is_all || cursor->set[0] == whole;
        break;
    case HOUR:
        cron->hours = (uint32_t)cursor->set[0];
        break;
    case DAY:
        cron->days = (uint32_t)cursor->set[0];
        break;
    case MONTH:
        cron->months = (uint32_t)cursor->set[0];
        break;
    case WEEKDAY:
        cron->weekdays = (uint32_t)cursor->set[0];
        break;
    default:
        memcpy(cron->years, cursor->set, sizeof(cron->years));
    }
}

/* Both day fields restricted: a day of either, as cron has it since 1979, unless '+' says both
 * (rule 4). */
static void join_days(struct alk__when *when, bool is_day_open, bool is_weekday_open,
                      bool is_both) {
    when->cron.is_either_day = !is_day_open && !is_weekday_open && !is_both;
    if (when->cron.is_either_day)
        alk__when_warn(when, "it runs on each of these days of the month and also on each of these "
                             "days of the week; for days that are both, write '+' before the day "
                             "of week");
}

alk_status alk__cron_parse(struct alk__when_parser *parser) {
    struct alk__scan whole = parser->scan;
    struct alk__when *when = parser->when;
    struct span spans[FIELDS + 1];
    int count = split(&whole, spans);
    bool is_open[FIELDS] = {false};
    bool is_both = false;

    if (count < 5 || count > FIELDS)
        return refuse_count(parser, spans, count);
    when->cron.seconds = 1;
    memset(when->cron.years, 0xff, sizeof(when->cron.years));
    struct cursor cursor = {.parser = parser, .scan = &parser->scan};
    for (int i = 0; i < count; i++) {
        cursor.which = count == 5 ? i + MINUTE : i;
        cursor.field = &fields[cursor.which];
        memset(cursor.set, 0, sizeof(cursor.set));
        parser->scan.at = spans[i].start;
        parser->scan.text.length = spans[i].end;
        if (cursor.which == WEEKDAY)
            is_both = alk__scan_take(&parser->scan, '+');
        alk_status st = read_field(&cursor);
        if (st < 0)
            return st;
        is_open[cursor.which] = cursor.is_all;
        keep_field(&cursor);
    }
    join_days(when, is_open[DAY], is_open[WEEKDAY], is_both);
    parser->scan = whole;
    parser->scan.at = whole.text.length;
    return cursor.copied == 0 ? ALK_OK : resolve(&cursor, whole.text.length, "");
}
