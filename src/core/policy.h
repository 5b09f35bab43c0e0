/* core/policy.h: what a schedule's row says about boundaries that were missed, that overlap, or
 * that lie where clocks change. */
#ifndef ALK_CORE_POLICY_H
#define ALK_CORE_POLICY_H

#include "store/rows.h"
#include <alkstore/schedule.h>

struct alk__policy {
    alk_catchup catchup;
    alk_overlap overlap;
    alk_dst_gap gap;
    alk_dst_fold fold;
};

/* ALK_INVALID: a word that is none (a CHECK dropped). The row is to be readable. */
alk_status alk__policy_read(const struct alk__row_schedule *row, struct alk__policy *ret_policy,
                            alk_error *error);

#endif
