/* core/specs: the cache of compiled specs. */
#include <malloc.h>

#include "base/error.h"
#include "core/specs.h"
#include "support/test.h"

static const struct alk__when *get(struct scene *scene, struct alk__specs *specs, const char *name,
                                   const char *spec, const char *zone) {
    const struct alk__spec wanted = {
        .name = alk__text_of(name), .text = alk__text_of(spec), .zone = alk__text_of(zone)};
    const struct alk__when *when = NULL;

    ok(scene, alk__specs_get(specs, &wanted, &when, &scene->error));
    return when;
}

/* One spec in one zone is compiled once, whoever uses it; with H the name is a part of it. */
static void a_spec_is_compiled_once(struct scene *scene) {
    struct alk__specs *specs;

    ok(scene, alk__specs_new(8, &specs, &scene->error));
    const struct alk__when *noon = get(scene, specs, "a", "0 12 * * *", NULL);
    assert_ptr_equal(get(scene, specs, "b", "0 12 * * *", NULL), noon);
    assert_ptr_not_equal(get(scene, specs, "a", "0 12 * * *", "Europe/Berlin"), noon);
    assert_ptr_not_equal(get(scene, specs, "a", "0 13 * * *", NULL), noon);
    const struct alk__when *hashed = get(scene, specs, "report-7", "H H * * *", NULL);
    assert_ptr_equal(get(scene, specs, "report-7", "H H * * *", NULL), hashed);
    assert_ptr_not_equal(get(scene, specs, "billing.nightly", "H H * * *", NULL), hashed);
    alk__specs_free(specs);
}

/* With more specs than there is room for each is still the right one, and the ones used last stay.
 */
static void more_specs_than_room_are_still_right(struct scene *scene) {
    struct alk__specs *specs;
    char spec[32];

    ok(scene, alk__specs_new(4, &specs, &scene->error));
    const struct alk__when *kept = get(scene, specs, "", "@every 7s", NULL);
    for (int i = 0; i < 500; i++) {
        int minute = (i * 7) % 60;
        int64_t next_s;
        snprintf(spec, sizeof(spec), "%d 0 * * *", minute);
        assert_true(alk__when_next(get(scene, specs, "", spec, NULL), 0, -1, &next_s));
        assert_int_equal(next_s, 60 * minute);
        assert_ptr_equal(get(scene, specs, "", "@every 7s", NULL), kept);
    }
    alk__specs_free(specs);
}

/* S216, schedules.md, Targets: memory does not grow with the number of schedules: it is that of the
 * specs there is room for, however many have been seen. (A sanitizer's malloc tells nothing.) */
static void memory_does_not_grow_with_the_specs_seen(struct scene *scene) {
    struct alk__specs *specs;
    size_t full = 0;
    char spec[48];

    ok(scene, alk__specs_new(64, &specs, &scene->error));
    for (int i = 0; i < 86400; i++) {
        snprintf(spec, sizeof(spec), "%02d %02d %02d * * *", i % 60, i / 60 % 60, i / 3600);
        get(scene, specs, "", spec, NULL);
        if (i == 640)
            full = mallinfo2().uordblks;
    }
    assert_in_range(mallinfo2().uordblks, 0, full + 65536);
    alk__specs_free(specs);
}

/* A bad spec is its own fault, however long it is; no memory is not (S144). */
static void a_bad_spec_and_no_memory_are_told_apart(struct scene *scene) {
    const struct alk__spec berlin = {.text = ALK__TEXT("0 12 * * *"),
                                     .zone = ALK__TEXT("Europe/Berlin")};
    struct alk__specs *specs;
    const struct alk__when *when;
    alk_status status = ALK_NOMEM;
    char *longest = alk__alloc(100001);

    memset(longest, '*', 100000);
    longest[100000] = '\0';
    ok(scene, alk__specs_new(4, &specs, &scene->error));
    expect(scene, ALK_INVALID,
           alk__specs_get(specs, &(struct alk__spec){.text = ALK__TEXT("61 * * * *")}, &when,
                          &scene->error));
    expect(scene, ALK_INVALID,
           alk__specs_get(specs, &(struct alk__spec){.text = alk__text_of(longest)}, &when,
                          &scene->error));
    alk__specs_free(specs);
    alk__free(longest);
    for (long n = 1; status == ALK_NOMEM; n++) {
        alk__alloc_fail_at(n);
        specs = NULL;
        status = alk__specs_new(4, &specs, &scene->error);
        if (status == ALK_OK)
            status = alk__specs_get(specs, &berlin, &when, &scene->error);
        alk__alloc_fail_at(0);
        alk__specs_free(specs);
        assert_true(n < 100);
    }
    assert_int_equal(status, ALK_OK);
}

static const struct scene_test tests[] = {
    ALONE(a_spec_is_compiled_once),
    ALONE(more_specs_than_room_are_still_right),
    ALONE(memory_does_not_grow_with_the_specs_seen),
    ALONE(a_bad_spec_and_no_memory_are_told_apart),
};

int main(int argc, char **argv) {
    return RUN_SCENES(argc, argv, tests, NULL);
}
