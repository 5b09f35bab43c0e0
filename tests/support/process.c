/* support/process.c: other processes: this program run anew with the name of a role. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "support/scene.h"

/* PROGRAM --role NAME FOLDER ENGINE URL NOW ARGUMENT */
enum {
    ROLE_MARK = 1,
    ROLE_NAME,
    ROLE_FOLDER,
    ROLE_ENGINE,
    ROLE_URL,
    ROLE_NOW,
    ROLE_ARGUMENT,
    ROLE_ALL
};

pid_t spawn(struct scene *scene, const char *role, const char *argument) {
    char engine[16];
    char now[32];
    const char *words[ROLE_ALL + 1] = {
        "test", "--role", role, scene->folder, engine, scene->url == NULL ? "" : scene->url,
        now,    argument, NULL};

    snprintf(engine, sizeof(engine), "%d", (int)scene->engine);
    snprintf(now, sizeof(now), "%lld", (long long)fake_now(&scene->clock));
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* whatever becomes of the test */
        execv("/proc/self/exe", (char *const *)(uintptr_t)words);
        _exit(127);
    }
    return child;
}

int reap(pid_t child) {
    int64_t until_us = alk__monotonic_us() + 2 * WAIT_LIMIT_US;
    int status;

    while (waitpid(child, &status, WNOHANG) != child) {
        if (alk__monotonic_us() > until_us) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            fail_msg("process %d did not end", (int)child);
        }
        nap();
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int run_as(const struct role *role, char **argv) {
    struct scene scene = {.name = role->name,
                          .folder = argv[ROLE_FOLDER],
                          .engine = (alk_engine)strtol(argv[ROLE_ENGINE], NULL, 10),
                          .url = argv[ROLE_URL][0] == '\0' ? NULL : argv[ROLE_URL],
                          .clock = {strtoll(argv[ROLE_NOW], NULL, 10)},
                          .random = {(uint64_t)getpid()}};

    return role->run(&scene, argv[ROLE_ARGUMENT]);
}

int run_role(int argc, char **argv, const struct role *roles) {
    if (argc != ROLE_ALL || strcmp(argv[ROLE_MARK], "--role") != 0)
        return -1;
    for (const struct role *role = roles; role != NULL && role->name != NULL; role++) {
        if (strcmp(role->name, argv[ROLE_NAME]) == 0)
            return run_as(role, argv);
    }
    fprintf(stderr, "no role '%s'\n", argv[ROLE_NAME]);
    return 127;
}
