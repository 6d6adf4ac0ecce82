/* SPDX-License-Identifier: BSD-3-Clause */
/* apply.h: what an operator on batches does with its result in the pass that makes it: it adds the
 * result to what is there, makes a step of a recursion, or takes sums. Solvers say it with each
 * application of an operator; operators ask here what was said. C and C++. */
#pragma once

#include "vector/space.h"

/* What is done with a result in the pass that makes it. All zero: out = result. */
enum { LAT_APPLY_TERMS = 2 };
typedef struct lat_apply_end {
    const double *add; /* out = out + add result, a real number a column */
    /* `apply` takes it, with add and without recursions and sums: out = keep onto + add result
     * (keep NULL: 1). It is not out; it may be the field that went in. */
    const lat_dfield *onto;
    /* Of `apply`, for recursions. The result is factor (matrix + shift) in (factor 0: 1); and with
     * add, out = keep out + add result + sum_j by[j] more[j]. keep is for ends with terms, a shift,
     * a factor, or `onto`; NULL: 1. The fields are not out; one of them may be the field that went
     * in. */
    lat_scalar shift;
    double factor;
    int terms;
    const double *keep;
    const double *by[LAT_APPLY_TERMS];
    const lat_dfield *more[LAT_APPLY_TERMS];
    double *norm;           /* |out|^2 */
    const lat_dfield *with; /* and <with, out>, to dot; it may be the field that went in */
    lat_scalar *dot;
    lat_scalar *shadow;    /* the shadow of out (space.h) */
    lat_scalar *shadow_in; /* that of the field that went in: not of a hop, not of NORMAL */
    /* Or the sums are those of a step, which these scalars take (scalars.h); with LAT_STEP_CG_BETA
     * out = out - alpha result. */
    lat_scalars *scalars;
    lat_scalar_step step;
    double epsilon; /* of the step */
} lat_apply_end;

/* Which sums an end asks for, a bit for each number of a column; NULL: none. */
enum { LAT_SUM_NORM = 1, LAT_SUM_DOT = 6, LAT_SUM_SHADOW = 24, LAT_SUM_SHADOW_IN = 96 };
int lat_apply_sums(const lat_apply_end *end);

static inline int lat_sum_numbers(int sums) { return __builtin_popcount((unsigned)sums); }

/* v[active column][numbers], in the order of the list above, to where the end wants them. */
void lat_apply_hand_over(const lat_apply_end *end, const lat_part *p, const double *v);

/* Is the result added to what is there? */
static inline bool lat_apply_adds(const lat_apply_end *end)
{
    return end && (end->add || (end->scalars && end->step == LAT_STEP_CG_BETA));
}

static inline bool lat_apply_shifted(const lat_apply_end *end)
{
    return end->shift.re != 0 || end->shift.im != 0;
}

static inline double lat_apply_factor(const lat_apply_end *end)
{
    return end->factor != 0 ? end->factor : 1;
}

/* Is it an end of a recursion? */
static inline bool lat_apply_recursion(const lat_apply_end *end)
{
    return end && (end->terms || end->factor != 0 || lat_apply_shifted(end));
}
