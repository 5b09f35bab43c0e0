/* cli/schedule_backfill.c: `alk schedule backfill`: boundaries of the past, fired on request
 * (schedules.md, part 5). */
#include "base/duration.h"
#include "base/error.h"
#include "cli/exit.h"
#include "cli/schedule.h"

#define MAX_DEFAULT 100

static void print_one(const struct alk__arguments *arguments, int64_t fire_at_us, int64_t job_id) {
    char time[ALK__TIME_BYTES];
    struct alk__record record;

    if (arguments->is_json) {
        alk__record_start(&record);
        alk__record_time(&record, "fire_at", fire_at_us);
        if (job_id > 0)
            alk__record_number(&record, "job_id", job_id);
        else
            alk__record_text(&record, "job_id", NULL);
        alk__record_end(&record);
        return;
    }
    alk__time_format(fire_at_us, time, sizeof(time));
    if (job_id > 0)
        printf("%s  job %lld\n", time, (long long)job_id);
    else
        printf("%s\n", time);
}

/* The count goes to stderr: stdout has a line a boundary. */
static void print_all(const struct alk__arguments *arguments, const alk_backfill_result *result) {
    for (size_t i = 0; i < result->count; i++)
        print_one(arguments, result->fire_at_us[i], result->job_ids[i]);
    fflush(stdout);
    fprintf(stderr, "alk: %zu %s, %lld fired before%s\n", result->count,
            arguments->is_dry_run ? "would fire" : "fired", (long long)result->fired_before,
            result->has_more ? "; there are more, call it again (or --max N)" : "");
}

static alk_status backfill(const struct alk__arguments *arguments, alk_conn *conn,
                           alk_error *error) {
    const char *name = arguments->operands.items[0];
    alk_backfill_result result = {.count = 0};
    alk_status st = alk_schedule_backfill(conn, name, arguments->from_us, arguments->to_us,
                                          (int)alk__given(arguments->count, MAX_DEFAULT),
                                          arguments->is_dry_run, &result, error);

    if (st == ALK_ABSENT)
        return alk__schedule_absent(name, error);
    if (st < 0)
        return st;
    print_all(arguments, &result);
    alk_backfill_result_free(&result);
    return ALK_OK;
}

static int run(const struct alk__arguments *arguments) {
    alk_error error = ALK_ERROR_INIT;

    if (arguments->from_us == ALK__NOT_GIVEN || arguments->to_us == ALK__NOT_GIVEN)
        return alk__exit_report(
            alk__fail(&error, ALK_INVALID, "schedule backfill needs --from T and --to T"), &error);
    return alk__with_store(arguments, backfill);
}

/* clang-format off */
static const struct alk__option options[] = {
    {"from", "T", "the first moment", ALK__OPTION_TIME, offsetof(struct alk__arguments, from_us), 0, 0},
    {"to", "T", "the last moment; what is later than now is left to the scheduler", ALK__OPTION_TIME, offsetof(struct alk__arguments, to_us), 0, 0},
    {"max", "N", "at most so many, the oldest; 100 unless given", ALK__OPTION_INTEGER, offsetof(struct alk__arguments, count), 1, ALK_BACKFILL_MAX},
    {"dry-run", NULL, "only say which", ALK__OPTION_FLAG, offsetof(struct alk__arguments, is_dry_run), 0, 0},
    {.name = NULL},
};
/* clang-format on */

const struct alk__command alk__command_schedule_backfill = {
    .name = "schedule backfill",
    .summary = "fire boundaries of the past that have not fired",
    .usage = "NAME --from T --to T [--max N] [--dry-run]",
    .details = "Whatever its policies say, and also while it is paused, quarantined or done. What "
               "fired\nonce does not fire again.",
    .examples = {{"alk schedule backfill nightly --from 2027-01-01T00:00:00Z --to "
                  "2027-01-31T00:00:00Z",
                  "a line a job"},
                 {"alk schedule backfill nightly --from 2027-01-01T00:00:00Z --to "
                  "2027-01-31T00:00:00Z --dry-run",
                  "which they would be"}},
    .options = options,
    .least = 1,
    .most = 1,
    .run = run,
};
