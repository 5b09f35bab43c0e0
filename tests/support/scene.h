/* support/scene.h: what the files of the harness share behind support/test.h. */
#ifndef ALK_TEST_SUPPORT_SCENE_H
#define ALK_TEST_SUPPORT_SCENE_H

#include "support/test.h"

struct scene_private {
    const struct scene_test *test;
    char name[256];
    char folder[128];
    char url[512];
    char schema[64]; /* PostgreSQL */
    bool is_passed;
    bool is_set_up;
    void *handle; /* of sql() */
    char text[4096];
    char times[8][96];
    int next_time;
};

/* Drops the schema of a PostgreSQL scene. */
void sql_drop_schema(struct scene *scene);

/* Runs the role that the arguments name and gives its exit code; -1: they name none. */
int run_role(int argc, char **argv, const struct role *roles);

#endif
