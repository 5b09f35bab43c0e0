/* when/at.c: @at: one moment, with an offset or in the local time of the schedule's zone (S104). */
#include "base/duration.h"
#include "when/compiled.h"

alk_status alk__at_parse(struct alk__when_parser *parser) {
    struct alk__scan *scan = &parser->scan;
    struct alk__text text = {scan->text.bytes + scan->at, scan->text.length - scan->at};
    struct alk__moment moment;
    size_t at;
    const char *reason = alk__moment_read(text, &moment, &at);

    if (reason != NULL)
        return alk__when_refuse(parser, scan->at + at, NULL, "%s", reason);
    if (moment.fraction_us != 0)
        return alk__when_refuse(parser, scan->at, NULL, "@at counts whole seconds");

    int64_t local_s = alk__civil_seconds(&moment.civil);
    int64_t at_s = moment.has_offset ? local_s - moment.offset_s
                                     : alk__walk_first(parser->when->zone, local_s);
    if (at_s < 0 || at_s >= ALK__WHEN_END_S)
        return alk__when_refuse(parser, scan->at, NULL, "the year is 1970 to 2199");
    parser->when->at_s = at_s;
    return ALK_OK;
}
