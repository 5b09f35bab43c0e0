/* program/config.c: the table of settings, and how a value of one is read. Sections [schedule NAME]
 * go on in config_schedule.c. */
#include "program/config.h"

#include <string.h>

#include "base/error.h"
#include "base/guess.h"
#include "base/text.h"
#include "program/config_schedule.h"
#include "program/value.h"

/* Those that have a name come last. */
static const char *const sections[] = {"store", "log", "scheduler", "worker", "schedule"};
#define SECTIONS (sizeof(sections) / sizeof(sections[0]))
#define SECTIONS_ALONE 3

static const char *const durabilities[] = {"full", "normal", NULL};
static const char *const levels[] = {"debug", "info", "warning", "error", NULL};
static const char *const formats[] = {"logfmt", "json", NULL};
static const char *const switches[] = {"no", "yes", NULL};

#define IN(field) offsetof(struct alk__config, field)
#define IN_WORKER(field) offsetof(struct alk__worker_config, field)
#define IN_SECTION(field) offsetof(struct alk__schedule_section, field)
#define TEXT(offset) ALK__SETTING_TEXT, offset, false, 0, 0, NULL
#define SECRET(offset) ALK__SETTING_TEXT, offset, true, 0, 0, NULL
#define INTEGER(offset, least, most) ALK__SETTING_INTEGER, offset, false, least, most, NULL
#define DURATION(offset, least, most) ALK__SETTING_DURATION, offset, false, least, most, NULL
#define CHOICE(offset, choices) ALK__SETTING_CHOICE, offset, false, 0, 0, choices

/* clang-format off */
const struct alk__setting alk__config_table[] = {
    {"store", "url", "store", "ALK_STORE", ALK__STORE_DEFAULT, SECRET(IN(store_url))},
    {"store", "schema", NULL, NULL, NULL, TEXT(IN(schema))},
    {"store", "pool_max", NULL, NULL, NULL, INTEGER(IN(pool_max), 1, 1000)},
    {"store", "durability", NULL, NULL, "full", CHOICE(IN(durability), durabilities)},
    {"log", "level", "log-level", "ALK_LOG_LEVEL", "info", CHOICE(IN(log_level), levels)},
    {"log", "format", "log-format", "ALK_LOG_FORMAT", "logfmt", CHOICE(IN(log_format), formats)},
    {"scheduler", "enabled", NULL, NULL, "yes", CHOICE(IN(is_scheduler), switches)},
    {"scheduler", "name", NULL, NULL, ALK_SCHEDULER_LEASE_DEFAULT, TEXT(IN(scheduler_name))},
    {"scheduler", "ttl", NULL, NULL, "15s", DURATION(IN(ttl_us), ALK_SCHEDULER_TTL_MIN_US, ALK__DAY)},
    {"scheduler", "batch", NULL, NULL, "500", INTEGER(IN(batch), 1, 10000)},
    {"scheduler", "set", NULL, NULL, NULL, TEXT(IN(set))},
    {"worker", "queues", NULL, NULL, NULL, ALK__SETTING_NAMES, IN_WORKER(queues), false, 1, 64, NULL},
    {"worker", "command", NULL, NULL, NULL, ALK__SETTING_COMMAND, IN_WORKER(command), false, 1, 0, NULL},
    {"worker", "concurrency", NULL, NULL, "1", INTEGER(IN_WORKER(concurrency), 1, ALK__CONCURRENCY_MAX)},
    {"worker", "timeout", NULL, NULL, "1h", DURATION(IN_WORKER(timeout_us), ALK__MS, 3650 * ALK__DAY)},
    {"schedule", "command", NULL, NULL, NULL, ALK__SETTING_COMMAND, IN_SECTION(command), false, 1, 0, NULL},
    {"schedule", "concurrency", NULL, NULL, NULL, INTEGER(IN_SECTION(concurrency), 1, ALK__CONCURRENCY_MAX)},
    {"schedule", "timeout", NULL, NULL, NULL, DURATION(IN_SECTION(timeout_us), ALK__MS, 3650 * ALK__DAY)},
};
/* clang-format on */
const size_t alk__config_table_count = sizeof(alk__config_table) / sizeof(alk__config_table[0]);

/* ---- one value ---- */

static alk_status read_choice(const struct alk__setting *setting, const char *text,
                              int64_t *ret_place, alk_error *error) {
    size_t place;
    alk_status st = alk__value_choice(setting->key, text, setting->choices, &place, error);

    if (st == ALK_OK)
        *ret_place = (int64_t)place;
    return st;
}

static alk_status read_words(const struct alk__setting *setting, struct alk__arena *arena,
                             const char *text, struct alk__words *ret_words, alk_error *error) {
    bool is_names = setting->kind == ALK__SETTING_NAMES;
    alk_status st = alk__words_split(arena, text, is_names ? "," : "", ret_words, error);

    if (st != ALK_OK)
        return alk__wrap(error, st, "%s", setting->key);
    if (ret_words->count < (size_t)setting->least)
        return alk__fail(error, ALK_INVALID, "%s is empty", setting->key);
    if (is_names && ret_words->count > (size_t)setting->most)
        return alk__fail(error, ALK_INVALID, "%s has more than %lld names", setting->key,
                         (long long)setting->most);
    for (size_t i = 0; is_names && i < ret_words->count; i++) {
        st = alk__name_check("queue", ret_words->items[i], error);
        if (st != ALK_OK)
            return st;
    }
    return ALK_OK;
}

/* Reads text into the field behind the setting's offset in base. */
static alk_status apply(const struct alk__setting *setting, void *base, struct alk__arena *arena,
                        const char *text, alk_error *error) {
    void *field = (char *)base + setting->offset;

    switch (setting->kind) {
    case ALK__SETTING_TEXT:
        if (text[0] == '\0')
            return alk__fail(error, ALK_INVALID, "%s is empty", setting->key);
        *(const char **)field = text;
        return ALK_OK;
    case ALK__SETTING_INTEGER:
        return alk__value_integer(setting->key, text, setting->least, setting->most, field, error);
    case ALK__SETTING_DURATION:
        return alk__value_duration(setting->key, text, setting->least, setting->most, field, error);
    case ALK__SETTING_CHOICE:
        return read_choice(setting, text, field, error);
    case ALK__SETTING_NAMES:
    case ALK__SETTING_COMMAND:
        return read_words(setting, arena, text, field, error);
    }
    return ALK_OK;
}

/* ---- the file ---- */

/* What the reader of the file needs to know from line to line. base is what the offsets of the
 * section's settings count from; given has a bit for each setting that it has had. */
struct reading {
    struct alk__config *config;
    void *base;
    uint64_t given;
};

static alk_status refuse_word(const char *kind, const char *word, const char *guess,
                              alk_error *error) {
    if (guess != NULL)
        return alk__fail(error, ALK_INVALID, "unknown %s '%s' (did you mean '%s'?)", kind,
                         alk__excerpt_of(alk__text_of(word)).text, guess);
    return alk__fail(error, ALK_INVALID, "unknown %s '%s'", kind,
                     alk__excerpt_of(alk__text_of(word)).text);
}

static alk_status set_presets(const char *section, void *base, struct alk__arena *arena,
                              alk_error *error) {
    for (size_t i = 0; i < alk__config_table_count; i++) {
        const struct alk__setting *setting = &alk__config_table[i];
        alk_status st;

        if (strcmp(setting->section, section) != 0 || setting->preset == NULL)
            continue;
        st = apply(setting, base, arena, setting->preset, error);
        if (st != ALK_OK)
            return st;
    }
    return ALK_OK;
}

static alk_status start_worker(struct reading *reading, const char *name, alk_error *error) {
    struct alk__config *config = reading->config;
    alk_status st = alk__name_check("worker", name, error);

    if (st != ALK_OK)
        return st;
    for (size_t i = 0; i < config->worker_count; i++) {
        if (strcmp(config->workers[i].name, name) == 0)
            return alk__fail(error, ALK_INVALID, "[worker %s] stands here a second time", name);
    }
    if (config->worker_count == ALK__WORKERS_MAX)
        return alk__fail(error, ALK_INVALID, "more than %d workers", ALK__WORKERS_MAX);
    config->workers[config->worker_count].name = name;
    reading->base = &config->workers[config->worker_count++];
    return set_presets("worker", reading->base, &config->memory, error);
}

static alk_status start_schedule(struct reading *reading, const struct alk__config_line *line,
                                 alk_error *error) {
    struct alk__schedule_section *section = NULL;
    alk_status st = alk__config_schedule_start(reading->config, line, &section, error);

    reading->base = section;
    return st;
}

static alk_status start_section(struct reading *reading, const struct alk__config_line *line,
                                alk_error *error) {
    size_t i = 0;

    while (i < SECTIONS && strcmp(sections[i], line->section) != 0)
        i++;
    if (i == SECTIONS)
        return refuse_word("section", line->section, alk__guess(line->section, sections, SECTIONS),
                           error);
    reading->base = reading->config;
    reading->given = 0;
    if (strcmp(line->section, "worker") == 0)
        return start_worker(reading, line->name, error);
    if (strcmp(line->section, "schedule") == 0)
        return start_schedule(reading, line, error);
    if (line->name[0] != '\0')
        return alk__fail(error, ALK_INVALID, "[%s] has no name", line->section);
    return ALK_OK;
}

static alk_status refuse_key(const struct alk__config_line *line, alk_error *error) {
    const char *keys[16 + ALK__SCHEDULE_PLACES];
    size_t count = 0;

    for (size_t i = 0; i < alk__config_table_count && count < 16; i++) {
        if (strcmp(alk__config_table[i].section, line->section) == 0)
            keys[count++] = alk__config_table[i].key;
    }
    for (size_t i = 0; i < ALK__SCHEDULE_PLACES && strcmp(line->section, "schedule") == 0; i++)
        keys[count++] = alk__schedule_settings[i].key;
    return refuse_word("key", line->key, alk__guess(line->key, keys, count), error);
}

static alk_status read_entry(struct reading *reading, const struct alk__config_line *line,
                             alk_error *error) {
    for (size_t i = 0; i < alk__config_table_count; i++) {
        const struct alk__setting *setting = &alk__config_table[i];

        if (strcmp(setting->section, line->section) != 0 || strcmp(setting->key, line->key) != 0)
            continue;
        if (reading->given & UINT64_C(1) << i)
            return alk__fail(error, ALK_INVALID, "'%s' stands here a second time", line->key);
        reading->given |= UINT64_C(1) << i;
        return apply(setting, reading->base, &reading->config->memory, line->value, error);
    }
    if (strcmp(line->section, "schedule") == 0 && alk__schedule_setting_find(line->key) != NULL)
        return alk__config_schedule_key(reading->config, line, error);
    return refuse_key(line, error);
}

static alk_status read_config_line(const struct alk__config_line *line, void *context,
                                   alk_error *error) {
    return line->key == NULL ? start_section(context, line, error)
                             : read_entry(context, line, error);
}

static alk_status read_config(const char *path, struct alk__config *config, alk_error *error) {
    struct reading reading = {.config = config};
    alk_status st = alk__config_file_read(path, &config->memory, read_config_line, &reading, error);

    for (size_t i = 0; st == ALK_OK && i < config->worker_count; i++) {
        const struct alk__worker_config *worker = &config->workers[i];

        if (worker->queues.count == 0 || worker->command.count == 0)
            return alk__fail(error, ALK_INVALID, "%s: [worker %s] has no %s", path, worker->name,
                             worker->queues.count == 0 ? "queues" : "command");
    }
    return st == ALK_OK ? alk__config_schedules_finish(config, path, error) : st;
}

/* ---- the places in their order ---- */

static alk_status read_environment(struct alk__config *config, alk_error *error) {
    for (size_t i = 0; i < alk__config_table_count; i++) {
        const struct alk__setting *setting = &alk__config_table[i];
        const char *text = setting->environment != NULL ? getenv(setting->environment) : NULL;
        alk_status st;

        if (text == NULL || text[0] == '\0')
            continue;
        st = apply(setting, config, &config->memory, text, error);
        if (st != ALK_OK)
            return alk__wrap(error, st, "%s", setting->environment);
    }
    return ALK_OK;
}

static alk_status read_override(struct alk__config *config, const struct alk__override *override,
                                alk_error *error) {
    for (size_t i = 0; i < alk__config_table_count; i++) {
        const struct alk__setting *setting = &alk__config_table[i];
        alk_status st;

        if (setting->option == NULL || strcmp(setting->option, override->option) != 0)
            continue;
        st = apply(setting, config, &config->memory, override->value, error);
        return st == ALK_OK ? ALK_OK : alk__wrap(error, st, "--%s", setting->option);
    }
    return alk__fail(error, ALK_USAGE, "no setting has the option '%s'", override->option);
}

static alk_status fill(const char *path, const struct alk__override *overrides, size_t count,
                       struct alk__config *config, alk_error *error) {
    alk_status st = ALK_OK;

    for (size_t i = 0; st == ALK_OK && i < SECTIONS_ALONE; i++)
        st = set_presets(sections[i], config, &config->memory, error);
    if (st == ALK_OK && path != NULL)
        st = read_config(path, config, error);
    if (st == ALK_OK)
        st = read_environment(config, error);
    for (size_t i = 0; st == ALK_OK && i < count; i++) {
        if (overrides[i].value != NULL)
            st = read_override(config, &overrides[i], error);
    }
    return st;
}

alk_status alk__config_load(const char *path, const struct alk__override *overrides, size_t count,
                            struct alk__config **ret_config, alk_error *error) {
    struct alk__config *config = alk__alloc(sizeof(*config));
    alk_status st;

    if (config == NULL)
        return alk__nomem(error);
    st = fill(path, overrides, count, config, error);
    if (st != ALK_OK) {
        alk__config_free(config);
        return st;
    }
    *ret_config = config;
    return ALK_OK;
}

void alk__config_free(struct alk__config *config) {
    if (config == NULL)
        return;
    alk__arena_free(&config->memory);
    alk__free(config);
}
