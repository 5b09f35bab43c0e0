/* tests/fuzz/fuzz_tzif.c: any bytes as a zone file: refused, or a zone whose changes ascend. */
#include <stdlib.h>

#include "when/zone.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct alk__zone *zone = NULL;

    if (alk__tzif_parse((struct alk__text){(const char *)bytes, length}, &zone, NULL) < 0)
        return 0;
    for (size_t i = 0; i < zone->count; i++) {
        const struct alk__change *change = &zone->change[i];

        if (change->offset_s <= -ALK__ZONE_OFFSET_MAX_S ||
            change->offset_s >= ALK__ZONE_OFFSET_MAX_S ||
            (i > 0 && change->at <= zone->change[i - 1].at) ||
            alk__zone_segment(zone, change->at).start != change->at)
            abort();
    }
    alk__zone_unref(zone);
    return 0;
}
