/* store/postgres_values: what goes out in the binary format is what PostgreSQL understands, and
 * comes back the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "store/postgres.h"
#include "support/server.h"

/* One row of SQL's answer for the values, whose letters are those of a made-up statement. */
struct answer {
    PGconn *connection;
    struct alk__arena arena;
    PGresult *result;
};

static void ask(struct answer *answer, const char *sql, const char *letters,
                const struct alk__value *values) {
    struct alk__statement_def statement = {.name = "made_up", .parameters = letters};
    struct alk__call call = {.values = values, .value_count = strlen(letters)};
    struct alk__parameters parameters;
    alk_error error = ALK_ERROR_INIT;

    memset(answer, 0, sizeof(*answer));
    answer->connection = server_connect(server_needed());
    if (alk__postgres_encode(&answer->arena, &statement, &call, &parameters, &error) != ALK_OK)
        fail_msg("%s", error.message);
    answer->result = PQexecParams(answer->connection, sql, parameters.count, parameters.types,
                                  parameters.values, parameters.lengths, parameters.formats, 1);
    if (PQresultStatus(answer->result) != PGRES_TUPLES_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(answer->connection));
}

static void done(struct answer *answer) {
    PQclear(answer->result);
    PQfinish(answer->connection);
    alk__arena_free(&answer->arena);
}

static void assert_integer(const struct answer *answer, int row, int column, int64_t wanted) {
    struct alk__cell cell = alk__postgres_cell(answer->result, row, column);

    assert_int_equal(cell.kind, ALK__CELL_INT);
    assert_true(cell.integer == wanted);
}

static void assert_text(const struct answer *answer, int row, int column, const char *wanted) {
    struct alk__cell cell = alk__postgres_cell(answer->result, row, column);

    assert_int_equal(cell.kind, ALK__CELL_TEXT);
    assert_true(alk__text_is(cell.text, wanted));
}

static void assert_null_cell(const struct answer *answer, int row, int column) {
    assert_int_equal(alk__postgres_cell(answer->result, row, column).kind, ALK__CELL_NULL);
}

#define US_2026 INT64_C(1785587696789012)

/* S13: to the microsecond, there and back. */
static void each_type_goes_there_and_back(void **state) {
    const struct alk__value values[] = {ALK__I(-7),          ALK__B(true),
                                        ALK__Z("h\xc3\xa9"), ALK__J(ALK__TEXT("{\"a\": 1}")),
                                        ALK__T(US_2026),     ALK__D(90 * ALK__MINUTE + 1)};
    struct answer answer;

    (void)state;
    ask(&answer, "SELECT $1, $2, $3, $4, $5, $6", "ibsjtd", values);
    assert_integer(&answer, 0, 0, -7);
    assert_integer(&answer, 0, 1, 1);
    assert_text(&answer, 0, 2, "h\xc3\xa9");
    assert_text(&answer, 0, 3, "{\"a\": 1}");
    assert_integer(&answer, 0, 4, US_2026);
    assert_integer(&answer, 0, 5, 90 * ALK__MINUTE + 1);
    done(&answer);
}

static void postgres_reads_them_as_we_mean_them(void **state) {
    const struct alk__value values[] = {ALK__T(US_2026), ALK__T(0), ALK__D(-ALK__DAY)};
    struct answer answer;

    (void)state;
    ask(&answer,
        "SELECT $1 = '2026-08-01 12:34:56.789012Z'::timestamptz, $2 = '1970-01-01Z'::timestamptz, "
        "$3 = interval '-1 day'",
        "ttd", values);
    for (int column = 0; column < 3; column++)
        assert_integer(&answer, 0, column, 1);
    done(&answer);
}

static void nulls_go_there_and_back(void **state) {
    const struct alk__text none = {NULL, 0};
    const struct alk__value values[] = {ALK__I(ALK__NULL), {.type = 'b', .integer = ALK__NULL},
                                        ALK__S(none),      ALK__J(none),
                                        ALK__T(ALK__NULL), ALK__D(ALK__NULL)};
    struct answer answer;

    (void)state;
    ask(&answer, "SELECT $1, $2, $3, $4, $5, $6", "ibsjtd", values);
    for (int column = 0; column < 6; column++)
        assert_null_cell(&answer, 0, column);
    done(&answer);
}

static void arrays_go_there_and_back_with_their_nulls(void **state) {
    const int64_t numbers[] = {3, ALK__NULL, INT64_MAX};
    const int64_t flags[] = {1, 0, ALK__NULL};
    const struct alk__text texts[] = {ALK__TEXT("a"), {NULL, 0}, ALK__TEXT("")};
    const struct alk__text jsons[] = {ALK__TEXT("1"), ALK__TEXT("[2]"), {NULL, 0}};
    const int64_t times[] = {US_2026, ALK__NULL, 0};
    const int64_t spans[] = {0, ALK__SECOND, ALK__NULL};
    const struct alk__value values[] = {ALK__IS(numbers, 3), ALK__BS(flags, 3), ALK__SS(texts, 3),
                                        ALK__JS(jsons, 3),   ALK__TS(times, 3), ALK__DS(spans, 3)};
    struct answer answer;

    (void)state;
    ask(&answer, "SELECT i, b, s, j, t, d FROM unnest($1, $2, $3, $4, $5, $6) u(i, b, s, j, t, d)",
        "IBSJTD", values);
    assert_int_equal(PQntuples(answer.result), 3);
    assert_integer(&answer, 0, 0, 3);
    assert_null_cell(&answer, 1, 0);
    assert_integer(&answer, 2, 0, INT64_MAX);
    assert_integer(&answer, 0, 1, 1);
    assert_integer(&answer, 1, 1, 0);
    assert_null_cell(&answer, 2, 1);
    assert_text(&answer, 0, 2, "a");
    assert_null_cell(&answer, 1, 2);
    assert_text(&answer, 2, 2, "");
    assert_text(&answer, 1, 3, "[2]");
    assert_null_cell(&answer, 2, 3);
    assert_integer(&answer, 0, 4, US_2026);
    assert_null_cell(&answer, 1, 4);
    assert_integer(&answer, 1, 5, ALK__SECOND);
    assert_null_cell(&answer, 2, 5);
    done(&answer);
}

static void an_empty_array_is_an_empty_array(void **state) {
    const struct alk__value values[] = {ALK__IS(NULL, 0), ALK__SS(NULL, 0)};
    struct answer answer;

    (void)state;
    ask(&answer, "SELECT cardinality($1) + cardinality($2)", "IS", values);
    assert_integer(&answer, 0, 0, 0);
    done(&answer);
}

static void times_that_postgres_cannot_hold_become_infinite(void **state) {
    const struct alk__value values[] = {ALK__T(INT64_MAX), ALK__T(INT64_MAX - 1),
                                        ALK__T(INT64_MIN + 1),
                                        ALK__T(INT64_MAX - INT64_C(946684800000000))};
    struct answer answer;

    (void)state;
    ask(&answer,
        "SELECT $1 = 'infinity', $2, $3 = '-infinity', $4 < 'infinity', '-infinity'::timestamptz, "
        "$1",
        "tttt", values);
    assert_integer(&answer, 0, 0, 1);
    assert_integer(&answer, 0, 1, INT64_MAX - 1);
    assert_integer(&answer, 0, 2, 1);
    assert_integer(&answer, 0, 3, 1);
    assert_integer(&answer, 0, 4, INT64_MIN + 1);
    assert_integer(&answer, 0, 5, INT64_MAX);
    done(&answer);
}

static void spans_fold_their_days_and_refuse_months(void **state) {
    struct answer answer;

    (void)state;
    ask(&answer,
        "SELECT interval '2 days 1 second', interval '-1 day', interval '1 month', interval "
        "'-178000000 years'",
        "", NULL);
    assert_integer(&answer, 0, 0, 2 * ALK__DAY + ALK__SECOND);
    assert_integer(&answer, 0, 1, -ALK__DAY);
    assert_int_equal(alk__postgres_cell(answer.result, 0, 2).kind, ALK__CELL_OTHER);
    assert_int_equal(alk__postgres_cell(answer.result, 0, 3).kind, ALK__CELL_OTHER);
    done(&answer);
}

static void columns_of_like_types_are_read(void **state) {
    struct answer answer;

    (void)state;
    ask(&answer, "SELECT (-2)::int2, (-4)::int4, 'v'::varchar, 'n'::name, 'c'::char(2), false", "",
        NULL);
    assert_integer(&answer, 0, 0, -2);
    assert_integer(&answer, 0, 1, -4);
    assert_text(&answer, 0, 2, "v");
    assert_text(&answer, 0, 3, "n");
    assert_text(&answer, 0, 4, "c ");
    assert_integer(&answer, 0, 5, 0);
    done(&answer);
}

/* S9: a column that was made into something else is named, not misread. */
static void columns_of_other_types_say_what_they_are(void **state) {
    static const char *const words[] = {"a real number", "a real number", "a blob",
                                        "a value of another type"};
    struct answer answer;

    (void)state;
    ask(&answer, "SELECT 1.5, 1.5::float8, 'x'::bytea, '{}'::jsonb", "", NULL);
    for (int column = 0; column < 4; column++) {
        struct alk__cell cell = alk__postgres_cell(answer.result, 0, column);
        assert_int_equal(cell.kind, ALK__CELL_OTHER);
        assert_string_equal(cell.what, words[column]);
    }
    done(&answer);
}

static void values_that_are_not_the_statements_are_refused(void **state) {
    const struct alk__statement_def statement = {.name = "made_up", .parameters = "is"};
    const struct alk__value values[] = {ALK__I(1), ALK__I(2)};
    struct alk__call call = {.values = values, .value_count = 2};
    struct alk__parameters parameters;
    struct alk__arena arena = {NULL};
    alk_error error = ALK_ERROR_INIT;

    (void)state;
    assert_int_equal(alk__postgres_encode(&arena, &statement, &call, &parameters, &error),
                     ALK_USAGE);
    assert_string_equal(error.message, "value 2 of made_up is 's', not 'i'");
    call.value_count = 1;
    assert_int_equal(alk__postgres_encode(&arena, &statement, &call, &parameters, &error),
                     ALK_USAGE);
    assert_string_equal(error.message, "made_up takes 2 values, not 1");
    alk__arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_type_goes_there_and_back),
        cmocka_unit_test(postgres_reads_them_as_we_mean_them),
        cmocka_unit_test(nulls_go_there_and_back),
        cmocka_unit_test(arrays_go_there_and_back_with_their_nulls),
        cmocka_unit_test(an_empty_array_is_an_empty_array),
        cmocka_unit_test(times_that_postgres_cannot_hold_become_infinite),
        cmocka_unit_test(spans_fold_their_days_and_refuse_months),
        cmocka_unit_test(columns_of_like_types_are_read),
        cmocka_unit_test(columns_of_other_types_say_what_they_are),
        cmocka_unit_test(values_that_are_not_the_statements_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
