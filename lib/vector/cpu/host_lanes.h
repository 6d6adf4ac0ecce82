/* SPDX-License-Identifier: BSD-3-Clause */
/* host_lanes.h: spinors of host fields into the lanes of a CPU and back. Arithmetic is in double,
 * four lanes in a vector; the text is compiled for the vector lengths of x86. A call does a block,
 * whose sites are site[lanes], by natural index; -1: an idle lane. */
#pragma once

#include "grid/team.h"
#include "lattice/field.h"
#include "vector/space.h"

/* Spinors of a batch of SU(nc). A host field, or random numbers, go in, or the batch goes `to` a
 * host field. */
typedef struct lat_host_spinors {
    lat_lane_view lanes;
    int nc;
    const lat_part *part;
    const int *object; /* by column: of the host field */
    const lat_field *from;
    lat_field *to;
    uint64_t seed;      /* of random numbers, if both are NULL */
    const lat_field *g; /* from the gauge of hosts to that of the batch (temporal.h); NULL: 1 */
} lat_host_spinors;

typedef struct lat_host_lanes {
    void (*put)(const lat_host_spinors *t, const int64_t *site, int64_t block);
    void (*get)(const lat_host_spinors *t, const int64_t *site, int64_t block);

    /* What `get` to a host field in single precision and `put` from it make of the batch. */
    void (*round)(const lat_host_spinors *t, const int64_t *site, int64_t block);
} lat_host_lanes;

const lat_host_lanes *lat_host_lanes_widest(void); /* of this processor */
