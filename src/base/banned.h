/* base/banned.h: what no file below src/ may call; the build includes it in front of each.
 *
 * The system headers that declare these names come first: afterwards the names are an error
 * wherever they stand. */
#ifndef ALK_BASE_BANNED_H
#define ALK_BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Zones and broken-down time in libc are state of the whole process: base/civil.h and when/ do it
 * instead. */
#pragma GCC poison localtime localtime_r gmtime gmtime_r mktime timegm timelocal ctime ctime_r     \
    asctime asctime_r tzset
#pragma GCC poison setenv putenv unsetenv

/* No bound on what they write, or hidden state. */
#pragma GCC poison strcpy strcat stpcpy strncpy strncat sprintf vsprintf gets strtok strtok_r      \
    strerror

/* Silent about what is no number. */
#pragma GCC poison atoi atol atoll atof

/* One home for randomness, base/clock.h. */
#pragma GCC poison rand srand srandom rand_r drand48 lrand48

#endif
