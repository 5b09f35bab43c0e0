/* cli/options.c: the words behind a command become its arguments.
 *
 * --name VALUE and --name=VALUE, anywhere among the other words; -- ends them. An option whose name
 * is one letter has one dash (-n 3). A word of one dash (-) or with a digit behind its dash (-5) is
 * no option. */
#include <limits.h>
#include <string.h>

#include "base/error.h"
#include "base/guess.h"
#include "base/text.h"
#include "cli/command.h"
#include "program/value.h"

#define OPTIONS_MAX 64

/* clang-format off */
const struct alk__option alk__common_options[] = {
    {"store", "URL", "the store; else $ALK_STORE, else " ALK__STORE_DEFAULT, ALK__OPTION_TEXT, offsetof(struct alk__arguments, store), 0, 0},
    {"json", NULL, "JSON, one object a line", ALK__OPTION_FLAG, offsetof(struct alk__arguments, is_json), 0, 0},
    {"help", NULL, "this page", ALK__OPTION_FLAG, offsetof(struct alk__arguments, is_help), 0, 0},
    {.name = NULL},
};
/* clang-format on */

static const char *dashes(const char *name) {
    return name[1] == '\0' ? "-" : "--";
}

const char *alk__option_dashes(const struct alk__option *option) {
    return dashes(option->name);
}

int64_t alk__given(int64_t value, int64_t preset) {
    return value == ALK__NOT_GIVEN ? preset : value;
}

/* The words that are still to read. */
struct reader {
    const struct alk__command *command;
    char *const *words;
    size_t count;
    size_t at;
    struct alk__arguments *arguments;
};

/* ---- values ---- */

#define LABEL_BYTES 64

static alk_status read_schedule(const struct alk__option *option, const char *label,
                                const char *text, struct alk__arguments *arguments,
                                alk_error *error) {
    const struct alk__schedule_setting *setting = &alk__schedule_settings[option->offset];

    arguments->schedule_fields |= setting->field;
    return alk__schedule_setting_read(setting, label, text, &arguments->schedule, error);
}

static alk_status add_to_list(struct reader *reader, struct alk__words *list, const char *text,
                              alk_error *error) {
    struct alk__arena *memory = reader->arguments->memory;

    if (list->items == NULL)
        list->items = alk__arena_alloc(memory, (reader->count + 1) * sizeof(char *));
    if (list->items == NULL)
        return alk__nomem(error);
    list->items[list->count] = alk__arena_text(memory, text);
    return list->items[list->count++] == NULL ? alk__nomem(error) : ALK_OK;
}

static alk_status set_value(struct reader *reader, const struct alk__option *option,
                            const char *text, alk_error *error) {
    void *field = (char *)reader->arguments + option->offset;
    char label[LABEL_BYTES];

    snprintf(label, sizeof(label), "%s%s", dashes(option->name), option->name);
    switch (option->kind) {
    case ALK__OPTION_FLAG:
        *(bool *)field = true;
        return ALK_OK;
    case ALK__OPTION_TEXT:
        *(const char **)field = text;
        return ALK_OK;
    case ALK__OPTION_LIST:
        return add_to_list(reader, field, text, error);
    case ALK__OPTION_INTEGER:
        return alk__value_integer(label, text, option->least, option->most, field, error);
    case ALK__OPTION_DURATION:
        return alk__value_duration(label, text, option->least, option->most, field, error);
    case ALK__OPTION_TIME:
        return alk__value_time(label, text, field, error);
    case ALK__OPTION_SCHEDULE:
        return read_schedule(option, label, text, reader->arguments, error);
    }
    return ALK_OK;
}

/* ---- options ---- */

static bool is_option(const char *word) {
    return word[0] == '-' && word[1] != '\0' && !(word[1] >= '0' && word[1] <= '9');
}

static const struct alk__option *find_in(const struct alk__option *options, struct alk__text name) {
    for (; options != NULL && options->name != NULL; options++) {
        if (alk__text_is(name, options->name))
            return options;
    }
    return NULL;
}

static alk_status refuse_option(const struct alk__command *command, const char *word,
                                struct alk__text name, alk_error *error) {
    const struct alk__option *lists[] = {command->options, alk__common_options};
    const char *names[OPTIONS_MAX];
    char wanted[64];
    size_t count = 0;
    const char *guess;

    for (size_t i = 0; i < 2; i++) {
        for (const struct alk__option *each = lists[i]; each != NULL && each->name != NULL; each++)
            names[count++] = each->name;
    }
    snprintf(wanted, sizeof(wanted), "%.*s",
             (int)(name.length < sizeof(wanted) ? name.length : sizeof(wanted) - 1), name.bytes);
    guess = alk__guess(wanted, names, count);
    if (guess != NULL)
        return alk__fail(error, ALK_INVALID, "unknown option '%s' (did you mean %s%s?)",
                         alk__excerpt_of(alk__text_of(word)).text, dashes(guess), guess);
    return alk__fail(error, ALK_INVALID, "unknown option '%s' (alk help %s lists them)",
                     alk__excerpt_of(alk__text_of(word)).text, command->name);
}

static alk_status read_option(struct reader *reader, alk_error *error) {
    const char *word = reader->words[reader->at++];
    const char *start = word + (word[1] == '-' ? 2 : 1);
    const char *equals = strchr(start, '=');
    struct alk__text name = {start, equals != NULL ? (size_t)(equals - start) : strlen(start)};
    const struct alk__option *option = find_in(reader->command->options, name);
    const char *value = equals != NULL ? equals + 1 : NULL;

    if (option == NULL)
        option = find_in(alk__common_options, name);
    if (option == NULL && strcmp(word, "-h") == 0)
        option = find_in(alk__common_options, ALK__TEXT("help"));
    else if (option == NULL || (start == word + 2) != (name.length > 1))
        return refuse_option(reader->command, word, name, error);
    if (option->kind == ALK__OPTION_FLAG && value != NULL)
        return alk__fail(error, ALK_INVALID, "--%s takes no value", option->name);
    if (option->kind != ALK__OPTION_FLAG && value == NULL) {
        if (reader->at == reader->count)
            return alk__fail(error, ALK_INVALID, "%s%s needs a value (%s)", dashes(option->name),
                             option->name, option->argument);
        value = reader->words[reader->at++];
    }
    return set_value(reader, option, value, error);
}

static void set_presets(const struct alk__option *options, struct alk__arguments *arguments) {
    for (; options != NULL && options->name != NULL; options++) {
        if (options->kind == ALK__OPTION_INTEGER || options->kind == ALK__OPTION_DURATION ||
            options->kind == ALK__OPTION_TIME)
            *(int64_t *)(void *)((char *)arguments + options->offset) = ALK__NOT_GIVEN;
    }
}

/* ---- operands ---- */

static alk_status check_operands(const struct alk__arguments *arguments, alk_error *error) {
    const struct alk__command *command = arguments->command;
    size_t count = arguments->operands.count;

    if (count < (size_t)command->least || (command->has_tail && arguments->tail.count == 0))
        return alk__fail(error, ALK_INVALID, "usage: alk %s %s", command->name, command->usage);
    if (command->most >= 0 && count > (size_t)command->most)
        return alk__fail(
            error, ALK_INVALID, "'%s' is one word too many (usage: alk %s%s%s)",
            alk__excerpt_of(alk__text_of(arguments->operands.items[command->most])).text,
            command->name, command->usage[0] != '\0' ? " " : "", command->usage);
    return ALK_OK;
}

static alk_status read_rest(struct reader *reader, alk_error *error) {
    struct alk__arguments *arguments = reader->arguments;
    struct alk__words *list = reader->command->has_tail ? &arguments->tail : &arguments->operands;
    alk_status st = ALK_OK;

    while (st == ALK_OK && reader->at < reader->count)
        st = add_to_list(reader, list, reader->words[reader->at++], error);
    return st;
}

alk_status alk__arguments_read(const struct alk__command *command, char *const *words, size_t count,
                               struct alk__arena *memory, struct alk__arguments *ret_arguments,
                               alk_error *error) {
    struct reader reader = {command, words, count, 0, ret_arguments};
    alk_status st = ALK_OK;

    *ret_arguments = (struct alk__arguments){
        .command = command, .memory = memory, .schedule = ALK_SCHEDULE_INIT};
    set_presets(command->options, ret_arguments);
    while (st == ALK_OK && reader.at < count) {
        const char *word = words[reader.at];

        if (strcmp(word, "--") == 0) {
            reader.at++;
            st = read_rest(&reader, error);
        } else if (is_option(word)) {
            st = read_option(&reader, error);
        } else {
            st = add_to_list(&reader, &ret_arguments->operands, word, error);
            reader.at++;
        }
    }
    if (st == ALK_OK && !ret_arguments->is_help)
        st = check_operands(ret_arguments, error);
    return st;
}
