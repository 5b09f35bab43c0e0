/* when/hash.c: the one hash of this folder: where H puts a schedule, how far jitter moves a job,
 * what a zone file is. */
#include "when/compiled.h"

uint64_t alk__hash_add(uint64_t state, const void *bytes, size_t length) {
    const unsigned char *byte = bytes;

    for (size_t i = 0; i < length; i++)
        state = (state ^ byte[i]) * UINT64_C(0x100000001b3);
    return state;
}

uint64_t alk__hash_finish(uint64_t state) {
    state ^= state >> 33;
    state *= UINT64_C(0xff51afd7ed558ccd);
    state ^= state >> 33;
    state *= UINT64_C(0xc4ceb9fe1a85ec53);
    return state ^ state >> 33;
}
