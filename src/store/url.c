/* store/url.c: reads a store's URL and options into settings (S2). Own parameters are cut off; the
 * rest of a PostgreSQL URL goes to libpq unchanged. */
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "base/duration.h"
#include "base/error.h"
#include "base/guess.h"
#include "base/scan.h"
#include "store/store.h"

#define URL_MAX ((size_t)8 << 10)
#define POOL_MAX 1000
#define SCHEMA_MAX 63

enum engines { ON_SQLITE = ALK_ENGINE_SQLITE, ON_POSTGRES = ALK_ENGINE_POSTGRES, ON_BOTH = 3 };

enum kind { IS_COUNT, IS_SPAN, IS_ON, IS_OFF, IS_SCHEMA, IS_DURABILITY };

/* The parameters that are ours. */
static const struct parameter {
    const char *name;
    enum engines engines;
    enum kind kind;
    size_t offset;
} parameters[] = {
    {"schema", ON_POSTGRES, IS_SCHEMA, offsetof(struct alk__settings, schema)},
    {"pool_max", ON_BOTH, IS_COUNT, offsetof(struct alk__settings, pool_max)},
    {"pool_min", ON_BOTH, IS_COUNT, offsetof(struct alk__settings, pool_min)},
    {"acquire_timeout", ON_BOTH, IS_SPAN, offsetof(struct alk__settings, acquire_timeout_us)},
    {"durability", ON_BOTH, IS_DURABILITY, offsetof(struct alk__settings, durability)},
    {"listen", ON_BOTH, IS_ON, offsetof(struct alk__settings, may_listen)},
    {"prepare", ON_POSTGRES, IS_ON, offsetof(struct alk__settings, may_prepare)},
    {"migrate", ON_BOTH, IS_OFF, offsetof(struct alk__settings, skip_migrate)},
    {"busy_timeout", ON_SQLITE, IS_SPAN, offsetof(struct alk__settings, busy_timeout_us)},
};
#define PARAMETERS (sizeof(parameters) / sizeof(*parameters))

/* What is being read: every message names the URL, masked. */
struct reader {
    struct alk__arena *arena;
    struct alk__settings *settings;
    alk_error *error;
};

/* ---- slices ---- */

/* Cuts the text before the first of the separators off rest, which then begins behind it. */
static struct alk__text cut(struct alk__text *rest, char separator) {
    const char *at = rest->length == 0 ? NULL : memchr(rest->bytes, separator, rest->length);
    struct alk__text head = *rest;

    head.length = at == NULL ? rest->length : (size_t)(at - rest->bytes);
    size_t used = head.length + (at != NULL);
    *rest = (struct alk__text){rest->bytes + used, rest->length - used};
    return head;
}

static int hex_digit(int digit) {
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    digit |= 0x20;
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Percent-decodes what stands in a URL; a % without two digits, or a NUL, stays as it is. NULL when
 * there is no memory. */
static char *decoded(struct alk__arena *arena, struct alk__text text) {
    char *copy = alk__arena_copy(arena, text.bytes, text.length);
    size_t length = 0;

    if (copy == NULL)
        return NULL;
    for (size_t i = 0; i < text.length; i++) {
        int high = text.bytes[i] == '%' && i + 2 < text.length ? hex_digit(text.bytes[i + 1]) : -1;
        int low = high < 0 ? -1 : hex_digit(text.bytes[i + 2]);
        if (low >= 0 && high + low > 0) {
            copy[length++] = (char)(high * 16 + low);
            i += 2;
        } else {
            copy[length++] = text.bytes[i];
        }
    }
    copy[length] = '\0';
    return copy;
}

/* ---- parameters ---- */

static alk_status wrong_value(struct reader *reader, const char *name, const char *value,
                              const char *right) {
    return alk__fail(reader->error, ALK_INVALID, "'%s' is no value for %s (%s)",
                     alk__excerpt_of(alk__text_of(value)).text, name, right);
}

static alk_status read_count(struct reader *reader, const char *name, const char *value,
                             int *ret_count) {
    struct alk__scan scan = {.text = alk__text_of(value)};
    int64_t number;

    if (alk__scan_digits(&scan, 4, &number) == 0 || alk__scan_peek(&scan) != -1 ||
        number > POOL_MAX)
        return wrong_value(reader, name, value, "a number up to 1000");
    *ret_count = (int)number;
    return ALK_OK;
}

static alk_status read_switch(struct reader *reader, const char *name, const char *value, bool on,
                              bool *ret_switch) {
    if (strcmp(value, "on") != 0 && strcmp(value, "off") != 0)
        return wrong_value(reader, name, value, "on or off");
    *ret_switch = (strcmp(value, "on") == 0) == on;
    return ALK_OK;
}

static alk_status read_durability(struct reader *reader, const char *value) {
    if (strcmp(value, "full") != 0 && strcmp(value, "normal") != 0)
        return wrong_value(reader, "durability", value, "full or normal");
    reader->settings->durability =
        strcmp(value, "full") == 0 ? ALK_DURABILITY_FULL : ALK_DURABILITY_NORMAL;
    return ALK_OK;
}

static alk_status read_value(struct reader *reader, const struct parameter *parameter,
                             struct alk__text text) {
    void *field = (char *)reader->settings + parameter->offset;
    const char *value = decoded(reader->arena, text);
    alk_status status;

    if (value == NULL)
        return alk__nomem(reader->error);
    switch (parameter->kind) {
    case IS_COUNT:
        return read_count(reader, parameter->name, value, field);
    case IS_SPAN:
        status = alk__duration_parse(alk__text_of(value), field, reader->error);
        return status < 0 ? alk__wrap(reader->error, status, "%s", parameter->name) : ALK_OK;
    case IS_ON:
    case IS_OFF:
        return read_switch(reader, parameter->name, value, parameter->kind == IS_ON, field);
    case IS_DURABILITY:
        return read_durability(reader, value);
    case IS_SCHEMA:
    default:
        reader->settings->schema = value;
        return ALK_OK;
    }
}

static const struct parameter *find_parameter(struct alk__text name) {
    for (size_t i = 0; i < PARAMETERS; i++) {
        if (alk__text_is(name, parameters[i].name))
            return &parameters[i];
    }
    return NULL;
}

static alk_status unknown_parameter(struct reader *reader, struct alk__text name) {
    const char *names[PARAMETERS];
    struct alk__excerpt word = alk__excerpt_of(name);

    for (size_t i = 0; i < PARAMETERS; i++)
        names[i] = parameters[i].name;
    const char *guess = alk__guess(word.text, names, PARAMETERS);
    if (guess == NULL)
        return alk__fail(reader->error, ALK_INVALID, "no such parameter '%s'", word.text);
    return alk__fail(reader->error, ALK_INVALID, "no such parameter '%s' (did you mean '%s'?)",
                     word.text, guess);
}

/* Reads the parameters of query. kept (PostgreSQL) receives those that are not ours, as they are;
 * NULL: there are no others. */
static alk_status read_query(struct reader *reader, struct alk__text query,
                             struct alk__buffer *kept) {
    while (query.length > 0) {
        struct alk__text pair = cut(&query, '&');
        struct alk__text value = pair;
        struct alk__text name = cut(&value, '=');
        const struct parameter *parameter = find_parameter(name);
        alk_status status = ALK_OK;

        if (parameter != NULL && (parameter->engines & (unsigned)reader->settings->engine) == 0)
            status = alk__fail(reader->error, ALK_INVALID, "parameter '%s' is for %s only",
                               parameter->name,
                               parameter->engines == ON_SQLITE ? "SQLite" : "PostgreSQL");
        else if (parameter != NULL)
            status = read_value(reader, parameter, value);
        else if (kept == NULL)
            status = unknown_parameter(reader, name);
        else {
            alk__buffer_add(kept, kept->length == 0 ? "?" : "&", 1);
            alk__buffer_add(kept, pair.bytes, pair.length);
        }
        if (status < 0)
            return status;
    }
    return ALK_OK;
}

/* ---- SQLite ---- */

static alk_status set_path(struct reader *reader, struct alk__text path) {
    struct alk__settings *settings = reader->settings;

    if (path.length == 0)
        return alk__fail(reader->error, ALK_INVALID, "the path of the store is missing");
    settings->target = alk__arena_copy(reader->arena, path.bytes, path.length);
    if (settings->target == NULL)
        return alk__nomem(reader->error);
    settings->is_memory = alk__text_is(path, ":memory:");
    return ALK_OK;
}

static alk_status read_sqlite(struct reader *reader, const char *rest) {
    struct alk__text query = alk__text_of(rest);
    struct alk__text path = cut(&query, '?');

    reader->settings->engine = ALK_ENGINE_SQLITE;
    if (strncmp(rest, "//", 2) == 0 && rest[2] != '/')
        return alk__fail(
            reader->error, ALK_INVALID,
            "a path follows 'sqlite:' at once (sqlite:app.db, sqlite:/var/lib/app.db)");
    alk_status status = set_path(reader, path);
    return status < 0 ? status : read_query(reader, query, NULL);
}

/* ---- PostgreSQL ---- */

static alk_status check_port(struct reader *reader, struct alk__text port) {
    struct alk__scan scan = {.text = port};
    int64_t number;

    if (port.length == 0)
        return ALK_OK;
    if (alk__scan_digits(&scan, 5, &number) > 0 && alk__scan_peek(&scan) == -1 && number >= 1 &&
        number <= 65535)
        return ALK_OK;
    return alk__fail(reader->error, ALK_INVALID, "'%s' is no port (1 to 65535)",
                     alk__excerpt_of(port).text);
}

/* The ports of host:port,host:port; an IPv6 address stands in brackets. */
static alk_status check_ports(struct reader *reader, struct alk__text hosts) {
    while (hosts.length > 0) {
        struct alk__text port = cut(&hosts, ',');
        if (port.length > 0 && port.bytes[0] == '[')
            cut(&port, ']');
        cut(&port, ':');
        alk_status status = check_port(reader, port);
        if (status < 0)
            return status;
    }
    return ALK_OK;
}

/* A password that was not encoded: libpq would take a part of it for a host, a port or a database
 * and quote that in its messages. One @ stands in front of the hosts, none behind them. */
static alk_status check_authority(struct reader *reader, struct alk__text front,
                                  struct alk__text authority) {
    struct alk__text hosts = authority;
    bool has_user = memchr(authority.bytes, '@', authority.length) != NULL;

    if (has_user)
        cut(&hosts, '@');
    struct alk__text behind = {hosts.bytes, (size_t)(front.bytes + front.length - hosts.bytes)};
    bool has_other = behind.length > 0 && memchr(behind.bytes, '@', behind.length) != NULL;
    alk_status status = check_ports(reader, hosts);
    if (!has_other && (status >= 0 || has_user || strchr(hosts.bytes, '@') == NULL))
        return status;
    return alk__fail(reader->error, ALK_INVALID,
                     "'@', '/', '?' and '#' in a name or a password are written %%40, %%2F, %%3F "
                     "and %%23");
}

/* What libpq notices only when it connects, as if the server were to blame. */
static alk_status check_for_libpq(struct reader *reader, struct alk__text query) {
    static const char *const modes[] = {"disable", "allow",     "prefer",
                                        "require", "verify-ca", "verify-full"};

    while (query.length > 0) {
        struct alk__text value = cut(&query, '&');
        struct alk__text name = cut(&value, '=');
        if (alk__text_is(name, "port")) {
            while (value.length > 0) {
                alk_status status = check_port(reader, cut(&value, ','));
                if (status < 0)
                    return status;
            }
        } else if (alk__text_is(name, "sslmode")) {
            bool is_known = false;
            for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++)
                is_known = is_known || alk__text_is(value, modes[i]);
            if (!is_known)
                return alk__fail(reader->error, ALK_INVALID, "'%s' is no sslmode",
                                 alk__excerpt_of(value).text);
        }
    }
    return ALK_OK;
}

static alk_status read_postgres(struct reader *reader, const char *url) {
    struct alk__buffer kept = ALK__BUFFER_INIT(URL_MAX);
    struct alk__buffer target = ALK__BUFFER_INIT(URL_MAX);
    struct alk__text query = alk__text_of(url);
    struct alk__text front = cut(&query, '?');
    struct alk__text authority = {strstr(url, "://") + 3, 0};

    reader->settings->engine = ALK_ENGINE_POSTGRES;
    authority.length = strcspn(authority.bytes, "/?#");
    alk_status status = check_authority(reader, front, authority);
    if (status >= 0)
        status = check_for_libpq(reader, query);
    if (status >= 0)
        status = read_query(reader, query, &kept);
    if (status >= 0) {
        alk__buffer_add(&target, front.bytes, front.length);
        alk__buffer_add(&target, kept.bytes == NULL ? "" : kept.bytes, kept.length);
        reader->settings->target =
            target.is_failed || kept.is_failed
                ? NULL
                : alk__arena_copy(reader->arena, target.bytes, target.length);
        if (reader->settings->target == NULL)
            status = alk__nomem(reader->error);
    }
    alk__buffer_release(&kept);
    alk__buffer_release(&target);
    return status;
}

/* ---- the URL ---- */

static bool starts_with(const char *text, const char *word) {
    return strncmp(text, word, strlen(word)) == 0;
}

/* A word before a colon, as in mysql:x: a path seldom looks like that, and never when a file of
 * that name is there. */
static struct alk__text scheme_of(const char *url) {
    size_t length =
        strspn(url, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-");
    struct stat file;

    if (length == 0 || url[length] != ':' || stat(url, &file) == 0)
        return (struct alk__text){NULL, 0};
    return (struct alk__text){url, length};
}

static alk_status unknown_scheme(struct reader *reader, struct alk__text scheme) {
    static const char *const known[] = {"sqlite", "postgresql", "postgres"};
    struct alk__excerpt word = alk__excerpt_of(scheme);
    const char *guess = alk__guess(word.text, known, sizeof(known) / sizeof(*known));

    if (alk__text_is(scheme, "postgresql") || alk__text_is(scheme, "postgres"))
        return alk__fail(reader->error, ALK_INVALID,
                         "two slashes follow '%s:' (%s://host/database)", word.text, word.text);
    if (alk__text_is(scheme, "file"))
        guess = "sqlite";
    if (guess != NULL)
        return alk__fail(reader->error, ALK_INVALID, "no such scheme '%s:' (did you mean '%s:'?)",
                         word.text, guess);
    return alk__fail(reader->error, ALK_INVALID,
                     "no such scheme '%s:' (sqlite:PATH or postgresql://HOST/DATABASE)", word.text);
}

/* libpq's other form, which would make a file of a strange name here. */
static bool is_conninfo(const char *url) {
    static const char *const words[] = {
        "host=", "hostaddr=", "dbname=", "user=", "password=", "port=", "service="};
    struct stat file;

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        if (starts_with(url, words[i]))
            return stat(url, &file) != 0;
    }
    return false;
}

static alk_status read_url(struct reader *reader, const char *url) {
    struct alk__text scheme;

    if (strlen(url) > URL_MAX - 1)
        return alk__fail(reader->error, ALK_INVALID, "the URL is longer than %zu bytes",
                         URL_MAX - 1);
    if (starts_with(url, "sqlite:"))
        return read_sqlite(reader, url + strlen("sqlite:"));
    if (starts_with(url, "postgresql://") || starts_with(url, "postgres://"))
        return read_postgres(reader, url);
    scheme = scheme_of(url);
    if (scheme.length > 0)
        return unknown_scheme(reader, scheme);
    if (is_conninfo(url))
        return alk__fail(reader->error, ALK_INVALID,
                         "write it as a URL (postgresql://user@host/database)");
    reader->settings->engine = ALK_ENGINE_SQLITE;
    return set_path(reader, alk__text_of(url));
}

/* ---- options ---- */

static struct alk__settings of_options(const alk_store_options *options) {
    return (struct alk__settings){
        .schema = options->schema,
        .must_exist = options->must_exist,
        .skip_migrate = options->skip_migrate,
        .may_listen = true,
        .may_prepare = true,
        .pool_max = options->pool_max,
        .pool_min = options->pool_min,
        .acquire_timeout_us = options->acquire_timeout_us,
        .busy_timeout_us = options->busy_timeout_us,
        .connect_timeout_us = options->connect_timeout_us,
        .durability = options->durability,
        .clock = {options->now, options->now_context},
        .random = {options->random, options->random_context},
    };
}

static alk_status check_schema(struct reader *reader) {
    struct alk__settings *settings = reader->settings;
    const char *schema = settings->schema;

    if (settings->engine == ALK_ENGINE_SQLITE && schema != NULL)
        return alk__fail(reader->error, ALK_INVALID, "a schema is for PostgreSQL only");
    if (schema == NULL)
        schema = "alk";
    if (strlen(schema) > SCHEMA_MAX)
        return alk__fail(reader->error, ALK_INVALID, "schema '%s' is longer than %d bytes",
                         alk__excerpt_of(alk__text_of(schema)).text, SCHEMA_MAX);
    settings->schema = alk__arena_text(reader->arena, schema);
    if (settings->schema == NULL)
        return alk__nomem(reader->error);
    return alk__name_check("schema", schema, reader->error);
}

static alk_status check_settings(struct reader *reader) {
    const struct alk__settings *settings = reader->settings;

    if (settings->pool_max < 1 || settings->pool_max > POOL_MAX)
        return alk__fail(reader->error, ALK_INVALID, "pool_max is %d (1 to %d)", settings->pool_max,
                         POOL_MAX);
    if (settings->pool_min < 0 || settings->pool_min > settings->pool_max)
        return alk__fail(reader->error, ALK_INVALID, "pool_min is %d (0 to pool_max, %d)",
                         settings->pool_min, settings->pool_max);
    if (settings->acquire_timeout_us < 0 || settings->busy_timeout_us < 0)
        return alk__fail(reader->error, ALK_INVALID, "a time-out is negative");
    if (settings->connect_timeout_us <= 0)
        return alk__fail(reader->error, ALK_INVALID, "the time to connect is not positive");
    if (settings->durability != ALK_DURABILITY_FULL &&
        settings->durability != ALK_DURABILITY_NORMAL)
        return alk__fail(reader->error, ALK_INVALID, "durability is neither full nor normal");
    return check_schema(reader);
}

alk_status alk__settings_read(struct alk__arena *arena, const char *url,
                              const alk_store_options *options, struct alk__settings *ret_settings,
                              alk_error *error) {
    struct alk__settings settings = of_options(options);
    struct reader reader = {arena, &settings, error};

    settings.masked = alk__url_masked(arena, url);
    if (settings.masked == NULL)
        return alk__nomem(error);
    alk_status status = read_url(&reader, url);
    if (status >= 0)
        status = check_settings(&reader);
    if (status < 0)
        return alk__wrap(error, status, "store '%s'", settings.masked);
    *ret_settings = settings;
    return ALK_OK;
}
