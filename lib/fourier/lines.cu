/* SPDX-License-Identifier: BSD-3-Clause */
/* lines.cu: which lines are transformed in which order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "lines.cuh"

template <class C> static bool has(int n)
{
    return lat_line_of<C>(n, [](auto) {});
}

/* The length of the second part of an axis, 1 where it is one; 0 where there is no code. */
template <class C> static int second_part(int extent)
{
    int best = 0;
    if (has<C>(extent))
        return 1;
    for (int s = 2; s <= LAT_LINES_MOST; s++) /* both near the square root */
        if (extent % s == 0 && has<C>(s) && has<C>(extent / s)
            && (!best || abs(s - extent / s) < abs(best - extent / best)))
            best = s;
    return best;
}

template <class C> int lat_lines_check(const lat_geometry *geom)
{
    const bool single = std::is_same<C, float2>::value;
    for (int mu = 0; mu < geom->nd; mu++)
        if (geom->dims[mu] > 1 && !second_part<C>(geom->dims[mu]))
            return lat_fail("GPU: Fourier transforms are here for extents that are products of "
                            "2, 3, 5%s, at most %d, found %d",
                            single ? " and 7" : ", 7, 11 and 13", single ? 4096 : 1024,
                            geom->dims[mu]);
    return 0;
}

template <class C> static C root(int k, int n)
{
    const double angle = 2 * M_PI * k / n;
    return C{(lat_part<C>)cos(angle), (lat_part<C>)-sin(angle)};
}

template <class C>
static void add_pass(lat_lines_plan<C> *p, int n, uint32_t step, uint32_t each, uint32_t inner,
                     const C *twiddle)
{
    lat_line_axis<C> *a = p->pass + p->passes++;
    a->n = n;
    a->step = step;
    a->each = each;
    a->lines = each / (uint32_t)n;
    a->by_step = lat_cuda_divide_by(step);
    a->twiddle = twiddle;
    a->by_inner = lat_cuda_divide_by(inner);
    for (int k = 0; k < n; k++)
        a->w[k] = root<C>(k, n);
}

/* An axis: its passes, and its tables at *at: roots, then eigenvalues in the order of the
 * transform. `there`: where that will be on the device. */
template <class C>
static void add_axis(lat_lines_plan<C> *p, int extent, double weight, uint32_t step, uint32_t each,
                     C **at, const C **there)
{
    lat_spectrum<C> *e = &p->spectrum;
    const int s = second_part<C>(extent), r = extent / s;
    lat_part<C> *eigen = (lat_part<C> *)(*at + extent);
    for (int k = 0; k < extent; k++) {
        const double sine = 2 * sin(M_PI * k / extent);
        (*at)[k] = root<C>(k, extent);
        eigen[s == 1 ? k : s * (k % r) + k / r] = (lat_part<C>)(weight * sine * sine);
    }
    if (s > 1)
        add_pass<C>(p, r, step * (uint32_t)s, each, step, *there);
    add_pass<C>(p, s > 1 ? s : extent, step, each, 1, NULL);
    e->extent[e->axes] = (uint32_t)extent;
    e->by_step[e->axes] = lat_cuda_divide_by(step);
    e->by_extent[e->axes] = lat_cuda_divide_by((uint32_t)extent);
    e->eigen[e->axes++] = (const lat_part<C> *)(*there + extent);
    *at += 2 * extent;
    *there += 2 * extent;
}

/* The axes that are transformed, at least one, and the numbers of a lattice of L. */
static void used_axes(const lat_geometry *geom, const double *weight, bool *used, double *sites)
{
    int last = 0;
    *sites = 1;
    for (int mu = 0; mu < geom->nd; mu++) {
        used[mu] = weight[mu] > 0 && geom->dims[mu] > 1;
        last = weight[mu] > 0 ? mu : last;
        *sites *= used[mu] ? geom->dims[mu] : 1;
    }
    used[last] = true;
}

template <class C>
static void add_axes(lat_lines_plan<C> *p, const lat_geometry *geom, const double *weight,
                     uint32_t pairs, C *at)
{
    const C *there = (const C *)p->tables;
    const uint32_t all = pairs * (uint32_t)lat_volume(geom);
    bool used[LAT_MAX_DIMS];
    double sites;
    uint32_t step = pairs;
    used_axes(geom, weight, used, &sites);
    for (int mu = 0; mu < geom->nd; mu++) {
        if (used[mu])
            add_axis<C>(p, geom->dims[mu], weight[mu], step, all, &at, &there);
        step *= (uint32_t)geom->dims[mu];
    }
    p->spectrum.scale = (lat_part<C>)(1 / sites);
}

template <class C>
int lat_lines_open(lat_lines_plan<C> *p, const lat_geometry *geom, const double *weight, int reals)
{
    static const char what[] = "a Fourier transform";
    const double all = (double)lat_volume(geom) * reals / 2;
    size_t size = 0;
    memset(p, 0, sizeof *p);
    if (lat_lines_check<C>(geom))
        return -1;
    if (all >= 0x1p31)
        return lat_fail("GPU: a Fourier transform of %.0f numbers: at most %.0f", all, 0x1p31);
    for (int mu = 0; mu < geom->nd; mu++)
        size += 2 * (size_t)geom->dims[mu];
    C *host = (C *)calloc(size, sizeof *host);
    if (!host)
        return lat_fail("out of memory: a Fourier transform");
    int rc = lat_cuda_malloc(&p->tables, size * sizeof *host, what);
    if (rc == 0) {
        add_axes<C>(p, geom, weight, (uint32_t)reals / 2, host);
        rc = lat_cuda_failed(
                 cudaMemcpy(p->tables, host, size * sizeof *host, cudaMemcpyHostToDevice), what)
             || lat_cuda_failed(cudaStreamSynchronize(0), what);
    }
    free(host);
    return rc ? -1 : 0;
}

template int lat_lines_check<float2>(const lat_geometry *);
template int lat_lines_check<double2>(const lat_geometry *);
template int lat_lines_open<float2>(lat_lines_plan<float2> *, const lat_geometry *, const double *,
                                    int);
template int lat_lines_open<double2>(lat_lines_plan<double2> *, const lat_geometry *,
                                     const double *, int);
