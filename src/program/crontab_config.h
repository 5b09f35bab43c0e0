/* program/crontab_config.h: a crontab becomes a configuration of schedules.
 *
 * Each entry becomes a section [schedule NAME] with spec, zone and command. A command gets what
 * cron gave it: the SHELL and the variables above it, the home folder, a stdin that is empty or
 * what stands behind its %, and one attempt a boundary. Comments stay where they are. What has no
 * meaning here stays as a comment, with the reason, and is told to whoever asked. */
#ifndef ALK_PROGRAM_CRONTAB_CONFIG_H
#define ALK_PROGRAM_CRONTAB_CONFIG_H

#include "base/text.h"

#define ALK__CRONTAB_BYTES_MAX ((size_t)1 << 20)
#define ALK__CRONTAB_ENTRIES_MAX 10000
#define ALK__CRONTAB_VARIABLES_MAX 100

/* Something that was left out. text is the line or the part of it, reason why; both last for the
 * call. */
typedef void (*alk__crontab_left_fn)(int line, struct alk__text text, const char *reason,
                                     void *context);

/* zone       of cron's own clock: that of every entry without a CRON_TZ above it
 * is_system  a user stands before each command; users are left out
 * left       NULL = nobody wants to know */
struct alk__crontab_import {
    const char *zone;
    bool is_system;
    alk__crontab_left_fn left;
    void *context;
};

/* Adds the configuration to config, whose maximum should be that of a configuration.
 *
 * ret_schedules  how many sections there are
 * ret_left       how many things were left out
 * ALK_OK; ALK_INVALID (the crontab or the configuration is too large); ALK_NOMEM. */
alk_status alk__crontab_convert(struct alk__text text, const struct alk__crontab_import *import,
                                struct alk__buffer *config, int *ret_schedules, int *ret_left,
                                alk_error *error);

#endif
