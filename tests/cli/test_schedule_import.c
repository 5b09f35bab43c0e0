/* alk schedule import: a crontab on its way to a configuration. What becomes of each line is in
 * tests/program/test_crontab_config.c. */
#include "support/program.h"

#define BERLIN "--zone", "Europe/Berlin"

static const char good[] = "# nightly\n0 3 * * * /usr/local/bin/backup --all\n@hourly date +\\%F\n";

static void a_crontab_becomes_a_configuration_on_stdout(void **state) {
    struct place *place = *state;

    place_write(place, "mine", good);
    assert_int_equal(alk(place, "schedule", "import", "mine", BERLIN), 0);
    assert_string_equal(strstr(place->out, "\n\n") + 2,
                        "# nightly\n"
                        "[schedule backup]\n"
                        "spec = 0 3 * * *\n"
                        "zone = Europe/Berlin\n"
                        "catchup = skip\n"
                        "max_attempts = 1\n"
                        "command = /bin/sh -c 'cd; exec </dev/null; /usr/local/bin/backup --all'\n"
                        "\n"
                        "[schedule date]\n"
                        "spec = @hourly\n"
                        "zone = Europe/Berlin\n"
                        "catchup = skip\n"
                        "max_attempts = 1\n"
                        "command = /bin/sh -c 'cd; exec </dev/null; date +%F'\n"
                        "\n");
    assert_string_equal(place->err, "alk: 2 schedules carried over, 0 things not\n");
    assert_int_equal(alk(place, "job", "list"), 3); /* no store was made */
}

static void a_crontab_may_come_from_stdin(void **state) {
    struct place *place = *state;

    place->input = good;
    assert_int_equal(alk(place, "schedule", "import", "-", BERLIN), 0);
    assert_has(place->out, "[schedule backup]\n");
    place->input = "";
    assert_int_equal(alk(place, "schedule", "import", "-", BERLIN), 0);
    assert_string_equal(place->err, "alk: 0 schedules carried over, 0 things not\n");
    place->input = "@daily a\nnonsense\n";
    assert_int_equal(alk(place, "schedule", "import", "-", BERLIN), 1);
    assert_has(place->err, "alk: stdin:2: 'nonsense' is not carried over: ");
}

static void what_is_left_out_is_listed_and_exits_1(void **state) {
    struct place *place = *state;

    place_write(place, "mine", "MAILTO=root\n@reboot /bin/a\n*/90 * * * * /bin/b\n@daily /bin/c\n");
    assert_int_equal(alk(place, "schedule", "import", "mine", BERLIN), 1);
    assert_has(place->err, "alk: mine:1: 'MAILTO=root' is not carried over: alk run logs what");
    assert_has(place->err, "alk: mine:2: '@reboot /bin/a' is not carried over: @reboot has no");
    assert_has(place->err, "alk: mine:3: '*/90 * * * * /bin/b' is not carried over: step 90 is");
    assert_has(place->err, "alk: 1 schedule carried over, 3 things not\n");
    assert_int_equal(count_of(place->out, "\n[schedule "), 1);
    assert_int_equal(count_of(place->out, "\n# Not carried over, line "), 3);
}

static void a_systems_crontab_has_users(void **state) {
    struct place *place = *state;

    place_write(place, "crontab", "17 * * * * root cd / && run-parts /etc/cron.hourly\n");
    assert_int_equal(alk(place, "schedule", "import", "crontab", "--system", BERLIN), 1);
    assert_has(place->out, "[schedule run-parts]\n");
    assert_has(place->out, "exec </dev/null; cd / && run-parts /etc/cron.hourly'\n");
    assert_has(place->err, "alk: crontab:1: 'root' is not carried over: the user");
    assert_has(place->err, "alk: 1 schedule carried over, 1 thing not\n");
}

/* S105: cron's clock is the machine's, which is not guessed at. */
static void the_zone_is_the_machines_unless_given(void **state) {
    struct place *place = *state;
    int code;

    place->input = "@daily a\n";
    place->extra = "TZ=Asia/Tokyo";
    code = alk(place, "schedule", "import", "-");
    assert_true(code == 0 || code == 2); /* 2: this machine does not say its zone's name */
    assert_true(strstr(place->out, "Tokyo") == NULL);
    place->input = "@daily a\n";
    assert_int_equal(alk(place, "schedule", "import", "-", "--zone", "UTC"), 0);
    assert_true(strstr(place->out, "zone = ") == NULL);
    assert_int_equal(alk(place, "schedule", "import", "-", "--zone", "Mars/Base"), 2);
    assert_has(place->err, "alk: --zone: ");
    assert_string_equal(place->out, "");
}

static void what_cannot_be_read_is_an_error(void **state) {
    struct place *place = *state;

    assert_int_equal(alk(place, "schedule", "import", "nothing", BERLIN), 3);
    assert_string_equal(place->err, "alk: cannot read 'nothing': No such file or directory\n");
    assert_int_equal(alk(place, "schedule", "import", ".", BERLIN), 1);
    assert_has(place->err, "alk: cannot read ");
    assert_int_equal(alk(place, "schedule", "import"), 2);
    assert_int_equal(alk(place, "schedule", "import", "nothing", "--json"), 2);
    assert_string_equal(place->err, "alk: a configuration is no JSON\n");
    assert_string_equal(place->out, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        EMPTY(a_crontab_becomes_a_configuration_on_stdout), EMPTY(a_crontab_may_come_from_stdin),
        EMPTY(what_is_left_out_is_listed_and_exits_1),      EMPTY(a_systems_crontab_has_users),
        EMPTY(the_zone_is_the_machines_unless_given),       EMPTY(what_cannot_be_read_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
