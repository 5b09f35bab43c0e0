/* bench/schedule.c: schedules by the hundred thousand (issue "Scale"; schedules.md, Targets): what
 * an idle step costs, how fast those that are due together fire, beside the same rows moved and
 * inserted by hand-written SQL, how late a fire is, and how much memory all this takes. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench.h"
#include "histogram.h"
#include "loops/scheduler.h"
#include "store/statement.h"

#define BATCH 500
#define BURST 10000
#define FEW_ROWS 10000   /* memory is compared with that of so many */
#define SOME_ROWS 100000 /* among which lateness is measured */
#define FIRES_A_SECOND 100
#define ROUNDS 5
#define BURSTS (2 * ROUNDS + 4) /* of as many other rows: no boundary fires twice */
#define IDLE_STEPS 2000
#define TTL_US (30 * ALK__SECOND)

/* ---- rows ---- */

/* The SQL of both engines; each text has its parameters in the same order. */
struct sql {
    const char *fill; /* first, last id */
    const char *analyze;
    const char *due;     /* spec, seconds since 1970 of its boundary; first, last id */
    const char *scratch; /* for raw_batch */
    const char *raw_batch;
};

/* Schedules at all minutes of the day, due between an hour and a year from now. The batches of
 * hand-written SQL do what a tick writes: the next time, a job with its headers, a line. */
static const struct sql sqlite_sql = {
    .fill = "WITH RECURSIVE n (i) AS (SELECT %1$lld UNION ALL SELECT i + 1 FROM n WHERE i < "
            "%2$lld)"
            " INSERT INTO alk_schedule (name, spec, queue, payload, anchor_at, next_fire_at,"
            " created_at)"
            " SELECT 'schedule ' || i, i %% 60 || ' ' || i / 60 %% 24 || ' * * *', 'bench',"
            " '{\"n\": ' || i || '}', t.now, t.now + (3600 + i * 7919 %% 31536000) * 1000000,"
            " t.now"
            " FROM n, (SELECT unixepoch() * 1000000 AS now) t",
    .analyze = "ANALYZE",
    .due = "UPDATE alk_schedule SET spec = '%s', next_fire_at = %lld * 1000000"
           " WHERE id BETWEEN %lld AND %lld",
    .scratch =
        "CREATE TEMP TABLE due (n INTEGER PRIMARY KEY, id INTEGER, at INTEGER, base INTEGER)",
    .raw_batch =
        "BEGIN IMMEDIATE;"
        "DELETE FROM temp.due;"
        "INSERT INTO temp.due (id, at, base)"
        " SELECT id, next_fire_at, (SELECT coalesce(max(id), 0) FROM alk_job) FROM alk_schedule"
        " WHERE paused_at IS NULL AND done_at IS NULL AND next_fire_at <= unixepoch() * 1000000"
        " ORDER BY next_fire_at, id LIMIT 500;"
        "INSERT INTO alk_job (id, queue, priority, run_at, payload, headers, schedule_id, fire_at,"
        " enqueued_at)"
        " SELECT d.base + d.n, s.queue, s.priority, d.at, s.payload, json_object('schedule', "
        "s.name,"
        " 'fire_at', strftime('%Y-%m-%dT%H:%M:%SZ', d.at / 1000000, 'unixepoch'),"
        " 'previous_fire_at', NULL, 'catchup', 'false'), d.id, d.at, unixepoch() * 1000000"
        " FROM temp.due d JOIN alk_schedule s ON s.id = d.id;"
        "INSERT INTO alk_schedule_event (schedule_id, fire_at, outcome, job_id, lateness, owner,"
        " fence, at)"
        " SELECT d.id, d.at, 'fired', d.base + d.n, unixepoch() * 1000000 - d.at, 'bench', 1,"
        " unixepoch() * 1000000"
        " FROM temp.due d;"
        "UPDATE alk_schedule AS s SET next_fire_at = d.at + 86400000000, last_fire_at = d.at,"
        " fired_total = fired_total + 1 FROM temp.due d WHERE s.id = d.id;"
        "COMMIT",
};

static const struct sql postgres_sql = {
    .fill = "INSERT INTO schedule (name, spec, queue, payload, anchor_at, next_fire_at, created_at)"
            " SELECT 'schedule ' || i, i %% 60 || ' ' || i / 60 %% 24 || ' * * *', 'bench',"
            " json_build_object('n', i), now(),"
            " date_trunc('second', now()) + (3600 + i::bigint * 7919 %% 31536000) * interval '1 "
            "s', now()"
            " FROM generate_series(%1$lld, %2$lld) i",
    .analyze = "VACUUM ANALYZE schedule",
    .due = "UPDATE schedule SET spec = '%s', next_fire_at = to_timestamp(%lld)"
           " WHERE id BETWEEN %lld AND %lld",
    .scratch = "SELECT 1",
    .raw_batch =
        "WITH due AS MATERIALIZED ("
        " SELECT id, name, queue, priority, payload, next_fire_at AS at FROM schedule"
        " WHERE paused_at IS NULL AND done_at IS NULL AND next_fire_at <= now()"
        " ORDER BY next_fire_at, id LIMIT 500 FOR NO KEY UPDATE SKIP LOCKED"
        "), moved AS ("
        " UPDATE schedule s SET next_fire_at = d.at + interval '1 day', last_fire_at = d.at,"
        " fired_total = fired_total + 1 FROM due d WHERE s.id = d.id"
        "), jobs AS ("
        " INSERT INTO job (id, queue, priority, run_at, payload, headers, schedule_id, fire_at,"
        " enqueued_at)"
        " SELECT nextval('job_id'), queue, priority, at, payload,"
        " json_build_object('schedule', name, 'fire_at', at, 'previous_fire_at', NULL, 'catchup',"
        " false), id, at, now() FROM due"
        " RETURNING id, schedule_id, fire_at"
        ")"
        " INSERT INTO schedule_event (schedule_id, fire_at, outcome, job_id, lateness, owner,"
        " fence, at)"
        " SELECT schedule_id, fire_at, 'fired', id, now() - fire_at, 'bench', 1, now() FROM jobs",
};

struct work {
    struct bench *bench;
    const struct sql *sql;
    int64_t rows;     /* there are */
    int64_t next_due; /* the first id that was not made due yet */
    struct alk__scheduler scheduler;
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void fill_to(struct work *work, int64_t rows) {
    if (rows <= work->rows)
        return;
    place_do(work->bench, work->sql->fill, (long long)work->rows + 1, (long long)rows);
    place_do(work->bench, "%s", work->sql->analyze);
    work->rows = rows;
}

/* The next count rows get that spec and are due at at_s. */
static void make_due(struct work *work, const char *spec, int64_t at_s, int64_t count) {
    if (work->next_due + count > work->rows)
        work->next_due = 1;
    place_do(work->bench, work->sql->due, spec, (long long)at_s, (long long)work->next_due,
             (long long)(work->next_due + count - 1));
    work->next_due += count;
}
#pragma GCC diagnostic pop

static int64_t now_s(void) {
    return alk__now_us(&(struct alk__clock){0}) / ALK__SECOND;
}

/* count rows whose boundary is the minute that has begun; it comes once a day. */
static int64_t make_burst(struct work *work) {
    int64_t minute_s = now_s() / 60 * 60;
    int64_t count = work->rows / BURSTS < BURST ? work->rows / BURSTS : BURST;
    char spec[32];

    snprintf(spec, sizeof(spec), "%d %d * * *", (int)(minute_s / 60 % 60),
             (int)(minute_s / 3600 % 24));
    make_due(work, spec, minute_s, count);
    return count;
}

/* ---- the scheduler, stepped ---- */

static void step(struct work *work) {
    alk_error error = ALK_ERROR_INIT;
    int64_t wait_us;

    check(alk__scheduler_step(&work->scheduler, &wait_us, &error), &error);
    if (work->scheduler.failures + work->scheduler.renewal_failures > 0)
        die("a step of the scheduler failed");
}

static void start(struct work *work) {
    alk_scheduler_options options = ALK_SCHEDULER_OPTIONS_INIT;
    alk_error error = ALK_ERROR_INIT;

    options.ttl_us = TTL_US;
    options.batch = BATCH;
    check(alk__scheduler_init(&work->scheduler, work->bench->store, &options, &error), &error);
}

static void settle(struct work *work) {
    do
        step(work);
    while (!work->scheduler.is_idle);
}

static void stop(struct work *work) {
    alk__scheduler_release(&work->scheduler);
    alk__scheduler_free(&work->scheduler);
}

/* ---- what is measured ---- */

/* Each step renews the lease and reads when the soonest schedule is due. */
static void measure_idle(struct work *work) {
    struct histogram *times = calloc(1, sizeof(*times));

    if (times == NULL)
        die("no memory");
    settle(work);
    for (int i = 0; i < IDLE_STEPS; i++) {
        work->scheduler.renewed_us -= TTL_US / ALK__LEASE_RENEW_PARTS;
        int64_t from_us = alk__monotonic_us();
        step(work);
        histogram_add(times, alk__monotonic_us() - from_us);
        if (!work->scheduler.is_idle)
            die("a step was not idle");
    }
    figure(work->bench, "idle step, p50", work->rows,
           (double)histogram_percentile(times, 50) / 1000, "ms", "< 2");
    figure(work->bench, "idle step, p99", work->rows,
           (double)histogram_percentile(times, 99) / 1000, "ms", NULL);
    free(times);
}

static void measure_probe(struct work *work) {
    figure(work->bench, "soonest due", work->rows,
           (double)place_work(work->bench, ALK__SCHEDULE_SOONEST),
           work->bench->engine == ALK_ENGINE_SQLITE ? "instructions" : "pages", "constant");
}

static double burst(struct work *work) {
    int64_t count = make_burst(work);
    int64_t from_us = alk__monotonic_us();

    settle(work);
    return (double)count * 1e6 / (double)(alk__monotonic_us() - from_us);
}

static double raw_burst(struct work *work) {
    int64_t count = make_burst(work);
    int64_t from_us = alk__monotonic_us();
    int64_t moved = 0;

    while (moved < count) {
        int64_t more = place_do(work->bench, "%s", work->sql->raw_batch);
        if (more == 0)
            die("%lld of %lld rows moved", (long long)moved, (long long)count);
        moved += more;
    }
    return (double)count * 1e6 / (double)(alk__monotonic_us() - from_us);
}

/* By turns, so that what else the machine does falls on both. */
static void measure_bursts(struct work *work) {
    bool is_sqlite = work->bench->engine == ALK_ENGINE_SQLITE;
    double ours[ROUNDS];
    double raw[ROUNDS];

    burst(work); /* statements are prepared, files have grown */
    raw_burst(work);
    for (int i = 0; i < ROUNDS; i++) {
        ours[i] = burst(work);
        raw[i] = raw_burst(work);
    }
    double middle = median(ours, ROUNDS);
    figure(work->bench, "many due at once", work->rows, middle, "fires/s",
           is_sqlite ? ">= 30000" : ">= 10000");
    figure(work->bench, "the same by hand-written SQL", work->rows, median(raw, ROUNDS), "fires/s",
           NULL);
    figure(work->bench, "ratio", work->rows, middle / raw[ROUNDS / 2], "of raw", NULL);
}

/* ---- lateness ---- */

struct loop {
    struct work *work;
    alk_stop *stop;
    struct histogram times;
};

/* Told once the tick is committed. */
static void note_fire(const alk_event *event, void *context) {
    struct loop *loop = context;

    if (strcmp(event->name, "schedule fired") == 0)
        histogram_add(&loop->times, alk__now_us(&(struct alk__clock){0}) - event->fire_at_us);
}

static void *run_loop(void *context) {
    struct loop *loop = context;
    alk_scheduler_options options = ALK_SCHEDULER_OPTIONS_INIT;
    alk_error error = ALK_ERROR_INIT;

    options.event = note_fire;
    options.event_context = loop;
    check(alk_scheduler_run(loop->work->bench->store, &options, loop->stop, &error), &error);
    return NULL;
}

/* The loop as it is used, for some seconds, with so many fires at each second. */
static void measure_lateness(struct work *work) {
    struct loop *loop = calloc(1, sizeof(*loop));
    bool is_sqlite = work->bench->engine == ALK_ENGINE_SQLITE;
    int64_t seconds = work->bench->options->seconds;
    alk_error error = ALK_ERROR_INIT;
    pthread_t thread;

    if (loop == NULL)
        die("no memory");
    loop->work = work;
    check(alk_stop_new(&loop->stop, &error), &error);
    make_due(work, "* * * * * *", now_s() + 3, FIRES_A_SECOND);
    if (pthread_create(&thread, NULL, run_loop, loop) != 0)
        die("no thread");
    usleep((useconds_t)((seconds + 3) * ALK__SECOND - ALK__SECOND / 2));
    alk_stop_set(loop->stop);
    pthread_join(thread, NULL);
    work->next_due -= FIRES_A_SECOND;
    make_due(work, "0 0 1 1 *", now_s() + 366 * 86400, FIRES_A_SECOND);
    if (loop->times.count < (seconds - 2) * FIRES_A_SECOND)
        die("%lld fires in %lld s", (long long)loop->times.count, (long long)seconds);
    figure(work->bench, "lateness, 100 fires/s, p50", work->rows,
           (double)histogram_percentile(&loop->times, 50) / 1000, "ms", NULL);
    figure(work->bench, "lateness, 100 fires/s, p99", work->rows,
           (double)histogram_percentile(&loop->times, 99) / 1000, "ms",
           is_sqlite ? "< 20" : "< 50");
    alk_stop_free(loop->stop);
    free(loop);
}

static int64_t at_most(const struct bench *bench, int64_t rows) {
    return rows < bench->options->rows ? rows : bench->options->rows;
}

void bench_schedule(struct bench *bench) {
    bool is_sqlite = bench->engine == ALK_ENGINE_SQLITE;
    struct work work = {
        .bench = bench, .sql = is_sqlite ? &sqlite_sql : &postgres_sql, .next_due = 1};

    place_do(bench, "%s", work.sql->scratch);
    fill_to(&work, at_most(bench, FEW_ROWS));
    start(&work);
    burst(&work);
    measure_probe(&work);
    figure(bench, "memory after a burst", work.rows, resident_mb(), "MB", NULL);
    stop(&work);

    fill_to(&work, at_most(bench, SOME_ROWS));
    measure_lateness(&work);

    fill_to(&work, bench->options->rows);
    start(&work);
    settle(&work);
    measure_probe(&work);
    measure_idle(&work);
    measure_bursts(&work);
    figure(bench, "memory after bursts", work.rows, resident_mb(), "MB", "constant");
    stop(&work);
}
