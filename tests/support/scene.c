/* support/scene.c: sets up a store for each test and takes it down. */
#include "support/scene.h"

#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char program_folder[64]; /* of all tests of this process */
static int scene_number;

/* ---- the seams ---- */

int64_t fake_now(void *clock) {
    return atomic_load(&((struct fake_clock *)clock)->now_us);
}

uint64_t fixed_bits(void *random) {
    struct fixed_random *fixed = random;
    uint64_t bits = atomic_fetch_add(&fixed->state, UINT64_C(0x9E3779B97F4A7C15));

    bits = (bits ^ (bits >> 30)) * UINT64_C(0xBF58476D1CE4E5B9); /* splitmix64 */
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94D049BB133111EB);
    return bits ^ (bits >> 31);
}

void nap(void) {
    struct timespec span = {.tv_nsec = 1000000};

    nanosleep(&span, NULL);
}

/* ---- stores ---- */

alk_store_options scene_options(struct scene *scene) {
    alk_store_options options = ALK_STORE_OPTIONS_INIT;

    if (scene->engine == ALK_ENGINE_SQLITE) {
        options.now = fake_now;
        options.now_context = &scene->clock;
    }
    options.random = fixed_bits;
    options.random_context = &scene->random;
    return options;
}

alk_status scene_open(struct scene *scene, const alk_store_options *options,
                      alk_store **ret_store) {
    alk_store_options ours = scene_options(scene);

    return alk_open(scene->url, options == NULL ? &ours : options, ret_store, &scene->error);
}

void scene_close(struct scene *scene) {
    alk_conn_put(scene->conn);
    alk_close(scene->store);
    scene->conn = NULL;
    scene->store = NULL;
}

void scene_reopen(struct scene *scene) {
    ok(scene, scene_open(scene, NULL, &scene->store));
    ok(scene, alk_conn_get(scene->store, &scene->conn, &scene->error));
}

void scene_forget(struct scene *scene) {
    char path[160];

    scene_close(scene);
    if (scene->engine == ALK_ENGINE_POSTGRES) {
        sql_drop_schema(scene);
        return;
    }
    sql_close(scene);
    snprintf(path, sizeof(path), "%s/store.db", scene->folder);
    if (remove(path) != 0)
        fail_msg("'%s' is not there", path);
}

void scene_move_store(struct scene *scene) {
    static const char *const ends[] = {"", "-wal", "-shm"};
    char from[160];
    char to[160];

    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
        snprintf(from, sizeof(from), "%s/store.db%s", scene->folder, ends[i]);
        snprintf(to, sizeof(to), "%s/away.db%s", scene->folder, ends[i]);
        rename(from, to);
    }
}

/* ---- folders ---- */

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where) {
    (void)about;
    (void)kind;
    (void)where;
    return remove(path);
}

static void remove_folder(const char *path) {
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static bool make_folder(struct scene_private *private) {
    if (program_folder[0] == '\0') {
        snprintf(program_folder, sizeof(program_folder), "/tmp/alk-test.XXXXXX");
        if (mkdtemp(program_folder) == NULL)
            return false;
    }
    snprintf(private->folder, sizeof(private->folder), "%s/%d", program_folder, scene_number);
    return mkdir(private->folder, 0700) == 0;
}

/* ---- set-up and take-down ---- */

static const char *server(void) {
    const char *url = getenv("ALK_TEST_POSTGRES");

    return url != NULL && url[0] != '\0' ? url : NULL;
}

/* S222, S224: without a server these tests are skipped, or fail where one is required. */
static void need_server(const struct scene *scene) {
    const char *required = getenv("ALK_TEST_REQUIRE");

    if (scene->engine != ALK_ENGINE_POSTGRES || server() != NULL)
        return;
    if (required != NULL && strstr(required, "postgres") != NULL)
        fail_msg("ALK_TEST_REQUIRE names postgres and ALK_TEST_POSTGRES is not set");
    skip();
}

static void choose_url(struct scene *scene) {
    struct scene_private *private = scene->private;

    if (scene->engine == ALK_ENGINE_SQLITE)
        snprintf(private->url, sizeof(private->url), "sqlite:%s/store.db", private->folder);
    if (scene->engine == ALK_ENGINE_POSTGRES) {
        snprintf(private->schema, sizeof(private->schema), "test %d.%d", (int)getpid(),
                 scene_number);
        snprintf(private->url, sizeof(private->url), "%s%cschema=test%%20%d.%d", server(),
                 strchr(server(), '?') == NULL ? '?' : '&', (int)getpid(), scene_number);
    }
    scene->url = scene->engine == 0 ? NULL : private->url;
}

static void run_scene(void **state) {
    struct scene *scene = *state;

    need_server(scene);
    scene_number++;
    assert_true(make_folder(scene->private));
    choose_url(scene);
    scene->private->is_set_up = true;
    if (scene->engine != 0)
        scene_reopen(scene);
    scene->private->test->body(scene);
    scene->private->is_passed = true;
}

/* What a failed test holds may never be given back: its store is left open. */
static int take_down(void **state) {
    struct scene *scene = *state;
    struct scene_private *private = scene->private;
    bool is_kept = !private->is_passed && getenv("ALK_TEST_KEEP") != NULL;

    if (!private->is_set_up)
        return 0;
    if (private->is_passed)
        scene_close(scene);
    if (is_kept) {
        print_message("# kept: %s %s\n", private->folder, private->url);
        return 0;
    }
    if (private->schema[0] != '\0')
        sql_drop_schema(scene);
    sql_close(scene);
    remove_folder(private->folder);
    return 0;
}

/* ---- running ---- */

static const char *engine_name(alk_engine engine) {
    switch (engine) {
    case ALK_ENGINE_SQLITE:
        return "sqlite: ";
    case ALK_ENGINE_POSTGRES:
        return "postgres: ";
    default:
        return "";
    }
}

static void add_scene(const struct scene_test *test, alk_engine engine,
                      struct CMUnitTest *ret_test) {
    struct scene *scene = calloc(1, sizeof(*scene));
    struct scene_private *private = calloc(1, sizeof(*private));

    if (scene == NULL || private == NULL)
        abort();
    private->test = test;
    snprintf(private->name, sizeof(private->name), "%s%s", engine_name(engine), test->name);
    *scene = (struct scene){.name = private->name,
                            .folder = private->folder,
                            .engine = engine,
                            .clock = {SCENE_START_US},
                            .random = {1},
                            .private = private};
    *ret_test = (struct CMUnitTest){private->name, run_scene, NULL, take_down, scene};
}

static void free_scenes(struct CMUnitTest *scenes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct scene *scene = scenes[i].initial_state;
        free(scene->private);
        free(scene);
    }
    free(scenes);
}

int run_scenes(int argc, char **argv, const struct scene_test *tests, size_t count,
               const struct role *roles) {
    static const alk_engine engines[] = {
        0,
#if ALK_WITH_SQLITE
        ALK_ENGINE_SQLITE,
#endif
#if ALK_WITH_POSTGRES
        ALK_ENGINE_POSTGRES,
#endif
    };
    size_t scene_count = 0;
    int code = run_role(argc, argv, roles);

    if (code >= 0)
        return code;
    struct CMUnitTest *scenes = calloc(2 * count, sizeof(*scenes));
    if (scenes == NULL)
        abort();
    for (size_t i = 0; i < count; i++) {
        for (size_t e = 0; e < sizeof(engines) / sizeof(*engines); e++) {
            if (tests[i].engines == 0 ? engines[e] == 0 : (tests[i].engines & engines[e]) != 0)
                add_scene(&tests[i], engines[e], &scenes[scene_count++]);
        }
    }
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    code = _cmocka_run_group_tests("scenes", scenes, scene_count, NULL, NULL);
    free_scenes(scenes, scene_count);
    if (program_folder[0] != '\0')
        rmdir(program_folder); /* stays when something in it was kept */
    return code;
}

/* ---- looking ---- */

void expect_at(struct scene *scene, alk_status wanted, alk_status got, const char *call,
               const char *file, int line) {
    if (got != wanted) {
        print_error("%s\n    gave %s where %s was expected%s%s\n", call, alk_status_name(got),
                    alk_status_name(wanted), got < 0 ? ": " : "",
                    got < 0 ? scene->error.message : "");
        _fail(file, line);
    }
}

void assert_contains_at(const char *message, const char *part, const char *file, int line) {
    if (strstr(message, part) == NULL) {
        print_error("'%s'\n    does not contain '%s'\n", message, part);
        _fail(file, line);
    }
}
