/* base/status: the tables of statuses and phases, and the version. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <alkstore/base.h>

struct row {
    const char *name;
    int number;
    alk_class status_class;
};

/* Written out by hand: numbers, names and classes are a promise, a change here breaks programs. */
static const struct row promised[] = {
    {"ALK_OK", 0, ALK_CLASS_NONE},
    {"ALK_EMPTY", 1, ALK_CLASS_NONE},
    {"ALK_DUPLICATE", 2, ALK_CLASS_NONE},
    {"ALK_HELD", 3, ALK_CLASS_NONE},
    {"ALK_ABSENT", 4, ALK_CLASS_NONE},
    {"ALK_UNCHANGED", 5, ALK_CLASS_NONE},
    {"ALK_AGAIN", -1, ALK_CLASS_TRANSIENT},
    {"ALK_POOL_TIMEOUT", -2, ALK_CLASS_TRANSIENT},
    {"ALK_NOMEM", -3, ALK_CLASS_TRANSIENT},
    {"ALK_FAILED", -4, ALK_CLASS_PERMANENT},
    {"ALK_NO_STORE", -5, ALK_CLASS_PERMANENT},
    {"ALK_TOO_NEW", -6, ALK_CLASS_PERMANENT},
    {"ALK_UNREADABLE", -7, ALK_CLASS_PERMANENT},
    {"ALK_DATA", -8, ALK_CLASS_PERMANENT},
    {"ALK_LOST", -9, ALK_CLASS_LOST},
    {"ALK_CLOSED", -10, ALK_CLASS_CLOSED},
    {"ALK_USAGE", -11, ALK_CLASS_USAGE},
    {"ALK_INVALID", -12, ALK_CLASS_USAGE},
};

static const alk_status statuses[] = {
#define STATUS(name, number, class_, text) name,
    ALK_STATUS_MAP(STATUS)
#undef STATUS
};

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

static const struct row *promise_of(alk_status status) {
    for (size_t i = 0; i < COUNT(promised); i++)
        if (promised[i].number == (int)status)
            return &promised[i];
    fail_msg("status %d is not among the promised ones", (int)status);
    return NULL;
}

/* S220 */
static void numbers_and_names_of_statuses_are_stable(void **state) {
    (void)state;
    assert_int_equal(COUNT(statuses), COUNT(promised));
    for (size_t i = 0; i < COUNT(statuses); i++)
        assert_string_equal(alk_status_name(statuses[i]), promise_of(statuses[i])->name);
}

/* S35 */
static void every_failure_has_a_class_and_no_answer_has_one(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(statuses); i++) {
        assert_int_equal(alk_status_class(statuses[i]), promise_of(statuses[i])->status_class);
        assert_int_equal(alk_status_class(statuses[i]) == ALK_CLASS_NONE, statuses[i] >= 0);
    }
}

/* S220 */
static void no_two_statuses_share_a_number_or_a_text(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(statuses); i++) {
        assert_true(strlen(alk_status_text(statuses[i])) > 0);
        for (size_t j = 0; j < i; j++) {
            assert_int_not_equal(statuses[i], statuses[j]);
            assert_string_not_equal(alk_status_text(statuses[i]), alk_status_text(statuses[j]));
        }
    }
}

static void a_number_of_a_later_release_is_told_by_its_sign(void **state) {
    (void)state;
    assert_string_equal(alk_status_name((alk_status)-99), "ALK_UNKNOWN");
    assert_string_equal(alk_status_text((alk_status)99), "unknown status");
    assert_int_equal(alk_status_class((alk_status)-99), ALK_CLASS_PERMANENT);
    assert_int_equal(alk_status_class((alk_status)99), ALK_CLASS_NONE);
}

/* S167 */
static void the_phases_of_the_scheduler_have_their_words(void **state) {
    (void)state;
    assert_string_equal(alk_phase_text(ALK_PHASE_NONE), "");
    assert_string_equal(alk_phase_text(ALK_PHASE_RENEW), "renew");
    assert_string_equal(alk_phase_text(ALK_PHASE_BEGIN), "begin");
    assert_string_equal(alk_phase_text(ALK_PHASE_READ_DUE), "read due");
    assert_string_equal(alk_phase_text(ALK_PHASE_PARSE), "parse");
    assert_string_equal(alk_phase_text(ALK_PHASE_ENQUEUE), "enqueue");
    assert_string_equal(alk_phase_text(ALK_PHASE_ADVANCE), "advance");
    assert_string_equal(alk_phase_text(ALK_PHASE_COMMIT), "commit");
    assert_string_equal(alk_phase_text(ALK_PHASE_SLEEP), "sleep");
    assert_string_equal(alk_phase_text((alk_phase)99), "");
}

static void the_version_is_the_three_numbers_of_the_header(void **state) {
    char version[32];

    (void)state;
    snprintf(version, sizeof(version), "%d.%d.%d", ALK_VERSION_MAJOR, ALK_VERSION_MINOR,
             ALK_VERSION_PATCH);
    assert_string_equal(alk_version(), version);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_and_names_of_statuses_are_stable),
        cmocka_unit_test(every_failure_has_a_class_and_no_answer_has_one),
        cmocka_unit_test(no_two_statuses_share_a_number_or_a_text),
        cmocka_unit_test(a_number_of_a_later_release_is_told_by_its_sign),
        cmocka_unit_test(the_phases_of_the_scheduler_have_their_words),
        cmocka_unit_test(the_version_is_the_three_numbers_of_the_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
