/* store/codes: each code's meaning, from S168 and the manuals, not from the table. */
#include "store/driver.h"
#include "support/test.h"

struct sqlite_case {
    int code;
    alk_status status;
};

struct postgres_case {
    const char *code;
    alk_status status;
};

/* S35, S168: every row of the table is here, and what must not be in it. */
static const struct sqlite_case sqlite_cases[] = {
    {5, ALK_AGAIN},     {261, ALK_AGAIN},  {517, ALK_AGAIN},
    {773, ALK_AGAIN},                     /* BUSY */
    {6, ALK_AGAIN},     {262, ALK_AGAIN}, /* LOCKED */
    {13, ALK_AGAIN},    {15, ALK_AGAIN},   {17, ALK_AGAIN},
    {9, ALK_AGAIN},                        /* FULL, ... */
    {516, ALK_AGAIN},                      /* ABORT_ROLLBACK */
    {7, ALK_NOMEM},     {3082, ALK_NOMEM}, /* NOMEM */
    {778, ALK_AGAIN},   {1034, ALK_AGAIN}, {1546, ALK_AGAIN},
    {2058, ALK_AGAIN}, /* IOERR, some */
    {2314, ALK_AGAIN},  {2826, ALK_AGAIN}, {3594, ALK_AGAIN},
    {3850, ALK_AGAIN},  {4874, ALK_AGAIN}, {5130, ALK_AGAIN},
    {5386, ALK_AGAIN},  {18, ALK_DATA},    {19, ALK_DATA},
    {2067, ALK_DATA},   {275, ALK_DATA}, /* TOOBIG, CONSTRAINT */
    {20, ALK_DATA},                      /* MISMATCH */
    {1, ALK_FAILED},    {3, ALK_FAILED},   {4, ALK_FAILED},
    {8, ALK_FAILED}, /* ERROR, PERM, ... */
    {1032, ALK_FAILED}, {10, ALK_FAILED},  {266, ALK_FAILED},
    {8458, ALK_FAILED}, {11, ALK_FAILED},  {267, ALK_FAILED},
    {14, ALK_FAILED},   {21, ALK_FAILED}, /* CORRUPT, ... */
    {23, ALK_FAILED},   {26, ALK_FAILED},  {9983, ALK_FAILED},
};

static const struct postgres_case postgres_cases[] = {
    {"40001", ALK_AGAIN},  {"40P01", ALK_AGAIN},  {"55P03", ALK_AGAIN},  {"57014", ALK_AGAIN},
    {"57P01", ALK_AGAIN},  {"57P02", ALK_AGAIN},  {"57P03", ALK_AGAIN},  {"57P05", ALK_AGAIN},
    {"25P03", ALK_AGAIN},  {"25P04", ALK_AGAIN},  {"25006", ALK_AGAIN},  {"08000", ALK_AGAIN},
    {"08006", ALK_AGAIN},  {"08P01", ALK_AGAIN},  {"53100", ALK_AGAIN},  {"53300", ALK_AGAIN},
    {"22012", ALK_DATA},   {"22P02", ALK_DATA},   {"23505", ALK_DATA},   {"23514", ALK_DATA},
    {"P0001", ALK_DATA},   {"44000", ALK_DATA},   {"54000", ALK_DATA},   {"42P01", ALK_FAILED},
    {"42501", ALK_FAILED}, {"42601", ALK_FAILED}, {"28P01", ALK_FAILED}, {"3D000", ALK_FAILED},
    {"57P04", ALK_FAILED}, {"54001", ALK_FAILED}, {"55006", ALK_FAILED}, {"25001", ALK_FAILED},
    {"40002", ALK_FAILED}, {"58030", ALK_FAILED}, {"XX000", ALK_FAILED}, {"", ALK_FAILED},
};

static void sqlite_codes_mean_what_they_should(struct scene *scene) {
    (void)scene;
    for (size_t i = 0; i < sizeof(sqlite_cases) / sizeof(*sqlite_cases); i++) {
        if (alk__code_status_sqlite(sqlite_cases[i].code) != sqlite_cases[i].status)
            fail_msg("%d", sqlite_cases[i].code);
    }
}

static void sqlstates_mean_what_they_should(struct scene *scene) {
    (void)scene;
    for (size_t i = 0; i < sizeof(postgres_cases) / sizeof(*postgres_cases); i++) {
        if (alk__code_status_postgres(postgres_cases[i].code) != postgres_cases[i].status)
            fail_msg("%s", postgres_cases[i].code);
    }
}

/* S35: a test a row. */
static void every_row_of_the_table_has_a_case(struct scene *scene) {
    static const int sqlite_rows[] = {
#define ALK__SQLITE_CODE(number, name, status) number,
#include "store/code_table.h"
#undef ALK__SQLITE_CODE
    };
    static const char *const postgres_rows[] = {
#define ALK__POSTGRES_CODE(prefix, name, status) prefix,
#include "store/code_table.h"
#undef ALK__POSTGRES_CODE
    };

    (void)scene;
    for (size_t i = 0; i < sizeof(sqlite_rows) / sizeof(*sqlite_rows); i++) {
        bool has_case = false;
        for (size_t j = 0; j < sizeof(sqlite_cases) / sizeof(*sqlite_cases); j++)
            has_case = has_case || sqlite_cases[j].code == sqlite_rows[i];
        if (!has_case)
            fail_msg("%d", sqlite_rows[i]);
    }
    for (size_t i = 0; i < sizeof(postgres_rows) / sizeof(*postgres_rows); i++) {
        bool has_case = false;
        for (size_t j = 0; j < sizeof(postgres_cases) / sizeof(*postgres_cases); j++)
            has_case = has_case || strncmp(postgres_cases[j].code, postgres_rows[i],
                                           strlen(postgres_rows[i])) == 0;
        if (!has_case)
            fail_msg("%s", postgres_rows[i]);
    }
}

/* S35, S220: a failure carries its class, its code and the engine's words. */
static void a_failure_carries_class_and_code(struct scene *scene) {
    bool is_sqlite = scene->engine == ALK_ENGINE_SQLITE;

    expect(
        scene, ALK_DATA,
        alk__do(scene->conn, ALK__META_PUT, NULL, &scene->error, ALK__I(0), ALK__I(1), ALK__I(1)));
    assert_int_equal(scene->error.error_class, ALK_CLASS_PERMANENT);
    assert_string_equal(scene->error.engine_code, is_sqlite ? "275" : "23514");
    assert_contains(scene->error.message,
                    is_sqlite ? "sqlite: CHECK constraint failed" : "postgres: ");

    sql(scene, "ALTER TABLE alk_meta RENAME TO elsewhere");
    expect(scene, ALK_FAILED, alk__run(scene->conn, ALK__META_GET, NULL, 0, NULL, &scene->error));
    assert_int_equal(scene->error.error_class, ALK_CLASS_PERMANENT);
    assert_string_equal(scene->error.engine_code, is_sqlite ? "1" : "42P01");
}

static const struct scene_test tests[] = {
    ALONE(sqlite_codes_mean_what_they_should),
    ALONE(sqlstates_mean_what_they_should),
    ALONE(every_row_of_the_table_has_a_case),
    BOTH(a_failure_carries_class_and_code),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
