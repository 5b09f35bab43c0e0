/* program/crontab_config.c: the writer behind `alk schedule import`. */
#include "program/crontab_config.h"

#include <string.h>

#include "base/error.h"
#include "program/crontab.h"
#include "program/crontab_name.h"

#include <alkstore/when.h>

#define SHELL_DEFAULT "/bin/sh"

struct variable {
    const char *name;
    const char *value;
};

/* What is known between two lines: the variables are those above the line. */
struct writer {
    const struct alk__crontab_import *import;
    struct alk__buffer *config;
    struct alk__arena *memory;
    struct variable variables[ALK__CRONTAB_VARIABLES_MAX];
    size_t variable_count;
    const char *zone;
    const char *shell;
    const char **names; /* of the schedules so far */
    int schedules;
    int left;
};

/* ---- text ---- */

/* Any bytes on one line of UTF-8, '?' for what cannot be shown. */
static void add_shown(struct alk__buffer *buffer, struct alk__text text) {
    for (size_t at = 0; at < text.length;) {
        size_t step = alk__utf8_step(text.bytes + at, text.length - at);

        if (step == 0 || (text.bytes[at] != '\t' && alk__utf8_is_control(text.bytes + at, step)))
            alk__buffer_add(buffer, "?", 1);
        else
            alk__buffer_add(buffer, text.bytes + at, step);
        at += step > 0 ? step : 1;
    }
}

/* prefix and text as one word, quoted as program/words.h reads it; prefix has no quotes. */
static void add_quoted(struct alk__buffer *buffer, const char *prefix, const char *text) {
    alk__buffer_addf(buffer, "'%s", prefix);
    for (const char *quote; (quote = strchr(text, '\'')) != NULL; text = quote + 1) {
        alk__buffer_add(buffer, text, (size_t)(quote - text));
        alk__buffer_add_text(buffer, "'\\''");
    }
    alk__buffer_add_text(buffer, text);
    alk__buffer_add_text(buffer, "'");
}

/* The same, and without quotes where none are needed. */
static void add_word(struct alk__buffer *buffer, const char *text) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "/._-";

    if (text[0] == '\0' || text[strspn(text, plain)] != '\0') {
        add_quoted(buffer, "", text);
        return;
    }
    alk__buffer_add_text(buffer, text);
}

/* An empty line, where there is none yet. */
static void add_blank(struct alk__buffer *buffer) {
    size_t length = buffer->length;

    if (length < 2 || buffer->bytes[length - 1] != '\n' || buffer->bytes[length - 2] != '\n')
        alk__buffer_add_text(buffer, "\n");
}

static void add_comment(struct writer *writer, struct alk__text text) {
    alk__buffer_add_text(writer->config, "# ");
    add_shown(writer->config, text);
    alk__buffer_add_text(writer->config, "\n");
}

/* ---- what is left out ---- */

static void tell(struct writer *writer, int line, struct alk__text text, const char *reason) {
    writer->left++;
    if (writer->import->left != NULL)
        writer->import->left(line, text, reason, writer->import->context);
}

static void leave_out(struct writer *writer, const struct alk__crontab_line *line,
                      const char *reason) {
    alk__buffer_addf(writer->config, "# Not carried over, line %d: %s:\n", line->number, reason);
    add_comment(writer, line->text);
    tell(writer, line->number, line->text, reason);
}

/* ---- variables ---- */

/* Variables that say something to cron itself and have no meaning here. */
static const struct {
    const char *name;
    const char *reason;
} crons_own[] = {
    {"MAILTO", "alk run logs what commands write and mails nothing"},
    {"MAILFROM", "alk run mails nothing"},
    {"CONTENT_TYPE", "alk run mails nothing"},
    {"CONTENT_TRANSFER_ENCODING", "alk run mails nothing"},
    {"RANDOM_DELAY", "a schedule's own delay is its jitter"},
};

static const char *reason_against(const char *name) {
    for (size_t i = 0; i < sizeof(crons_own) / sizeof(crons_own[0]); i++) {
        if (strcmp(crons_own[i].name, name) == 0)
            return crons_own[i].reason;
    }
    return NULL;
}

/* false: there is no room for one more. */
static bool set_variable(struct writer *writer, const char *name, const char *value) {
    size_t i = 0;

    while (i < writer->variable_count && strcmp(writer->variables[i].name, name) != 0)
        i++;
    if (i == ALK__CRONTAB_VARIABLES_MAX)
        return false;
    writer->variables[i] = (struct variable){name, value};
    if (i == writer->variable_count)
        writer->variable_count++;
    return true;
}

static void take_variable(struct writer *writer, const struct alk__crontab_line *line) {
    const char *reason = reason_against(line->name);

    /* An empty MAILTO asks for no mail, and none is what there is. */
    if (reason != NULL && line->value[0] != '\0') {
        leave_out(writer, line, reason);
        return;
    }
    if (strcmp(line->name, "CRON_TZ") == 0)
        writer->zone = line->value[0] != '\0' ? line->value : writer->import->zone;
    else if (reason == NULL && !set_variable(writer, line->name, line->value)) {
        leave_out(writer, line, "there are too many variables above it");
        return;
    }
    if (strcmp(line->name, "SHELL") == 0)
        writer->shell = line->value[0] != '\0' ? line->value : SHELL_DEFAULT;
    add_comment(writer, line->text);
    if (strcmp(line->name, "TZ") == 0)
        add_comment(writer, ALK__TEXT("(for the commands below; as with cron it moves no times)"));
}

/* ---- entries ---- */

static bool is_taken(const struct writer *writer, const char *name) {
    for (int i = 0; i < writer->schedules; i++) {
        if (strcmp(writer->names[i], name) == 0)
            return true;
    }
    return false;
}

/* A name that no schedule has yet: that of the command, with the number of the line where it must
 * be told from another. NULL: no memory. */
static const char *choose_name(struct writer *writer, const struct alk__crontab_line *line) {
    char name[ALK__CRONTAB_NAME_BYTES + 1 + ALK__NAME_MAX];
    size_t length;

    alk__crontab_name(line->command, name);
    while (is_taken(writer, name) && (length = strlen(name)) < ALK__NAME_MAX - 8)
        snprintf(name + length, sizeof(name) - length, "-%d", line->number);
    return alk__arena_text(writer->memory, name);
}

/* Whether `exec </dev/null; ...` is written in the shell's own words. */
static bool is_bourne(const char *shell) {
    static const char *const shells[] = {"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh"};
    const char *slash = strrchr(shell, '/');

    for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
        if (strcmp(shells[i], slash != NULL ? slash + 1 : shell) == 0)
            return true;
    }
    return false;
}

/* The text for printf's %b, which brings line breaks into a file that has one a line. */
static void add_input(struct alk__buffer *config, const char *input) {
    struct alk__buffer escaped = ALK__BUFFER_INIT(2 * ALK__CRONTAB_BYTES_MAX);

    for (; *input != '\0'; input++) {
        if (*input == '\n')
            alk__buffer_add_text(&escaped, "\\n");
        else
            alk__buffer_add(&escaped, *input == '\\' ? "\\\\" : input, *input == '\\' ? 2 : 1);
    }
    add_quoted(config, "", escaped.bytes != NULL ? escaped.bytes : "");
    config->is_failed |= escaped.is_failed;
    alk__buffer_release(&escaped);
}

static void add_variables(struct writer *writer) {
    if (writer->variable_count > 0)
        alk__buffer_add_text(writer->config, "/usr/bin/env ");
    for (size_t i = 0; i < writer->variable_count; i++) {
        alk__buffer_addf(writer->config, "%s=", writer->variables[i].name);
        if (writer->variables[i].value[0] != '\0')
            add_word(writer->config, writer->variables[i].value);
        alk__buffer_add_text(writer->config, " ");
    }
}

/* What cron did before it ran a command: `cd` goes home, and stdin is not the job's payload. A text
 * for stdin, and a shell that speaks another language, need a shell around it. */
static void add_command(struct writer *writer, const struct alk__crontab_line *line) {
    struct alk__buffer *config = writer->config;
    const char *input = line->input != NULL ? line->input : "";

    alk__buffer_add_text(config, "command = ");
    add_variables(writer);
    if (input[0] == '\0' && is_bourne(writer->shell)) {
        add_word(config, writer->shell);
        alk__buffer_add_text(config, " -c ");
        add_quoted(config, "cd; exec </dev/null; ", line->command);
    } else {
        alk__buffer_add_text(config, "/bin/sh -c 'cd; printf %b \"$1\" | \"$0\" -c \"$2\"' ");
        add_word(config, writer->shell);
        alk__buffer_add_text(config, " ");
        add_input(config, input);
        alk__buffer_add_text(config, " ");
        add_quoted(config, "", line->command);
    }
    alk__buffer_add_text(config, "\n");
}

static void add_section(struct writer *writer, const struct alk__crontab_line *line,
                        const char *name) {
    static const char reason[] = "the user, since alk run is one user and runs all commands";
    struct alk__buffer *config = writer->config;

    alk__buffer_addf(config, "[schedule %s]\n", name);
    if (line->user != NULL) {
        struct alk__text user = alk__text_of(line->user);

        alk__buffer_addf(config, "# Not carried over, line %d: %s:\n", line->number, reason);
        add_comment(writer, user);
        tell(writer, line->number, user, reason);
    }
    alk__buffer_addf(config, "spec = %s\n", line->spec);
    if (strcmp(writer->zone, "UTC") != 0)
        alk__buffer_addf(config, "zone = %s\n", writer->zone);
    alk__buffer_add_text(config, "catchup = skip\nmax_attempts = 1\n");
    add_command(writer, line);
    add_blank(config);
}

static alk_status take_entry(struct writer *writer, const struct alk__crontab_line *line,
                             alk_error *error) {
    alk_when_options options = ALK_WHEN_OPTIONS_INIT;
    alk_error why = ALK_ERROR_INIT;
    alk_when *when = NULL;
    alk_status st;

    if (writer->schedules == ALK__CRONTAB_ENTRIES_MAX)
        return alk__fail(error, ALK_INVALID, "has more than %d entries", ALK__CRONTAB_ENTRIES_MAX);
    options.name = choose_name(writer, line);
    options.zone = writer->zone;
    if (options.name == NULL)
        return alk__nomem(error);
    st = alk_when_parse(line->spec, &options, &when, &why);
    alk_when_free(when);
    if (st == ALK_NOMEM)
        return alk__nomem(error);
    if (st != ALK_OK) {
        leave_out(writer, line, why.message);
        return ALK_OK;
    }
    add_section(writer, line, options.name);
    writer->names[writer->schedules++] = options.name;
    return ALK_OK;
}

/* ---- the whole ---- */

static alk_status take_line(struct writer *writer, const struct alk__crontab_line *line,
                            alk_error *error) {
    switch (line->kind) {
    case ALK__CRONTAB_BLANK:
        add_blank(writer->config);
        return ALK_OK;
    case ALK__CRONTAB_COMMENT:
        add_shown(writer->config, line->text);
        alk__buffer_add_text(writer->config, "\n");
        return ALK_OK;
    case ALK__CRONTAB_VARIABLE:
        take_variable(writer, line);
        return ALK_OK;
    case ALK__CRONTAB_ENTRY:
        return take_entry(writer, line, error);
    case ALK__CRONTAB_BROKEN:
        leave_out(writer, line, line->reason);
        return ALK_OK;
    }
    return ALK_OK;
}

static void add_heading(struct writer *writer) {
    alk__buffer_addf(writer->config,
                     "# Made from a crontab by alk schedule import, to the times of the zone %s.\n"
                     "# alk run runs the commands, as its own user and with its environment; what "
                     "they write is\n"
                     "# in its log, and after an hour they are ended. 'cd' and '</dev/null' are "
                     "what cron did.\n\n",
                     writer->zone);
}

static alk_status write_all(struct writer *writer, struct alk__text text, alk_error *error) {
    struct alk__crontab crontab = {
        .text = text, .is_system = writer->import->is_system, .memory = writer->memory};
    struct alk__crontab_line line;
    alk_status st;

    writer->names =
        alk__arena_alloc(writer->memory, ALK__CRONTAB_ENTRIES_MAX * sizeof(*writer->names));
    if (writer->names == NULL)
        return alk__nomem(error);
    add_heading(writer);
    while ((st = alk__crontab_next(&crontab, &line, error)) == ALK_OK) {
        st = take_line(writer, &line, error);
        if (st != ALK_OK)
            return st;
        if (writer->config->is_failed)
            return alk__fail(error, ALK_INVALID, "becomes more than a configuration's %s bytes",
                             alk__number_of(writer->config->maximum).text);
    }
    return st == ALK_EMPTY ? ALK_OK : st;
}

alk_status alk__crontab_convert(struct alk__text text, const struct alk__crontab_import *import,
                                struct alk__buffer *config, int *ret_schedules, int *ret_left,
                                alk_error *error) {
    struct alk__arena memory = {NULL};
    struct writer writer = {.import = import,
                            .config = config,
                            .memory = &memory,
                            .zone = import->zone,
                            .shell = SHELL_DEFAULT};
    alk_status st;

    if (text.length > ALK__CRONTAB_BYTES_MAX)
        return alk__fail(error, ALK_INVALID, "is larger than %s bytes",
                         alk__number_of(ALK__CRONTAB_BYTES_MAX).text);
    st = write_all(&writer, text, error);
    alk__arena_free(&memory);
    if (st == ALK_OK) {
        *ret_schedules = writer.schedules;
        *ret_left = writer.left;
    }
    return st;
}
