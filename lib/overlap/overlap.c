/* SPDX-License-Identifier: BSD-3-Clause */
/* overlap.c: the overlap operator from the sign function. */
#include "overlap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "algebra.h"
#include "deflate.h"

/* Modes that are known may have residuals so much larger than those that are searched: the bound
 * says what comes of it. */
static const double KNOWN = 100;

/* ---- applying -------------------------------------------------------------------------------- */

/* D in: (1 + mu)/2 in + (1 - mu)/2 gamma5 S in; D^+ in: the same with S gamma5. */
static int apply(lat_overlap *o, bool dagger, int level, const lat_part *p, lat_dfield *out,
                 lat_dfield *in)
{
    const lat_vector_ops *ops = o->space->ops;
    if (dagger && (ops->copy(o->space, p, in, o->tmp) || ops->gamma5(o->space, p, o->tmp)))
        return -1;
    return lat_rc(lat_sign_apply(o->sign, level, p, out, dagger ? o->tmp : in)
                  || (!dagger && ops->gamma5(o->space, p, out))
                  || lat_overlap_mix(o->space, p, (1 + o->mu) / 2, in, (1 - o->mu) / 2, out, NULL));
}

/* D^+ D in (first: D), or D D^+ in: two sign functions, also where its square is not quite 1. */
static int product(lat_overlap *o, bool first, int level, const lat_part *p, lat_dfield *out,
                   lat_dfield *in)
{
    lat_dfield *v = lat_vector_new(o->space, "a field of D^+ D");
    const int rc = v ? apply(o, !first, level, p, v, in) || apply(o, first, level, p, out, v) : -1;
    lat_dfield_free(v);
    return rc ? -1 : 0;
}

int lat_overlap_chiral(lat_overlap *o, int c, int level, const lat_part *p, lat_dfield *out,
                       lat_dfield *in)
{
    const double mu2 = o->mu * o->mu;
    if (c == 0)
        return product(o, false, level, p, out, in);
    return lat_rc(lat_sign_apply(o->sign, level, p, out, in)
                  || lat_chirality(o->space, c, p, out, o->tmp)
                  || lat_overlap_mix(o->space, p, (1 + mu2) / 2, in, c * (1 - mu2) / 2, out, NULL));
}

int lat_overlap_apply(lat_overlap *o, lat_overlap_kind kind, int level, const lat_part *p,
                      lat_dfield *out, lat_dfield *in)
{
    switch (kind) {
    case LAT_OVERLAP_D: return apply(o, false, level, p, out, in);
    case LAT_OVERLAP_DAGGER: return apply(o, true, level, p, out, in);
    case LAT_OVERLAP_NORMAL: return product(o, true, level, p, out, in);
    }
    return -1;
}

double lat_overlap_bound(const lat_overlap *o)
{
    return fabs(1 - o->mu) / 2 * lat_sign_bound(o->sign);
}

int lat_overlap_verify(lat_overlap *o, double *defect)
{
    double before, after;
    lat_dfield *v[2] = {NULL};
    const int rc = lat_rc(lat_vector_new_all(o->space, 2, v, "a random spinor")
                          || o->space->ops->random(o->space, &lat_first_column, 20101, v[0])
                          || lat_overlap_norm(o->space, v[0], &before)
                          || lat_sign_apply(o->sign, 0, &lat_first_column, v[1], v[0])
                          || lat_overlap_norm(o->space, v[1], &after));
    lat_vector_free_all(2, v);
    if (rc)
        return -1;
    *defect = fabs(after / before - 1);
    const double most = 2 * lat_sign_bound(o->sign) + 1e-12;
    if (*defect <= most)
        return 0;
    return lat_fail("overlap operator: expected a sign function that keeps the norm of a random "
                    "spinor to %.3g, found %.3g: the modes or the interval belong to other links",
                    most, *defect);
}

/* ---- opening --------------------------------------------------------------------------------- */

void lat_overlap_usual(lat_overlap_options *o)
{
    *o = (lat_overlap_options){
        .columns = 1, .sign = {.delta = 1e-11}, .low = 4, .high = 12, .tolerance = 1e-12};
}

void lat_overlap_kernel(const lat_fermion *overlap, lat_fermion *kernel)
{
    *kernel = *overlap;
    strcpy(kernel->name, "wilson");
    kernel->mass = -overlap->m0;
    kernel->m0 = 0;
}

int lat_overlap_check(const lat_fermion *f)
{
    const double most = 2 * fmin(1, f->nu / f->xi);
    if (!(f->m0 > 0) || !(f->m0 < most))
        return lat_fail("overlap operator: expected m0 between 0 and %g, where it has one quark, "
                        "found %.10g",
                        most, f->m0);
    if (!(fabs(f->mass) < 1))
        return lat_fail("overlap operator: expected mu between -1 and 1, found %.10g", f->mass);
    if (f->twist != 0)
        return lat_fail("overlap operator: expected no twisted mass, with which gamma5 (D_W - m0) "
                        "is not Hermitian, found %.10g",
                        f->twist);
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        if (f->boundary[mu].dirichlet)
            return lat_fail("overlap operator: expected no Dirichlet boundary, where the operator "
                            "would be another one");
    return 0;
}

/* The lowest one says where the interval begins. */
static void drop_modes(lat_modes *m)
{
    m->rest = fabs(m->value[0]) - m->residual[0];
    lat_vector_free_all(m->count, m->vector);
    m->count = 0;
}

/* The modes of a host field. */
static int load_modes(lat_overlap *o, const lat_field *known)
{
    const int n = (int)lat_header_objects(&known->head);
    int rc = lat_modes_new(&o->modes, o->one, n);
    for (int k = 0; k < n && rc == 0; k++)
        rc = lat_spinor_put(o->one, o->modes.vector[k], 0, known, k);
    return rc;
}

static int find_modes(lat_overlap *o, const lat_overlap_options *opts)
{
    const lat_hermitian h = lat_hermitian_dirac(o->h1, (lat_dirac_matrix){LAT_FULL, LAT_GAMMA5});
    const bool none = opts->high == 0;
    lat_modes_job job = {
        .op = &h,
        .low = none ? 1 : opts->low,
        .high = none ? 1 : opts->high,
        .tolerance = none ? 1e-6 : opts->tolerance,
        .method = LAT_MODES_LANCZOS,
        .seed = 4,
        .max_applications = 100000000,
        .memory = opts->memory,
        .progress = opts->progress,
        .with = opts->with,
    };
    if (opts->known) {
        const int n = (int)lat_header_objects(&opts->known->head);
        const bool chosen = opts->low == opts->high;
        job.low = chosen ? opts->low : n - n / 4;
        job.high = chosen ? opts->high : n;
        job.tolerance = KNOWN * opts->tolerance;
        o->modes.rest = opts->rest;
        return lat_rc(load_modes(o, opts->known) || lat_modes_examine(&job, opts->name, &o->modes));
    }
    if (lat_modes_find(&job, &o->modes))
        return -1;
    if (!o->modes.converged)
        return lat_fail("overlap operator: expected low modes of H with residuals of %.3g, found "
                        "%.3g after %ld applications",
                        job.tolerance, o->modes.worst, o->modes.applications);
    const int last = o->modes.count - 1;
    const double gap = o->modes.rest - fabs(o->modes.value[last]);
    /* None, also where a degenerate level has more modes than may be projected: the projectors to
     * some of them have no bound. */
    if (none || (opts->low < opts->high && gap < 1e-6 * o->modes.rest))
        drop_modes(&o->modes);
    return 0;
}

static int open_coarse(lat_overlap *o, lat_device *device, const lat_field *links,
                       const lat_fermion *kernel, int columns)
{
    return lat_rc(!(o->single = lat_grid_of_spinors(device, &links->head.geom, LAT_STORAGE_SINGLE))
                  || !(o->coarse = lat_space_open_in(o->single, links->head.nc, columns, o->gauge))
                  || !(o->hs = lat_dirac_open(o->coarse, links, kernel, NULL)));
}

lat_overlap *lat_overlap_open(lat_device *device, const lat_field *links,
                              const lat_fermion *fermion, const lat_overlap_options *options)
{
    lat_fermion kernel;
    if (lat_overlap_check(fermion))
        return NULL;
    lat_overlap_kernel(fermion, &kernel);
    lat_overlap *o = lat_alloc_zero(1, sizeof *o, "the overlap operator");
    if (!o)
        return NULL;
    o->fermion = *fermion;
    o->mu = fermion->mass;
    o->memory = options->memory;
    if (!(o->grid = lat_grid_of_spinors(device, &links->head.geom, LAT_STORAGE_DOUBLE))
        || lat_temporal_open(device, links, NULL, &o->gauge)
        || !(o->one = lat_space_open_in(o->grid, links->head.nc, 1, o->gauge))
        || !(o->h1 = lat_dirac_open(o->one, links, &kernel, NULL)) || find_modes(o, options)
        || !(o->space = lat_space_open_in(o->grid, links->head.nc, options->columns, o->gauge))
        || !(o->h = lat_dirac_open(o->space, links, &kernel, NULL))
        || !(o->tmp = lat_vector_new(o->space, "the overlap operator"))
        || (options->mixed && open_coarse(o, device, links, &kernel, options->columns))
        || !(o->sign = lat_sign_open(o->h, o->hs, &o->modes, &options->sign))) {
        lat_overlap_close(o);
        return NULL;
    }
    return o;
}

void lat_overlap_close(lat_overlap *o)
{
    if (!o)
        return;
    lat_overlap_deflation_close(o->deflation);
    lat_sign_close(o->sign);
    lat_modes_free(&o->modes);
    lat_dfield_free(o->tmp);
    lat_dirac_close(o->hs);
    lat_dirac_close(o->h);
    lat_dirac_close(o->h1);
    lat_space *const spaces[] = {o->coarse, o->space, o->one};
    for (int i = 0; i < 3; i++)
        lat_space_close(spaces[i]);
    lat_temporal_close(o->gauge);
    lat_grid_free(o->single);
    lat_grid_free(o->grid);
    free(o);
}

/* ---- its certificate ------------------------------------------------------------------------- */

static int plain_mode(const void *with, int k, lat_field *spinor)
{
    const lat_overlap *o = with;
    return lat_spinor_get(o->one, o->modes.vector[k], 0, spinor, 0);
}

static double plain_forced(const void *with, double x)
{
    return lat_sign_at(((const lat_overlap *)with)->sign, x);
}

lat_plain_overlap *lat_overlap_plain(const lat_overlap *o, const lat_field *links, double delta)
{
    double lower, upper;
    lat_sign_interval(o->sign, &lower, &upper);
    const bool holds = lower <= o->modes.rest && upper >= o->modes.norm;
    lat_plain_sign s = {.mu = o->mu,
                        .lower = o->modes.rest,
                        .upper = o->modes.norm,
                        .modes = o->modes.count,
                        .value = o->modes.value,
                        .mode = plain_mode,
                        .forced = holds ? NULL : plain_forced,
                        .with = o};
    lat_overlap_kernel(&o->fermion, &s.kernel);
    return lat_plain_overlap_new(links, &s, delta);
}
