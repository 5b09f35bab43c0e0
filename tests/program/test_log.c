/* The log: one event a line, two formats, and faults that do not flood it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/error.h"
#include "program/log.h"

static int64_t fake_now_us;

static int64_t tell(void *context) {
    (void)context;
    return fake_now_us;
}

static const struct alk__clock fake_clock = {tell, NULL};

/* A log whose lines are in text after the stream was flushed. */
struct written {
    char *text;
    size_t length;
    FILE *stream;
    struct alk__log *log;
};

static int open_log(void **state) {
    struct written *written = calloc(1, sizeof(*written));

    fake_now_us = INT64_C(1796083200000000); /* 2026-12-01T00:00:00Z */
    written->stream = open_memstream(&written->text, &written->length);
    written->log = alk__log_new(written->stream, &fake_clock);
    *state = written;
    return written->log == NULL;
}

static int close_log(void **state) {
    struct written *written = *state;

    alk__log_free(written->log);
    fclose(written->stream);
    free(written->text);
    free(written);
    return 0;
}

static const char *text_of(struct written *written) {
    fflush(written->stream);
    return written->text;
}

static int lines_of(struct written *written) {
    int count = 0;

    for (const char *at = text_of(written); (at = strchr(at, '\n')) != NULL; at++)
        count++;
    return count;
}

/* An event with every field. */
static alk_event full_event(const alk_error *error) {
    return (alk_event){
        .level = ALK_LEVEL_WARNING,
        .name = "schedule quarantined",
        .component = "scheduler",
        .subject = "night\"ly",
        .owner = "host/1",
        .job_id = 7,
        .attempt = 2,
        .fence = 9,
        .count = 3,
        .duration_us = 1500000,
        .fire_at_us = INT64_C(1796083200000000),
        .last_fire_at_us = INT64_C(1796083260000000),
        .detail = "two\nlines",
        .error = error,
    };
}

/* S205: event, component, names and ids, duration. */
static void a_line_has_the_fields_of_its_event(void **state) {
    struct written *written = *state;
    alk_error error = ALK_ERROR_INIT;
    alk_event event = full_event(&error);

    alk__fail(&error, ALK_AGAIN, "busy");
    alk__error_set_phase(&error, ALK_PHASE_COMMIT);
    alk__error_set_code(&error, "40001");
    alk__log_event(&event, written->log);
    assert_int_equal(lines_of(written), 1);
    assert_non_null(strstr(text_of(written),
                           " level=warning event=\"schedule quarantined\" component=scheduler "
                           "subject=\"night\\\"ly\" owner=host/1 job=7 attempt=2 fence=9 count=3 "
                           "duration=1s500ms fire_at=2026-12-01T00:00:00Z "
                           "last_fire_at=2026-12-01T00:01:00Z detail=\"two\\nlines\" error=busy "
                           "phase=commit code=40001\n"));
}

static void json_has_the_same_fields(void **state) {
    struct written *written = *state;
    alk_error error = ALK_ERROR_INIT;
    alk_event event = full_event(&error);
    json_t *line;

    alk__fail(&error, ALK_AGAIN, "busy");
    alk__error_set_phase(&error, ALK_PHASE_COMMIT);
    alk__error_set_code(&error, "40001");
    error.is_unknown = true;
    alk__log_event(&event, written->log);
    alk__log_set(written->log, ALK_LEVEL_INFO, ALK__LOG_JSON);
    event.job_id = 8; /* not the same fault */
    alk__log_event(&event, written->log);

    assert_int_equal(lines_of(written), 2);
    line = json_loads(strchr(written->text, '\n') + 1, 0, NULL);
    assert_non_null(line);
    assert_string_equal(json_string_value(json_object_get(line, "time")), "2026-12-01T00:00:00Z");
    assert_string_equal(json_string_value(json_object_get(line, "subject")), "night\"ly");
    assert_string_equal(json_string_value(json_object_get(line, "detail")), "two\nlines");
    assert_int_equal(json_integer_value(json_object_get(line, "job")), 8);
    assert_string_equal(json_string_value(json_object_get(line, "duration")), "1s500ms");

    const char *key;
    json_t *value;
    json_object_foreach(line, key, value) {
        char field[64];

        snprintf(field, sizeof(field), "%s=", key);
        assert_non_null(strstr(written->text, field));
    }
    assert_int_equal(json_object_size(line), 18);
    json_decref(line);
}

static void what_is_below_the_level_is_not_written(void **state) {
    struct written *written = *state;

    alk__log_say(written->log, ALK_LEVEL_DEBUG, "detail", NULL, NULL, "%s", "");
    assert_int_equal(lines_of(written), 0);
    alk__log_set(written->log, ALK_LEVEL_DEBUG, ALK__LOG_LOGFMT);
    alk__log_say(written->log, ALK_LEVEL_DEBUG, "detail", "it", NULL, "n=%d", 4);
    assert_non_null(strstr(text_of(written),
                           "level=debug event=detail component=program subject=it "
                           "detail=\"n=4\"\n"));
}

static void say_fault(struct written *written, const char *subject) {
    alk_error error = ALK_ERROR_INIT;

    alk__fail(&error, ALK_AGAIN, "no server");
    alk__log_say(written->log, ALK_LEVEL_WARNING, "waiting", subject, &error, "%s", "");
}

static void a_repeated_fault_is_written_once_a_minute_with_its_count(void **state) {
    struct written *written = *state;

    for (int i = 0; i < 50; i++) {
        say_fault(written, "a");
        fake_now_us += ALK__SECOND;
    }
    assert_int_equal(lines_of(written), 1);
    fake_now_us += 10 * ALK__SECOND;
    say_fault(written, "a");
    assert_int_equal(lines_of(written), 2);
    assert_non_null(strstr(text_of(written), " count=50 "));
    say_fault(written, "a");
    assert_int_equal(lines_of(written), 2);
}

static void another_fault_is_written_at_once(void **state) {
    struct written *written = *state;

    say_fault(written, "a");
    say_fault(written, "b");
    say_fault(written, "a");
    assert_int_equal(lines_of(written), 2);
}

static void what_is_no_fault_is_always_written(void **state) {
    struct written *written = *state;

    for (int i = 0; i < 5; i++)
        alk__log_say(written->log, ALK_LEVEL_INFO, "job done", "q", NULL, "%s", "");
    assert_int_equal(lines_of(written), 5);
}

static void what_was_held_back_is_written_at_the_end(void **state) {
    struct written *written = *state;

    say_fault(written, "a");
    say_fault(written, "a");
    say_fault(written, "a");
    assert_int_equal(lines_of(written), 1);
    alk__log_free(written->log);
    written->log = NULL;
    assert_int_equal(lines_of(written), 2);
    assert_non_null(strstr(text_of(written), "subject=a count=2 "));
}

static void many_kinds_of_faults_lose_none(void **state) {
    struct written *written = *state;
    char subject[16];

    for (int i = 0; i < 100; i++) {
        snprintf(subject, sizeof(subject), "s%d", i);
        say_fault(written, subject);
        fake_now_us += ALK__MS;
    }
    assert_int_equal(lines_of(written), 100);
}

int main(void) {
#define TEST(body) cmocka_unit_test_setup_teardown(body, open_log, close_log)
    const struct CMUnitTest tests[] = {
        TEST(a_line_has_the_fields_of_its_event),
        TEST(json_has_the_same_fields),
        TEST(what_is_below_the_level_is_not_written),
        TEST(a_repeated_fault_is_written_once_a_minute_with_its_count),
        TEST(another_fault_is_written_at_once),
        TEST(what_is_no_fault_is_always_written),
        TEST(what_was_held_back_is_written_at_the_end),
        TEST(many_kinds_of_faults_lose_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
