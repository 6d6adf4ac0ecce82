/* SPDX-License-Identifier: BSD-3-Clause */
/* algebra.c: real multiples of batches; products of single columns. */
#include "algebra.h"

#include <math.h>
#include "base/error.h"

int lat_overlap_mix(lat_space *s, const lat_part *p, double a, const lat_dfield *in, double b,
                    lat_dfield *out, double *norm)
{
    lat_scalar of_in[LAT_VECTOR_COLUMNS], of_out[LAT_VECTOR_COLUMNS];
    LAT_FOR_COLUMNS (k, p) {
        of_in[k] = lat_scalar_real(a);
        of_out[k] = lat_scalar_real(b);
    }
    return s->ops->axpby(s, p, of_in, in, of_out, out, norm);
}

int lat_chirality(lat_space *s, int c, const lat_part *p, lat_dfield *x, lat_dfield *tmp)
{
    return lat_rc(s->ops->copy(s, p, x, tmp) || s->ops->gamma5(s, p, tmp)
                  || lat_overlap_mix(s, p, c * .5, tmp, .5, x, NULL));
}

int lat_overlap_dot(lat_space *s, const lat_dfield *x, const lat_dfield *y, lat_scalar *dot)
{
    return s->ops->dots(s, &lat_first_column, 1, &x, y, &dot, NULL);
}

int lat_overlap_norm(lat_space *s, const lat_dfield *x, double *norm)
{
    if (s->ops->dots(s, &lat_first_column, 0, NULL, x, NULL, norm))
        return -1;
    *norm = sqrt(*norm);
    return 0;
}

int lat_overlap_orthogonal(lat_space *s, int rounds, int n, lat_dfield *const *w, lat_dfield *x)
{
    for (int i = 0; i < rounds * n; i++) {
        lat_scalar dot;
        const lat_scalar *const by = &dot;
        const lat_dfield *const v = w[i % n];
        if (lat_overlap_dot(s, v, x, &dot))
            return -1;
        dot = (lat_scalar){-dot.re, -dot.im};
        if (s->ops->axpys(s, &lat_first_column, 1, &by, &v, x, NULL))
            return -1;
    }
    return 0;
}
