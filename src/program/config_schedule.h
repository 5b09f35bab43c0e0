/* program/config_schedule.h: the sections [schedule NAME] of a configuration.
 *
 * A section is a schedule as alk_schedule_put takes it (schedule_settings.h). With a command it has
 * a queue of its own, "schedule:NAME" unless it says which, that nobody else of the file serves,
 * and is served by a loop of the same process. */
#ifndef ALK_PROGRAM_CONFIG_SCHEDULE_H
#define ALK_PROGRAM_CONFIG_SCHEDULE_H

#include "program/config.h"
#include "program/config_file.h"
#include "program/schedule_settings.h"

/* Begins a section; keys of alk__config_table go into ret_section. ALK_OK; ALK_INVALID. */
alk_status alk__config_schedule_start(struct alk__config *config,
                                      const struct alk__config_line *line,
                                      struct alk__schedule_section **ret_section, alk_error *error);

/* A key of alk__schedule_settings, for the section begun last. ALK_OK; ALK_INVALID. */
alk_status alk__config_schedule_key(struct alk__config *config, const struct alk__config_line *line,
                                    alk_error *error);

/* Checks all sections, specs too, and adds the loops that run their commands to the workers.
 * ALK_OK; ALK_INVALID with file and line. */
alk_status alk__config_schedules_finish(struct alk__config *config, const char *path,
                                        alk_error *error);

#endif
