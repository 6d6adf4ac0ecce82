/* SPDX-License-Identifier: BSD-3-Clause */
/* modes_inverse.c: about A^-1 by a multigrid from a file, A = gamma5 M or gamma5 S: M x = gamma5 r,
 * x = A^-1 r; of gamma5 S r is 0 on even sites, and x on odd sites is what is looked for. */
#include "modes_run.h"

#include "base/error.h"

/* What a call takes per cycle, about, in applications of A. */
enum { CYCLE = 10, MOST_CYCLES = 20 };
#define REDUCTION .3 /* of |r| */

int lat_modes_tool_open_inverse(lat_modes_tool_run *r, lat_device *on)
{
    const lat_field *u = lat_modes_tool_links(r);
    lat_modes_tool_inverse *const v = &r->inverse;
    lat_wilson_options o = {.columns = LAT_MULTIGRID_COLUMNS,
                            .form = LAT_ASYMMETRIC,
                            .inner = LAT_STORAGE_SINGLE,
                            .multigrid = true};
    lat_plain *plain = NULL;
    int rc = lat_rc(lat_multigrid_takes(on, &u->head.geom, u->head.nc)
                    || lat_field_spinors(&v->b, u, LAT_MODES, LAT_MULTIGRID_COLUMNS)
                    || lat_field_spinors(&v->x, u, LAT_MODES, LAT_MULTIGRID_COLUMNS));
    if (rc)
        return rc;
    rc = lat_subspace_find(r->subspaces, &r->links.u, &r->fermion, r->o.smear_text, &v->sub);
    lat_subspace_serve(&v->sub, &o);
    if (rc == 0)
        rc = lat_rc(!(v->wilson = lat_wilson_open(on, u, &r->fermion, &o))
                    || !(plain = lat_plain_new(u, &r->fermion))
                    || lat_subspace_make(v->wilson, plain, u, lat_input_name(r->subspaces)));
    lat_plain_free(plain);
    return rc;
}

void lat_modes_tool_close_inverse(lat_modes_tool_run *r)
{
    lat_wilson_close(r->inverse.wilson);
    lat_subspace_free(&r->inverse.sub);
    lat_field_free(&r->inverse.b);
    lat_field_free(&r->inverse.x);
    r->inverse.wilson = NULL;
}

int lat_modes_tool_start(void *with, int first, const lat_part *p, lat_dfield *v)
{
    lat_modes_tool_run *r = with;
    lat_space *s = r->exact.many;
    int object[LAT_MULTIGRID_COLUMNS];
    for (int k = 0; k < p->columns; k++)
        object[k] = first + k;
    return lat_spinors_put(s, p, v, &r->inverse.sub.vectors, object);
}

int lat_modes_tool_invert(void *with, const lat_part *p, lat_dfield *v, long *applications)
{
    lat_modes_tool_run *r = with;
    lat_space *s = r->exact.many;
    const lat_part even = {LAT_EVEN, p->columns, p->column},
                   both = {LAT_BOTH, p->columns, p->column};
    double target[LAT_MULTIGRID_COLUMNS];
    lat_solve_report report[LAT_MULTIGRID_COLUMNS] = {{0}};
    const lat_wilson_job job = {.b = &r->inverse.b,
                                .x = &r->inverse.x,
                                .columns = p->columns,
                                .object = lat_column_numbers,
                                .target = target,
                                .solver = LAT_SOLVER_MG,
                                .max_iterations = MOST_CYCLES};
    for (int k = 0; k < p->columns; k++)
        target[k] = REDUCTION;
    if ((r->o.matrix == LAT_MODES_OF_G5S && s->ops->zero(s, &even, v))
        || s->ops->gamma5(s, &both, v)
        || lat_spinors_get(s, &both, v, &r->inverse.b, lat_column_numbers)
        || lat_wilson_solve(r->inverse.wilson, &job, report, NULL))
        return -1;
    for (int k = 0; k < p->columns; k++)
        *applications += CYCLE * report[k].iterations;
    return lat_spinors_put(s, &both, v, &r->inverse.x, lat_column_numbers);
}
