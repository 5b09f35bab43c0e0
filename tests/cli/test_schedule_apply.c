/* `alk schedule apply`: the schedules of a file, stated once. */
#include "support/program.h"

static const char two[] = "[schedule a]\nspec = @daily\nqueue = q\n"
                          "[schedule b]\nspec = 0 9 13 * 5\ncommand = never run here\n";

/* S123: what it owned and no longer names goes, what others made stays. */
static void the_store_becomes_what_the_file_says(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "schedule", "put", "mine", "@daily", "--queue", "q"), 0);
    place_write(place, "alk.conf", two);
    assert_int_equal(alk(place, "schedule", "apply", "alk.conf", "--json"), 0);
    assert_string_equal(place->out, "{\"name\":\"a\",\"action\":\"added\"}\n"
                                    "{\"name\":\"b\",\"action\":\"added\"}\n");
    assert_has(place->err, "alk: schedule 'b': it runs on each of these days of the month and");
    assert_int_equal(alk(place, "schedule", "show", "b", "--json"), 0);
    assert_has(place->out, "\"queue\":\"schedule:b\"");
    assert_has(place->out, "\"set\":\"config\"");

    place_write(place, "alk.conf",
                "[schedule c]\nspec = @daily\nqueue = q\n[schedule a]\nspec = @daily\nqueue = q\n"
                "overlap = skip\n");
    assert_int_equal(alk(place, "schedule", "apply", "alk.conf", "--json"), 0);
    assert_string_equal(place->out, "{\"name\":\"c\",\"action\":\"added\"}\n"
                                    "{\"name\":\"a\",\"action\":\"changed\"}\n"
                                    "{\"name\":\"b\",\"action\":\"removed\"}\n");
    assert_int_equal(alk(place, "schedule", "apply", "alk.conf", "--json"), 0);
    assert_int_equal(count_of(place->out, "unchanged"), 2);

    place_write(place, "alk.conf", "");
    assert_int_equal(alk(place, "schedule", "apply", "alk.conf"), 0);
    assert_int_equal(count_of(place->out, "removed"), 2);
    assert_int_equal(alk(place, "schedule", "list", "--json"), 0);
    assert_int_equal(count_of(place->out, "\n"), 1);
    assert_has(place->out, "{\"name\":\"mine\",");
}

static void a_dry_run_changes_nothing(void **state) {
    struct place *place = *state;

    place_write(place, "alk.conf", two);
    assert_int_equal(alk(place, "schedule", "apply", "alk.conf", "--dry-run", "--json"), 0);
    assert_int_equal(count_of(place->out, "\"added\""), 2);
    assert_int_equal(alk(place, "schedule", "list"), 0);
    assert_string_equal(place->out, "");
}

/* S123: two files with sets of their own leave each other's alone. */
static void each_set_owns_its_own(void **state) {
    struct place *place = *state;

    place_write(place, "one", "[scheduler]\nset = one\n[schedule a]\nspec = @daily\nqueue = q\n");
    place_write(place, "two", "[scheduler]\nset = two\n[schedule b]\nspec = @daily\nqueue = q\n");
    assert_int_equal(alk(place, "schedule", "apply", "one"), 0);
    assert_int_equal(alk(place, "schedule", "apply", "two"), 0);
    assert_int_equal(count_of(place->out, "removed"), 0);
    assert_int_equal(alk(place, "schedule", "list", "--json"), 0);
    assert_int_equal(count_of(place->out, "\n"), 2);
}

/* S112: all or nothing, whoever refuses it. */
static void what_is_refused_changes_nothing(void **state) {
    struct place *place = *state;

    place_write(place, "alk.conf", "[schedule a]\nspec = @daily\nqueue = q\n");
    assert_int_equal(alk(place, "schedule", "apply", "alk.conf"), 0);
    place_write(place, "alk.conf",
                "[schedule b]\nspec = @daily\nqueue = q\n[schedule c]\nspec = 61 * * * *\n"
                "queue = q\n");
    assert_int_equal(alk(place, "schedule", "apply", "alk.conf"), 2);
    assert_string_equal(place->err, "alk: alk.conf:5: schedule 'c': minute 61 is out of range 0-59 "
                                    "at column 1\n");
    place_write(place, "alk.conf",
                "[schedule b]\nspec = @daily\nqueue = q\n"
                "[schedule c]\nspec = @at 2020-01-01T00:00:00Z\nqueue = q\n");
    assert_int_equal(alk(place, "schedule", "apply", "alk.conf"), 2);
    assert_has(place->err, "schedule 'c': spec '@at 2020-01-01T00:00:00Z' has no boundary");
    assert_int_equal(alk(place, "schedule", "list", "--json"), 0);
    assert_int_equal(count_of(place->out, "\n"), 1);
    assert_has(place->out, "{\"name\":\"a\",");
    assert_int_equal(alk(place, "schedule", "apply", "nothing"), 3);
    assert_string_equal(place->err, "alk: cannot read 'nothing': No such file or directory\n");
}

/* The file's own store is used where neither an option nor the environment names one. */
static void the_file_may_name_the_store(void **state) {
    struct place *place = *state;

    place->extra = "ALK_STORE=";
    place_write(place, "alk.conf",
                "[store]\nurl = other.db\n[schedule a]\nspec = @daily\nqueue = q\n");
    assert_int_equal(alk(place, "schedule", "apply", "alk.conf"), 3);
    assert_int_equal(alk(place, "init", "--store", "other.db"), 0);
    assert_int_equal(alk(place, "schedule", "apply", "alk.conf"), 0);
    assert_int_equal(alk(place, "schedule", "list", "--store", "other.db", "--json"), 0);
    assert_int_equal(count_of(place->out, "\n"), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_BOTH(the_store_becomes_what_the_file_says),
        ON_BOTH(a_dry_run_changes_nothing),
        ON_BOTH(each_set_owns_its_own),
        ON_BOTH(what_is_refused_changes_nothing),
        ON_SQLITE(the_file_may_name_the_store),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
