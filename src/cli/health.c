/* cli/health.c: `alk health` (S18, S143): one line why. */
#include "base/clock.h"
#include "base/duration.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/output.h"

/* A schedule that is due for longer than this is fired by nobody. */
#define DUE_LIMIT_US (30 * ALK__SECOND)

static int64_t overdue_us(const alk_health_report *report) {
    int64_t due_us = report->oldest_due_schedule_us;

    return due_us == ALK_NO_TIME ? 0 : report->now_us - due_us;
}

static bool is_good(const alk_health_report *report) {
    return overdue_us(report) <= DUE_LIMIT_US;
}

static void add_quarantined(const alk_health_report *report, struct alk__buffer *why) {
    size_t named = report->quarantined_count < 20 ? report->quarantined_count : 20;

    if (report->quarantined_count == 0)
        return;
    alk__buffer_add_text(why, "; quarantined: ");
    for (size_t i = 0; i < named; i++)
        alk__buffer_addf(why, "%s%s", i == 0 ? "" : ", ", report->quarantined[i]);
    if (named < report->quarantined_count)
        alk__buffer_addf(why, " and %zu more", report->quarantined_count - named);
}

static void explain(const alk_health_report *report, struct alk__buffer *why) {
    bool is_led = report->leader != NULL && report->leader[0] != '\0';
    char late[ALK__DURATION_BYTES];

    if (!is_good(report)) {
        alk__duration_format(overdue_us(report) / ALK__SECOND * ALK__SECOND, late, sizeof(late));
        alk__buffer_addf(why, "failed: a schedule has been due for %s, and ", late);
    } else {
        alk__buffer_add_text(why, "ok: ");
    }
    if (is_led)
        alk__buffer_addf(why, "%s leads", report->leader);
    else
        alk__buffer_add_text(why, "nobody leads");
    alk__buffer_addf(why, "; %s, schema %lld", report->engine_version,
                     (long long)report->schema_version);
    add_quarantined(report, why);
    if (report->newer_count > 0)
        alk__buffer_addf(why, "; %zu schedules are of a newer version", report->newer_count);
}

static void print_json(const alk_health_report *report, const char *why) {
    size_t named = report->quarantined_count < 20 ? report->quarantined_count : 20;
    struct alk__record record;

    alk__record_start(&record);
    alk__record_flag(&record, "ok", is_good(report));
    alk__record_text(&record, "why", why);
    alk__record_text(&record, "engine", report->engine_version);
    alk__record_number(&record, "schema", report->schema_version);
    alk__record_time(&record, "now", report->now_us);
    alk__record_number(&record, "skew_us", report->skew_us);
    alk__record_time(&record, "oldest_due_job", report->oldest_due_job_us);
    alk__record_time(&record, "oldest_due_schedule", report->oldest_due_schedule_us);
    alk__record_text(&record, "leader", report->leader[0] != '\0' ? report->leader : NULL);
    alk__record_texts(&record, "quarantined", report->quarantined, named);
    alk__record_number(&record, "quarantined_count", (int64_t)report->quarantined_count);
    alk__record_number(&record, "newer_count", (int64_t)report->newer_count);
    alk__record_end(&record);
}

static int print(const alk_health_report *report, bool is_json) {
    struct alk__buffer why = ALK__BUFFER_INIT((size_t)64 << 10);
    alk_error error = ALK_ERROR_INIT;
    int code = is_good(report) ? ALK__EXIT_OK : ALK__EXIT_FAILED;

    explain(report, &why);
    if (why.is_failed)
        code = alk__exit_report(alk__nomem(&error), &error);
    else if (is_json)
        print_json(report, why.bytes);
    else
        printf("%s\n", why.bytes);
    alk__buffer_release(&why);
    return code;
}

/* A store that is not there is told apart (S2); one that is there and cannot be used is what this
 * command is to find. */
static int fail(const struct alk__arguments *arguments, alk_status st, const alk_error *error) {
    struct alk__record record;
    int code = alk__exit_code(st);

    if (arguments->is_json) {
        alk__record_start(&record);
        alk__record_flag(&record, "ok", false);
        alk__record_text(&record, "why", error->message);
        alk__record_end(&record);
    }
    alk__exit_report(st, error);
    return code == ALK__EXIT_ABSENT || code == ALK__EXIT_USAGE ? code : ALK__EXIT_FAILED;
}

static int run(const struct alk__arguments *arguments) {
    struct alk__access access = {NULL, NULL};
    alk_health_report report;
    alk_error error = ALK_ERROR_INIT;
    alk_status st = alk__access_open(arguments, &access, &error);
    int code;

    if (st >= 0)
        st = alk_health(access.conn, NULL, &report, &error);
    alk__access_close(&access);
    if (st < 0)
        return fail(arguments, st, &error);
    code = print(&report, arguments->is_json);
    alk_health_free(&report);
    return code;
}

const struct alk__command alk__command_health = {
    .name = "health",
    .summary = "one line on how the store and its scheduler are",
    .usage = "",
    .details = "Exit 1 when the store cannot be used, its schema is too new, or a schedule has "
               "been due for\n"
               "more than 30 s. Quarantined schedules are named and are no failure of the whole.",
    .examples = {{"alk health", "for people"},
                 {"alk health --json || page-somebody", "for a monitor"}},
    .run = run,
};
