/* store/open: stores that open, and what is in the way of those that do not. */
#include "support/test.h"

static void opening_again_changes_nothing(struct scene *scene) {
    int64_t epoch = sql_number(scene, "SELECT epoch FROM alk_meta");

    scene_close(scene);
    scene_reopen(scene);
    assert_int_equal(sql_number(scene, "SELECT epoch FROM alk_meta"), epoch);
    assert_int_equal(sql_number(scene, "SELECT count(*) FROM alk_meta"), 1);
    assert_int_equal(sql_number(scene, "SELECT version FROM alk_meta"), 1);
}

static const struct scene_test tests[] = {
    BOTH(opening_again_changes_nothing),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
