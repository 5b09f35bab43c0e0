/* cli/command.h: what a command is, and what it is given. One command, one file, one entry at its
 * end; the table of entries is in commands.c and makes the help, too. */
#ifndef ALK_CLI_COMMAND_H
#define ALK_CLI_COMMAND_H

#include "program/config.h"
#include "program/schedule_settings.h"

#include <alkstore.h>

/* An option with a number, duration or time that was not given. */
#define ALK__NOT_GIVEN INT64_MIN

/* Everything that the options and words of any command may say. */
struct alk__arguments {
    const struct alk__command *command;
    struct alk__arena *memory;

    struct alk__words operands; /* the words that are no options */
    struct alk__words tail;     /* what stands behind --, where the command wants that apart */

    const char *store;
    bool is_json;
    bool is_help;

    const char *config; /* texts: NULL = not given */
    const char *log_format;
    const char *log_level;
    const char *many;
    const char *name;
    const char *queue;
    const char *state;
    const char *unique;
    const char *unique_until;
    const char *zone;
    struct alk__words headers;

    alk_schedule schedule; /* what the options of schedules say, and which were given */
    unsigned schedule_fields;

    int64_t after_us; /* numbers: ALK__NOT_GIVEN */
    int64_t at_us;
    int64_t concurrency;
    int64_t count;
    int64_t delay_us;
    int64_t expires_us;
    int64_t from_us;
    int64_t limit;
    int64_t max_attempts;
    int64_t priority;
    int64_t timeout_us;
    int64_t to_us;
    int64_t ttl_us;
    int64_t unique_for_us;

    bool does_catchup;
    bool forget_missed;
    bool is_bad;
    bool is_check;
    bool is_drain;
    bool is_dry_run;
    bool is_once;
    bool is_reanchor;
    bool is_system;
    bool respect_overlap;
};

enum alk__option_kind {
    ALK__OPTION_FLAG,     /* bool */
    ALK__OPTION_TEXT,     /* const char * */
    ALK__OPTION_LIST,     /* struct alk__words; may be given again and again */
    ALK__OPTION_INTEGER,  /* int64_t, from least to most */
    ALK__OPTION_DURATION, /* int64_t microseconds, from least to most */
    ALK__OPTION_TIME,     /* int64_t microseconds since 1970 */
    ALK__OPTION_SCHEDULE  /* of the schedule: offset is its place in alk__schedule_settings */
};

struct alk__option {
    const char *name;     /* without its --, or its - where it is one letter */
    const char *argument; /* what the help calls its value, NULL for a flag */
    const char *help;
    enum alk__option_kind kind;
    size_t offset; /* into alk__arguments, unless kind says otherwise */
    int64_t least;
    int64_t most;
};

/* A row of alk__schedule_settings as an option. */
#define ALK__SCHEDULE_OPTION(FIELD, member, option, key, argument, kind, least, most, choices,     \
                             help)                                                                 \
    {option, argument, help, ALK__OPTION_SCHEDULE, ALK__SCHEDULE_PLACE_##FIELD, 0, 0},

struct alk__example {
    const char *line;
    const char *meaning;
};

/* name       one word, or two with a blank between them
 * usage      what stands behind the name, options left out
 * details    more sentences for its help, NULL = none
 * options    ended by an entry without a name; --store, --json and --help come with every command
 * least, most  how many operands; most -1 = any number
 * has_tail   a command to run stands behind --
 * is_offline whether it needs no store
 * run        does it and gives the exit code; it has reported whatever failed */
struct alk__command {
    const char *name;
    const char *summary;
    const char *usage;
    const char *details;
    struct alk__example examples[2];
    const struct alk__option *options;
    int least;
    int most;
    bool has_tail;
    bool is_offline;
    int (*run)(const struct alk__arguments *arguments);
};

extern const struct alk__command *const alk__commands[];
extern const size_t alk__commands_count;

/* The command that words begin with; ret_words says how many of them are its name. NULL with an
 * error that has a hint. */
const struct alk__command *alk__command_find(char *const *words, size_t count, size_t *ret_words,
                                             alk_error *error);

/* The options that every command has; ended by an entry without a name. */
extern const struct alk__option alk__common_options[];

/* Reads the words behind a command's name. ALK_OK; ALK_INVALID. */
alk_status alk__arguments_read(const struct alk__command *command, char *const *words, size_t count,
                               struct alk__arena *memory, struct alk__arguments *ret_arguments,
                               alk_error *error);

/* "-" for a name of one letter, else "--". */
const char *alk__option_dashes(const struct alk__option *option);

/* value, or preset where it was not given. */
int64_t alk__given(int64_t value, int64_t preset);

/* Borrows a connection to the store that the arguments, or a configuration, name; ended with
 * alk__access_close, also after a failure. */
struct alk__access {
    alk_store *store;
    alk_conn *conn;
};
alk_status alk__access_open(const struct alk__arguments *arguments, struct alk__access *access,
                            alk_error *error);
alk_status alk__access_configured(const struct alk__config *config, struct alk__access *access,
                                  alk_error *error);
void alk__access_close(struct alk__access *access);

/* Runs function with a connection, reports what failed (ALK_ABSENT and ALK_HELD included) and gives
 * the exit code. */
typedef alk_status (*alk__access_fn)(const struct alk__arguments *arguments, alk_conn *conn,
                                     alk_error *error);
int alk__with_store(const struct alk__arguments *arguments, alk__access_fn function);

/* Tells people, on stderr, that a list is as long as its limit. */
void alk__say_more(const struct alk__arguments *arguments, size_t count, size_t limit);

/* Prints the id that an enqueue gave. Where the status is ALK_DUPLICATE people are told so on
 * stderr, programs in the object ("duplicate", wherever --unique was given). */
void alk__print_job_id(const struct alk__arguments *arguments, int64_t id, alk_status status);

/* The configuration of a command: from its options, the environment and the file (NULL = none). */
alk_status alk__command_config(const struct alk__arguments *arguments, const char *path,
                               struct alk__config **ret_config, alk_error *error);

/* Prints the help of one command; of all of them; of those whose name begins with a word. */
void alk__help_command(const struct alk__command *command);
void alk__help_all(void);
bool alk__help_group(const char *word);

#endif
