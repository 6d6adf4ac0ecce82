/* SPDX-License-Identifier: BSD-3-Clause */
/* lines_single.cu: which lines are transformed in which order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "lines_single.cuh"
extern "C" {
#include "base/error.h"
}

static bool has(int n)
{
#define IS(m) n == (m) ||
    return LAT_EACH_LINE(IS) false;
#undef IS
}

/* The length of the second part of an axis, 1 where it is one; 0 where there is no code. */
static int second_part(int extent)
{
    int best = 0;
    if (has(extent))
        return 1;
    for (int s = 2; s <= LAT_LINES_MOST; s++) /* both near the square root */
        if (extent % s == 0 && has(s) && has(extent / s)
            && (!best || abs(s - extent / s) < abs(best - extent / best)))
            best = s;
    return best;
}

int lat_lines_check(const lat_geometry *geom)
{
    for (int mu = 0; mu < geom->nd; mu++)
        if (geom->dims[mu] > 1 && !second_part(geom->dims[mu]))
            return lat_fail(
                "GPU: Fourier transforms are here for extents that are products of 2, 3, "
                "5 and 7, below %d, found %d",
                LAT_LINES_MOST * LAT_LINES_MOST, geom->dims[mu]);
    return 0;
}

static float2 root(int k, int n)
{
    const double angle = 2 * M_PI * k / n;
    return make_float2((float)cos(angle), (float)-sin(angle));
}

static void add_pass(lat_lines_plan *p, int n, uint32_t step, uint32_t each, uint32_t inner,
                     const float2 *turn)
{
    lat_line_axis *a = p->pass + p->passes++;
    a->n = n;
    a->step = step;
    a->each = each;
    a->lines = each / (uint32_t)n;
    a->by_step = lat_cuda_divide_by(step);
    a->turn = turn;
    a->by_inner = lat_cuda_divide_by(inner);
    for (int k = 0; k < n; k++)
        a->w[k] = root(k, n);
}

/* An axis: its passes, and its tables at *at: roots, then eigenvalues in the order of the
 * transform. `there`: where that will be on the device. */
static void add_axis(lat_lines_plan *p, int extent, double weight, uint32_t step, uint32_t each,
                     float2 **at, const float2 **there)
{
    lat_spectrum *e = &p->spectrum;
    const int s = second_part(extent), r = extent / s;
    float *eigen = (float *)(*at + extent);
    for (int k = 0; k < extent; k++) {
        const double sine = 2 * sin(M_PI * k / extent);
        (*at)[k] = root(k, extent);
        eigen[s == 1 ? k : s * (k % r) + k / r] = (float)(weight * sine * sine);
    }
    if (s > 1)
        add_pass(p, r, step * (uint32_t)s, each, step, *there);
    add_pass(p, s > 1 ? s : extent, step, each, 1, NULL);
    e->extent[e->axes] = (uint32_t)extent;
    e->by_step[e->axes] = lat_cuda_divide_by(step);
    e->by_extent[e->axes] = lat_cuda_divide_by((uint32_t)extent);
    e->eigen[e->axes++] = (const float *)(*there + extent);
    *at += 2 * extent;
    *there += 2 * extent;
}

int lat_lines_open(lat_lines_plan *p, const lat_geometry *geom, const double *weight, int reals)
{
    static const char what[] = "a Fourier transform";
    const double all = (double)lat_volume(geom) * reals / 2;
    size_t size = 0;
    memset(p, 0, sizeof *p);
    if (lat_lines_check(geom))
        return -1;
    if (all >= 0x1p31)
        return lat_fail("GPU: a Fourier transform of %.0f numbers: at most %.0f", all, 0x1p31);
    for (int mu = 0; mu < geom->nd; mu++)
        size += 2 * (size_t)geom->dims[mu];
    float2 *host = (float2 *)calloc(size, sizeof *host), *at = host;
    if (!host)
        return lat_fail("out of memory: a Fourier transform");
    int rc = lat_cuda_malloc(&p->tables, size * sizeof *host, what);
    const float2 *there = (const float2 *)p->tables;
    uint32_t step = (uint32_t)reals / 2;
    int axes = 0;
    for (int mu = 0; mu < geom->nd; mu++)
        axes += geom->dims[mu] > 1;
    if (axes < 2) /* so that there are two passes */
        add_pass(p, 1, 1, (uint32_t)all, 1, NULL);
    for (int mu = 0; mu < geom->nd && !rc; mu++) {
        if (geom->dims[mu] > 1)
            add_axis(p, geom->dims[mu], weight[mu], step, (uint32_t)all, &at, &there);
        step *= (uint32_t)geom->dims[mu];
    }
    p->spectrum.scale = (float)(1 / (double)lat_volume(geom));
    rc = rc
         || lat_cuda_failed(
             cudaMemcpy(p->tables, host, size * sizeof *host, cudaMemcpyHostToDevice), what)
         || lat_cuda_failed(cudaStreamSynchronize(0), what);
    free(host);
    return rc ? -1 : 0;
}

void lat_lines_close(lat_lines_plan *p) { cudaFree(p->tables); }
