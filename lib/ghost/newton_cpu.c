/* SPDX-License-Identifier: BSD-3-Clause */
/* newton_cpu.c: Newton's method on the CPU: g and links are host fields in natural order
 * (newton_site.h). */
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "ghost_internal.h"
#include "lattice/transform.h"
#include "newton_internal.h"

typedef struct cpu {
    lat_newton newton;
    lat_newton_fields fields;
} cpu;

static int cpu_open(lat_newton *newton)
{
    lat_newton_fields *f = &((cpu *)newton)->fields;
    const lat_ghost *m = newton->m;
    f->u = newton->links;
    f->now = newton->now;
    f->gradient = newton->r;
    f->step = newton->x;
    f->links = lat_alloc(m->sites * (size_t)m->directions, lat_ghost_link(m) * sizeof *f->links,
                         "Newton's method");
    return !f->links || lat_transform_new(&f->g[0], &f->u->head, NULL)
                   || lat_transform_new(&f->g[1], &f->u->head, NULL)
               ? -1
               : 0;
}

static void cpu_close(lat_newton *newton)
{
    lat_newton_fields *f = &((cpu *)newton)->fields;
    lat_field_free(&f->g[0]);
    lat_field_free(&f->g[1]);
    free(f->links);
}

static size_t bytes_of(const lat_field *g) { return lat_field_reals(g) * sizeof(double); }

static int cpu_begin(lat_newton *newton, lat_fixer *from, int copy, const lat_field *g,
                     double theta)
{
    lat_field *own = &((cpu *)newton)->fields.g[0];
    (void)theta;
    if (from)
        return lat_fix_get(from, copy, own) || lat_transform_project(own) ? -1 : 0;
    memcpy(own->data, g->data, bytes_of(own));
    return 0;
}

static int cpu_gradient(lat_newton *newton, bool next, double *sums)
{
    lat_newton_fields *f = &((cpu *)newton)->fields;
    const lat_ghost_call c = {.newton = f, .idle = newton->idle};
    const lat_newton_kernels *k = lat_newton_kernels_of();
    f->next = next;
    return lat_ghost_over(newton->m, k->rotate, &c, 0, NULL)
                   || lat_ghost_over(newton->m, k->gradient, &c, 2, sums)
               ? -1
               : 0;
}

static int cpu_step(lat_newton *newton, const double *scale)
{
    const lat_ghost_call c = {.a = scale, .newton = &((cpu *)newton)->fields, .idle = newton->idle};
    return lat_ghost_over(newton->m, lat_newton_kernels_of()->step, &c, 0, NULL);
}

/* Each unit from where it is. */
static int cpu_end(lat_newton *newton, lat_fixer *from, int copy, lat_field *g, bool back)
{
    const lat_newton_fields *f = &((cpu *)newton)->fields;
    const lat_geometry *geom = &g->head.geom;
    const size_t matrix = 2 * (size_t)newton->nc * (size_t)newton->nc * sizeof(double);
    const int time = newton->condition.time;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < lat_volume(geom); i++) {
        int x[LAT_MAX_DIMS];
        lat_coordinates(geom, i, x);
        const lat_field *of = &f->g[f->now[time < 0 ? 0 : x[time]]];
        memcpy((char *)g->data + i * matrix, (const char *)of->data + i * matrix, matrix);
    }
    return back ? lat_fix_set(from, copy, g) : 0;
}

lat_newton *lat_newton_cpu(void)
{
    static const lat_newton_side side = {cpu_open,     cpu_close, cpu_begin,
                                         cpu_gradient, cpu_step,  cpu_end};
    cpu *n = calloc(1, sizeof *n);
    if (n)
        n->newton.side = &side;
    else
        lat_fail("out of memory: Newton's method");
    return n ? &n->newton : NULL;
}
