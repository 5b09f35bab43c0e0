/* core/unique: unique keys of jobs: what they keep out, how long, and what they cost others (S58).
 */
#include <stddef.h>
#include <stdlib.h>

#include "core/maintain.h"
#include "support/fault.h"
#include "support/jobs.h"

/* Enqueues with a key; window_us 0 = none. */
static alk_status put(struct scene *scene, const char *key, alk_unique_scope scope,
                      int64_t window_us, int64_t *ret_id) {
    alk_enqueue_options options = ALK_ENQUEUE_OPTIONS_INIT;

    options.unique_key = key;
    options.unique_scope = scope;
    options.unique_for_us = window_us > 0 ? window_us : ALK_NO_TIME;
    options.max_attempts = 2;
    return alk_enqueue(scene->conn, "mail", "1", 1, &options, ret_id, &scene->error);
}

static int64_t put_new(struct scene *scene, const char *key, alk_unique_scope scope,
                       int64_t window_us) {
    int64_t id = 0;

    expect(scene, ALK_OK, put(scene, key, scope, window_us, &id));
    return id;
}

static void expect_taken(struct scene *scene, const char *key, alk_unique_scope scope,
                         int64_t window_us, int64_t by) {
    int64_t jobs = count_rows(scene, "alk_job", "1 = 1");
    int64_t id = 0;

    expect(scene, ALK_DUPLICATE, put(scene, key, scope, window_us, &id));
    assert_int_equal(id, by);
    assert_int_equal(count_rows(scene, "alk_job", "1 = 1"), jobs);
}

/* Another connection to the same store. */
struct other {
    alk_store *store;
    alk_conn *conn;
};

static struct other other_open(struct scene *scene) {
    struct other other;

    ok(scene, scene_open(scene, NULL, &other.store));
    ok(scene, alk_conn_get(other.store, &other.conn, &scene->error));
    alk__conn_set_call_limit(other.conn, 20 * ALK__SECOND);
    return other;
}

static void other_close(struct other *other) {
    alk_conn_put(other->conn);
    alk_close(other->store);
}

/* ---- what is a duplicate ---- */

/* S58 */
static void a_duplicate_returns_the_existing_id(struct scene *scene) {
    alk_enqueue_options options = ALK_ENQUEUE_OPTIONS_INIT;
    int64_t first = put_new(scene, "k", ALK_UNIQUE_UNTIL_FINISHED, 0);
    int64_t id;

    expect_taken(scene, "k", ALK_UNIQUE_UNTIL_FINISHED, 0, first);
    expect_taken(scene, "k", ALK_UNIQUE_UNTIL_STARTED, 0, first);
    expect_taken(scene, "k", ALK_UNIQUE_WINDOW, ALK__HOUR, first);
    assert_true(put_new(scene, "K", ALK_UNIQUE_UNTIL_FINISHED, 0) > first);
    options.unique_key = "k";
    ok(scene, alk_enqueue(scene->conn, "print", "1", 1, &options, &id, &scene->error));
    assert_true(put_job(scene, "mail") > id);
    check_store(scene);
}

/* S58: in the list itself the first one counts; ids rise in the order given. */
static void duplicates_among_many_give_the_existing_ids(struct scene *scene) {
    int64_t first = put_new(scene, "k2", ALK_UNIQUE_UNTIL_FINISHED, 0);
    alk_enqueue_options keyed[4];
    int64_t ids[6];

    for (int i = 0; i < 4; i++)
        keyed[i] = (alk_enqueue_options)ALK_ENQUEUE_OPTIONS_INIT;
    keyed[0].unique_key = "k3";
    keyed[1].unique_key = "k2";
    keyed[2].unique_key = "k1";
    keyed[3].unique_key = "k3";
    const alk_new_job jobs[] = {{"0", 1, &keyed[0]}, {"1", 1, NULL},      {"2", 1, &keyed[1]},
                                {"3", 1, &keyed[2]}, {"4", 1, &keyed[3]}, {"5", 1, NULL}};
    expect(scene, ALK_DUPLICATE,
           alk_enqueue_many(scene->conn, "mail", jobs, 6, ids, &scene->error));
    assert_int_equal(ids[2], first);
    assert_int_equal(ids[4], ids[0]);
    assert_true(first < ids[0] && ids[0] < ids[1] && ids[1] < ids[3] && ids[3] < ids[5]);
    for (int i = 0; i < 6; i++) {
        if (i != 2 && i != 4)
            assert_int_equal(sql_number(scene,
                                        "SELECT CAST(payload AS TEXT) = '%d' FROM alk_job"
                                        " WHERE id = %lld",
                                        i, (long long)ids[i]),
                             1);
    }
    assert_int_equal(count_rows(scene, "alk_job", "1 = 1"), 5);
    expect(scene, ALK_DUPLICATE,
           alk_enqueue_many(scene->conn, "mail", &jobs[2], 1, ids, &scene->error));
}

/* S58: refused before the database is touched. */
static void odd_keys_are_refused(struct scene *scene) {
    static const struct {
        const char *key;
        int scope;
        int64_t for_us;
        const char *message;
    } cases[] = {
        {"", 0, ALK_NO_TIME, "is empty"},
        {"a\nb", 0, ALK_NO_TIME, "control character"},
        {NULL, ALK_UNIQUE_UNTIL_STARTED, ALK_NO_TIME, "no unique key"},
        {NULL, ALK_UNIQUE_WINDOW, 1, "no unique key"},
        {"k", ALK_UNIQUE_WINDOW, ALK_NO_TIME, "go together"},
        {"k", ALK_UNIQUE_UNTIL_FINISHED, ALK__HOUR, "go together"},
        {"k", ALK_UNIQUE_WINDOW, 0, "not between 1us and 100 years"},
        {"k", ALK_UNIQUE_WINDOW, INT64_MAX, "not between 1us and 100 years"},
        {"k", 3, ALK_NO_TIME, "3 is no scope"},
        {"k", -1, ALK_NO_TIME, "-1 is no scope"},
    };
    struct faults faults;
    char key[202];

    faults_install(&faults, scene->store);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        alk_enqueue_options options = ALK_ENQUEUE_OPTIONS_INIT;
        options.unique_key = cases[i].key;
        options.unique_scope = (alk_unique_scope)cases[i].scope;
        options.unique_for_us = cases[i].for_us;
        expect(scene, ALK_INVALID,
               alk_enqueue(scene->conn, "mail", "1", 1, &options, NULL, &scene->error));
        assert_contains(scene->error.message, cases[i].message);
    }
    memset(key, 'k', 201);
    key[201] = '\0';
    expect(scene, ALK_INVALID, put(scene, key, ALK_UNIQUE_UNTIL_FINISHED, 0, NULL));
    assert_int_equal(faults_count(&faults, NULL), 0);
    faults_remove(&faults);
    key[200] = '\0';
    put_new(scene, key, ALK_UNIQUE_UNTIL_FINISHED, 0);
}

/* Options of a program that knows of no keys are as long as they were then. */
static void shorter_options_have_no_key(struct scene *scene) {
    alk_enqueue_options options = ALK_ENQUEUE_OPTIONS_INIT;

    options.size = offsetof(alk_enqueue_options, unique_key);
    options.unique_key = "k";
    ok(scene, alk_enqueue(scene->conn, "mail", "1", 1, &options, NULL, &scene->error));
    ok(scene, alk_enqueue(scene->conn, "mail", "1", 1, &options, NULL, &scene->error));
}

/* ---- how long ---- */

/* S58: at the claim; a retry of the older job does not take the key back, nor does it fail. */
static void a_key_until_started_goes_at_the_claim(struct scene *scene) {
    int64_t first = put_new(scene, "k", ALK_UNIQUE_UNTIL_STARTED, 0);
    alk_settlement running = take_one(scene, "mail", "w");

    int64_t second = put_new(scene, "k", ALK_UNIQUE_UNTIL_STARTED, 0);
    running.delay_us = 0;
    assert_int_equal(settle_one(scene, running, ALK_RETRY), ALK_SETTLED);
    assert_int_equal(state_of(scene, first), ALK_JOB_READY);
    expect_taken(scene, "k", ALK_UNIQUE_UNTIL_STARTED, 0, second);
    alk_job_list list = take_jobs(scene, "mail", 10, "w");
    assert_int_equal(list.count, 2);
    alk_job_list_free(&list);
    assert_int_equal(count_rows(scene, "alk_unique_key", "1 = 1"), 0);
}

/* S58: at done, dead and cancelled; not at a claim, a retry or a release. */
static void a_key_until_finished_goes_when_the_job_ends(struct scene *scene) {
    static const alk_outcome ends[] = {ALK_DONE, ALK_DEAD, ALK_UNDECODABLE, ALK_DONE};

    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
        int64_t id = put_new(scene, "k", ALK_UNIQUE_UNTIL_FINISHED, 0);
        alk_settlement running = take_one(scene, "mail", "w");
        expect_taken(scene, "k", ALK_UNIQUE_UNTIL_FINISHED, 0, id);
        running.delay_us = 0;
        assert_int_equal(settle_one(scene, running, ALK_RETRY), ALK_SETTLED);
        assert_int_equal(settle_one(scene, take_one(scene, "mail", "w"), ALK_RELEASE), ALK_SETTLED);
        expect_taken(scene, "k", ALK_UNIQUE_UNTIL_FINISHED, 0, id);
        running = take_one(scene, "mail", "w");
        if (i == 3) /* cancelled */
            sql(scene, "UPDATE alk_job SET cancel_requested_at = %s",
                sql_time(scene, scene_now(scene)));
        assert_true(settle_one(scene, running, ends[i]) != ALK_SETTLE_REFUSED);
        assert_int_equal(count_rows(scene, "alk_job", "1 = 1"), 0);
        assert_int_equal(count_rows(scene, "alk_unique_key", "1 = 1"), 0);
    }
    check_store(scene);
}

/* S58: attempts used up, or expired in the queue: dead without a run, and the key goes. */
static void a_key_goes_with_a_job_that_may_not_run(struct scene *scene) {
    struct alk__maintain_result result;
    alk_enqueue_options options = ALK_ENQUEUE_OPTIONS_INIT;

    for (int scope = ALK_UNIQUE_UNTIL_FINISHED; scope <= ALK_UNIQUE_UNTIL_STARTED; scope++) {
        options.unique_key = "k";
        options.unique_scope = (alk_unique_scope)scope;
        options.expires_us = ALK__MINUTE;
        ok(scene, alk_enqueue(scene->conn, "mail", "1", 1, &options, NULL, &scene->error));
        scene_pass(scene, 2 * ALK__MINUTE);
        ok(scene, alk__maintain_step(scene->conn, "m", &result, &scene->error));
        assert_int_equal(count_rows(scene, "alk_job_dead", "1 = 1"), scope + 1);
        assert_int_equal(count_rows(scene, "alk_unique_key", "1 = 1"), 0);
    }
}

/* S58: by time alone; then the key is replaced, and the older job leaves the new one's alone. */
static void a_window_goes_by_time(struct scene *scene) {
    int64_t first = put_new(scene, "k", ALK_UNIQUE_WINDOW, ALK__HOUR);

    assert_int_equal(settle_one(scene, take_one(scene, "mail", "w"), ALK_DONE), ALK_SETTLED);
    scene_pass(scene, ALK__HOUR - ALK__MINUTE);
    expect_taken(scene, "k", ALK_UNIQUE_WINDOW, ALK__HOUR, first);
    scene_pass(scene, ALK__MINUTE);
    int64_t second = put_new(scene, "k", ALK_UNIQUE_WINDOW, ALK__HOUR);
    expect_taken(scene, "k", ALK_UNIQUE_UNTIL_STARTED, 0, second);
    scene_pass(scene, ALK__HOUR);
    int64_t third = put_new(scene, "k", ALK_UNIQUE_UNTIL_FINISHED, 0);
    assert_int_equal(take_one(scene, "mail", "w").id, second);
    sql(scene, "DELETE FROM alk_job WHERE id = %lld", (long long)second);
    expect_taken(scene, "k", ALK_UNIQUE_WINDOW, ALK__HOUR, third);
    assert_int_equal(count_rows(scene, "alk_unique_key", "1 = 1"), 1);
}

/* S58: the key lasts from the enqueue however short its window is. */
static void the_shortest_window_works(struct scene *scene) {
    put_new(scene, "k", ALK_UNIQUE_WINDOW, 1);
    scene_pass(scene, ALK__SECOND);
    put_new(scene, "k", ALK_UNIQUE_WINDOW, 1);
}

/* S58: windows that nobody asks for again are removed by maintenance, and only those. */
static void maintenance_removes_windows_that_are_over(struct scene *scene) {
    struct alk__maintain_result result;

    put_new(scene, "a", ALK_UNIQUE_WINDOW, ALK__MINUTE);
    put_new(scene, "b", ALK_UNIQUE_WINDOW, ALK__HOUR);
    put_new(scene, "c", ALK_UNIQUE_UNTIL_FINISHED, 0);
    scene_pass(scene, 2 * ALK__MINUTE);
    ok(scene, alk__maintain_step(scene->conn, "m", &result, &scene->error));
    assert_int_equal(result.step_count, 1);
    assert_string_equal(result.steps[0].name, "keys");
    assert_int_equal(result.touched, 1);
    assert_int_equal(count_rows(scene, "alk_unique_key", "key <> 'a'"), 2);
    assert_int_equal(count_rows(scene, "alk_unique_key", "1 = 1"), 2);
}

/* ---- transactions ---- */

/* S58, S33: what is refused by the database's own look leaves no key, and the caller's transaction
 * goes on. */
static void a_refused_job_leaves_no_key(struct scene *scene) {
    alk_enqueue_options options = ALK_ENQUEUE_OPTIONS_INIT;

    sql(scene, "INSERT INTO alk_queue (name, payload_bytes) VALUES ('mail', 3)");
    options.unique_key = "k";
    ok(scene, alk_begin(scene->conn, &scene->error));
    expect(scene, ALK_INVALID,
           alk_enqueue(scene->conn, "mail", "12345", 5, &options, NULL, &scene->error));
    int64_t id = put_new(scene, "k", ALK_UNIQUE_UNTIL_FINISHED, 0);
    ok(scene, alk_commit(scene->conn, &scene->error));
    expect_taken(scene, "k", ALK_UNIQUE_UNTIL_FINISHED, 0, id);
}

/* S31: a rollback gives the key back. */
static void a_rollback_frees_the_key(struct scene *scene) {
    ok(scene, alk_begin(scene->conn, &scene->error));
    put_new(scene, "k", ALK_UNIQUE_UNTIL_FINISHED, 0);
    alk_rollback(scene->conn);
    assert_int_equal(count_rows(scene, "alk_unique_key", "1 = 1"), 0);
    put_new(scene, "k", ALK_UNIQUE_UNTIL_FINISHED, 0);
}

/* S32: whichever step fails, there is neither job nor key, or both. */
static void a_failing_step_leaves_no_half(struct scene *scene) {
    bool has_happened = true;

    for (int nth = 1; has_happened; nth++) {
        struct faults faults;
        faults_install(&faults, scene->store);
        faults_add(&faults, NULL, nth, ALK__BEFORE, ALK_FAILED);
        alk_status st = put(scene, "k", ALK_UNIQUE_UNTIL_FINISHED, 0, NULL);
        has_happened = faults_happened(&faults) > 0;
        faults_remove(&faults);
        assert_int_equal(st, has_happened ? ALK_FAILED : ALK_OK);
        assert_int_equal(count_rows(scene, "alk_job", "1 = 1"), has_happened ? 0 : 1);
        assert_int_equal(count_rows(scene, "alk_unique_key", "1 = 1"), has_happened ? 0 : 1);
    }
}

/* S218 */
static void without_memory_no_key_is_taken(struct scene *scene) {
    alk_status st = ALK_NOMEM;

    for (long nth = 1; st == ALK_NOMEM; nth++) {
        assert_int_equal(count_rows(scene, "alk_unique_key", "1 = 1"), 0);
        alk__alloc_fail_at(nth);
        st = put(scene, "k", ALK_UNIQUE_UNTIL_FINISHED, 0, NULL);
        alk__alloc_fail_at(0);
    }
    assert_int_equal(st, ALK_OK);
}

/* S58: a duplicate in an open transaction keeps nobody from claiming and settling the job. */
static void a_duplicate_locks_nothing(struct scene *scene) {
    struct other other = other_open(scene);
    alk_conn *own = scene->conn;

    put_new(scene, "started", ALK_UNIQUE_UNTIL_STARTED, 0);
    put_new(scene, "finished", ALK_UNIQUE_UNTIL_FINISHED, 0);
    ok(scene, alk_begin(scene->conn, &scene->error));
    expect(scene, ALK_DUPLICATE, put(scene, "started", ALK_UNIQUE_UNTIL_STARTED, 0, NULL));
    expect(scene, ALK_DUPLICATE, put(scene, "finished", ALK_UNIQUE_UNTIL_FINISHED, 0, NULL));
    scene->conn = other.conn;
    for (int i = 0; i < 2; i++)
        assert_int_equal(settle_one(scene, take_one(scene, "mail", "w"), ALK_DONE), ALK_SETTLED);
    scene->conn = own;
    assert_int_equal(count_rows(scene, "alk_unique_key", "1 = 1"), 0);
    ok(scene, alk_commit(scene->conn, &scene->error));
    other_close(&other);
}

/* ---- what it costs ---- */

/* S58: without a key the same statements as ever, and on PostgreSQL nobody looks at the keys. */
static void jobs_without_a_key_pay_nothing(struct scene *scene) {
    struct faults faults;

    sql(scene, "INSERT INTO alk_unique_key (queue, key, job_id, scope)"
               " VALUES ('mail', 'k', 1, 'started')");
    faults_install(&faults, scene->store);
    put_job(scene, "mail");
    assert_int_equal(faults_count(&faults, "job_enqueue"), 1);
    assert_int_equal(faults_count(&faults, "job_ids"), 0);
    assert_int_equal(faults_count(&faults, "unique_take"), 0);
    assert_int_equal(faults_count(&faults, "unique_find"), 0);
    assert_int_equal(faults_count(&faults, "savepoint"), 0);
    faults_remove(&faults);
    put_jobs(scene, "mail", 20);
    for (int i = 0; i < 20; i++) {
        alk_settlement one = take_one(scene, "mail", "w");
        one.delay_us = ALK__HOUR;
        settle_one(scene, one, i % 3 == 0 ? ALK_DONE : i % 3 == 1 ? ALK_DEAD : ALK_RETRY);
    }
    if (scene->engine == ALK_ENGINE_SQLITE)
        return;
    scene_close(scene); /* what a session counted is reported when it ends */
    wait_until(sql_number(scene, "SELECT n_tup_upd FROM pg_stat_all_tables"
                                 " WHERE relid = 'alk_job'::regclass") >= 20);
    assert_int_equal(sql_number(scene, "SELECT seq_tup_read + idx_scan FROM pg_stat_all_tables"
                                       " WHERE relid = 'alk_unique_key'::regclass"),
                     0);
    scene_reopen(scene);
}

/* ---- races ---- */

/* argument: the key. Exit 0: it was new; 1: a duplicate. */
static int produce(struct scene *scene, const char *argument) {
    alk_status st = scene_open(scene, NULL, &scene->store);

    if (st >= 0)
        st = alk_conn_get(scene->store, &scene->conn, &scene->error);
    if (st >= 0)
        st = put(scene, argument, ALK_UNIQUE_UNTIL_FINISHED, 0, NULL);
    alk_conn_put(scene->conn);
    alk_close(scene->store);
    return st == ALK_OK ? 0 : st == ALK_DUPLICATE ? 1 : 3;
}

/* S58 */
static void ten_producers_yield_one_job(struct scene *scene) {
    pid_t producers[10];
    int won = 0;

    for (int i = 0; i < 10; i++)
        producers[i] = spawn(scene, "produce", "k");
    for (int i = 0; i < 10; i++) {
        int code = reap(producers[i]);
        assert_in_range(code, 0, 1);
        won += code == 0;
    }
    assert_int_equal(won, 1);
    assert_int_equal(count_rows(scene, "alk_job", "1 = 1"), 1);
}

enum { MIXED_KEYS = 40, MIXED_ROUNDS = 20 };

/* Enqueues all keys again and again, forwards or backwards, and settles what it can claim. */
static alk_status mix(struct scene *scene, bool is_backwards) {
    alk_enqueue_options options[MIXED_KEYS];
    alk_new_job jobs[MIXED_KEYS];
    char keys[MIXED_KEYS][8];
    alk_claim_options claim = ALK_CLAIM_OPTIONS_INIT;
    alk_status st = ALK_OK;

    claim.limit = 30;
    for (int i = 0; i < MIXED_KEYS; i++) {
        snprintf(keys[i], sizeof(keys[i]), "%d", is_backwards ? MIXED_KEYS - 1 - i : i);
        options[i] = (alk_enqueue_options)ALK_ENQUEUE_OPTIONS_INIT;
        options[i].unique_key = keys[i];
        options[i].unique_scope = i % 2 == 0 ? ALK_UNIQUE_UNTIL_STARTED : ALK_UNIQUE_WINDOW;
        options[i].unique_for_us = i % 2 == 0 ? ALK_NO_TIME : 1 + i * 100;
        jobs[i] = (alk_new_job){"1", 1, &options[i]};
    }
    for (int round = 0; st >= 0 && round < MIXED_ROUNDS; round++) {
        alk_job_list list;
        st = alk_enqueue_many(scene->conn, "mail", jobs, MIXED_KEYS, NULL, &scene->error);
        if (st >= 0)
            st = alk_claim(scene->conn, "mail", &claim, &list, &scene->error);
        if (st == ALK_OK)
            alk_job_list_free(&list);
    }
    return st;
}

static int mix_many(struct scene *scene, const char *argument) {
    alk_status st = scene_open(scene, NULL, &scene->store);

    if (st >= 0)
        st = alk_conn_get(scene->store, &scene->conn, &scene->error);
    if (st >= 0)
        st = mix(scene, strcmp(argument, "back") == 0);
    if (st < 0)
        fprintf(stderr, "%s\n", scene->error.message);
    alk_conn_put(scene->conn);
    alk_close(scene->store);
    return st < 0 ? 1 : 0;
}

/* S58: batches with the same keys in any order, keys whose time ends and keys that a claim frees:
 * no deadlock and no failure. */
static void producers_of_the_same_keys_never_fail(struct scene *scene) {
    pid_t producers[4];

    for (int i = 0; i < 4; i++)
        producers[i] = spawn(scene, "mix", i % 2 == 0 ? "forth" : "back");
    for (int i = 0; i < 4; i++)
        assert_int_equal(reap(producers[i]), 0);
    check_store(scene);
}

/* S58: one that somebody is just taking is waited for, and is new if that comes to nothing. */
static void a_key_in_an_open_transaction_is_waited_for(struct scene *scene) {
    for (int is_kept = 0; is_kept < 2; is_kept++) {
        ok(scene, alk_begin(scene->conn, &scene->error));
        put_new(scene, is_kept ? "kept" : "lost", ALK_UNIQUE_UNTIL_FINISHED, 0);
        pid_t producer = spawn(scene, "produce", is_kept ? "kept" : "lost");
        wait_until(sql_number(scene, "SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a"
                                     " ON a.pid = l.pid WHERE NOT l.granted AND a.query LIKE"
                                     " '%%INSERT INTO ' || (SELECT quote_ident(nspname) FROM"
                                     " pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid"
                                     " WHERE c.oid = 'alk_unique_key'::regclass) ||"
                                     " '.unique_key%%'") == 1);
        if (is_kept)
            ok(scene, alk_commit(scene->conn, &scene->error));
        else
            alk_rollback(scene->conn);
        assert_int_equal(reap(producer), is_kept);
    }
    assert_int_equal(count_rows(scene, "alk_job", "1 = 1"), 2);
}

/* S58: a key that is taken at the first look and free at the second is taken anew. */
static void a_key_that_vanishes_between_two_looks_is_taken(struct scene *scene) {
    struct faults faults;

    sql(scene, "CREATE SEQUENCE alk_looks");
    sql(scene, "CREATE FUNCTION alk_look() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN"
               " IF nextval(TG_ARGV[0]::oid::regclass) = 1 THEN RETURN NULL; END IF;"
               " RETURN NEW; END $f$");
    sql(scene,
        "CREATE TRIGGER looks BEFORE INSERT ON alk_unique_key FOR EACH ROW"
        " EXECUTE FUNCTION alk_look('%lld')",
        (long long)sql_number(scene, "SELECT 'alk_looks'::regclass::oid::bigint"));
    faults_install(&faults, scene->store);
    int64_t id = put_new(scene, "k", ALK_UNIQUE_UNTIL_FINISHED, 0);
    assert_int_equal(faults_count(&faults, "unique_take"), 2);
    assert_int_equal(faults_count(&faults, "job_enqueue"), 1);
    faults_remove(&faults);
    expect_taken(scene, "k", ALK_UNIQUE_UNTIL_FINISHED, 0, id);
}

/* ---- run now ---- */

/* S58, S120: a schedule that is run by hand with a key: one job and one line. */
static void a_run_by_hand_heeds_its_key(struct scene *scene) {
    alk_schedule schedule = ALK_SCHEDULE_INIT;
    alk_fire_options options = ALK_FIRE_OPTIONS_INIT;
    int64_t first = 0;
    int64_t second = 0;

    schedule.name = "nightly";
    schedule.spec = "@daily";
    schedule.queue = "mail";
    ok(scene, alk_schedule_put(scene->conn, &schedule, &scene->error));
    options.unique_key = "k";
    ok(scene, alk_schedule_fire(scene->conn, "nightly", &options, &first, &scene->error));
    expect(scene, ALK_DUPLICATE,
           alk_schedule_fire(scene->conn, "nightly", &options, &second, &scene->error));
    assert_int_equal(second, first);
    expect_taken(scene, "k", ALK_UNIQUE_UNTIL_FINISHED, 0, first);
    assert_int_equal(count_rows(scene, "alk_schedule_event", "outcome = 'manual'"), 1);
    options.unique_key = "";
    expect(scene, ALK_INVALID,
           alk_schedule_fire(scene->conn, "nightly", &options, NULL, &scene->error));
}

static const struct role roles[] = {{"produce", produce}, {"mix", mix_many}, {NULL, NULL}};

static const struct scene_test tests[] = {
    BOTH(a_duplicate_returns_the_existing_id),
    BOTH(duplicates_among_many_give_the_existing_ids),
    BOTH(odd_keys_are_refused),
    BOTH(shorter_options_have_no_key),
    BOTH(a_key_until_started_goes_at_the_claim),
    BOTH(a_key_until_finished_goes_when_the_job_ends),
    BOTH(a_key_goes_with_a_job_that_may_not_run),
    BOTH(a_window_goes_by_time),
    BOTH(the_shortest_window_works),
    BOTH(maintenance_removes_windows_that_are_over),
    BOTH(a_refused_job_leaves_no_key),
    BOTH(a_rollback_frees_the_key),
    BOTH(a_failing_step_leaves_no_half),
    BOTH(without_memory_no_key_is_taken),
    POSTGRES(a_duplicate_locks_nothing),
    BOTH(jobs_without_a_key_pay_nothing),
    BOTH(ten_producers_yield_one_job),
    BOTH(producers_of_the_same_keys_never_fail),
    POSTGRES(a_key_in_an_open_transaction_is_waited_for),
    POSTGRES(a_key_that_vanishes_between_two_looks_is_taken),
    BOTH(a_run_by_hand_heeds_its_key),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, roles);
}
