/* loops/scheduler_sweep.c: when the leader goes over all schedules, and which way (core/sweep.h):
 * at its election, after a step of the clock, once a day, on request; a batch between two ticks. */
#include <stdatomic.h>

#include "base/error.h"
#include "loops/scheduler.h"
#include "store/run.h"

#define AGAIN_US ALK__SECOND /* after one that met rows in somebody's hands */

static _Atomic int64_t zones_asked;

void alk_scheduler_refresh_zones(void) {
    atomic_fetch_add(&zones_asked, 1);
}

int64_t alk__zones_asked(void) {
    return atomic_load(&zones_asked);
}

static void report(const struct alk__scheduler *scheduler, alk_level level, const char *name,
                   int64_t count, int64_t duration_us, const char *detail) {
    alk_event event = alk__event(level, name);

    event.subject = scheduler->options.lease_name;
    event.count = count;
    event.duration_us = duration_us;
    event.detail = detail;
    alk__report(&scheduler->reporter, &event);
}

void alk__scheduler_sweep_elected(struct alk__scheduler *scheduler) {
    scheduler->is_sweeping = false;
    scheduler->sweep_at_us = 0;
    scheduler->wants[ALK__SWEEP_ZONES] = true;
    scheduler->wants[ALK__SWEEP_REARM] = false;
}

void alk__scheduler_sweep_clock(struct alk__scheduler *scheduler, int64_t behind_us,
                                int64_t now_us) {
    static _Atomic int64_t regressions; /* of this process */

    if (behind_us <= ALK__CLOCK_STEP_US || scheduler->wants[ALK__SWEEP_REARM])
        return;
    scheduler->wants[ALK__SWEEP_REARM] = true;
    scheduler->stepped_us = now_us;
    report(scheduler, ALK_LEVEL_WARNING, "clock went back", ++regressions, behind_us, "");
}

static void look_at_zones(struct alk__scheduler *scheduler) {
    int64_t asked = alk__zones_asked();

    if (asked == scheduler->zones_asked && alk__monotonic_us() < scheduler->zones_at_us)
        return;
    scheduler->wants[ALK__SWEEP_ZONES] = true;
}

/* The first that is wanted; ALK__SWEEP_KINDS: none. */
static enum alk__sweep_kind wanted(const struct alk__scheduler *scheduler) {
    int kind = 0;

    while (kind < ALK__SWEEP_KINDS && !scheduler->wants[kind])
        kind++;
    return (enum alk__sweep_kind)kind;
}

bool alk__scheduler_may_sweep(const struct alk__scheduler *scheduler) {
    return wanted(scheduler) != ALK__SWEEP_KINDS && alk__monotonic_us() >= scheduler->sweep_at_us;
}

static void start(struct alk__scheduler *scheduler, enum alk__sweep_kind kind) {
    scheduler->sweep = (struct alk__sweep){.kind = kind, .until_us = scheduler->started_us};
    scheduler->is_sweeping = true;
    if (kind == ALK__SWEEP_ZONES) {
        scheduler->zones_asked = alk__zones_asked();
        scheduler->zones_at_us = alk__add_us(alk__monotonic_us(), ALK__ZONES_PERIOD_US);
    }
}

static alk_status settle_clock(struct alk__scheduler *scheduler, alk_error *error) {
    const alk_lease *lease = &scheduler->lease;

    return alk__do(scheduler->conn, ALK__LEASE_CLOCK, NULL, error, ALK__Z(lease->name),
                   ALK__Z(lease->owner), ALK__I(lease->fence), ALK__T(scheduler->stepped_us));
}

/* What is to be forgotten is not looked for again: a tick may have met it since. */
static alk_status finish(struct alk__scheduler *scheduler, alk_error *error) {
    static const char *const texts[ALK__SWEEP_KINDS] = {
        "missed boundaries forgotten", "schedules armed again", "schedules follow new zone files"};
    enum alk__sweep_kind kind = scheduler->sweep.kind;
    alk_status status = ALK_OK;

    scheduler->is_sweeping = false;
    if (scheduler->sweep.changed > 0 || kind != ALK__SWEEP_ZONES)
        report(scheduler, ALK_LEVEL_INFO, texts[kind], (int64_t)scheduler->sweep.changed, -1, "");
    if (scheduler->sweep.is_incomplete && kind != ALK__SWEEP_FORGET) {
        scheduler->sweep_at_us = alk__add_us(alk__monotonic_us(), AGAIN_US);
        return ALK_OK;
    }
    if (kind == ALK__SWEEP_REARM)
        status = settle_clock(scheduler, error);
    if (status >= 0)
        scheduler->wants[kind] = false;
    return status;
}

alk_status alk__scheduler_sweep(struct alk__scheduler *scheduler, bool *ret_has_swept,
                                alk_error *error) {
    *ret_has_swept = false;
    look_at_zones(scheduler);
    enum alk__sweep_kind kind = wanted(scheduler);
    if (!alk__scheduler_may_sweep(scheduler))
        return ALK_OK;
    if (!scheduler->is_sweeping || scheduler->sweep.kind != kind)
        start(scheduler, kind);
    alk_status status = alk__sweep_step(scheduler->conn, &scheduler->sweep, scheduler->specs,
                                        &scheduler->lease, error);
    if (status >= 0 && scheduler->sweep.is_over)
        status = finish(scheduler, error);
    *ret_has_swept = status >= 0;
    if (status < 0)
        alk__error_set_phase(error, ALK_PHASE_ADVANCE);
    return status;
}
