/* SPDX-License-Identifier: BSD-3-Clause */
/* apply.c: the sums that the end of an application asks for. */
#include "vector/apply.h"

int lat_apply_sums(const lat_apply_end *end)
{
    static const int of_step[LAT_STEPS] = {
        [LAT_STEP_CG_ALPHA] = LAT_SUM_NORM,
        [LAT_STEP_CG_BETA] = LAT_SUM_NORM,
        [LAT_STEP_BI_ALPHA] = LAT_SUM_NORM | LAT_SUM_SHADOW,
        [LAT_STEP_BI_BETA] = LAT_SUM_NORM | LAT_SUM_DOT | LAT_SUM_SHADOW | LAT_SUM_SHADOW_IN};
    if (!end)
        return 0;
    if (end->scalars)
        return of_step[end->step];
    return (end->norm ? LAT_SUM_NORM : 0) | (end->with ? LAT_SUM_DOT : 0)
           | (end->shadow ? LAT_SUM_SHADOW : 0) | (end->shadow_in ? LAT_SUM_SHADOW_IN : 0);
}

void lat_apply_hand_over(const lat_apply_end *end, const lat_part *p, const double *v)
{
    lat_scalar *const to[] = {end->with ? end->dot : NULL, end->shadow, end->shadow_in};
    for (int i = 0; i < p->columns; i++) {
        if (end->norm)
            end->norm[p->column[i]] = *v++;
        for (int k = 0; k < 3; k++)
            if (to[k]) {
                to[k][p->column[i]] = (lat_scalar){v[0], v[1]};
                v += 2;
            }
    }
}
