/* cli/job.c: `alk job list` and `alk job show`. */
#include <string.h>

#include "base/error.h"
#include "base/scan.h"
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/output.h"

static const char *state_of(const void *row) {
    const alk_job *job = row;

    return job->unreadable != NULL ? "unreadable" : alk_job_state_text(job->state);
}

#define IN(field) offsetof(alk_job, field)

/* clang-format off */
static const struct alk__column columns[] = {
    {"id", ALK__COLUMN_INTEGER, IN(id), true, NULL},
    {"queue", ALK__COLUMN_TEXT, IN(queue), true, NULL},
    {"state", ALK__COLUMN_STATE, 0, true, state_of},
    {"reason", ALK__COLUMN_TEXT, IN(reason), true, NULL},
    {"priority", ALK__COLUMN_INT, IN(priority), true, NULL},
    {"attempt", ALK__COLUMN_INTEGER, IN(attempt), true, NULL},
    {"max_attempts", ALK__COLUMN_COUNT, IN(max_attempts), false, NULL},
    {"key", ALK__COLUMN_TEXT, IN(key), true, NULL},
    {"run_at", ALK__COLUMN_TIME, IN(run_at_us), true, NULL},
    {"enqueued_at", ALK__COLUMN_TIME, IN(enqueued_at_us), false, NULL},
    {"claimed_at", ALK__COLUMN_TIME, IN(claimed_at_us), false, NULL},
    {"lease_until", ALK__COLUMN_TIME, IN(lease_until_us), false, NULL},
    {"worker", ALK__COLUMN_TEXT, IN(worker), true, NULL},
    {"finished_at", ALK__COLUMN_TIME, IN(finished_at_us), true, NULL},
    {"expires_at", ALK__COLUMN_TIME, IN(expires_at_us), false, NULL},
    {"cancel_requested_at", ALK__COLUMN_TIME, IN(cancel_requested_at_us), false, NULL},
    {"schedule_id", ALK__COLUMN_COUNT, IN(schedule_id), false, NULL},
    {"fire_at", ALK__COLUMN_TIME, IN(fire_at_us), false, NULL},
    {"payload", ALK__COLUMN_VALUE, IN(payload), false, NULL},
    {"headers", ALK__COLUMN_VALUE, IN(headers), false, NULL},
    {"errors", ALK__COLUMN_VALUE, IN(errors), false, NULL},
    {"result", ALK__COLUMN_VALUE, IN(result), false, NULL},
    {"unreadable", ALK__COLUMN_TEXT, IN(unreadable), true, NULL},
};
/* clang-format on */

static struct alk__listing rows_of(const alk_job_list *list) {
    return (struct alk__listing){.columns = columns,
                                 .column_count = ALK__COUNT(columns),
                                 .rows = list->jobs,
                                 .row_bytes = sizeof(alk_job),
                                 .count = list->count,
                                 .now_us = list->now_us};
}

/* ---- list ---- */

static alk_status make_filter(const struct alk__arguments *arguments, alk_job_filter *filter,
                              alk_error *error) {
    filter->queue = arguments->queue;
    filter->limit = (int)alk__given(arguments->limit, filter->limit);
    if (arguments->state == NULL)
        return ALK_OK;
    filter->has_state = true;
    return alk_job_state_parse(arguments->state, &filter->state, error);
}

static alk_status list_jobs(const struct alk__arguments *arguments, alk_conn *conn,
                            alk_error *error) {
    alk_job_filter filter = ALK_JOB_FILTER_INIT;
    alk_job_list list = {.count = 0};
    struct alk__listing rows;
    alk_status st = make_filter(arguments, &filter, error);

    if (st == ALK_OK)
        st = alk_job_list_get(conn, &filter, &list, error);
    if (st < 0)
        return st;
    rows = rows_of(&list);
    st = alk__print_list(&rows, arguments->is_json, error);
    alk__say_more(arguments, list.count, (size_t)filter.limit);
    alk_job_list_free(&list);
    return st;
}

static int run_list(const struct alk__arguments *arguments) {
    return alk__with_store(arguments, list_jobs);
}

/* ---- show ---- */

static alk_status parse_id(const char *text, int64_t *ret_id, alk_error *error) {
    struct alk__scan scan = {alk__text_of(text), 0};
    int digits = alk__scan_digits(&scan, 18, ret_id);

    if (digits == 0 || alk__scan_peek(&scan) != -1)
        return alk__fail(error, ALK_INVALID, "a job's id is a number, not '%s'",
                         alk__excerpt_of(alk__text_of(text)).text);
    return ALK_OK;
}

static alk_status show_job(const struct alk__arguments *arguments, alk_conn *conn,
                           alk_error *error) {
    alk_job_list list = {.count = 0};
    struct alk__listing rows;
    int64_t id;
    alk_status st = parse_id(arguments->operands.items[0], &id, error);

    if (st == ALK_OK)
        st = alk_job_get(conn, id, &list, error);
    if (st == ALK_ABSENT)
        return alk__fail(error, ALK_ABSENT, "no job %lld", (long long)id);
    if (st < 0)
        return st;
    rows = rows_of(&list);
    st = alk__print_one(&rows, arguments->is_json, error);
    alk_job_list_free(&list);
    return st;
}

static int run_show(const struct alk__arguments *arguments) {
    return alk__with_store(arguments, show_job);
}

/* ---- the commands ---- */

/* clang-format off */
static const struct alk__option list_options[] = {
    {"queue", "Q", "of this queue only", ALK__OPTION_TEXT, offsetof(struct alk__arguments, queue), 0, 0},
    {"state", "S", "ready, delayed, chained, running, done, dead or cancelled", ALK__OPTION_TEXT, offsetof(struct alk__arguments, state), 0, 0},
    {"limit", "N", "at most so many; 100 unless given", ALK__OPTION_INTEGER, offsetof(struct alk__arguments, limit), 1, 10000},
    {.name = NULL},
};
/* clang-format on */

const struct alk__command alk__command_job_list = {
    .name = "job list",
    .summary = "the jobs of a queue, or of all",
    .usage = "[--queue Q] [--state S] [--limit N]",
    .details = "Live jobs in the order they run, finished ones newest first.",
    .examples = {{"alk job list --queue mail --state dead", "what failed for good"},
                 {"alk job list --json | jq .id", "for a script"}},
    .options = list_options,
    .run = run_list,
};

const struct alk__command alk__command_job_show = {
    .name = "job show",
    .summary = "one job: payload, errors of its attempts, times",
    .usage = "ID",
    .examples = {{"alk job show 42", "for people"},
                 {"alk job show 42 --json | jq .errors", "why it failed"}},
    .least = 1,
    .most = 1,
    .run = run_show,
};
