/* bench/main.c: build/alk-bench, which measures what the specification promises. Not installed.
 *
 *   alk-bench COMMAND [--store URL]... [--rows N] [--seconds N] [--json]
 *
 * Without --store it runs on SQLite, and on the PostgreSQL server that ALK_TEST_POSTGRES names if
 * one is named. `make bench` starts a private one. */
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

static const struct {
    const char *name;
    bench_fn *run;
    bool needs_store;
    const char *summary;
} commands[] = {
    {"schedule", bench_schedule, true, "schedules: idle steps, bursts, lateness, memory"},
    {"when", bench_when, false, "specs: the next and the previous boundary"},
};

static struct bench *running;

void die(const char *format, ...) {
    va_list list;

    fputs("alk-bench: ", stderr);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    struct bench *bench = running;
    running = NULL; /* whatever fails while tidying up */
    if (bench != NULL)
        place_remove(bench);
    _exit(EXIT_FAILURE); /* somebody may have a connection of the store */
}

void check(alk_status status, const alk_error *error) {
    if (status < 0)
        die("%s", error->message);
}

/* ---- figures ---- */

static const char *engine_text(const struct bench *bench) {
    return bench->engine == ALK_ENGINE_SQLITE     ? "sqlite"
           : bench->engine == ALK_ENGINE_POSTGRES ? "postgres"
                                                  : "";
}

void figure(const struct bench *bench, const char *name, int64_t rows, double value,
            const char *unit, const char *target) {
    int digits = value < 100 ? 2 : 0;

    if (bench->options->is_json) {
        printf("{\"bench\":\"%s\",\"engine\":\"%s\",\"figure\":\"%s\",\"rows\":%lld,"
               "\"value\":%.3f,\"unit\":\"%s\",\"target\":\"%s\"}\n",
               bench->command, engine_text(bench), name, (long long)rows, value, unit,
               target != NULL ? target : "");
    } else {
        char text[32] = "";
        if (rows > 0)
            snprintf(text, sizeof(text), "%lld rows", (long long)rows);
        printf("%-9s %-13s %-34s %10.*f %-13s %s%s\n", engine_text(bench), text, name, digits,
               value, unit, target != NULL ? "target " : "", target != NULL ? target : "");
    }
    fflush(stdout);
}

static int compare(const void *left, const void *right) {
    double a = *(const double *)left;
    double b = *(const double *)right;

    return (a > b) - (a < b);
}

double median(double *values, size_t count) {
    qsort(values, count, sizeof(*values), compare);
    return values[count / 2];
}

double resident_mb(void) {
    long long all;
    long long resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");

    if (file != NULL) {
        if (fscanf(file, "%lld %lld", &all, &resident) != 2)
            resident = 0;
        fclose(file);
    }
    return (double)(resident * sysconf(_SC_PAGESIZE)) / 1e6;
}

/* ---- the command line ---- */

static _Noreturn void usage(void) {
    fputs("usage: alk-bench COMMAND [--store URL]... [--rows N] [--seconds N] [--json]\n", stderr);
    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
        fprintf(stderr, "  %-10s %s\n", commands[i].name, commands[i].summary);
    exit(2);
}

static int64_t number_of(const char *text) {
    char *end;
    long long number = strtoll(text, &end, 10);

    if (*text == '\0' || *end != '\0' || number < 1 || number > 100000000)
        usage();
    return number;
}

static void run(size_t command, const char *base_url, const struct bench_options *options) {
    struct bench bench = {.options = options, .command = commands[command].name};

    running = &bench;
    if (commands[command].needs_store)
        place_open(&bench, base_url);
    commands[command].run(&bench);
    running = NULL;
    place_close(&bench);
}

int main(int argc, char **argv) {
    static const struct option words[] = {{"store", required_argument, NULL, 's'},
                                          {"rows", required_argument, NULL, 'r'},
                                          {"seconds", required_argument, NULL, 't'},
                                          {"json", no_argument, NULL, 'j'},
                                          {NULL, 0, NULL, 0}};
    struct bench_options options = {.rows = 1000000, .seconds = 10};
    const char *urls[8] = {NULL};
    size_t url_count = 0;
    size_t command = 0;
    int word;

    while ((word = getopt_long(argc, argv, "", words, NULL)) != -1) {
        if (word == 's' && url_count < sizeof(urls) / sizeof(*urls))
            urls[url_count++] = optarg;
        else if (word == 'r')
            options.rows = number_of(optarg);
        else if (word == 't')
            options.seconds = number_of(optarg);
        else if (word == 'j')
            options.is_json = true;
        else
            usage();
    }
    while (command < sizeof(commands) / sizeof(*commands) && optind + 1 == argc &&
           strcmp(argv[optind], commands[command].name) != 0)
        command++;
    if (optind + 1 != argc || command == sizeof(commands) / sizeof(*commands))
        usage();
    if (url_count == 0) {
        urls[url_count++] = "sqlite:";
        urls[url_count] = getenv("ALK_TEST_POSTGRES");
        url_count += urls[url_count] != NULL;
    }
    if (!commands[command].needs_store)
        url_count = 1;
    for (size_t i = 0; i < url_count; i++)
        run(command, urls[i], &options);
    return EXIT_SUCCESS;
}
