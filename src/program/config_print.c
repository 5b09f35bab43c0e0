/* program/config_print.c: a configuration as text, and what of it is the same as before. */
#include <string.h>

#include "base/duration.h"
#include "program/config.h"
#include "program/schedule_settings.h"

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

/* What has no default may not have been set at all. */
static bool is_set(const struct alk__setting *setting, const void *base) {
    const void *field = (const char *)base + setting->offset;

    switch (setting->kind) {
    case ALK__SETTING_TEXT:
        return *(const char *const *)field != NULL;
    case ALK__SETTING_INTEGER:
    case ALK__SETTING_DURATION:
        return *(const int64_t *)field != 0;
    case ALK__SETTING_NAMES:
    case ALK__SETTING_COMMAND:
        return ((const struct alk__words *)field)->count > 0;
    case ALK__SETTING_CHOICE:
        break;
    }
    return true;
}

static void print_section(const char *section, const void *base, FILE *stream) {
    for (size_t i = 0; i < alk__config_table_count; i++) {
        const struct alk__setting *setting = &alk__config_table[i];

        if (strcmp(setting->section, section) == 0 && is_set(setting, base))
            print_setting(setting, base, stream);
    }
}

static void print_schedule(const alk_schedule *schedule,
                           const struct alk__schedule_section *section, FILE *stream) {
    fprintf(stream, "[schedule %s]\n", schedule->name);
    for (size_t i = 0; i < ALK__SCHEDULE_PLACES; i++) {
        const struct alk__schedule_setting *setting = &alk__schedule_settings[i];

        if ((section->given & setting->field) == 0)
            continue;
        fprintf(stream, "%s = ", setting->key);
        alk__schedule_setting_print(setting, schedule, stream);
        fprintf(stream, "\n");
    }
    print_section("schedule", section, stream);
}

void alk__config_print(const struct alk__config *config, FILE *stream) {
    static const char *const sections[] = {"store", "log", "scheduler"};

    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        fprintf(stream, "[%s]\n", sections[i]);
        print_section(sections[i], config, stream);
    }
    for (size_t i = 0; i < config->worker_count && config->workers[i].commands == NULL; i++) {
        fprintf(stream, "[worker %s]\n", config->workers[i].name);
        print_section("worker", &config->workers[i], stream);
    }
    for (size_t i = 0; i < config->schedule_count; i++)
        print_schedule(&config->schedules[i], &config->sections[i], stream);
}

static bool words_equal(const struct alk__words *left, const struct alk__words *right) {
    size_t i = 0;

    while (i < left->count && i < right->count && strcmp(left->items[i], right->items[i]) == 0)
        i++;
    return i == left->count && i == right->count;
}

/* Of two workers with the same queues. */
static bool commands_equal(const struct alk__worker_config *left,
                           const struct alk__worker_config *right) {
    if ((left->commands == NULL) != (right->commands == NULL))
        return false;
    if (left->commands == NULL)
        return words_equal(&left->command, &right->command);
    for (size_t i = 0; i < left->queues.count; i++) {
        if (!words_equal(&left->commands[i], &right->commands[i]))
            return false;
    }
    return true;
}

bool alk__worker_config_equal(const struct alk__worker_config *left,
                              const struct alk__worker_config *right) {
    return strcmp(left->name, right->name) == 0 && words_equal(&left->queues, &right->queues) &&
           commands_equal(left, right) && left->concurrency == right->concurrency &&
           left->timeout_us == right->timeout_us;
}
