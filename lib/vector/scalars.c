/* SPDX-License-Identifier: BSD-3-Clause */
/* scalars.c: scalars of an iteration on the host. */
#include "vector/scalars.h"

#include <stdlib.h>
#include "base/error.h"
#include "base/memory.h"
#include "vector/space.h"

static lat_scalars *host_open(LAT_UNUSED lat_space *space)
{
    return lat_alloc_zero(1, sizeof(lat_scalars), "scalars");
}

static void host_close(lat_scalars *s) { free(s); }

static int host_set(lat_scalars *s, const lat_part *p, lat_row row, const lat_scalar *to)
{
    LAT_FOR_COLUMNS (k, p)
        s->row[row][k] = to[k];
    return 0;
}

static int host_read(lat_scalars *s, const lat_part *p, lat_scalar_step step, int ago,
                     double *number)
{
    const double *const from = s->number[step][(s->taken[step] - ago) % 2];
    LAT_FOR_COLUMNS (k, p)
        number[k] = from[k];
    return 0;
}

void lat_scalars_take(lat_scalars *s, const lat_part *p, lat_scalar_step step, double epsilon,
                      int numbers, const double *sum)
{
    double *const to = s->number[step][++s->taken[step] % 2];
    for (int i = 0; i < p->columns; i++)
        to[p->column[i]] = lat_step_take(step, epsilon, sum + i * numbers, &s->row[0][p->column[i]],
                                         LAT_VECTOR_COLUMNS);
}

const lat_scalar_ops lat_scalars_host = {host_open, host_close, host_set, host_read};
