/* SPDX-License-Identifier: BSD-3-Clause */
/* mr.c: minimal residual:
 *
 *     omega = <A r,r>/|A r|^2, x += omega r, r -= omega A r
 *
 * |r|^2 falls by |<A r,r>|^2/|A r|^2 in each step. */
#include <math.h>
#include "krylov_internal.h"

int lat_mr(lat_run *w)
{
    const lat_system *s = w->s;
    double norm[LAT_VECTOR_COLUMNS], square[LAT_VECTOR_COLUMNS];
    lat_numbers dot, omega, minus;
    const lat_apply_end end = {.norm = square, .with = w->r, .dot = dot};
    lat_dfield *t;
    int rc = lat_system_vectors(w->s, &w->active, 1, &t, "minimal residual");
    while (rc == 0 && w->active.columns > 0) {
        rc = s->apply(s->with, false, &w->active, t, w->r, &end);
        LAT_FOR_COLUMNS (k, &w->active) {
            const double complex by = square[k] > 0 ? conj(lat_z(dot[k])) / square[k] : 0;
            omega[k] = lat_scalar_of(by);
            minus[k] = lat_scalar_of(-by);
            norm[k] = fmax(w->norm[k] * w->norm[k] - creal(by * lat_z(dot[k])), 0);
        }
        rc = rc || lat_add(s, &w->active, omega, w->r, w->x, NULL)
             || lat_add(s, &w->active, minus, t, w->r, NULL) || lat_run_check(w, 1, norm);
    }
    lat_system_release(w->s, 1, &t);
    return rc;
}
