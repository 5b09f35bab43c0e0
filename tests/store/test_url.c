/* store/url: what a URL and the options come to, and which are refused. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "store/store.h"
#include "support/test.h"

struct reading {
    struct alk__arena arena;
    struct alk__settings settings;
};

static alk_status read_with(struct reading *reading, const char *url, alk_store_options options,
                            alk_error *error) {
    *reading = (struct reading){0};
    return alk__settings_read(&reading->arena, url, &options, &reading->settings, error);
}

static alk_status read_url(struct reading *reading, const char *url, alk_error *error) {
    return read_with(reading, url, (alk_store_options)ALK_STORE_OPTIONS_INIT, error);
}

static void free_reading(struct reading *reading) {
    alk__arena_free(&reading->arena);
}

/* S2 */
static void paths_and_urls_of_sqlite(struct scene *scene) {
    static const struct {
        const char *url;
        const char *target;
    } cases[] = {
        {"app.db", "app.db"},
        {"a?pool_max=3", "a?pool_max=3"}, /* a bare path has no parameters */
        {"sqlite:app.db", "app.db"},
        {"sqlite:/var/lib/app.db?pool_max=3", "/var/lib/app.db"},
        {"sqlite:///var/lib/app.db", "///var/lib/app.db"},
        {"./mysql:x", "./mysql:x"},
        {"sqlite:mysql:x", "mysql:x"},
        {"a b:c", "a b:c"},
        {"sqlite::memory:", ":memory:"},
    };
    struct reading reading;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ok(scene, read_url(&reading, cases[i].url, &scene->error));
        assert_int_equal(reading.settings.engine, ALK_ENGINE_SQLITE);
        assert_string_equal(reading.settings.target, cases[i].target);
        assert_int_equal(reading.settings.is_memory, strcmp(cases[i].target, ":memory:") == 0);
        free_reading(&reading);
    }
}

/* S2 */
static void own_parameters_are_read(struct scene *scene) {
    struct reading reading;

    ok(scene, read_url(&reading,
                       "sqlite:a.db?pool_max=3&pool_min=2&acquire_timeout=1m500ms&busy_timeout=0s&"
                       "durability=normal&listen=off&migrate=off",
                       &scene->error));
    assert_int_equal(reading.settings.pool_max, 3);
    assert_int_equal(reading.settings.pool_min, 2);
    assert_int_equal(reading.settings.acquire_timeout_us, 60500000);
    assert_int_equal(reading.settings.busy_timeout_us, 0);
    assert_int_equal(reading.settings.durability, ALK_DURABILITY_NORMAL);
    assert_false(reading.settings.may_listen);
    assert_true(reading.settings.may_prepare);
    assert_true(reading.settings.skip_migrate);
    free_reading(&reading);

    ok(scene,
       read_url(&reading, "postgres://h/d?schema=my%20jobs&prepare=off&migrate=on", &scene->error));
    assert_string_equal(reading.settings.schema, "my jobs");
    assert_false(reading.settings.may_prepare);
    assert_true(reading.settings.may_listen);
    assert_false(reading.settings.skip_migrate);
    assert_string_equal(reading.settings.target, "postgres://h/d");
    free_reading(&reading);
}

/* S2: the URL wins over the options. */
static void what_the_url_says_wins(struct scene *scene) {
    alk_store_options options = ALK_STORE_OPTIONS_INIT;
    struct reading reading;

    options.schema = "theirs";
    options.pool_max = 5;
    options.pool_min = 1;
    ok(scene,
       read_with(&reading, "postgresql://h/d?schema=ours&pool_max=7", options, &scene->error));
    assert_string_equal(reading.settings.schema, "ours");
    assert_int_equal(reading.settings.pool_max, 7);
    assert_int_equal(reading.settings.pool_min, 1);
    free_reading(&reading);
}

/* S2 */
static void the_rest_goes_to_libpq_unchanged(struct scene *scene) {
    static const struct {
        const char *url;
        const char *target;
    } cases[] = {
        {"postgresql://", "postgresql://"},
        {"postgresql://u:p%40w@h1:1,[::1]:2,h3/"
         "d%20b?application_name=a%26b&schema=x&sslmode=prefer",
         "postgresql://u:p%40w@h1:1,[::1]:2,h3/d%20b?application_name=a%26b&sslmode=prefer"},
        {"postgres://%2Ftmp/d?pool_max=2", "postgres://%2Ftmp/d"},
        {"postgresql:///d?host=/tmp/x&pool_max=2&port=5433,5434&listen=off&&options=-c%20a%3Db",
         "postgresql:///d?host=/tmp/x&port=5433,5434&&options=-c%20a%3Db"},
        {"postgresql://h/d?unknown_to_us=1", "postgresql://h/d?unknown_to_us=1"},
    };
    struct reading reading;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ok(scene, read_url(&reading, cases[i].url, &scene->error));
        assert_int_equal(reading.settings.engine, ALK_ENGINE_POSTGRES);
        assert_string_equal(reading.settings.target, cases[i].target);
        free_reading(&reading);
    }
}

/* S2 */
static void what_cannot_be_meant_is_refused(struct scene *scene) {
    static const struct {
        const char *url;
        const char *words;
    } cases[] = {
        {"", "path of the store is missing"},
        {"sqlite:", "path of the store is missing"},
        {"sqlite:?pool_max=3", "path of the store is missing"},
        {"sqlite://app.db", "sqlite:app.db"},
        {"sqllite:x.db", "did you mean 'sqlite:'?"},
        {"postgres:x", "two slashes follow"},
        {"postgresql:x", "two slashes follow"},
        {"postgress://h/d", "did you mean 'postgres:'?"},
        {"mysql://h/d", "no such scheme 'mysql:' (sqlite:PATH or postgresql://HOST/DATABASE)"},
        {"file:x.db", "did you mean 'sqlite:'?"},
        {"host=/tmp dbname=x", "write it as a URL"},
        {"sqlite:a.db?durabilty=full",
         "no such parameter 'durabilty' (did you mean 'durability'?)"},
        {"sqlite:a.db?mode=ro", "no such parameter 'mode'"},
        {"sqlite:a.db?schema=x", "parameter 'schema' is for PostgreSQL only"},
        {"postgresql://h/d?busy_timeout=1s", "parameter 'busy_timeout' is for SQLite only"},
        {"sqlite:a.db?pool_max", "'' is no value for pool_max"},
        {"sqlite:a.db?pool_max=many", "'many' is no value for pool_max"},
        {"sqlite:a.db?pool_max=1001", "'1001' is no value for pool_max"},
        {"sqlite:a.db?pool_max=3x", "'3x' is no value for pool_max"},
        {"sqlite:a.db?pool_max=0", "pool_max is 0 (1 to 1000)"},
        {"sqlite:a.db?pool_max=2&pool_min=3", "pool_min is 3 (0 to pool_max, 2)"},
        {"sqlite:a.db?acquire_timeout=10", "acquire_timeout: '10' is not a duration"},
        {"sqlite:a.db?listen=no", "'no' is no value for listen (on or off)"},
        {"sqlite:a.db?durability=most", "'most' is no value for durability"},
        {"postgresql://h:99999/d", "'99999' is no port"},
        {"postgresql://[::1]:x/d", "'x' is no port"},
        {"postgresql://h1:1,h2:0/d", "'0' is no port"},
        {"postgresql://h/d?port=1,70000", "'70000' is no port"},
        {"postgresql://h/d?sslmode=yes", "'yes' is no sslmode"},
        {"postgresql://h/d?schema=", "schema"},
    };
    struct reading reading;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        expect(scene, ALK_INVALID, read_url(&reading, cases[i].url, &scene->error));
        assert_int_equal(scene->error.error_class, ALK_CLASS_USAGE);
        assert_contains(scene->error.message, cases[i].words);
        free_reading(&reading);
    }
}

static void a_file_with_a_strange_name_is_a_path(struct scene *scene) {
    struct reading reading;
    char folder[512];
    char *path;

    assert_non_null(getcwd(folder, sizeof(folder)));
    assert_return_code(chdir(scene->folder), errno);
    int fd = open("mysql:x", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_return_code(fd, errno);
    close(fd);
    alk_status status = read_url(&reading, "mysql:x", &scene->error);
    assert_return_code(chdir(folder), errno);
    expect(scene, ALK_OK, status);
    path = (char *)(uintptr_t)reading.settings.target;
    assert_string_equal(path, "mysql:x");
    free_reading(&reading);
}

static void options_are_checked(struct scene *scene) {
    static const alk_store_options start = ALK_STORE_OPTIONS_INIT;
    static const char long_schema[] =
        "a123456789b123456789c123456789d123456789e123456789f123456789g123";
    alk_store_options wrong[] = {start, start, start, start, start, start, start, start, start};
    const char *urls[] = {"a", "a", "a", "a", "a", "a", "a", "a", "postgres://h/d"};
    struct reading reading;

    wrong[0].pool_max = 0;
    wrong[1].pool_max = 1001;
    wrong[2].pool_min = -1;
    wrong[3].pool_min = 9;
    wrong[4].acquire_timeout_us = -1;
    wrong[5].busy_timeout_us = -1;
    wrong[6].connect_timeout_us = 0;
    wrong[7].schema = "x";
    wrong[8].schema = long_schema;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        expect(scene, ALK_INVALID, read_with(&reading, urls[i], wrong[i], &scene->error));
        free_reading(&reading);
    }
    wrong[8].schema = long_schema + 1;
    ok(scene, read_with(&reading, urls[8], wrong[8], &scene->error));
    free_reading(&reading);
}

/* S2: masked in whatever form it was written. */
static void passwords_are_masked(struct scene *scene) {
    static const struct {
        const char *url;
        const char *masked;
    } cases[] = {
        {"postgresql://u:secret@h/d", "postgresql://u:***@h/d"},
        {"postgresql://u:se:c@ret@h1,h2/d?x=1", "postgresql://u:***@h1,h2/d?x=1"},
        {"postgresql://u:sec/ret@h/d", "postgresql://u:***@h/d"},
        {"postgresql://u:se@c/ret@h/d?user=a@b", "postgresql://u:***@h/d?user=a@b"},
        {"postgresql://u:@h/d", "postgresql://u:@h/d"},
        {"postgresql://u@h/d", "postgresql://u@h/d"},
        {"postgresql://h:5432/d", "postgresql://h:5432/d"},
        {"postgresql://h/d?user=u&password=secret&x=1", "postgresql://h/d?user=u&password=***&x=1"},
        {"postgresql://h/d?sslpassword=secret", "postgresql://h/d?sslpassword=***"},
        {"host=h password=secret dbname=d", "host=h password=*** dbname=d"},
        {"host=h PassWord='se cr\\'et' dbname=d", "host=h PassWord=*** dbname=d"},
        {"password = secret", "password =***"},
        {"app.db", "app.db"},
    };
    /* libpq would take a part of it for a host's name or a port, and say so */
    static const char *const unencoded[] = {
        "postgresql://u:sec@ret@h/d",
        "postgresql://u:sec/ret@h/d",
        "postgresql://u:1/ret@h/d",
        "postgresql://u:sec?ret@h/d",
    };
    struct alk__arena arena = {0};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_string_equal(alk__url_masked(&arena, cases[i].url), cases[i].masked);
    alk__arena_free(&arena);

    struct reading reading;
    expect(scene, ALK_INVALID,
           read_url(&reading, "postgresql://u:secret@h:0/d?sslpassword=secret", &scene->error));
    assert_null(strstr(scene->error.message, "secret"));
    free_reading(&reading);
    for (size_t i = 0; i < sizeof(unencoded) / sizeof(*unencoded); i++) {
        expect(scene, ALK_INVALID, read_url(&reading, unencoded[i], &scene->error));
        assert_null(strstr(scene->error.message, "sec"));
        assert_null(strstr(scene->error.message, "ret"));
        assert_contains(scene->error.message, "%40");
        free_reading(&reading);
    }
    ok(scene, read_url(&reading, "postgresql://u:sec%40ret@h/d?user=a@b", &scene->error));
    free_reading(&reading);
}

/* S2: the check says what alk_open would say, and makes no file. */
static void a_check_opens_nothing(struct scene *scene) {
    alk_store_options options = ALK_STORE_OPTIONS_INIT;
    char url[512];

    snprintf(url, sizeof(url), "%s/none.db", scene->folder);
    ok(scene, alk_url_check(url, NULL, &scene->error));
    assert_int_not_equal(access(url, F_OK), 0);
    ok(scene, alk_url_check("/no/where/a.db", &options, &scene->error));
    ok(scene, alk_url_check("postgresql://u:p@127.0.0.1:1/x", &options, &scene->error));
    expect(scene, ALK_INVALID, alk_url_check("mysql:x", NULL, &scene->error));
    options.schema = "s";
    expect(scene, ALK_INVALID, alk_url_check("a.db", &options, &scene->error));
    options.size = 0;
    expect(scene, ALK_USAGE, alk_url_check("a.db", &options, &scene->error));
    expect(scene, ALK_USAGE, alk_url_check(NULL, NULL, &scene->error));
}

static const struct scene_test tests[] = {
    ALONE(paths_and_urls_of_sqlite),
    ALONE(own_parameters_are_read),
    ALONE(what_the_url_says_wins),
    ALONE(the_rest_goes_to_libpq_unchanged),
    ALONE(what_cannot_be_meant_is_refused),
    ALONE(a_file_with_a_strange_name_is_a_path),
    ALONE(options_are_checked),
    ALONE(passwords_are_masked),
    ALONE(a_check_opens_nothing),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
