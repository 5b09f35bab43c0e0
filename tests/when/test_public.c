/* tests/when/test_public.c: the options of the public interface, and boundaries in local time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <alkstore/when.h>

#include "base/clock.h"
#include "support/tsv.h"

static int64_t us_of(const char *text) {
    return seconds_of(text) * ALK__SECOND;
}

static alk_when *compiled(const char *spec, const alk_when_options *options) {
    alk_when *when = NULL;
    alk_error error = ALK_ERROR_INIT;

    if (alk_when_parse(spec, options, &when, &error) != ALK_OK)
        fail_msg("'%s': %s", spec, error.message);
    return when;
}

/* The next boundary is at, so far from UTC and with that word. */
static void assert_next(const alk_when *when, const char *after, const char *at, int offset_s,
                        const char *word) {
    int64_t at_us = 0;
    int got_s = -1;
    alk_when_note note = ALK_WHEN_PLAIN;

    assert_int_equal(ALK_OK, alk_when_next(when, 0, us_of(after), &at_us));
    assert_int_equal(us_of(at), at_us);
    alk_when_local(when, at_us, &got_s, &note);
    assert_int_equal(offset_s, got_s);
    assert_string_equal(word, alk_when_note_text(note));
}

/* S107, S110 */
static void a_boundary_is_plain_shifted_or_repeated(void **state) {
    alk_when_options options = ALK_WHEN_OPTIONS_INIT;
    alk_when *when;

    (void)state;
    options.zone = "America/New_York";
    when = compiled("30 2 * * *", &options);
    assert_next(when, "2027-03-13T12:00:00Z", "2027-03-14T07:00:00Z", -4 * 3600, "shifted");
    assert_next(when, "2027-03-14T07:00:00Z", "2027-03-15T06:30:00Z", -4 * 3600, "");
    alk_when_local(when, us_of("2027-03-15T06:30:00Z"), NULL, NULL);
    alk_when_free(when);
    when = compiled("30 * * * *", &options);
    assert_next(when, "2027-11-07T05:00:00Z", "2027-11-07T05:30:00Z", -4 * 3600, "");
    assert_next(when, "2027-11-07T05:30:00Z", "2027-11-07T06:30:00Z", -5 * 3600, "repeated");
    alk_when_free(when);
}

/* S107 */
static void gap_and_fold_are_options(void **state) {
    alk_when_options options = ALK_WHEN_OPTIONS_INIT;
    alk_when *when;

    (void)state;
    options.zone = "America/New_York";
    options.gap = ALK_GAP_SKIP;
    options.fold = ALK_FOLD_LAST;
    when = compiled("30 2 * * *", &options);
    assert_next(when, "2027-03-13T12:00:00Z", "2027-03-15T06:30:00Z", -4 * 3600, "");
    alk_when_free(when);
    when = compiled("30 1 * * *", &options);
    assert_next(when, "2027-11-07T04:00:00Z", "2027-11-07T06:30:00Z", -5 * 3600, "repeated");
    alk_when_free(when);
}

static void gap_and_fold_have_words(void **state) {
    alk_error error = ALK_ERROR_INIT;
    alk_fold fold = ALK_FOLD_AUTO;
    alk_gap gap = ALK_GAP_SHIFT;

    (void)state;
    assert_int_equal(ALK_OK, alk_gap_parse("skip", &gap, NULL));
    assert_int_equal(ALK_GAP_SKIP, gap);
    assert_int_equal(ALK_INVALID, alk_gap_parse("skp", &gap, &error));
    assert_string_equal("gap is shift or skip, not 'skp'", error.message);
    assert_int_equal(ALK_OK, alk_fold_parse("both", &fold, NULL));
    assert_int_equal(ALK_FOLD_BOTH, fold);
    assert_int_equal(ALK_INVALID, alk_fold_parse("", &fold, &error));
    assert_string_equal("fold is auto, first, last or both, not ''", error.message);
    assert_int_equal(ALK_INVALID, alk_fold_parse(NULL, &fold, NULL));
}

/* S105 */
static void the_zone_is_an_option_or_a_prefix(void **state) {
    alk_when_options options = ALK_WHEN_OPTIONS_INIT;
    alk_error error = ALK_ERROR_INIT;
    alk_when *when = compiled("@daily", NULL);

    (void)state;
    assert_string_equal("UTC", alk_when_zone(when));
    alk_when_free(when);
    options.zone = "";
    when = compiled("CRON_TZ=Asia/Tokyo @daily", &options);
    assert_string_equal("Asia/Tokyo", alk_when_zone(when));
    alk_when_free(when);
    options.zone = "Mars/Base";
    when = NULL;
    assert_int_equal(ALK_INVALID, alk_when_parse("@daily", &options, &when, &error));
    assert_non_null(strstr(error.message, "Mars/Base"));
    assert_null(when);
}

/* S103 */
static void h_wants_a_name(void **state) {
    alk_when_options options = ALK_WHEN_OPTIONS_INIT;
    alk_when *when = NULL;

    (void)state;
    assert_int_equal(ALK_INVALID, alk_when_parse("H H * * *", NULL, &when, NULL));
    options.name = "report-7";
    when = compiled("H H * * *", &options);
    assert_next(when, "2027-01-01T00:00:00Z", "2027-01-01T07:50:00Z", 0, "");
    assert_string_equal("", alk_when_warning(when));
    alk_when_free(when);
}

/* A program that was built against an older header has a smaller struct. */
static void options_of_any_size_are_read(void **state) {
    alk_when_options options = ALK_WHEN_OPTIONS_INIT;
    alk_error error = ALK_ERROR_INIT;
    alk_when *when = NULL;

    (void)state;
    options.size = offsetof(alk_when_options, name);
    options.zone = "Asia/Tokyo";
    options.gap = (alk_gap)77;
    alk_when_free(compiled("@daily", &options));
    options.size = 0;
    assert_int_equal(ALK_USAGE, alk_when_parse("@daily", &options, &when, &error));
    options.size = sizeof(options);
    assert_int_equal(ALK_USAGE, alk_when_parse("@daily", &options, &when, &error));
    assert_string_equal("no such gap: 77", error.message);
    options.gap = ALK_GAP_SKIP;
    options.fold = (alk_fold)4;
    assert_int_equal(ALK_USAGE, alk_when_parse("@daily", &options, &when, &error));
    assert_string_equal("no such fold: 4", error.message);
    assert_string_equal("", alk_when_note_text((alk_when_note)3));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_boundary_is_plain_shifted_or_repeated),
        cmocka_unit_test(gap_and_fold_are_options),
        cmocka_unit_test(gap_and_fold_have_words),
        cmocka_unit_test(the_zone_is_an_option_or_a_prefix),
        cmocka_unit_test(h_wants_a_name),
        cmocka_unit_test(options_of_any_size_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
