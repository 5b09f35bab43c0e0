/* store/rows: what a driver hands over becomes structs, and a wrong value a row that says so. */
#include "store/driver.h"
#include "support/test.h"

struct all_types {
    struct alk__row row;
    int64_t number;
    int64_t flag;
    struct alk__text name;
    struct alk__text note;
    int64_t at;
};

static const struct alk__column columns[] = {
    {"number", ALK__INT, false, offsetof(struct all_types, number)},
    {"flag", ALK__BOOL, false, offsetof(struct all_types, flag)},
    {"name", ALK__STR, false, offsetof(struct all_types, name)},
    {"note", ALK__JSON, true, offsetof(struct all_types, note)},
    {"at", ALK__TIME, true, offsetof(struct all_types, at)},
    {NULL, 0, false, 0},
};
static const struct alk__row_type all_types = {"all_types", sizeof(struct all_types), columns};

#define NOTHING                                                                                    \
    { .kind = ALK__CELL_NULL }
#define INTEGER(value)                                                                             \
    { .kind = ALK__CELL_INT, .integer = (value) }
#define WORD(literal)                                                                              \
    {                                                                                              \
        .kind = ALK__CELL_TEXT, .text = {(literal), sizeof(literal) - 1 }                          \
    }
#define OTHER(words)                                                                               \
    { .kind = ALK__CELL_OTHER, .what = (words) }

static void rows_are_decoded_in_order(struct scene *scene) {
    struct alk__rows rows = {0};
    char name[] = "first";

    ok(scene, alk__rows_start(&rows, &all_types, 0, &scene->error));
    for (int i = 0; i < 1000; i++) {
        const struct alk__cell cells[] = {INTEGER(i),
                                          INTEGER(i % 2),
                                          {.kind = ALK__CELL_TEXT, .text = {name, 5}},
                                          NOTHING,
                                          INTEGER(-i)};
        ok(scene, alk__rows_add(&rows, &all_types, cells, 5, &scene->error));
    }
    memset(name, '#', sizeof(name)); /* what was handed over is no longer needed */
    assert_int_equal(rows.count, 1000);
    for (size_t i = 0; i < rows.count; i++) {
        const struct all_types *row = ALK__ROW(&rows, all_types, i);
        assert_null(row->row.unreadable);
        assert_int_equal(row->number, i);
        assert_int_equal(row->flag, i % 2);
        assert_string_equal(row->name.bytes, "first");
        assert_null(row->note.bytes);
        assert_int_equal(row->at, -(int64_t)i);
    }
    alk__rows_free(&rows);
    assert_int_equal(rows.count, 0);
}

/* S9: what can be read is there, and the first thing that cannot be is named. */
static void a_wrong_value_makes_its_row_unreadable(struct scene *scene) {
    static const struct {
        struct alk__cell cells[5];
        const char *words;
    } cases[] = {
        {{WORD("x"), INTEGER(1), WORD("n"), NOTHING, NOTHING},
         "column 'number' holds text, not an integer"},
        {{NOTHING, INTEGER(1), WORD("n"), NOTHING, NOTHING},
         "column 'number' holds null, not an integer"},
        {{INTEGER(INT64_MIN), INTEGER(1), WORD("n"), NOTHING, NOTHING},
         "column 'number' holds an integer out of range, not an integer"},
        {{OTHER("a real number"), INTEGER(1), WORD("n"), NOTHING, NOTHING},
         "column 'number' holds a real number, not an integer"},
        {{INTEGER(5), INTEGER(2), WORD("n"), NOTHING, NOTHING},
         "column 'flag' holds an integer out of range, not a boolean"},
        {{INTEGER(5), INTEGER(1), INTEGER(1), NOTHING, NOTHING},
         "column 'name' holds an integer, not text"},
        {{INTEGER(5), INTEGER(1), NOTHING, NOTHING, NOTHING}, "column 'name' holds null, not text"},
        {{INTEGER(5), INTEGER(1), WORD("\xff"), NOTHING, NOTHING},
         "column 'name' holds bytes that are not UTF-8, not text"},
        {{INTEGER(5), INTEGER(1), WORD("a\0b"), NOTHING, NOTHING},
         "column 'name' holds bytes that are not UTF-8, not text"},
        {{INTEGER(5), INTEGER(1), WORD("n"), OTHER("a blob"), NOTHING},
         "column 'note' holds a blob, not text"},
        {{INTEGER(5), INTEGER(1), WORD("n"), NOTHING, WORD("noon")},
         "column 'at' holds text, not a time"},
        {{INTEGER(5), INTEGER(3), INTEGER(1), OTHER("a blob"), WORD("noon")},
         "column 'flag' holds an integer out of range, not a boolean"},
    };
    struct alk__rows rows = {0};

    ok(scene, alk__rows_start(&rows, &all_types, 0, &scene->error));
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        ok(scene, alk__rows_add(&rows, &all_types, cases[i].cells, 5, &scene->error));
    for (size_t i = 0; i < rows.count; i++) {
        const struct all_types *row = ALK__ROW(&rows, all_types, i);
        assert_non_null(row->row.unreadable);
        assert_string_equal(row->row.unreadable, cases[i].words);
        if (cases[i].cells[0].kind == ALK__CELL_INT && cases[i].cells[0].integer == 5)
            assert_int_equal(row->number, 5);
        else
            assert_int_equal(row->number, ALK__NULL);
    }
    alk__rows_free(&rows);
}

static void another_number_of_columns_is_a_failure(struct scene *scene) {
    static const struct alk__cell cells[] = {INTEGER(1), INTEGER(1)};
    struct alk__rows rows = {0};

    ok(scene, alk__rows_start(&rows, &all_types, 0, &scene->error));
    expect(scene, ALK_FAILED, alk__rows_add(&rows, &all_types, cells, 2, &scene->error));
    assert_int_equal(rows.count, 0);
    alk__rows_free(&rows);
}

/* S9: each kind of value that SQLite can have. */
static void sqlite_hands_over_what_a_column_holds(struct scene *scene) {
    static const struct {
        const char *value;
        const char *holds;
    } cases[] = {
        {"'one'", "text"}, {"1.5", "a real number"}, {"x'00ff'", "a blob"}, {"NULL", "null"}};
    struct alk__rows rows = {0};

    sql(scene, "ALTER TABLE alk_meta RENAME TO old_meta;"
               "CREATE TABLE alk_meta (only_row, version, oldest, epoch)");
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        sql(scene, "DELETE FROM alk_meta; INSERT INTO alk_meta VALUES (1, %s, 2, 3)",
            cases[i].value);
        ok(scene, alk__run(scene->conn, ALK__META_GET, NULL, 0, &rows, &scene->error));
        assert_int_equal(rows.count, 1);
        const struct alk__row_meta *meta = ALK__ROW(&rows, alk__row_meta, 0);
        assert_non_null(meta->row.unreadable);
        assert_contains(meta->row.unreadable, cases[i].holds);
        assert_int_equal(meta->oldest, 2);
    }
    alk__rows_free(&rows);
}

static const struct scene_test tests[] = {
    ALONE(rows_are_decoded_in_order),
    ALONE(a_wrong_value_makes_its_row_unreadable),
    ALONE(another_number_of_columns_is_a_failure),
    SQLITE(sqlite_hands_over_what_a_column_holds),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
