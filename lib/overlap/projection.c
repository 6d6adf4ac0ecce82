/* SPDX-License-Identifier: BSD-3-Clause */
/* projection.c: low modes of H, taken out and put back. */
#include "projection.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

int lat_projection_open(lat_projection *j, lat_space *space, const lat_modes *modes)
{
    const size_t products = (size_t)modes->count * (size_t)space->columns;
    *j = (lat_projection){.space = space, .modes = modes};
    j->dot = lat_alloc(2 * products + 1, sizeof *j->dot, "products with modes");
    j->now = j->dot + products;
    return j->dot ? 0 : -1;
}

void lat_projection_close(lat_projection *j) { free(j->dot); }

/* j->now = <w_k, x> of each mode and column. */
static int products(lat_projection *j, const lat_part *p, const lat_dfield *x)
{
    const lat_modes *m = j->modes;
    return j->space->ops->products(j->space, p, m->count, (const lat_dfield *const *)m->vector, x,
                                   j->now);
}

/* x += sum_k w_k (sign_k dot_k - now_k), sign_k that of the value, or 0. */
static int combine(lat_projection *j, const lat_part *p, bool with_dot, lat_dfield *x)
{
    const lat_modes *m = j->modes;
    for (int k = 0; k < m->count; k++) {
        const double sign = !with_dot ? 0 : m->value[k] < 0 ? -1 : 1;
        for (int i = 0; i < p->columns; i++) {
            const int at = k * j->space->columns + p->column[i];
            const lat_scalar dot = j->dot[at];
            lat_scalar *z = &j->now[at];
            *z = (lat_scalar){sign * dot.re - z->re, sign * dot.im - z->im};
        }
    }
    return j->space->ops->combine(j->space, p, m->count, j->now,
                                  (const lat_dfield *const *)m->vector, x);
}

int lat_projection_take_out(lat_projection *j, const lat_part *p, lat_dfield *in)
{
    if (products(j, p, in))
        return -1;
    memcpy(j->dot, j->now, sizeof *j->dot * (size_t)(j->modes->count * j->space->columns));
    return combine(j, p, false, in);
}

int lat_projection_put_back(lat_projection *j, const lat_part *p, lat_dfield *out)
{
    return products(j, p, out) || combine(j, p, true, out) ? -1 : 0;
}
