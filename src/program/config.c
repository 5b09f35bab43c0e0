/* program/config.c: the table of settings, and how a value of one is read. */
#include "program/config.h"

#include <string.h>

#include "base/clock.h"
#include "base/duration.h"
#include "base/error.h"
#include "base/guess.h"
#include "base/scan.h"
#include "base/text.h"
#include "program/config_file.h"

/* The sections; that of the workers, which has a name, is the last. */
static const char *const sections[] = {"store", "log", "scheduler", "worker"};
#define SECTIONS (sizeof(sections) / sizeof(sections[0]))

static const char *const durabilities[] = {"full", "normal", NULL};
static const char *const levels[] = {"debug", "info", "warning", "error", NULL};
static const char *const formats[] = {"logfmt", "json", NULL};
static const char *const switches[] = {"no", "yes", NULL};

#define IN(field) offsetof(struct alk__config, field)
#define IN_WORKER(field) offsetof(struct alk__worker_config, field)
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
    {"worker", "queues", NULL, NULL, NULL, ALK__SETTING_NAMES, IN_WORKER(queues), false, 1, 64, NULL},
    {"worker", "command", NULL, NULL, NULL, ALK__SETTING_COMMAND, IN_WORKER(command), false, 1, 0, NULL},
    {"worker", "concurrency", NULL, NULL, "1", INTEGER(IN_WORKER(concurrency), 1, ALK__CONCURRENCY_MAX)},
    {"worker", "timeout", NULL, NULL, "1h", DURATION(IN_WORKER(timeout_us), ALK__MS, 3650 * ALK__DAY)},
};
/* clang-format on */
const size_t alk__config_table_count = sizeof(alk__config_table) / sizeof(alk__config_table[0]);

/* ---- one value ---- */

static alk_status refuse_number(const struct alk__setting *setting, const char *text,
                                alk_error *error) {
    return alk__fail(error, ALK_INVALID, "%s is a number from %lld to %lld, not '%s'", setting->key,
                     (long long)setting->least, (long long)setting->most,
                     alk__excerpt_of(alk__text_of(text)).text);
}

static alk_status read_integer(const struct alk__setting *setting, const char *text,
                               int64_t *ret_number, alk_error *error) {
    struct alk__scan scan = {alk__text_of(text), 0};
    int64_t number;

    if (alk__scan_digits(&scan, 18, &number) == 0 || alk__scan_peek(&scan) != -1 ||
        number < setting->least || number > setting->most)
        return refuse_number(setting, text, error);
    *ret_number = number;
    return ALK_OK;
}

static alk_status read_duration(const struct alk__setting *setting, const char *text,
                                int64_t *ret_us, alk_error *error) {
    char least[ALK__DURATION_BYTES], most[ALK__DURATION_BYTES];
    int64_t us;
    alk_status st = alk__duration_parse(alk__text_of(text), &us, error);

    if (st != ALK_OK)
        return alk__wrap(error, st, "%s", setting->key);
    if (us < setting->least || us > setting->most) {
        alk__duration_format(setting->least, least, sizeof(least));
        alk__duration_format(setting->most, most, sizeof(most));
        return alk__fail(error, ALK_INVALID, "%s is from %s to %s, not '%s'", setting->key, least,
                         most, alk__excerpt_of(alk__text_of(text)).text);
    }
    *ret_us = us;
    return ALK_OK;
}

static alk_status read_choice(const struct alk__setting *setting, const char *text,
                              int64_t *ret_place, alk_error *error) {
    struct alk__buffer words = ALK__BUFFER_INIT(256);

    for (size_t i = 0; setting->choices[i] != NULL; i++) {
        if (strcmp(setting->choices[i], text) == 0) {
            *ret_place = (int64_t)i;
            alk__buffer_release(&words);
            return ALK_OK;
        }
        alk__buffer_addf(&words, "%s%s", i == 0 ? "" : ", ", setting->choices[i]);
    }
    alk__fail(error, ALK_INVALID, "%s is one of %s, not '%s'", setting->key,
              words.bytes != NULL ? words.bytes : "", alk__excerpt_of(alk__text_of(text)).text);
    alk__buffer_release(&words);
    return ALK_INVALID;
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
        return read_integer(setting, text, field, error);
    case ALK__SETTING_DURATION:
        return read_duration(setting, text, field, error);
    case ALK__SETTING_CHOICE:
        return read_choice(setting, text, field, error);
    case ALK__SETTING_NAMES:
    case ALK__SETTING_COMMAND:
        return read_words(setting, arena, text, field, error);
    }
    return ALK_OK;
}

/* ---- the file ---- */

/* What the reader of the file needs to know from line to line. given has a bit for each setting
 * that the section has had. */
struct reading {
    struct alk__config *config;
    struct alk__worker_config *worker; /* of the section, NULL in the others */
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
    reading->worker = &config->workers[config->worker_count++];
    reading->worker->name = name;
    return set_presets("worker", reading->worker, &config->memory, error);
}

static alk_status start_section(struct reading *reading, const struct alk__config_line *line,
                                alk_error *error) {
    size_t i = 0;

    while (i < SECTIONS && strcmp(sections[i], line->section) != 0)
        i++;
    if (i == SECTIONS)
        return refuse_word("section", line->section, alk__guess(line->section, sections, SECTIONS),
                           error);
    reading->worker = NULL;
    reading->given = 0;
    if (strcmp(line->section, "worker") == 0)
        return start_worker(reading, line->name, error);
    if (line->name[0] != '\0')
        return alk__fail(error, ALK_INVALID, "[%s] has no name", line->section);
    return ALK_OK;
}

static alk_status refuse_key(const struct alk__config_line *line, alk_error *error) {
    const char *keys[32];
    size_t count = 0;

    for (size_t i = 0; i < alk__config_table_count && count < 32; i++) {
        if (strcmp(alk__config_table[i].section, line->section) == 0)
            keys[count++] = alk__config_table[i].key;
    }
    return refuse_word("key", line->key, alk__guess(line->key, keys, count), error);
}

static alk_status read_entry(struct reading *reading, const struct alk__config_line *line,
                             alk_error *error) {
    for (size_t i = 0; i < alk__config_table_count; i++) {
        const struct alk__setting *setting = &alk__config_table[i];
        void *base = reading->worker != NULL ? (void *)reading->worker : reading->config;

        if (strcmp(setting->section, line->section) != 0 || strcmp(setting->key, line->key) != 0)
            continue;
        if (reading->given & UINT64_C(1) << i)
            return alk__fail(error, ALK_INVALID, "'%s' stands here a second time", line->key);
        reading->given |= UINT64_C(1) << i;
        return apply(setting, base, &reading->config->memory, line->value, error);
    }
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
    return st;
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

    for (size_t i = 0; st == ALK_OK && i < SECTIONS - 1; i++)
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

/* ---- printing ---- */

/* A word as the reader of words takes it back. */
static void print_word(const char *word, FILE *stream) {
    if (word[0] != '\0' && strpbrk(word, " \t,'\"\\") == NULL) {
        fprintf(stream, " %s", word);
        return;
    }
    fprintf(stream, " '");
    for (; *word != '\0'; word++) {
        if (*word == '\'')
            fprintf(stream, "'\\''");
        else
            fputc(*word, stream);
    }
    fprintf(stream, "'");
}

static void print_setting(const struct alk__setting *setting, const void *base, FILE *stream) {
    const void *field = (const char *)base + setting->offset;
    const struct alk__words *words = field;
    char text[ALK__DURATION_BYTES];

    fprintf(stream, "%s =", setting->key);
    switch (setting->kind) {
    case ALK__SETTING_TEXT:
        fprintf(stream, " %s", setting->is_secret ? "(hidden)" : *(const char *const *)field);
        break;
    case ALK__SETTING_INTEGER:
        fprintf(stream, " %lld", (long long)*(const int64_t *)field);
        break;
    case ALK__SETTING_DURATION:
        alk__duration_format(*(const int64_t *)field, text, sizeof(text));
        fprintf(stream, " %s", text);
        break;
    case ALK__SETTING_CHOICE:
        fprintf(stream, " %s", setting->choices[*(const int64_t *)field]);
        break;
    case ALK__SETTING_NAMES:
    case ALK__SETTING_COMMAND:
        for (size_t i = 0; i < words->count; i++)
            print_word(words->items[i], stream);
        break;
    }
    fprintf(stream, "\n");
}

/* A text or a number without a default may not have been set at all. */
static bool is_set(const struct alk__setting *setting, const void *base) {
    const void *field = (const char *)base + setting->offset;

    if (setting->kind == ALK__SETTING_TEXT)
        return *(const char *const *)field != NULL;
    return setting->preset != NULL || setting->kind != ALK__SETTING_INTEGER ||
           *(const int64_t *)field != 0;
}

static void print_section(const char *section, const void *base, FILE *stream) {
    for (size_t i = 0; i < alk__config_table_count; i++) {
        const struct alk__setting *setting = &alk__config_table[i];

        if (strcmp(setting->section, section) == 0 && is_set(setting, base))
            print_setting(setting, base, stream);
    }
}

void alk__config_print(const struct alk__config *config, FILE *stream) {
    for (size_t i = 0; i < SECTIONS - 1; i++) {
        fprintf(stream, "[%s]\n", sections[i]);
        print_section(sections[i], config, stream);
    }
    for (size_t i = 0; i < config->worker_count; i++) {
        fprintf(stream, "[worker %s]\n", config->workers[i].name);
        print_section("worker", &config->workers[i], stream);
    }
}

static bool words_equal(const struct alk__words *left, const struct alk__words *right) {
    size_t i = 0;

    while (i < left->count && i < right->count && strcmp(left->items[i], right->items[i]) == 0)
        i++;
    return i == left->count && i == right->count;
}

bool alk__worker_config_equal(const struct alk__worker_config *left,
                              const struct alk__worker_config *right) {
    return strcmp(left->name, right->name) == 0 && words_equal(&left->queues, &right->queues) &&
           words_equal(&left->command, &right->command) &&
           left->concurrency == right->concurrency && left->timeout_us == right->timeout_us;
}
