/* when/when.c: a spec from its first byte to a compiled one, and the questions that may be asked of
 * it. */
#include "when/when.h"

#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/error.h"
#include "when/compiled.h"

/* ---- the outermost words of a spec ---- */

static bool is_blank(int byte) {
    return byte == ' ' || byte == '\t';
}

static void skip_blanks(struct alk__scan *scan) {
    while (is_blank(alk__scan_peek(scan)))
        scan->at++;
}

/* The run of bytes up to the next blank. */
static struct alk__text take_word(struct alk__scan *scan) {
    struct alk__text word = {scan->text.bytes + scan->at, 0};

    while (alk__scan_peek(scan) != -1 && !is_blank(alk__scan_peek(scan))) {
        scan->at++;
        word.length++;
    }
    return word;
}

static struct alk__text rest_of(const struct alk__scan *scan) {
    return (struct alk__text){scan->text.bytes + scan->at, scan->text.length - scan->at};
}

static bool begins_with(struct alk__text text, const char *word) {
    size_t length = strlen(word);

    return text.length >= length && memcmp(text.bytes, word, length) == 0;
}

/* Length, bytes that stand in no spec, and blanks at both ends. */
static alk_status check_bytes(struct alk__when_parser *parser) {
    struct alk__scan *scan = &parser->scan;

    if (scan->text.length > ALK__WHEN_BYTES_MAX)
        return alk__when_refuse(parser, ALK__WHEN_BYTES_MAX, NULL,
                                "the spec is longer than %d bytes", ALK__WHEN_BYTES_MAX);
    for (size_t i = 0; i < scan->text.length; i++) {
        unsigned byte = (unsigned char)scan->text.bytes[i];
        if ((byte < ' ' && byte != '\t') || byte > '~')
            return alk__when_refuse(parser, i, NULL, "byte 0x%02x is not allowed", byte);
    }
    while (scan->text.length > 0 && is_blank(scan->text.bytes[scan->text.length - 1]))
        scan->text.length--;
    skip_blanks(scan);
    if (alk__scan_peek(scan) == -1)
        return alk__when_refuse(parser, scan->at, "as in '0 3 * * *' or '@every 1h'",
                                "the spec is empty");
    return ALK_OK;
}

/* CRON_TZ=, if it is there, to when->zone_name. */
static alk_status take_zone(struct alk__when_parser *parser, bool *ret_is_there) {
    static const char prefix[] = "CRON_TZ=";
    struct alk__scan *scan = &parser->scan;
    char *given = parser->when->zone_name;

    *ret_is_there = false;
    if (begins_with(rest_of(scan), "TZ="))
        return alk__when_refuse(parser, scan->at, NULL, "the prefix is written CRON_TZ=");
    if (!begins_with(rest_of(scan), prefix))
        return ALK_OK;

    scan->at += strlen(prefix);
    size_t start = scan->at;
    struct alk__text word = take_word(scan);
    if (word.length == 0)
        return alk__when_refuse(parser, start, "as in CRON_TZ=Europe/Berlin",
                                "the name of a zone is missing");
    if (word.length > ALK__ZONE_NAME_MAX)
        return alk__when_refuse(parser, start, NULL, "the name of the zone is too long");
    if (given[0] != '\0' && !alk__text_is(word, given))
        return alk__when_refuse(parser, start, "give one of them",
                                "CRON_TZ= differs from the schedule's zone '%s'", given);
    memcpy(given, word.bytes, word.length);
    given[word.length] = '\0';
    skip_blanks(scan);
    *ret_is_there = true;
    return ALK_OK;
}

/* The zone that counts: the schedule's own, that of CRON_TZ=, or UTC. */
static alk_status read_zone(struct alk__when_parser *parser,
                            const struct alk__when_options *options, bool *ret_is_prefixed) {
    const char *given = options->zone == NULL ? "" : options->zone;
    struct alk__when *when = parser->when;
    size_t start = parser->scan.at;

    if (strlen(given) > ALK__ZONE_NAME_MAX)
        return alk__fail(parser->error, ALK_INVALID, "the name of the zone is too long");
    snprintf(when->zone_name, sizeof(when->zone_name), "%s", given);
    alk_status st = take_zone(parser, ret_is_prefixed);
    if (st < 0)
        return st;
    if (when->zone_name[0] == '\0')
        snprintf(when->zone_name, sizeof(when->zone_name), "UTC");
    st = alk__zones_get(options->zones, when->zone_name, &when->zone, parser->error);
    if (st < 0 && *ret_is_prefixed)
        return alk__wrap(parser->error, st, "CRON_TZ= at column %zu", start + 1);
    return st;
}

/* ---- @words ---- */

static const struct {
    const char *word;
    const char *fields;
} macros[] = {
    {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"},
    {"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"},    {"@midnight", "0 0 * * *"},
    {"@hourly", "0 * * * *"},
};

#define WORDS "@every, @at, @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually"

static bool is_in_other_case(struct alk__text word, const char *right) {
    return word.length == strlen(right) && strncasecmp(word.bytes, right, word.length) == 0;
}

static alk_status refuse_word(struct alk__when_parser *parser, size_t at, struct alk__text word) {
    static const char *const words[] = {"@every", "@at", "@reboot"};

    for (size_t i = 0; i < sizeof(macros) / sizeof(*macros); i++) {
        if (is_in_other_case(word, macros[i].word))
            return alk__when_refuse(parser, at, NULL, "write %s in lower case", macros[i].word);
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        if (is_in_other_case(word, words[i]))
            return alk__when_refuse(parser, at, NULL, "write %s in lower case", words[i]);
    }
    return alk__when_refuse(parser, at, WORDS, "no such word: '%s'", alk__excerpt_of(word).text);
}

/* The blanks and the text that follow @every or @at. */
static alk_status take_argument(struct alk__when_parser *parser, const char *word,
                                const char *example) {
    struct alk__scan *scan = &parser->scan;

    scan->at += strlen(word);
    if (alk__scan_peek(scan) != -1 && !is_blank(alk__scan_peek(scan)))
        return alk__when_refuse(parser, scan->at, example, "a blank is missing after %s", word);
    skip_blanks(scan);
    if (alk__scan_peek(scan) == -1)
        return alk__when_refuse(parser, scan->at, example, "something is missing after %s", word);
    return ALK_OK;
}

static alk_status parse_macro(struct alk__when_parser *parser, const char *fields) {
    struct alk__scan *scan = &parser->scan;

    skip_blanks(scan);
    if (alk__scan_peek(scan) != -1)
        return alk__when_refuse(parser, scan->at, NULL, "nothing stands after the word");
    *scan = (struct alk__scan){.text = alk__text_of(fields)};
    return alk__cron_parse(parser);
}

/* Is word, or begins with it and goes on with something that is no letter ("@every5m"). */
static bool is_word(struct alk__text text, const char *word) {
    size_t length = strlen(word);

    return begins_with(text, word) &&
           (text.length == length || text.bytes[length] < 'a' || text.bytes[length] > 'z');
}

static alk_status parse_word(struct alk__when_parser *parser, bool is_prefixed) {
    struct alk__scan *scan = &parser->scan;
    struct alk__when *when = parser->when;
    size_t start = scan->at;
    struct alk__text text = rest_of(scan);
    alk_status st;

    if (is_word(text, "@reboot"))
        return alk__when_refuse(parser, start, "use @at, @every or cron fields",
                                "@reboot has no meaning: many machines share a schedule");
    if (is_prefixed && (is_word(text, "@every") || is_word(text, "@at")))
        return alk__when_refuse(parser, start, "give the schedule a zone instead",
                                "CRON_TZ= stands only before cron fields");
    if (is_word(text, "@every")) {
        when->kind = ALK__WHEN_EVERY;
        st = take_argument(parser, "@every", "as in @every 1h30m");
        return st < 0 ? st : alk__every_parse(parser);
    }
    if (is_word(text, "@at")) {
        when->kind = ALK__WHEN_AT;
        st = take_argument(parser, "@at", "as in @at 2027-01-01T08:30:00Z");
        return st < 0 ? st : alk__at_parse(parser);
    }

    struct alk__text word = take_word(scan);
    for (size_t i = 0; i < sizeof(macros) / sizeof(*macros); i++) {
        if (alk__text_is(word, macros[i].word))
            return parse_macro(parser, macros[i].fields);
    }
    return refuse_word(parser, start, word);
}

/* ---- parsing ---- */

/* Decides once what happens where the clocks change (the table of schedules.md, part 3). */
static void decide_changes(struct alk__when *when, const struct alk__when_options *options) {
    bool is_every_hour = when->cron.hours == ALK__CRON_EVERY_HOUR;

    when->is_gap_fired = options->gap == ALK__GAP_SHIFT && !is_every_hour;
    when->fold = options->fold;
    if (when->fold == ALK__FOLD_AUTO)
        when->fold = is_every_hour || when->cron.is_star_minute ? ALK__FOLD_BOTH : ALK__FOLD_FIRST;
}

static alk_status parse(struct alk__when_parser *parser, const struct alk__when_options *options) {
    struct alk__when *when = parser->when;
    bool is_prefixed = false;
    int64_t first_s;
    alk_status st;

    if ((st = check_bytes(parser)) < 0 || (st = read_zone(parser, options, &is_prefixed)) < 0)
        return st;
    size_t start = parser->scan.at;
    st = alk__scan_peek(&parser->scan) == '@' ? parse_word(parser, is_prefixed)
                                              : alk__cron_parse(parser);
    if (st < 0 || when->kind != ALK__WHEN_CRON)
        return st;
    decide_changes(when, options);
    if (!alk__walk_next(when, INT64_MIN, &first_s))
        return alk__when_refuse(parser, start, NULL, "the spec matches no day of 1970-2199");
    return ALK_OK;
}

alk_status alk__when_parse(struct alk__text spec, const struct alk__when_options *options,
                           struct alk__when **ret_when, alk_error *error) {
    static const struct alk__when_options defaults;
    struct alk__when *when = alk__alloc(sizeof(*when));

    if (when == NULL)
        return alk__nomem(error);
    if (options == NULL)
        options = &defaults;
    struct alk__when_parser parser = {
        .scan.text = spec, .name = options->name, .when = when, .error = error};
    alk_status st = parse(&parser, options);
    if (st < 0) {
        alk__when_free(when);
        return st;
    }
    *ret_when = when;
    return ALK_OK;
}

void alk__when_free(struct alk__when *when) {
    if (when == NULL)
        return;
    alk__zone_unref(when->zone);
    alk__free(when);
}

/* ---- questions ---- */

bool alk__when_next(const struct alk__when *when, int64_t anchor_s, int64_t after_s,
                    int64_t *ret_s) {
    switch (when->kind) {
    case ALK__WHEN_EVERY:
        return alk__every_next(&when->every, anchor_s, after_s, ret_s);
    case ALK__WHEN_AT:
        if (when->at_s <= after_s)
            return false;
        *ret_s = when->at_s;
        return true;
    case ALK__WHEN_CRON:
        return alk__walk_next(when, after_s, ret_s);
    }
    return false;
}

bool alk__when_prev(const struct alk__when *when, int64_t anchor_s, int64_t before_s,
                    int64_t *ret_s) {
    switch (when->kind) {
    case ALK__WHEN_EVERY:
        return alk__every_prev(&when->every, anchor_s, before_s, ret_s);
    case ALK__WHEN_AT:
        if (when->at_s >= before_s)
            return false;
        *ret_s = when->at_s;
        return true;
    case ALK__WHEN_CRON:
        return alk__walk_prev(when, before_s, ret_s);
    }
    return false;
}

int64_t alk__when_count(const struct alk__when *when, int64_t anchor_s, int64_t from_s,
                        int64_t to_s, int64_t limit) {
    int64_t at = from_s == INT64_MIN ? from_s : from_s - 1;
    int64_t count = 0;
    int64_t last;

    if (when->kind == ALK__WHEN_EVERY) {
        if (to_s == INT64_MAX)
            to_s--;
        if (!alk__every_next(&when->every, anchor_s, at, &at) || at > to_s ||
            !alk__every_prev(&when->every, anchor_s, to_s + 1, &last))
            return 0;
        return (last - at) / when->every.period_s + 1;
    }
    while (count < limit && alk__when_next(when, anchor_s, at, &at) && at <= to_s)
        count++;
    return count;
}

bool alk__when_is_once(const struct alk__when *when) {
    return when->kind == ALK__WHEN_AT;
}

const char *alk__when_warning(const struct alk__when *when) {
    return when->warning;
}

const char *alk__when_zone(const struct alk__when *when) {
    return when->zone_name;
}

uint64_t alk__when_fingerprint(const struct alk__when *when) {
    return when->zone->fingerprint;
}

void alk__when_resolve(const struct alk__when *when, struct alk__buffer *text) {
    alk__buffer_add_text(text, when->resolved);
}
