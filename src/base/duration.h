/* base/duration.h: durations and times as people write them. */
#ifndef ALK_BASE_DURATION_H
#define ALK_BASE_DURATION_H

#include "base/civil.h"
#include "base/text.h"

/* [n "w"][n "d"][n "h"][n "m"][n "s"][n "ms"], at least one part, this order, 1 to 9 digits a part.
 * "0s" is allowed here; whoever wants more than that says so. ret_us receives microseconds.
 * ALK_INVALID with the column and the reason. */
alk_status alk__duration_parse(struct alk__text text, int64_t *ret_us, alk_error *error);

/* The same for a grammar that durations are a part of: NULL, or the reason of the refusal (static)
 * with its offset in ret_at. Nothing in text is quoted by the reason. */
const char *alk__duration_read(struct alk__text text, int64_t *ret_us, size_t *ret_at);

/* The shortest way to write it in that grammar ("1h30m", "500ms", "0s"); below a millisecond as
 * "12us", for people only. A negative one has a '-' before it. size >= ALK__DURATION_BYTES holds
 * any. */
#define ALK__DURATION_BYTES 48
void alk__duration_format(int64_t us, char *text, size_t size);

/* RFC 3339 date-time with an offset ('T', 't' or a blank between date and time), from
 * 0001-01-01T00:00:00Z to the end of 9999 in UTC. A fraction has 1 to 9 digits; what is below a
 * microsecond is cut off. A leap second is refused. ALK_INVALID with the column and the reason. */
alk_status alk__time_parse(struct alk__text text, int64_t *ret_us, alk_error *error);

/* The same for a grammar that times are a part of, and where the offset may be missing. NULL, or
 * the reason of the refusal (static) with its place in ret_at, which is always written. */
struct alk__moment {
    struct alk__civil civil; /* as written: local time */
    int64_t fraction_us;
    bool has_offset;
    int64_t offset_s; /* local time minus UTC */
};
const char *alk__moment_read(struct alk__text text, struct alk__moment *ret_moment, size_t *ret_at);

/* RFC 3339 in UTC, "2026-12-01T00:00:00Z", with .ffffff only where it is not zero. size >= 40. */
#define ALK__TIME_BYTES 40
void alk__time_format(int64_t us, char *text, size_t size);

/* The same moment, in whole seconds, where clocks are offset_s ahead of UTC:
 * "2027-03-14T03:00:00-04:00". RFC 3339 has whole minutes of offset only: seconds of one (Liberia
 * until 1972) are cut off, and the local time with them. size >= ALK__TIME_BYTES. */
void alk__time_format_local(int64_t us, int offset_s, char *text, size_t size);

#endif
