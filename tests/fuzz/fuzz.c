/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz.c: for libFuzzer. LAT_FUZZ says what is fed (feed.h). */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "formats/hdf5_bytes.h"
#include "feed.h"
#include "repair.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t n, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t n, size_t most, unsigned seed);

static const char *target(void)
{
    const char *name = getenv("LAT_FUZZ");
    return name ? name : "any";
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    feed(target(), bytes, n);
    return 0;
}

/* In place of that of the library, at which fuzzing would end. */
bool lat_hdf5_sum_right(const unsigned char *b, size_t n)
{
    (void)b;
    return n >= 4;
}

/* Checksums end nearly every change of a stream where it begins: of eight, seven get the right
 * ones. */
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t n, size_t most, unsigned seed)
{
    n = LLVMFuzzerMutate(bytes, n, most);
    if (seed % 8 && (!strcmp(target(), "stream") || !strcmp(target(), "checkpoint")))
        repair(bytes, n);
    return n;
}
