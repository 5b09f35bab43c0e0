/* base/event: what a loop reports, and the line that alk_event_print makes of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/error.h"
#include "base/event.h"
#include "base/text.h"

/* What alk_event_print writes for it, in memory of its own. */
static char *print(const alk_event *event) {
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);

    assert_non_null(stream);
    alk_event_print(event, stream);
    fclose(stream);
    assert_int_equal(strlen(text), length);
    assert_true(length > 0 && text[length - 1] == '\n');
    assert_ptr_equal(strchr(text, '\n'), text + length - 1);
    assert_true(alk__utf8_is_valid(text, length, NULL));
    text[length - 1] = '\0';
    return text;
}

/* The same without the time in front, which is checked here. */
static char *print_rest(const alk_event *event) {
    int64_t before_us = alk__now_us(NULL);
    char *text = print(event);
    int64_t at_us = 0;
    char *rest = strchr(text, ' ');

    assert_memory_equal(text, "time=", 5);
    struct alk__text time = {text + 5, (size_t)(rest - text) - 5};
    assert_int_equal(alk__time_parse(time, &at_us, NULL), ALK_OK);
    assert_true(at_us >= before_us && at_us <= alk__now_us(NULL));
    memmove(text, rest + 1, strlen(rest));
    return text;
}

static void assert_prints(const alk_event *event, const char *expected) {
    char *text = print_rest(event);

    assert_string_equal(text, expected);
    free(text);
}

/* S205 */
static void a_line_has_the_event_its_component_its_names_and_numbers(void **state) {
    alk_error error = ALK_ERROR_INIT;
    alk_event event = alk__event(ALK_LEVEL_ERROR, "schedule quarantined");

    (void)state;
    alk__fail(&error, ALK_DATA, "enqueue 'nightly': postgres: invalid input (22P02)");
    alk__error_set_code(&error, "22P02");
    alk__error_set_phase(&error, ALK_PHASE_READ_DUE);
    event.component = "scheduler";
    event.subject = "nightly";
    event.owner = "host:1";
    event.job_id = INT64_MAX;
    event.attempt = 2;
    event.fence = 0;
    event.count = 3;
    event.duration_us = 1500 * ALK__MS;
    event.fire_at_us = 0;
    event.last_fire_at_us = ALK__HOUR;
    event.detail = "spec \"x\"";
    event.error = &error;
    assert_prints(&event,
                  "level=error event=\"schedule quarantined\" component=scheduler subject=nightly "
                  "owner=host:1 job=9223372036854775807 attempt=2 fence=0 count=3 duration=1s500ms "
                  "fire_at=1970-01-01T00:00:00Z last_fire_at=1970-01-01T01:00:00Z "
                  "detail=\"spec \\\"x\\\"\" "
                  "error=\"enqueue 'nightly': postgres: invalid input (22P02)\" "
                  "phase=\"read due\" code=22P02");
}

static void what_does_not_apply_is_left_out(void **state) {
    alk_event event = alk__event(ALK_LEVEL_DEBUG, "idle");

    (void)state;
    assert_prints(&event, "level=debug event=idle");
    event.level = ALK_LEVEL_INFO;
    event.detail = NULL;
    event.duration_us = 0;
    assert_prints(&event, "level=info event=idle duration=0s");
    event.level = ALK_LEVEL_WARNING;
    assert_prints(&event, "level=warning event=idle duration=0s");
}

/* S36 */
static void a_commit_of_unknown_outcome_says_so(void **state) {
    alk_error error = ALK_ERROR_INIT;
    alk_event event = alk__event(ALK_LEVEL_ERROR, "tick failed");

    (void)state;
    alk__fail(&error, ALK_AGAIN, "lost");
    error.is_unknown = true;
    event.error = &error;
    assert_prints(&event, "level=error event=\"tick failed\" error=lost outcome=unknown");
}

/* S205: whatever a name holds, the line stays one line and its fields can be told apart. */
static void values_are_quoted_where_a_reader_would_be_misled(void **state) {
    static const struct {
        const char *value;
        const char *written;
    } values[] = {
        {"plain-1.2/3:4,'x'", "plain-1.2/3:4,'x'"},
        {"gr\xC3\xBC\xC3\x9F", "gr\xC3\xBC\xC3\x9F"},
        {"two words", "\"two words\""},
        {"a=b", "\"a=b\""},
        {"say \"no\"", "\"say \\\"no\\\"\""},
        {"back\\slash", "\"back\\\\slash\""},
        {"line\nfeed\r\ttab", "\"line\\nfeed\\r\\ttab\""},
        {"\x1B[31m", "\"\\u001b[31m\""},
        {"\x7F", "\"\\u007f\""},
        {"\xC2\x85", "\"\\u0085\""},
        {"\xFFx", "\"\xEF\xBF\xBDx\""},
        {"x\xE2\x82", "\"x\xEF\xBF\xBD\xEF\xBF\xBD\""},
        {"fake\ntime=0 level=error", "\"fake\\ntime=0 level=error\""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        alk_event event = alk__event(ALK_LEVEL_INFO, "x");
        char expected[200];

        event.subject = values[i].value;
        snprintf(expected, sizeof(expected), "level=info event=x subject=%s", values[i].written);
        assert_prints(&event, expected);
    }
}

/* The longest of everything at once, each byte of which is written as six. */
static void a_value_that_is_too_long_is_cut_and_the_others_stay(void **state) {
    static char endless[20000];
    alk_error error = {.status = ALK_FAILED, .phase = ALK_PHASE_READ_DUE, .is_unknown = true};
    alk_event event = alk__event(ALK_LEVEL_WARNING, endless);

    (void)state;
    memset(endless, 0x01, sizeof(endless) - 1);
    memset(error.message, 0x01, sizeof(error.message) - 1);
    memset(error.engine_code, 0x01, sizeof(error.engine_code) - 1);
    event.component = event.subject = event.owner = event.detail = endless;
    event.job_id = event.attempt = event.fence = event.count = event.duration_us = INT64_MIN;
    event.fire_at_us = event.last_fire_at_us = INT64_MIN + 1;
    event.error = &error;

    char *text = print(&event);
    assert_non_null(strstr(text, "...\" component=\"\\u0001"));
    assert_non_null(strstr(text, " count=-9223372036854775808 duration=-15250284w"));
    assert_non_null(strstr(text, "...\" phase=\"read due\" code=\"\\u0001"));
    assert_string_equal(text + strlen(text) - strlen(" outcome=unknown"), " outcome=unknown");
    free(text);
}

/* S218: the event that tells of the end of memory needs none. */
static void a_line_needs_no_memory(void **state) {
    alk_event event = alk__event(ALK_LEVEL_ERROR, "out of memory");

    (void)state;
    alk__alloc_fail_at(1);
    assert_prints(&event, "level=error event=\"out of memory\"");
    assert_null(alk__alloc(1));
}

static ssize_t count_write(void *cookie, const char *bytes, size_t length) {
    (void)bytes;
    ++*(int *)cookie;
    return (ssize_t)length;
}

/* Lines of several processes on one stderr do not mix. */
static void a_line_is_one_write_and_is_out_at_once(void **state) {
    alk_event event = alk__event(ALK_LEVEL_INFO, "two words");
    int writes = 0;
    FILE *stream = fopencookie(&writes, "w", (cookie_io_functions_t){.write = count_write});

    (void)state;
    alk_event_print(&event, stream);
    assert_int_equal(writes, 1);
    setvbuf(stream, NULL, _IONBF, 0);
    alk_event_print(&event, stream);
    assert_int_equal(writes, 2);
    fclose(stream);
}

static void keep(const alk_event *event, void *context) {
    *(alk_event *)context = *event;
}

/* S219 */
static void a_reporter_names_its_component_and_hands_on_its_context(void **state) {
    alk_event seen = {.name = NULL};
    struct alk__reporter reporter = {keep, &seen, "worker"};
    alk_event event = alk__event(ALK_LEVEL_INFO, "started");

    (void)state;
    alk__report(&reporter, &event);
    assert_string_equal(seen.name, "started");
    assert_string_equal(seen.component, "worker");

    event.component = "maintenance";
    alk__report(&reporter, &event);
    assert_string_equal(seen.component, "maintenance");
}

static void nobody_has_to_listen(void **state) {
    struct alk__reporter deaf = {NULL, NULL, "worker"};
    alk_event event = alk__event(ALK_LEVEL_INFO, "started");

    (void)state;
    alk__report(&deaf, &event);
    alk__report(NULL, &event);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_has_the_event_its_component_its_names_and_numbers),
        cmocka_unit_test(what_does_not_apply_is_left_out),
        cmocka_unit_test(a_commit_of_unknown_outcome_says_so),
        cmocka_unit_test(values_are_quoted_where_a_reader_would_be_misled),
        cmocka_unit_test(a_value_that_is_too_long_is_cut_and_the_others_stay),
        cmocka_unit_test(a_line_needs_no_memory),
        cmocka_unit_test(a_line_is_one_write_and_is_out_at_once),
        cmocka_unit_test(a_reporter_names_its_component_and_hands_on_its_context),
        cmocka_unit_test(nobody_has_to_listen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
