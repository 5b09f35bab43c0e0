/* cli/next.c: `alk next`: the coming boundaries of a spec, without a database (S110). */
#include "base/clock.h"
#include "base/duration.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/output.h"

#define COUNT_DEFAULT 5
#define COUNT_MAX 1000000

/* One boundary: in UTC, in local time, and what is odd about it. */
static void print(const struct alk__arguments *arguments, const alk_when *when, int64_t at_us) {
    char local[ALK__TIME_BYTES], utc[ALK__TIME_BYTES];
    struct alk__record record;
    alk_when_note note;
    int offset_s;

    alk_when_local(when, at_us, &offset_s, &note);
    alk__time_format_local(at_us, offset_s, local, sizeof(local));
    if (arguments->is_json) {
        alk__record_start(&record);
        alk__record_time(&record, "utc", at_us);
        alk__record_text(&record, "local", local);
        alk__record_text(&record, "note", alk_when_note_text(note));
        alk__record_end(&record);
        return;
    }
    alk__time_format(at_us, utc, sizeof(utc));
    printf("%s  %s%s%s\n", utc, local, note == ALK_WHEN_PLAIN ? "" : "  ",
           alk_when_note_text(note));
}

/* No boundary at all is an answer for scripts: exit 3 (S108). */
static alk_status print_all(const struct alk__arguments *arguments, const alk_when *when,
                            alk_error *error) {
    int64_t after_us = alk__given(arguments->after_us, alk__now_us(NULL));
    const alk_schedule *schedule = &arguments->schedule;
    int64_t anchor_us = schedule->anchor_us == ALK_NO_TIME ? after_us : schedule->anchor_us;
    int64_t end_us = schedule->not_after_us == ALK_NO_TIME ? INT64_MAX : schedule->not_after_us;
    int64_t wanted = alk__given(arguments->count, COUNT_DEFAULT);
    int64_t at_us = schedule->not_before_us > after_us ? schedule->not_before_us - 1 : after_us;
    int64_t printed = 0;
    char text[ALK__TIME_BYTES];

    for (; printed < wanted && alk_when_next(when, anchor_us, at_us, &at_us) == ALK_OK &&
           at_us < end_us;
         printed++)
        print(arguments, when, at_us);
    if (printed > 0)
        return ALK_OK;
    alk__time_format(after_us, text, sizeof(text));
    return alk__fail(error, ALK_ABSENT, "'%s' has no boundary after %s%s",
                     alk__excerpt_of(alk__text_of(arguments->operands.items[0])).text, text,
                     end_us < INT64_MAX ? " and before --not-after" : "");
}

static int run(const struct alk__arguments *arguments) {
    alk_schedule schedule = arguments->schedule;
    alk_error error = ALK_ERROR_INIT;
    alk_when *when = NULL;
    alk_status st;

    schedule.spec = arguments->operands.items[0];
    schedule.name = arguments->name != NULL ? arguments->name : "";
    st = alk__schedule_check(&schedule, &when, &error);
    if (st == ALK_OK) {
        alk__say_warning(alk_when_warning(when));
        st = print_all(arguments, when, &error);
    }
    alk_when_free(when);
    return st == ALK_OK ? ALK__EXIT_OK : alk__exit_report(st, &error);
}

/* clang-format off */
static const struct alk__option options[] = {
    {"after", "T", "the boundaries after it; now unless given", ALK__OPTION_TIME, offsetof(struct alk__arguments, after_us), 0, 0},
    {"n", "N", "how many; 5 unless given", ALK__OPTION_INTEGER, offsetof(struct alk__arguments, count), 1, COUNT_MAX},
    {"name", "NAME", "of the schedule, for H", ALK__OPTION_TEXT, offsetof(struct alk__arguments, name), 0, 0},
    ALK__SCHEDULE_TIMING_SETTINGS(ALK__SCHEDULE_OPTION)
    {.name = NULL},
};
/* clang-format on */

const struct alk__command alk__command_next = {
    .name = "next",
    .summary = "the coming boundaries of a spec",
    .usage = "SPEC [-n N] [--zone Z] [--after T]",
    .details =
        "A line a boundary: UTC, local time, and 'shifted' where clocks skipped the time that "
        "the\nspec names, 'repeated' in the second pass of one that comes twice. Needs no "
        "store.\nThe grid of @every starts at --after unless --anchor is given. Exit 3: there is "
        "none.",
    .examples = {{"alk next '30 2 * * *' --zone America/New_York -n 3", "also across a change"},
                 {"alk next 'H H * * *' --name nightly --json", "an object a boundary"}},
    .options = options,
    .least = 1,
    .most = 1,
    .is_offline = true,
    .run = run,
};
