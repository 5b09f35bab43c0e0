/* support/leaders.c: a scheduler that is stepped by hand. */
#include "support/leaders.h"

#include <stdlib.h>

void leader_new(struct scene *scene, struct leader *leader, const char *lease, const char *owner) {
    alk_scheduler_options options = ALK_SCHEDULER_OPTIONS_INIT;

    *leader = (struct leader){.record = calloc(1, sizeof(struct record))};
    assert_non_null(leader->record);
    options.lease_name = lease;
    options.owner = owner;
    options.ttl_us = LEADER_TTL_US;
    options.event = record_event;
    options.event_context = leader->record;
    ok(scene, alk__scheduler_init(&leader->scheduler, scene->store, &options, &scene->error));
}

void leader_free(struct leader *leader) {
    alk__scheduler_free(&leader->scheduler);
    free(leader->record);
}

alk_status leader_step(struct scene *scene, struct leader *leader) {
    return alk__scheduler_step(&leader->scheduler, &leader->wait_us, &scene->error);
}

void leader_settle(struct scene *scene, struct leader *leader) {
    for (int i = 0; i < 100; i++) {
        ok(scene, leader_step(scene, leader));
        if (leader->wait_us > 0)
            return;
    }
    fail_msg("a hundred steps and no wait");
}

void leader_age(struct leader *leader, int64_t span_us) {
    leader->scheduler.renewed_us -= span_us;
}
