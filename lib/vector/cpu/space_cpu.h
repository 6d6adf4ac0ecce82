/* SPDX-License-Identifier: BSD-3-Clause */
/* space_cpu.h: batches on the CPU, for operators that run on them. */
#pragma once

#include "grid/cpu_grid.h"
#include "grid/team.h"
#include "vector/cpu/sum_order.h"
#include "vector/cpu/vector_lanes.h"

#define LAT_SUM_NUMBERS (2 * LAT_VECTOR_TERMS + 1) /* of a site and column, at most */

typedef struct lat_cpu_space {
    lat_space space;
    const lat_vector_lanes *lanes;
    int32_t *position; /* of own sites by natural index: block * lanes + lane */
    void *signs;       /* of e, as dirac_lanes.h has them */
    lat_sum_order order;
    lat_barrier barrier;             /* between numbers, sums of parts, and sums of slices */
    void *numbers;                   /* of sites, as dirac_lanes.h has them */
    size_t reserved, reserved_parts; /* in `numbers` and `parts` */
    double *parts, *slices, *total;  /* [columns][parts or slices][numbers], [columns][numbers] */
} lat_cpu_space;

static inline lat_cpu_space *lat_cpu_space_of(lat_space *s) { return (lat_cpu_space *)s; }

/* Reserves so many numbers of each site and active column. */
int lat_cpu_sum_reserve(lat_cpu_space *s, const lat_part *p, int numbers);

/* Adds them up, slice by slice, to s->slices; all threads of a team call it, once all numbers have
 * been written. */
void lat_cpu_sum_slices(lat_cpu_space *s, const lat_part *p, int numbers);

/* And over slices and ranks, to s->total[active column][numbers]; one thread. */
int lat_cpu_sum_total(lat_cpu_space *s, const lat_part *p, int numbers);

/* Runs a pass over the part's blocks, and adds up its numbers: to s->total. */
int lat_cpu_pass(lat_space *space, const lat_part *p, lat_pass_blocks *fn, lat_pass *pass);

/* Numbers k, k + 1 of each active column in s->total. */
static inline void lat_cpu_read_dot(const lat_space *s, const lat_part *p, int numbers, int k,
                                    lat_scalar *dot)
{
    for (int i = 0; dot && i < p->columns; i++) {
        const double *v = ((const lat_cpu_space *)s)->total + i * numbers + k;
        dot[p->column[i]] = (lat_scalar){v[0], v[1]};
    }
}

/* Of the table of space.h. */
int lat_cpu_products(lat_space *s, const lat_part *p, int n, const lat_dfield *const *w,
                     const lat_dfield *y, lat_scalar *dot);
int lat_cpu_combine(lat_space *s, const lat_part *p, int n, const lat_scalar *a,
                    const lat_dfield *const *w, lat_dfield *y);

/* Where blocks of a parity begin and end. */
void lat_cpu_blocks(const lat_grid *grid, lat_parity parity, int *begin, int *end);

/* x <- what a host field in single precision has of it. */
void lat_cpu_round(lat_space *s, const lat_part *p, lat_dfield *x);
