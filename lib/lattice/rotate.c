/* SPDX-License-Identifier: BSD-3-Clause */
/* rotate.c: U_mu(x) <- g(x) U_mu(x) g(x+mu)^+, eight sites at a time. Products are not fused with
 * sums (-ffp-contract=off in the Makefile), and the order of sums is fixed: the bits are the same
 * for all vector lengths. */
#include "simd8.h"
#include "base/isa.h"
#include "transform.h"

/* Eight sites: addresses of their links, of g(x) and of g(x + mu). */
typedef struct addresses {
    char *links[LAT_SIMD8];
    const char *g[LAT_SIMD8], *g_up[LAT_MAX_DIMS][LAT_SIMD8];
} addresses;

/* The next eight sites of the iterator, or `left` if fewer: then other lanes repeat the last. */
LAT_INLINE void gather(const lat_field *u, const lat_field *g, size_t links, size_t matrix,
                       lat_iterator *it, size_t left, addresses *a)
{
    for (size_t l = 0; l < LAT_SIMD8; l++) {
        a->links[l] = (char *)u->data + it->site * links;
        a->g[l] = (const char *)g->data + it->site * matrix;
        for (int mu = 0; mu < u->head.geom.nd; mu++)
            a->g_up[mu][l] = (const char *)g->data + lat_iterator_up(it, mu) * matrix;
        if (l + 1 < left)
            lat_iterator_next(it);
    }
}

LAT_INLINE void store(char *const *site, size_t offset, lat_real real, int k, lat_simd8 v)
{
    for (int l = 0; l < LAT_SIMD8; l++)
        if (real == LAT_F64)
            ((double *)(site[l] + offset))[k] = v[l];
        else
            ((float *)(site[l] + offset))[k] = (float)v[l];
}

/* c = a b */
LAT_INLINE void multiply(int n, lat_simd8 *c, const lat_simd8 *a, const lat_simd8 *b)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            lat_simd8 re = {0}, im = {0};
            for (int k = 0; k < n; k++) {
                const lat_simd8 *p = a + 2 * (i * n + k), *q = b + 2 * (k * n + j);
                re += p[0] * q[0] - p[1] * q[1];
                im += p[0] * q[1] + p[1] * q[0];
            }
            c[2 * (i * n + j)] = re;
            c[2 * (i * n + j) + 1] = im;
        }
}

/* Stores a b^+ as the matrix `offset` bytes after site[0] .. site[7]. */
LAT_INLINE void store_mul_dag(int n, char *const *site, size_t offset, lat_real real,
                              const lat_simd8 *a, const lat_simd8 *b)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            lat_simd8 re = {0}, im = {0};
            for (int k = 0; k < n; k++) {
                const lat_simd8 *p = a + 2 * (i * n + k), *q = b + 2 * (j * n + k);
                re += p[0] * q[0] + p[1] * q[1];
                im += p[1] * q[0] - p[0] * q[1];
            }
            store(site, offset, real, 2 * (i * n + j), re);
            store(site, offset, real, 2 * (i * n + j) + 1, im);
        }
}

/* Sites from .. to-1. */
LAT_INLINE void chunk(lat_field *u, const lat_field *g, size_t from, size_t to, int n)
{
    const size_t nd = (size_t)u->head.geom.nd, reals = 2 * (size_t)n * (size_t)n;
    const size_t link = reals * (size_t)u->head.real, matrix = reals * (size_t)g->head.real;
    LAT_SIMD8_MATRIX(here);
    LAT_SIMD8_MATRIX(up);
    LAT_SIMD8_MATRIX(old);
    LAT_SIMD8_MATRIX(product);
    lat_iterator it;
    addresses a;
    lat_iterator_start(&it, g, from);
    for (size_t i = from; i < to; i += LAT_SIMD8) {
        gather(u, g, nd * link, matrix, &it, to - i, &a);
        lat_simd8_load(a.g, 0, g->head.real, n, here);
        for (size_t mu = 0; mu < nd; mu++) {
            lat_simd8_load((const char *const *)a.links, mu * link, u->head.real, n, old);
            lat_simd8_load(a.g_up[mu], 0, g->head.real, n, up);
            multiply(n, product, here, old);
            store_mul_dag(n, a.links, mu * link, u->head.real, product, up);
        }
    }
}

LAT_ISA_CLONES(chunk, "", (lat_field * u, const lat_field *g, size_t from, size_t to),
               LAT_WITH_COLOURS(u->head.nc, chunk(u, g, from, to, n)))

static __typeof__(&chunk_base) const chunks[] = LAT_ISA_EACH(chunk_, );

void lat_transform_rotate(lat_field *u, const lat_field *g)
{
    const size_t sites = lat_field_sites(u);
    const lat_isa isa = lat_isa_widest();
#pragma omp parallel for schedule(static)
    for (size_t from = 0; from < sites; from += LAT_CHUNK)
        chunks[isa](u, g, from, from + LAT_CHUNK < sites ? from + LAT_CHUNK : sites);
}
