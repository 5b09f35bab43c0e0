/* tests/fuzz/fuzz_crontab.c: any bytes as a crontab, the first one saying which kind. What comes
 * out is a configuration: lines of UTF-8 of the few kinds there are, a section a schedule, a
 * comment for each thing left out, commands that can be cut into words, names that are there once.
 */
#include <stdlib.h>
#include <string.h>

#include "program/crontab_config.h"
#include "program/words.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t length);

static void insist(bool is_true) {
    if (!is_true)
        abort();
}

static bool begins_with(const char *line, const char *word) {
    return strncmp(line, word, strlen(word)) == 0;
}

static void check_command(const char *command) {
    struct alk__arena memory = {NULL};
    struct alk__words words;

    insist(alk__words_split(&memory, command, "", &words, NULL) == ALK_OK && words.count >= 3);
    alk__arena_free(&memory);
}

/* A line of the configuration, without its break. */
static void check_line(const char *line, int *sections, int *left) {
    static const char *const entries[] = {"spec = ", "zone = ", "catchup = ", "max_attempts = "};
    size_t i = 0;

    *sections += begins_with(line, "[schedule ");
    *left += begins_with(line, "# Not carried over, line ");
    if (line[0] == '\0' || line[0] == '#')
        return;
    if (line[0] == '[') {
        insist(line[strlen(line) - 1] == ']' && strlen(line) < 220);
        return;
    }
    if (begins_with(line, "command = ")) {
        check_command(line + strlen("command = "));
        return;
    }
    while (i < sizeof(entries) / sizeof(entries[0]) && !begins_with(line, entries[i]))
        i++;
    insist(i < sizeof(entries) / sizeof(entries[0]));
}

static void check(const struct alk__buffer *config, int schedules, int left) {
    int sections = 0, comments = 0;

    insist(alk__utf8_is_valid(config->bytes, config->length, NULL));
    for (char *line = config->bytes, *end; *line != '\0'; line = end + 1) {
        end = strchr(line, '\n');
        insist(end != NULL);
        *end = '\0';
        check_line(line, &sections, &comments);
    }
    insist(sections == schedules && comments >= left);
}

static void count(int line, struct alk__text text, const char *reason, void *context) {
    insist(line > 0 && reason[0] != '\0' && text.length < ALK__CRONTAB_BYTES_MAX);
    ++*(int *)context;
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t length) {
    struct alk__buffer config = ALK__BUFFER_INIT((size_t)1 << 20);
    int counted = 0, schedules = -1, left = -1;
    const struct alk__crontab_import import = {"Europe/Berlin", length > 0 && input[0] == 's',
                                               count, &counted};
    struct alk__text text = {(const char *)input + (length > 0), length > 0 ? length - 1 : 0};
    alk_error error = ALK_ERROR_INIT;

    if (alk__crontab_convert(text, &import, &config, &schedules, &left, &error) == ALK_OK) {
        insist(counted == left);
        check(&config, schedules, left);
    } else {
        insist(error.status == ALK_INVALID && schedules == -1);
    }
    alk__buffer_release(&config);
    return 0;
}
