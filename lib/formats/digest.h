/* SPDX-License-Identifier: BSD-3-Clause */
/* digest.h: the checksums of foreign files, added up in any order of their chunks. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "comm/comm.h"

/* Adds to the checksum `sum` the bytes, as they are in the file, of `sites` sites of `site_bytes`
 * each; the first one is number `first` of the file. Chunks come in any order, from any thread. */
typedef void lat_digest(void *sum, const unsigned char *bytes, size_t sites, size_t site_bytes,
                        size_t first);

/* NERSC: the sum of all 32-bit words, in both byte orders. */
typedef struct lat_nersc_sum {
    uint32_t big, little;
} lat_nersc_sum;
void lat_nersc_digest(void *sum, const unsigned char *bytes, size_t sites, size_t site_bytes,
                      size_t first);

/* MILC: the exclusive or of all 32-bit words, word i rotated left by i mod 29, and by i mod 31. */
typedef struct lat_milc_sum {
    uint32_t class29[29], class31[31];
} lat_milc_sum;
void lat_milc_digest(void *sum, const unsigned char *bytes, size_t sites, size_t site_bytes,
                     size_t first);
void lat_milc_sums(const lat_milc_sum *sum, bool big, uint32_t *sum29, uint32_t *sum31);

/* GLU in double precision: the same of the sums of the two halves of each real, in either byte
 * order. */
void lat_glu_digest_big(void *sum, const unsigned char *bytes, size_t sites, size_t site_bytes,
                        size_t first);
void lat_glu_digest_little(void *sum, const unsigned char *bytes, size_t sites, size_t site_bytes,
                           size_t first);

/* SciDAC: the exclusive or of the CRC-32 of each site, rotated left by its natural index mod 29,
 * and mod 31. Only for payloads in natural order. */
typedef struct lat_scidac_sum {
    uint32_t a, b;
} lat_scidac_sum;
void lat_scidac_digest(void *sum, const unsigned char *bytes, size_t sites, size_t site_bytes,
                       size_t first);

/* One of these, zero at first. */
typedef union lat_sum {
    lat_nersc_sum nersc;
    lat_milc_sum milc;
    lat_scidac_sum scidac;
} lat_sum;

/* Adds to *sum another sum of the same digest, over other sites. */
void lat_sum_add(lat_digest *digest, lat_sum *sum, const lat_sum *other);

/* *sum becomes the sum over all ranks. All of them call it. 0 or -1. */
int lat_sum_of_ranks(const lat_comm *comm, lat_digest *digest, lat_sum *sum);
