/* SPDX-License-Identifier: BSD-3-Clause */
/* precondition.c: a solver as a preconditioner of another one. */
#include "base/error.h"
#include "krylov_internal.h"

/* ---- the system of a method, whose vectors are kept ------------------------------------------ */

static int kept_apply(void *with, bool dagger, const lat_part *p, lat_dfield *out, lat_dfield *in,
                      const lat_apply_end *end)
{
    const lat_system *s = ((const lat_helper *)with)->method->system;
    return s->apply(s->with, dagger, p, out, in, end);
}

static lat_dfield *kept_vector(void *with, const char *what)
{
    lat_helper *h = with;
    const lat_system *s = h->method->system;
    return h->count > 0 ? h->kept[--h->count] : s->vector(s->with, what);
}

static void kept_release(void *with, lat_dfield *v)
{
    lat_helper *h = with;
    const lat_system *s = h->method->system;
    if (v && h->count < LAT_HELPER_VECTORS)
        h->kept[h->count++] = v;
    else
        s->release(s->with, v);
}

int lat_helper_open(lat_helper *h, const lat_method *method, const lat_system *of)
{
    *h = (lat_helper){.method = method, .of = of};
    if (!method || method->precondition)
        return 0;
    h->system = *method->system;
    h->system.apply = kept_apply;
    h->system.vector = kept_vector;
    h->system.release = kept_release;
    h->system.with = h;
    if (method->steps < 1 || method->solver == LAT_SOLVER_AUTO)
        return lat_fail("a preconditioner: expected 1 step or more of a solver, found %ld of %s",
                        method->steps, lat_solver_name(method->solver));
    return lat_rc(!(h->b = kept_vector(h, "a preconditioner"))
                  || !(h->x = kept_vector(h, "a preconditioner")));
}

void lat_helper_close(lat_helper *h)
{
    if (!h->b)
        return;
    const lat_system *s = h->method->system;
    s->release(s->with, h->b);
    s->release(s->with, h->x);
    while (h->count > 0)
        s->release(s->with, h->kept[--h->count]);
}

/* e by the solver of the method. */
static int estimate(lat_helper *h, const lat_part *p, const double *norm, lat_dfield *e,
                    const lat_dfield *r)
{
    const lat_method *m = h->method;
    const lat_system *s = m->system;
    double target[LAT_VECTOR_COLUMNS];
    lat_solve_report report[LAT_VECTOR_COLUMNS] = {{0}};
    const lat_equation q = {.outer = &h->system,
                            .inner = &h->system,
                            .b = h->b,
                            .x = h->x,
                            .from_zero = true,
                            .target = target,
                            .max_iterations = m->steps,
                            .preconditioner = m->preconditioner,
                            .estimate = true};
    LAT_FOR_COLUMNS (k, p)
        target[k] = m->tolerance * norm[k];
    return LAT_OPS(s)->convert(s->space, p, h->of->space, r, h->b)
           || LAT_OPS(s)->zero(s->space, p, h->x)
           || lat_solve(&q, m->solver, p->columns, p->column, report)
           || LAT_OPS(h->of)->convert(h->of->space, p, s->space, h->x, e);
}

int lat_helper_apply(lat_helper *h, const lat_part *p, const double *norm, lat_dfield *e,
                     lat_dfield *s, lat_dfield *r)
{
    if (h->method && h->method->precondition)
        return h->method->precondition(h->method->with, p, e, s, r);
    if (h->method ? estimate(h, p, norm, e, r) : LAT_OPS(h->of)->copy(h->of->space, p, r, e))
        return -1;
    return h->of->apply(h->of->with, false, p, s, e, NULL);
}
