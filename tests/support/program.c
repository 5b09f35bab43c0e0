/* tests/support/program.c: alk as a process, with what it says kept. */
#include "support/program.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if ALK_WITH_POSTGRES
#include <libpq-fe.h>
#endif

#define WAIT_MS 30000

static void nap_ms(long ms) {
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* ---- the place ---- */

static bool is_server_missing(void) {
    const char *required = getenv("ALK_TEST_REQUIRE");

    if (!ALK_WITH_POSTGRES)
        return true;
    if (getenv("ALK_TEST_POSTGRES") != NULL)
        return false;
    if (required != NULL && strstr(required, "postgres") != NULL)
        fail_msg("ALK_TEST_REQUIRE wants a server and ALK_TEST_POSTGRES names none");
    return true;
}

static struct place *new_place(bool is_postgres) {
    static int number;
    struct place *place = calloc(1, sizeof(*place));
    const char *server = getenv("ALK_TEST_POSTGRES");

    assert_non_null(place);
    place->is_postgres = is_postgres;
    place->is_missing = is_postgres && is_server_missing();
    if (place->is_missing)
        return place;
    snprintf(place->folder, sizeof(place->folder), "/tmp/alk-cli.XXXXXX");
    assert_non_null(mkdtemp(place->folder));
    snprintf(place->schema, sizeof(place->schema), "cli_%d_%d", (int)getpid(), ++number);
    if (is_postgres)
        snprintf(place->url, sizeof(place->url), "%s%cschema=%s", server,
                 strchr(server, '?') != NULL ? '&' : '?', place->schema);
    else
        snprintf(place->url, sizeof(place->url), "alk.db");
    return place;
}

static int open_place(void **state, bool is_postgres, bool is_made) {
    struct place *place = new_place(is_postgres);

    *state = place;
    return is_made && !place->is_missing && alk(place, "init") != 0 ? -1 : 0;
}

int place_sqlite(void **state) {
    return open_place(state, false, true);
}

int place_postgres(void **state) {
    return open_place(state, true, true);
}

int place_empty(void **state) {
    return open_place(state, false, false);
}

int place_empty_postgres(void **state) {
    return open_place(state, true, false);
}

static void remove_folder(const char *folder) {
    DIR *entries = opendir(folder);

    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        char path[512];

        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        unlink(path);
    }
    if (entries != NULL)
        closedir(entries);
    rmdir(folder);
}

int place_remove(void **state) {
    struct place *place = *state;
    char sql[128];

    for (size_t i = 0; i < sizeof(place->started) / sizeof(place->started[0]); i++) {
        if (place->started[i] > 0) {
            kill(place->started[i], SIGKILL);
            waitpid(place->started[i], NULL, 0);
        }
    }
    if (place->is_postgres && !place->is_missing) {
        snprintf(sql, sizeof(sql), "DROP SCHEMA IF EXISTS %s CASCADE", place->schema);
        place_sql(place, sql);
    }
    if (!place->is_missing)
        remove_folder(place->folder);
    free(place);
    return 0;
}

/* ---- running ---- */

static void set_environment(const struct place *place) {
    static const char *const unset[] = {"ALK_STORE",      "ALK_LOG_LEVEL", "ALK_LOG_FORMAT",
                                        "ALK_LOG_FORMAT", "NOTIFY_SOCKET", "NO_COLOR"};

    for (size_t i = 0; i < sizeof(unset) / sizeof(unset[0]); i++)
        unsetenv(unset[i]);
    setenv("ALK_STORE", place->url, 1);
    if (place->extra != NULL)
        putenv(strdup(place->extra));
}

/* Root may write what nobody may. */
static int become_nobody(void) {
    return getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0) ? -1 : 0;
}

static void exec_alk(const struct place *place, int input, int output, int errors,
                     const char *const *words) {
    const char *argv[64] = {ALK_TEST_BUILD_DIR "/alk"};

    for (size_t i = 0; words[i] != NULL && i < 62; i++)
        argv[i + 1] = words[i];
    if (chdir(place->folder) != 0 || (place->as_nobody && become_nobody() != 0))
        _exit(120);
    dup2(input, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    set_environment(place);
    execv(argv[0], (char *const *)(uintptr_t)argv);
    _exit(121);
}

static int file_in(const struct place *place, const char *name, int flags) {
    char path[256];
    int fd;

    snprintf(path, sizeof(path), "%s/%s", place->folder, name);
    fd = open(path, flags | O_CLOEXEC, 0600);
    if (fd < 0)
        fail_msg("%s: %s", path, strerror(errno));
    return fd;
}

static int code_of(int status) {
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int wait_for(pid_t child, const char *what) {
    int status = 0;

    for (int ms = 0; waitpid(child, &status, WNOHANG) == 0; ms += 2) {
        if (ms > 2 * WAIT_MS) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            fail_msg("%s did not end", what);
        }
        nap_ms(2);
    }
    return code_of(status);
}

static void read_all(int fd, char *text) {
    ssize_t length = pread(fd, text, PLACE_BYTES - 1, 0);

    text[length > 0 ? length : 0] = '\0';
    close(fd);
}

int place_run(struct place *place, const char *const *words) {
    int input, output, errors, code;
    pid_t child;

    if (place->is_missing)
        skip();
    input = file_in(place, ".in", O_RDWR | O_CREAT | O_TRUNC);
    output = file_in(place, ".out", O_RDWR | O_CREAT | O_TRUNC);
    errors = file_in(place, ".err", O_RDWR | O_CREAT | O_TRUNC);
    if (place->input != NULL)
        assert_int_equal(write(input, place->input, strlen(place->input)),
                         (int)strlen(place->input));
    lseek(input, 0, SEEK_SET);
    place->input = NULL;
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        exec_alk(place, input, output, errors, words);
    close(input);
    code = wait_for(child, words[0]);
    read_all(output, place->out);
    read_all(errors, place->err);
    return code;
}

pid_t place_start(struct place *place, const char *name, const char *const *words) {
    size_t free_place = 0;
    int input, output;
    pid_t child;

    if (place->is_missing)
        skip();
    input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    output = file_in(place, name, O_WRONLY | O_CREAT | O_APPEND);
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        exec_alk(place, input, output, output, words);
    close(input);
    close(output);
    while (place->started[free_place] != 0)
        free_place++;
    place->started[free_place] = child;
    return child;
}

int place_wait(struct place *place, pid_t child) {
    for (size_t i = 0; i < sizeof(place->started) / sizeof(place->started[0]); i++) {
        if (place->started[i] == child)
            place->started[i] = 0;
    }
    return wait_for(child, "what was started");
}

/* ---- files ---- */

const char *place_read(struct place *place, const char *name) {
    static char text[16 * PLACE_BYTES];
    char path[256];
    FILE *file;
    size_t length;

    snprintf(path, sizeof(path), "%s/%s", place->folder, name);
    file = fopen(path, "re");
    length = file != NULL ? fread(text, 1, sizeof(text) - 1, file) : 0;
    text[length] = '\0';
    if (file != NULL)
        fclose(file);
    return text;
}

void place_write(struct place *place, const char *name, const char *text) {
    int fd;

    if (place->is_missing)
        skip();
    fd = file_in(place, name, O_WRONLY | O_CREAT | O_TRUNC);
    assert_int_equal(write(fd, text, strlen(text)), (int)strlen(text));
    close(fd);
}

int count_of(const char *text, const char *part) {
    int count = 0;

    for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part))
        count++;
    return count;
}

void place_await(struct place *place, const char *name, const char *part, int count) {
    for (int ms = 0; count_of(place_read(place, name), part) < count; ms += 5) {
        if (ms > WAIT_MS)
            fail_msg("'%s' is not %d times in '%s', which holds:\n%s", part, count, name,
                     place_read(place, name));
        nap_ms(5);
    }
}

void assert_has_at(const char *text, const char *part, const char *file, int line) {
    if (strstr(text, part) == NULL) {
        print_error("no '%s' in:\n%s\n", part, text);
        _fail(file, line);
    }
}

/* ---- SQL ---- */

static void run_sqlite(const struct place *place, const char *sql) {
    char path[256];
    sqlite3 *handle = NULL;
    char *message = NULL;

    snprintf(path, sizeof(path), "%s/alk.db", place->folder);
    assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
    sqlite3_busy_timeout(handle, WAIT_MS);
    if (sqlite3_exec(handle, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
    sqlite3_close(handle);
}

#if ALK_WITH_POSTGRES
/* alk_job is job in the schema of the place. */
static void run_postgres(const struct place *place, const char *sql) {
    PGconn *connection = PQconnectdb(getenv("ALK_TEST_POSTGRES"));
    char text[1024];
    size_t length = 0;
    PGresult *result;

    for (const char *at = sql; *at != '\0' && length < sizeof(text) - 80;) {
        if (strncmp(at, "alk_", 4) == 0) {
            length += (size_t)snprintf(text + length, 80, "%s.", place->schema);
            at += 4;
        } else {
            text[length++] = *at++;
        }
    }
    text[length] = '\0';
    PQclear(PQexec(connection, "SET client_min_messages = warning"));
    result = PQexec(connection, text);
    if (PQresultStatus(result) != PGRES_COMMAND_OK && PQresultStatus(result) != PGRES_TUPLES_OK)
        print_error("%s: %s", text, PQerrorMessage(connection));
    PQclear(result);
    PQfinish(connection);
}
#else
static void run_postgres(const struct place *place, const char *sql) {
    (void)place;
    fail_msg("%s: this build is without PostgreSQL", sql);
}
#endif

void place_sql(struct place *place, const char *sql) {
    if (place->is_missing)
        skip();
    if (place->is_postgres)
        run_postgres(place, sql);
    else
        run_sqlite(place, sql);
}
