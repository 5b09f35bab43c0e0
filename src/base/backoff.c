/* base/backoff.c: exponential back-off with jitter, so that what failed together does not come back
 * together. */
#include "base/backoff.h"

int64_t alk__backoff_us(int64_t base_us, int64_t cap_us, int64_t attempt,
                        const struct alk__random *source) {
    int64_t doublings = attempt > 1 ? attempt - 1 : 0;

    if (base_us <= 0 || cap_us <= 0)
        return 0;
    /* Halving the cap instead of doubling the base: nothing can overflow. */
    bool is_capped = doublings > 62 || base_us > cap_us >> doublings;
    int64_t delay = is_capped ? cap_us : base_us << doublings;
    return alk__random_between(source, delay - delay / 2, delay);
}
