/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_host.cuh: between host fields, in natural order on the device, and the order of a GPU's
 * spinors. */
#pragma once

#include "vector/cuda/cuda_space.cuh"

/* Coordinates in this rank's part of the lattice, x whole. Along an axis that is cut its extent is
 * that of the first ghost, the one behind own sites; the next one is before them. */
DEVICE uint32_t held_extent(const lat_gpu_sites &s, int mu)
{
    return (mu ? s.extent[mu] : 2 * s.extent[0]) + 2 * (s.ghosts >> mu & 1);
}

/* Index in a host field with ghosts. */
DEVICE size_t held_of(const lat_gpu_sites &s, const uint32_t x[4])
{
    size_t site = 0;
    for (int mu = 3; mu >= 0; mu--) {
        const uint32_t all = held_extent(s, mu), c = x[mu] + (s.ghosts >> mu & s.lead);
        site = site * all + (c < all ? c : c - all);
    }
    return site;
}

/* Coordinates of the site with such an index. */
DEVICE void held_coordinates(const lat_gpu_sites &s, size_t site, uint32_t x[4])
{
    for (int mu = 0; mu < 4; mu++) {
        const uint32_t all = held_extent(s, mu), lead = s.ghosts >> mu & s.lead,
                       c = (uint32_t)(site % all);
        x[mu] = c < lead ? all - 1 : c - lead;
        site /= all;
    }
}

/* Natural index among own sites. */
DEVICE size_t natural_of(const lat_gpu_sites &s, const uint32_t x[4])
{
    return x[0]
           + (size_t)(2 * s.extent[0])
                 * (x[1] + (size_t)s.extent[1] * (x[2] + (size_t)s.extent[2] * x[3]));
}

/* Coordinates of the own site with a natural index. */
DEVICE void natural_coordinates(const lat_gpu_sites &s, size_t site, uint32_t x[4])
{
    const uint32_t row = 2 * s.extent[0];
    x[0] = (uint32_t)(site % row);
    size_t q = site / row;
    x[1] = (uint32_t)(q % s.extent[1]);
    q /= s.extent[1];
    x[2] = (uint32_t)(q % s.extent[2]);
    x[3] = (uint32_t)(q / s.extent[2]);
}

/* One step from coordinate x of direction mu. */
DEVICE uint32_t one_step(const lat_gpu_sites &s, int mu, uint32_t x, bool back)
{
    const uint32_t all = held_extent(s, mu);
    if (back)
        return x ? x - 1 : all - 1;
    return x + 1 == all ? 0 : x + 1;
}

/* Coordinates of site i of a parity, x whole. */
DEVICE void coordinates_of(const lat_gpu_sites &s, uint32_t i, int parity, uint32_t x[4])
{
    const bool late = hop_coordinates(s, i, parity, x);
    x[0] = 2 * x[0] + late;
}

/* Parity and number of an own site. */
DEVICE uint32_t number_of(const lat_gpu_sites &s, const uint32_t x[4], int *parity)
{
    *parity = (int)((x[0] + x[1] + x[2] + x[3] + s.odd) & 1);
    return hop_x(s, x[0] / 2) + hop_y(s, x[1]) + x[2] * s.plane + x[3] * s.slice;
}

/* From the basis of DeGrand and Rossi, which host fields have, to ours, of Dirac and Pauli: spins
 * (-1-3, 0+2, 1-3, 2-0) / sqrt 2; and back. */
template <class real> DEVICE void to_inside(real w[24], const real v[24])
{
    const real r2 = (real)0.70710678118654752440;
    for (int k = 0; k < 6; k++) {
        w[k] = -r2 * (v[6 + k] + v[18 + k]);
        w[6 + k] = r2 * (v[k] + v[12 + k]);
        w[12 + k] = r2 * (v[6 + k] - v[18 + k]);
        w[18 + k] = r2 * (v[12 + k] - v[k]);
    }
}

template <class real> DEVICE void to_outside(real v[24], const real w[24])
{
    const real r2 = (real)0.70710678118654752440;
    for (int k = 0; k < 6; k++) {
        v[k] = r2 * (w[6 + k] - w[18 + k]);
        v[6 + k] = r2 * (w[12 + k] - w[k]);
        v[12 + k] = r2 * (w[6 + k] + w[18 + k]);
        v[18 + k] = -r2 * (w[k] + w[12 + k]);
    }
}

/* v <- G v, or G^+ v, of a site's spinor. */
DEVICE void rotate_spinor(double v[24], const double *g, bool back)
{
    for (int s = 0; s < 24; s += 6) {
        double old[6];
        for (int k = 0; k < 6; k++)
            old[k] = v[s + k];
        for (int i = 0; i < 3; i++) {
            double re = 0, im = 0;
            for (int j = 0; j < 3; j++) {
                const int at = 2 * (back ? 3 * j + i : 3 * i + j);
                const double a = g[at], b = back ? -g[at + 1] : g[at + 1];
                re += a * old[2 * j] - b * old[2 * j + 1];
                im += a * old[2 * j + 1] + b * old[2 * j];
            }
            v[s + 2 * i] = re;
            v[s + 2 * i + 1] = im;
        }
    }
}

/* A piece of a host field without ghosts to a column, or back; g[held site][18]: the gauge of the
 * column, NULL: that of the host. */
template <int P, bool PUT>
__global__ void move_spinors(const __grid_constant__ lat_gpu_sites s,
                             const __grid_constant__ lat_gpu_piece piece, const double *g,
                             size_t parity_bytes, char *column)
{
    const size_t n = (size_t)blockIdx.x * blockDim.x + threadIdx.x, site = piece.first + n;
    if (n >= piece.count)
        return;
    int parity;
    uint32_t x[4];
    natural_coordinates(s, site, x);
    const uint32_t i = number_of(s, x, &parity);
    char *const group = column + (size_t)parity * parity_bytes
                        + (size_t)(i / 32) * lat_form<P>::GROUP;
    double *const host = piece.v + n * piece.stride, v[24], w[24];
    real_of<P> r[24];
    if (PUT) {
        if (piece.parity != LAT_BOTH && parity != (int)piece.parity)
            return;
        for (int k = 0; k < 24; k++)
            v[k] = host[k];
        if (g)
            rotate_spinor(v, g + held_of(s, x) * 18, false);
        to_inside(w, v);
        for (int k = 0; k < 24; k++)
            r[k] = (real_of<P>)w[k];
        put_spinor<P, false>(group, i % 32, r, false, 0);
        return;
    }
    get_spinor<P>(r, group, i % 32, false);
    for (int k = 0; k < 24; k++)
        w[k] = (double)r[k];
    to_outside(v, w);
    if (g)
        rotate_spinor(v, g + held_of(s, x) * 18, true);
    for (int k = 0; k < 24; k++)
        host[k] = v[k];
}

/* From one storage to another, in the same order. */
template <int FROM, int TO>
__global__ void convert_spinors(uint32_t groups, const char *from, char *to)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i / 32 >= groups)
        return;
    typename lat_form<FROM>::real a[24];
    typename lat_form<TO>::real b[24];
    get_spinor<FROM>(a, from + (size_t)(i / 32) * lat_form<FROM>::GROUP, i % 32, false);
    for (int k = 0; k < 24; k++)
        b[k] = (typename lat_form<TO>::real)a[k];
    put_spinor<TO, false>(to + (size_t)(i / 32) * lat_form<TO>::GROUP, i % 32, b, false, 0);
}
