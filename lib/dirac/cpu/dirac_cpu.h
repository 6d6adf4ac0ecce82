/* SPDX-License-Identifier: BSD-3-Clause */
/* dirac_cpu.h: a Dirac operator on the CPU, for dirac_cpu.c and its benchmark. */
#pragma once

#include "dirac/cpu/dirac_lanes.h"
#include "dirac/dirac.h"
#include "vector/cpu/space_cpu.h"

/* When a hop asks for what the next block reads, and when it stores past the caches. */
typedef enum { LAT_CACHE_AUTO, LAT_CACHE_NEVER, LAT_CACHE_ALWAYS } lat_cache;

typedef struct lat_cpu_dirac {
    lat_dirac d;
    lat_cpu_space *s;
    const lat_dirac_lanes *lanes;
    lat_hop_table table;
    lat_hop_work work;
    void *links[2], *clover, *inverse;
    uint8_t *unit;     /* [own blocks], of lat_hop_work */
    lat_dfield *tmp;   /* D in, on the other parity; S in of NORMAL, on the same */
    lat_dfield *other; /* A^-1 in, of the symmetric S^+; made when it is first needed */
    double w;          /* of spatial hops */
    bool in_turn;      /* as lat_dirac_options has it */
    double logdet[2];
    long negative[2];
    lat_cache ahead, past_cache;
    double third; /* bytes of the third cache, 0: unknown */
} lat_cpu_dirac;

static inline lat_cpu_dirac *lat_cpu_dirac_of(lat_dirac *d) { return (lat_cpu_dirac *)d; }

/* Links, clover blocks and log det, from the host's fields (dirac_cpu_fields.c). */
int lat_cpu_dirac_links(lat_cpu_dirac *c, const lat_field *u);
int lat_cpu_dirac_clover(lat_cpu_dirac *c, const lat_field *u, bool traceless);
