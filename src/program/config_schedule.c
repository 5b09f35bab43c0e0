/* program/config_schedule.c: from sections to schedules, and to the loops that run commands. */
#include "program/config_schedule.h"

#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

#define QUEUE_PREFIX "schedule:"
#define SCHEDULES_FIRST 16

/* ---- one section ---- */

/* Room for one more in both lists, which double. */
static bool has_room(struct alk__config *config) {
    size_t count = config->schedule_count;
    alk_schedule *schedules;
    struct alk__schedule_section *sections;

    if (count > 0 && (count < SCHEDULES_FIRST || (count & (count - 1)) != 0))
        return true;
    schedules = alk__arena_alloc(&config->memory,
                                 (count == 0 ? SCHEDULES_FIRST : 2 * count) * sizeof(*schedules));
    sections = alk__arena_alloc(&config->memory,
                                (count == 0 ? SCHEDULES_FIRST : 2 * count) * sizeof(*sections));
    if (schedules == NULL || sections == NULL)
        return false;
    if (count > 0) {
        memcpy(schedules, config->schedules, count * sizeof(*schedules));
        memcpy(sections, config->sections, count * sizeof(*sections));
    }
    config->schedules = schedules;
    config->sections = sections;
    return true;
}

alk_status alk__config_schedule_start(struct alk__config *config,
                                      const struct alk__config_line *line,
                                      struct alk__schedule_section **ret_section,
                                      alk_error *error) {
    alk_status st = alk__name_check("schedule", line->name, error);
    size_t place = config->schedule_count;

    if (st != ALK_OK)
        return st;
    for (size_t i = 0; i < place; i++) {
        if (strcmp(config->schedules[i].name, line->name) == 0)
            return alk__fail(error, ALK_INVALID, "[schedule %s] stands here a second time",
                             line->name);
    }
    if (place == ALK__SCHEDULES_MAX)
        return alk__fail(error, ALK_INVALID, "more than %d schedules", ALK__SCHEDULES_MAX);
    if (!has_room(config))
        return alk__nomem(error);
    config->schedules[place] = (alk_schedule)ALK_SCHEDULE_INIT;
    config->schedules[place].name = line->name;
    config->sections[place] =
        (struct alk__schedule_section){.line = line->number, .spec_line = line->number};
    *ret_section = &config->sections[place];
    config->schedule_count++;
    return ALK_OK;
}

alk_status alk__config_schedule_key(struct alk__config *config, const struct alk__config_line *line,
                                    alk_error *error) {
    const struct alk__schedule_setting *setting = alk__schedule_setting_find(line->key);
    alk_schedule *schedule = &config->schedules[config->schedule_count - 1];
    struct alk__schedule_section *section = &config->sections[config->schedule_count - 1];
    alk_status st;

    if (section->given & setting->field)
        return alk__fail(error, ALK_INVALID, "'%s' stands here a second time", line->key);
    section->given |= setting->field;
    st = alk__schedule_setting_read(setting, line->key, line->value, schedule, error);
    if (st != ALK_OK)
        return st;
    if (setting->field == ALK_SCHEDULE_SPEC)
        section->spec_line = line->number;
    if (setting->field == ALK_SCHEDULE_QUEUE)
        return alk__name_check("queue", schedule->queue, error);
    if (setting->field == ALK_SCHEDULE_PAYLOAD && schedule->payload != NULL)
        return alk__json_check("payload", alk__text_of(schedule->payload), ALK__PAYLOAD_MAX, error);
    return ALK_OK;
}

/* ---- the loops that run commands ---- */

static const char *server_of(const struct alk__config *config, const char *queue) {
    for (size_t i = 0; i < config->worker_count; i++) {
        const struct alk__words *queues = &config->workers[i].queues;

        for (size_t j = 0; j < queues->count; j++) {
            if (strcmp(queues->items[j], queue) == 0)
                return config->workers[i].name;
        }
    }
    return NULL;
}

/* A loop of its own, while there are few; else the emptiest with the same time-out. NULL: there is
 * none to be had. */
static struct alk__worker_config *choose_loop(struct alk__config *config, int64_t timeout_us) {
    struct alk__worker_config *best = NULL;
    int loops = 0;

    for (size_t i = 0; i < config->worker_count; i++) {
        struct alk__worker_config *each = &config->workers[i];

        if (each->commands == NULL)
            continue;
        loops++;
        if (each->timeout_us == timeout_us && each->queues.count < ALK__QUEUES_MAX &&
            (best == NULL || each->queues.count < best->queues.count))
            best = each;
    }
    if (best != NULL && loops >= ALK__COMMAND_LOOPS_MAX)
        return best;
    return config->worker_count < ALK__WORKERS_MAX ? &config->workers[config->worker_count] : NULL;
}

static alk_status start_loop(struct alk__config *config, const char *name, int64_t timeout_us,
                             alk_error *error) {
    struct alk__worker_config *loop = &config->workers[config->worker_count];

    *loop = (struct alk__worker_config){.name = name, .timeout_us = timeout_us};
    loop->queues.items =
        alk__arena_alloc(&config->memory, (ALK__QUEUES_MAX + 1) * sizeof(*loop->queues.items));
    loop->commands = alk__arena_alloc(&config->memory, ALK__QUEUES_MAX * sizeof(*loop->commands));
    if (loop->queues.items == NULL || loop->commands == NULL)
        return alk__nomem(error);
    config->worker_count++;
    return ALK_OK;
}

/* Each brings its own concurrency: a command that takes long is waited for by its own schedule
 * alone. */
static alk_status serve(struct alk__config *config, const alk_schedule *schedule,
                        const struct alk__schedule_section *section, alk_error *error) {
    struct alk__worker_config *loop = choose_loop(config, section->timeout_us);
    const char *server = server_of(config, schedule->queue);
    char *queue = alk__arena_text(&config->memory, schedule->queue);

    if (server != NULL)
        return alk__fail(error, ALK_INVALID,
                         "queue '%s' has a command here, but '%s' serves it already",
                         schedule->queue, server);
    if (loop == NULL)
        return alk__fail(error, ALK_INVALID, "more than %d workers", ALK__WORKERS_MAX);
    if (queue == NULL)
        return alk__nomem(error);
    if (loop->commands == NULL &&
        start_loop(config, schedule->name, section->timeout_us, error) != ALK_OK)
        return ALK_NOMEM;
    loop->commands[loop->queues.count] = section->command;
    loop->queues.items[loop->queues.count++] = queue;
    loop->concurrency += section->concurrency;
    if (loop->concurrency > ALK__CONCURRENCY_MAX)
        loop->concurrency = ALK__CONCURRENCY_MAX;
    return ALK_OK;
}

/* ---- all sections ---- */

static alk_status check_spec(struct alk__config *config, const alk_schedule *schedule,
                             struct alk__schedule_section *section, alk_error *error) {
    alk_when *when = NULL;
    alk_status st = alk__schedule_check(schedule, &when, error);

    if (st != ALK_OK)
        return st;
    section->warning = alk__arena_text(&config->memory, alk_when_warning(when));
    alk_when_free(when);
    return section->warning != NULL ? ALK_OK : alk__nomem(error);
}

static alk_status choose_queue(struct alk__config *config, alk_schedule *schedule,
                               struct alk__schedule_section *section, alk_error *error) {
    char queue[sizeof(QUEUE_PREFIX) + ALK__NAME_MAX];

    if (schedule->queue != NULL)
        return ALK_OK;
    snprintf(queue, sizeof(queue), QUEUE_PREFIX "%s", schedule->name);
    if (strlen(queue) > ALK__NAME_MAX)
        return alk__fail(error, ALK_INVALID, "a name so long needs a queue");
    schedule->queue = alk__arena_text(&config->memory, queue);
    section->given |= ALK_SCHEDULE_QUEUE;
    return schedule->queue != NULL ? ALK_OK : alk__nomem(error);
}

/* All but the spec. */
static alk_status finish(struct alk__config *config, alk_schedule *schedule,
                         struct alk__schedule_section *section, alk_error *error) {
    bool has_command = section->command.count > 0;
    alk_status st;

    if (schedule->spec == NULL)
        return alk__fail(error, ALK_INVALID, "there is no spec");
    if (schedule->queue == NULL && !has_command)
        return alk__fail(error, ALK_INVALID, "there is neither a queue nor a command");
    if (!has_command && (section->concurrency > 0 || section->timeout_us > 0))
        return alk__fail(error, ALK_INVALID, "there is a %s but no command",
                         section->timeout_us > 0 ? "timeout" : "concurrency");
    if (has_command && section->concurrency == 0)
        section->concurrency = 1;
    if (has_command && section->timeout_us == 0)
        section->timeout_us = ALK__COMMAND_TIMEOUT_US;
    st = choose_queue(config, schedule, section, error);
    return st == ALK_OK && has_command ? serve(config, schedule, section, error) : st;
}

alk_status alk__config_schedules_finish(struct alk__config *config, const char *path,
                                        alk_error *error) {
    for (size_t i = 0; i < config->schedule_count; i++) {
        alk_schedule *schedule = &config->schedules[i];
        struct alk__schedule_section *section = &config->sections[i];
        int line = section->line;
        alk_status st = finish(config, schedule, section, error);

        if (st == ALK_OK) {
            st = check_spec(config, schedule, section, error);
            line = section->spec_line;
        }
        if (st != ALK_OK)
            return alk__wrap(error, st, "%s:%d: schedule '%s'", path, line, schedule->name);
    }
    if (config->set == NULL || alk__name_check("set", config->set, error) == ALK_OK)
        return ALK_OK;
    return alk__wrap(error, ALK_INVALID, "%s", path);
}
