/* program/job_environment.c: a job's headers and numbers as environment variables. */
#include "program/job_environment.h"

#include <ctype.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

/* The headers that the scheduler writes, and the variables they become. */
static const struct {
    const char *header;
    const char *variable;
} fire_headers[] = {
    {"schedule", "ALK_SCHEDULE"},
    {"fire_at", "ALK_FIRE_AT"},
    {"previous_fire_at", "ALK_PREVIOUS_FIRE_AT"},
    {"catchup", "ALK_CATCHUP"},
};
#define FIRE_HEADERS (sizeof(fire_headers) / sizeof(fire_headers[0]))

struct environment {
    struct alk__arena *arena;
    char **items;
    size_t count;
    bool is_failed;
};

/* Whether NAME=VALUE is about a job: of one that this program runs for, if it is a job's command
 * itself. */
static bool is_about_job(const char *item) {
    static const char *const prefixes[] = {"ALK_JOB_", "ALK_HEADER_"};

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        if (strncmp(item, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    }
    for (size_t i = 0; i < FIRE_HEADERS; i++) {
        size_t length = strlen(fire_headers[i].variable);

        if (strncmp(item, fire_headers[i].variable, length) == 0 && item[length] == '=')
            return true;
    }
    return false;
}

static void add(struct environment *environment, const char *prefix, const char *name,
                const char *value) {
    struct alk__buffer item = ALK__BUFFER_INIT(2 * ALK__HEADERS_MAX);
    char *copy = NULL;

    alk__buffer_addf(&item, "%s%s=", prefix, name);
    alk__buffer_add_text(&item, value);
    if (!item.is_failed)
        copy = alk__arena_copy(environment->arena, item.bytes, item.length);
    alk__buffer_release(&item);
    if (copy == NULL)
        environment->is_failed = true;
    else
        environment->items[environment->count++] = copy;
}

static void add_number(struct environment *environment, const char *name, int64_t number) {
    char text[24];

    snprintf(text, sizeof(text), "%lld", (long long)number);
    add(environment, "", name, text);
}

static void add_named(struct environment *environment, const char *header, const char *value) {
    char *name;

    for (size_t i = 0; i < FIRE_HEADERS; i++) {
        if (strcmp(header, fire_headers[i].header) == 0) {
            add(environment, "", fire_headers[i].variable, value);
            return;
        }
    }
    name = alk__arena_text(environment->arena, header);
    if (name == NULL) {
        environment->is_failed = true;
        return;
    }
    for (char *byte = name; *byte != '\0'; byte++)
        *byte = isalnum((unsigned char)*byte) && (unsigned char)*byte < 0x80
                    ? (char)toupper((unsigned char)*byte)
                    : '_';
    add(environment, "ALK_HEADER_", name, value);
}

static void add_header(struct environment *environment, const char *header, json_t *value) {
    char *text;

    if (json_is_string(value)) {
        add_named(environment, header, json_string_value(value));
        return;
    }
    text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    if (text == NULL)
        environment->is_failed = true;
    else
        add_named(environment, header, text);
    free(text); /* jansson's own */
}

static char **make_room(struct alk__arena *arena, size_t more) {
    size_t count = 0;

    while (environ[count] != NULL)
        count++;
    return alk__arena_alloc(arena, (count + more + 1) * sizeof(char *));
}

alk_status alk__job_environment(struct alk__arena *arena, const alk_job *job,
                                char ***ret_environment, alk_error *error) {
    json_t *headers = json_loads(job->headers, 0, NULL);
    struct environment environment = {.arena = arena};
    const char *name;
    json_t *value;

    environment.items = make_room(arena, 3 + json_object_size(headers));
    if (environment.items == NULL) {
        json_decref(headers);
        return alk__nomem(error);
    }
    for (char **item = environ; *item != NULL; item++) {
        if (!is_about_job(*item))
            environment.items[environment.count++] = *item;
    }
    add_number(&environment, "ALK_JOB_ID", job->id);
    add(&environment, "", "ALK_JOB_QUEUE", job->queue);
    add_number(&environment, "ALK_JOB_ATTEMPT", job->attempt);
    json_object_foreach(headers, name, value) {
        add_header(&environment, name, value);
    }
    json_decref(headers);
    if (environment.is_failed)
        return alk__nomem(error);
    *ret_environment = environment.items;
    return ALK_OK;
}
