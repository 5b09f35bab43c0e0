/* program/config.h: everything that can be set, from the four places where it can be set.
 *
 * Precedence: option, environment, file, default. One table (config.c) says for each setting
 * where it may come from, what it may be and where it is kept. */
#ifndef ALK_PROGRAM_CONFIG_H
#define ALK_PROGRAM_CONFIG_H

#include "base/arena.h"
#include "program/words.h"

#include <alkstore.h>

#define ALK__STORE_DEFAULT "alk.db"
#define ALK__COMMAND_TIMEOUT_US INT64_C(3600000000)
#define ALK__CONCURRENCY_MAX 1000

enum alk__log_format { ALK__LOG_LOGFMT, ALK__LOG_JSON };

/* One [worker NAME], or the loop that runs the commands of schedules. */
struct alk__worker_config {
    const char *name;
    struct alk__words queues;
    struct alk__words command;
    struct alk__words *commands; /* one for each queue; NULL: command for all of them */
    int64_t concurrency;
    int64_t timeout_us;
};

#define ALK__WORKERS_MAX 256
#define ALK__QUEUES_MAX 64

/* Schedules with a command have a loop each, with a connection to the database; from so many on
 * they share those loops. */
#define ALK__COMMAND_LOOPS_MAX 32

/* What a [schedule NAME] says beside the schedule itself. */
struct alk__schedule_section {
    unsigned given; /* which fields of the schedule, as alk_schedule_field */
    int line;       /* of its head, and of its spec */
    int spec_line;
    const char *warning;       /* what is surprising about its spec, "" if nothing */
    struct alk__words command; /* none: its jobs are for others to run */
    int64_t concurrency;
    int64_t timeout_us;
};

#define ALK__SCHEDULES_MAX 10000
#define ALK__SET_DEFAULT "config"

struct alk__config {
    const char *store_url;
    const char *schema;   /* NULL: the library's default */
    int64_t pool_max;     /* 0: the library's default, or what the loops need where that is more */
    int64_t durability;   /* an alk_durability */
    int64_t log_level;    /* an alk_level */
    int64_t log_format;   /* an alk__log_format */
    int64_t is_scheduler; /* whether the scheduler's loop runs */
    const char *scheduler_name;
    int64_t ttl_us;
    int64_t batch;
    const char *set;         /* that its schedules are, NULL = ALK__SET_DEFAULT */
    alk_schedule *schedules; /* one for each of sections */
    struct alk__schedule_section *sections;
    size_t schedule_count;
    struct alk__worker_config workers[ALK__WORKERS_MAX];
    size_t worker_count;
    struct alk__arena
        memory; /* every text above, unless it came from an option or the environment */
};

/* One setting. kind decides what its text may be and which type is behind offset. */
enum alk__setting_kind {
    ALK__SETTING_TEXT,     /* const char * */
    ALK__SETTING_INTEGER,  /* int64_t, from least to most */
    ALK__SETTING_DURATION, /* int64_t microseconds, from least to most */
    ALK__SETTING_CHOICE,   /* int64_t, the place of the word in choices */
    ALK__SETTING_NAMES,    /* struct alk__words: names apart by blanks or commas */
    ALK__SETTING_COMMAND   /* struct alk__words: by shell quoting */
};

struct alk__setting {
    const char *section;
    const char *key;
    const char *option;      /* of every command that takes it, NULL = none */
    const char *environment; /* NULL = none */
    const char *preset;      /* as it would stand in the file, NULL = unset */
    enum alk__setting_kind kind;
    size_t offset; /* into alk__config, alk__worker_config or alk__schedule_section */
    bool is_secret;
    int64_t least;
    int64_t most;
    const char *const *choices; /* NULL-terminated */
};

extern const struct alk__setting alk__config_table[];
extern const size_t alk__config_table_count;

/* What was given as an option; value NULL = it was not. */
struct alk__override {
    const char *option;
    const char *value;
};

/* Works out every setting. path NULL = no file. ret_config is released with alk__config_free.
 * ALK_OK; ALK_INVALID naming the file and line, the variable or the option; ALK_ABSENT (no such
 * file). */
alk_status alk__config_load(const char *path, const struct alk__override *overrides, size_t count,
                            struct alk__config **ret_config, alk_error *error);
void alk__config_free(struct alk__config *config);

/* Prints what is in force as a file would say it; of a secret only that there is one (S213). */
void alk__config_print(const struct alk__config *config, FILE *stream);

/* Whether two workers do the same; their loop goes on then when the file is read again. */
bool alk__worker_config_equal(const struct alk__worker_config *left,
                              const struct alk__worker_config *right);

#endif
