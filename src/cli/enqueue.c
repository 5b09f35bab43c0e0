/* cli/enqueue.c: `alk enqueue`: one job, or a file of them. */
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/input.h"
#include "cli/output.h"

/* ---- headers ---- */

static bool is_given_twice(const struct alk__words *headers, size_t at, size_t name_length) {
    for (size_t i = 0; i < at; i++) {
        if (strncmp(headers->items[i], headers->items[at], name_length + 1) == 0)
            return true;
    }
    return false;
}

/* NAME=VALUE words as one JSON object in buffer. */
static alk_status make_headers(const struct alk__words *headers, struct alk__buffer *buffer,
                               alk_error *error) {
    alk__buffer_add_text(buffer, "{");
    for (size_t i = 0; i < headers->count; i++) {
        const char *word = headers->items[i];
        const char *equals = strchr(word, '=');

        if (equals == NULL || equals == word)
            return alk__fail(error, ALK_INVALID, "--header is written NAME=VALUE, not '%s'",
                             alk__excerpt_of(alk__text_of(word)).text);
        if (is_given_twice(headers, i, (size_t)(equals - word)))
            return alk__fail(error, ALK_INVALID, "header '%.*s' is given twice",
                             (int)(equals - word), word);
        alk__buffer_add_text(buffer, i == 0 ? "" : ",");
        alk__json_add_string(buffer, (struct alk__text){word, (size_t)(equals - word)});
        alk__buffer_add_text(buffer, ":");
        alk__json_add_string(buffer, alk__text_of(equals + 1));
    }
    alk__buffer_add_text(buffer, "}");
    return buffer->is_failed ? alk__nomem(error) : ALK_OK;
}

void alk__print_job_id(const struct alk__arguments *arguments, int64_t id, alk_status status) {
    struct alk__record record;

    if (arguments->is_json) {
        alk__record_start(&record);
        alk__record_number(&record, "id", id);
        if (arguments->unique != NULL)
            alk__record_flag(&record, "duplicate", status == ALK_DUPLICATE);
        alk__record_end(&record);
        return;
    }
    printf("%lld\n", (long long)id);
    if (status != ALK_DUPLICATE)
        return;
    fflush(stdout);
    fprintf(stderr, "alk: not enqueued: job %lld has the unique key '%s'\n", (long long)id,
            alk__excerpt_of(alk__text_of(arguments->unique)).text);
}

/* ---- one ---- */

/* The payload as given, or read from stdin; its bytes are in buffer then. */
static alk_status read_payload(const struct alk__arguments *arguments, struct alk__buffer *buffer,
                               struct alk__text *ret_payload, alk_error *error) {
    const struct alk__words *operands = &arguments->operands;
    struct alk__input input;
    alk_status st;

    *ret_payload = alk__text_of(operands->count > 1 ? operands->items[1] : NULL);
    if (operands->count < 2)
        return ALK_OK;
    if (alk__text_is(*ret_payload, "-")) {
        st = alk__input_open(&input, "-", error);
        if (st == ALK_OK)
            st = alk__input_all(&input, buffer, error);
        if (st != ALK_OK)
            return st;
        *ret_payload = (struct alk__text){buffer->bytes, buffer->length};
    }
    if (ret_payload->length == 0)
        return alk__fail(error, ALK_INVALID, "payload is empty (null is written null)");
    return ALK_OK;
}

static alk_status enqueue_one(const struct alk__arguments *arguments,
                              const alk_enqueue_options *options, struct alk__buffer *buffer,
                              alk_error *error) {
    struct alk__access access = {NULL, NULL};
    struct alk__text payload;
    int64_t id = 0;
    alk_status st = read_payload(arguments, buffer, &payload, error);

    if (st == ALK_OK)
        st = alk__access_open(arguments, &access, error);
    if (st >= 0)
        st = alk_enqueue(access.conn, arguments->operands.items[0], payload.bytes, payload.length,
                         options, &id, error);
    alk__access_close(&access);
    if (st >= 0)
        alk__print_job_id(arguments, id, st);
    return st;
}

/* ---- many ---- */

/* Lines that are enqueued together: all of them or none. */
struct batch {
    struct alk__arena memory;
    alk_new_job jobs[ALK_ENQUEUE_BATCH_MAX];
    int64_t ids[ALK_ENQUEUE_BATCH_MAX];
    size_t count;
    size_t bytes;
};

/* A batch is closed at this size, too: 10,000 payloads of 1 MiB would not fit into memory. */
#define BATCH_BYTES ((size_t)64 << 20)

static alk_status read_job(struct alk__input *input, struct alk__buffer *line, struct batch *batch,
                           const alk_enqueue_options *options, alk_error *error) {
    alk_status st = alk__input_line(input, line, error);
    char *copy;

    if (st != ALK_OK)
        return st;
    if (line->length == 0)
        return alk__fail(error, ALK_INVALID, "is empty (null is written null)");
    st = alk__json_check("payload", (struct alk__text){line->bytes, line->length}, ALK__PAYLOAD_MAX,
                         error);
    if (st != ALK_OK)
        return st;
    copy = alk__arena_copy(&batch->memory, line->bytes, line->length);
    if (copy == NULL)
        return alk__nomem(error);
    batch->jobs[batch->count++] = (alk_new_job){copy, line->length, options};
    batch->bytes += line->length;
    return ALK_OK;
}

/* ALK_EMPTY when the input has ended; the batch may have jobs then. */
static alk_status read_batch(struct alk__input *input, struct alk__buffer *line,
                             struct batch *batch, const alk_enqueue_options *options,
                             alk_error *error) {
    alk_status st = ALK_OK;

    alk__arena_free(&batch->memory);
    batch->count = batch->bytes = 0;
    while (st == ALK_OK && batch->count < ALK_ENQUEUE_BATCH_MAX && batch->bytes < BATCH_BYTES)
        st = read_job(input, line, batch, options, error);
    if (st >= 0 || input->line == 0) /* a folder has no line */
        return st;
    return alk__wrap(error, st, "line %zu of %s", input->line, input->name);
}

/* How much was done before the failure, where that is not nothing. */
static alk_status say_done(size_t done, alk_status st, alk_error *error) {
    if (done == 0)
        return st;
    return alk__wrap(error, st, "the first %s jobs are enqueued, the others are not",
                     alk__number_of(done).text);
}

static alk_status enqueue_batches(const struct alk__arguments *arguments, alk_conn *conn,
                                  struct alk__input *input, struct batch *batch,
                                  const alk_enqueue_options *options, alk_error *error) {
    struct alk__buffer line = ALK__BUFFER_INIT(ALK__PAYLOAD_MAX + 1);
    size_t done = 0;
    alk_status st = ALK_OK;

    while (st == ALK_OK) {
        alk_status written = ALK_OK;

        st = read_batch(input, &line, batch, options, error);
        if (st >= 0 && batch->count > 0)
            written = alk_enqueue_many(conn, arguments->operands.items[0], batch->jobs,
                                       batch->count, batch->ids, error);
        if (st < 0 || written < 0) {
            st = say_done(done, st < 0 ? st : written, error);
            break;
        }
        for (size_t i = 0; i < batch->count; i++)
            alk__print_job_id(arguments, batch->ids[i], ALK_OK);
        done += batch->count;
    }
    alk__buffer_release(&line);
    return st;
}

static alk_status enqueue_many(const struct alk__arguments *arguments,
                               const alk_enqueue_options *options, alk_error *error) {
    struct alk__access access = {NULL, NULL};
    struct alk__input input = {.file = NULL};
    struct batch *batch = alk__alloc(sizeof(*batch));
    alk_status st;

    if (batch == NULL)
        return alk__nomem(error);
    st = alk__input_open(&input, arguments->many, error);
    if (st == ALK_OK)
        st = alk__access_open(arguments, &access, error);
    if (st == ALK_OK)
        st = enqueue_batches(arguments, access.conn, &input, batch, options, error);
    alk__access_close(&access);
    alk__input_close(&input);
    alk__arena_free(&batch->memory);
    alk__free(batch);
    return st;
}

/* ---- the command ---- */

static alk_status read_unique(const struct alk__arguments *arguments, alk_enqueue_options *options,
                              alk_error *error) {
    bool has_window = arguments->unique_for_us != ALK__NOT_GIVEN;
    const char *until = arguments->unique_until;

    if (arguments->unique == NULL && (has_window || until != NULL))
        return alk__fail(error, ALK_INVALID, "%s needs --unique",
                         has_window ? "--unique-for" : "--unique-until");
    if (arguments->unique != NULL && arguments->many != NULL)
        return alk__fail(error, ALK_INVALID, "either --unique or --many, not both");
    if (has_window && until != NULL)
        return alk__fail(error, ALK_INVALID, "either --unique-for or --unique-until, not both");
    if (until != NULL && strcmp(until, "started") != 0 && strcmp(until, "finished") != 0)
        return alk__fail(error, ALK_INVALID, "--unique-until is started or finished, not '%s'",
                         alk__excerpt_of(alk__text_of(until)).text);
    options->unique_key = arguments->unique;
    options->unique_for_us = alk__given(arguments->unique_for_us, ALK_NO_TIME);
    if (has_window)
        options->unique_scope = ALK_UNIQUE_WINDOW;
    else if (until != NULL && strcmp(until, "started") == 0)
        options->unique_scope = ALK_UNIQUE_UNTIL_STARTED;
    return ALK_OK;
}

static alk_status enqueue(const struct alk__arguments *arguments, struct alk__buffer *headers,
                          struct alk__buffer *payload, alk_error *error) {
    alk_enqueue_options options = ALK_ENQUEUE_OPTIONS_INIT;
    alk_status st = make_headers(&arguments->headers, headers, error);

    if (st != ALK_OK)
        return st;
    options.headers = arguments->headers.count > 0 ? headers->bytes : NULL;
    options.delay_us = alk__given(arguments->delay_us, ALK_NO_TIME);
    options.run_at_us = alk__given(arguments->at_us, ALK_NO_TIME);
    options.expires_us = alk__given(arguments->expires_us, ALK_NO_TIME);
    options.priority = (int)alk__given(arguments->priority, 0);
    options.max_attempts = (int)alk__given(arguments->max_attempts, 0);
    st = read_unique(arguments, &options, error);
    if (st != ALK_OK)
        return st;
    if (arguments->many == NULL)
        return enqueue_one(arguments, &options, payload, error);
    if (arguments->operands.count > 1)
        return alk__fail(error, ALK_INVALID, "either a payload or --many, not both");
    return enqueue_many(arguments, &options, error);
}

static int run(const struct alk__arguments *arguments) {
    struct alk__buffer headers = ALK__BUFFER_INIT(4 * ALK__HEADERS_MAX);
    struct alk__buffer payload = ALK__BUFFER_INIT(ALK__PAYLOAD_MAX + 1); /* one more is too long */
    alk_error error = ALK_ERROR_INIT;
    alk_status st = enqueue(arguments, &headers, &payload, &error);

    alk__buffer_release(&headers);
    alk__buffer_release(&payload);
    return st < 0 || st == ALK_ABSENT ? alk__exit_report(st, &error) : ALK__EXIT_OK;
}

/* clang-format off */
static const struct alk__option options[] = {
    {"delay", "D", "not before that long from now", ALK__OPTION_DURATION, offsetof(struct alk__arguments, delay_us), 0, 3650 * ALK__DAY},
    {"at", "T", "not before that time", ALK__OPTION_TIME, offsetof(struct alk__arguments, at_us), 0, 0},
    {"priority", "N", "higher ones run first; 0 unless given", ALK__OPTION_INTEGER, offsetof(struct alk__arguments, priority), -32768, 32767},
    {"max-attempts", "N", "how often it is tried; else the queue's", ALK__OPTION_INTEGER, offsetof(struct alk__arguments, max_attempts), 1, INT32_MAX},
    {"expires", "D", "never run later than that long from now", ALK__OPTION_DURATION, offsetof(struct alk__arguments, expires_us), ALK__MS, 3650 * ALK__DAY},
    {"header", "NAME=VALUE", "goes with the job; may be given again", ALK__OPTION_LIST, offsetof(struct alk__arguments, headers), 0, 0},
    {"unique", "KEY", "not while another job of the queue has that key", ALK__OPTION_TEXT, offsetof(struct alk__arguments, unique), 0, 0},
    {"unique-until", "WHEN", "the key is free once the job is: started, finished", ALK__OPTION_TEXT, offsetof(struct alk__arguments, unique_until), 0, 0},
    {"unique-for", "D", "or it is free after that long from now", ALK__OPTION_DURATION, offsetof(struct alk__arguments, unique_for_us), ALK__MS, 3650 * ALK__DAY},
    {"many", "FILE", "a job for each line of JSON; - is stdin", ALK__OPTION_TEXT, offsetof(struct alk__arguments, many), 0, 0},
    {.name = NULL},
};
/* clang-format on */

const struct alk__command alk__command_enqueue = {
    .name = "enqueue",
    .summary = "put a job into a queue and print its id",
    .usage = "QUEUE [PAYLOAD|-]",
    .details =
        "The payload is JSON, null unless given; - reads it from stdin.\n"
        "--many takes 10,000 lines (or 64 MiB) at a time: all of them or none. So up to that size "
        "a\n"
        "file with a bad line enqueues nothing; of a longer one the message says how much is "
        "done.\n"
        "--unique with a key that is taken enqueues nothing, prints the id of the job that has "
        "it,\n"
        "says so on stderr, and exits 0. It is taken until that job is finished, unless said "
        "otherwise.",
    .examples = {{"alk enqueue mail '{\"to\":\"ann\"}' --delay 10m", "in ten minutes"},
                 {"alk enqueue resize --many jobs.jsonl", "one job a line"}},
    .options = options,
    .least = 1,
    .most = 2,
    .run = run,
};
