/* The zone of the machine: where its link points to, what its file says, or a refusal to guess. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "program/local_zone.h"

static char folder[64];
static char said[ALK_ERROR_MESSAGE_BYTES]; /* the name, or the message of the refusal */

static const char *path_of(const char *name) {
    static char path[128];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static int make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/alk-zone.XXXXXX");
    return mkdtemp(folder) == NULL ? -1 : 0;
}

static int remove_folder(void **state) {
    (void)state;
    unlink(path_of("localtime"));
    unlink(path_of("timezone"));
    return rmdir(folder);
}

static void write_file(const char *name, const char *text) {
    FILE *file = fopen(path_of(name), "we");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static const char *local_zone(void) {
    char name[ALK__LOCAL_ZONE_BYTES];
    alk_error error = ALK_ERROR_INIT;
    alk_status st = alk__local_zone(folder, name, &error);

    snprintf(said, sizeof(said), "%s", st == ALK_OK ? name : error.message);
    assert_true(st == ALK_OK || st == ALK_INVALID);
    return said;
}

static void a_link_into_the_zone_files_names_it(void **state) {
    (void)state;
    assert_int_equal(symlink("../usr/share/zoneinfo/America/Argentina/Salta", path_of("localtime")),
                     0);
    write_file("timezone", "Asia/Tokyo\n");
    assert_string_equal(local_zone(), "America/Argentina/Salta");
}

static void else_the_file_timezone_names_it(void **state) {
    (void)state;
    write_file("localtime", "TZif2");
    write_file("timezone", "Asia/Tokyo\n");
    assert_string_equal(local_zone(), "Asia/Tokyo");
    unlink(path_of("localtime"));
    assert_int_equal(symlink("/somewhere/else", path_of("localtime")), 0);
    assert_string_equal(local_zone(), "Asia/Tokyo");
}

static void without_either_it_is_utc(void **state) {
    (void)state;
    assert_string_equal(local_zone(), "UTC");
}

static void a_zone_without_a_name_is_not_guessed(void **state) {
    (void)state;
    write_file("localtime", "TZif2");
    assert_non_null(strstr(local_zone(), "/localtime' does not say the name"));
    write_file("timezone", "\n");
    assert_non_null(strstr(local_zone(), "/localtime' does not say the name"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_link_into_the_zone_files_names_it, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(else_the_file_timezone_names_it, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(without_either_it_is_utc, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_zone_without_a_name_is_not_guessed, make_folder,
                                        remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
