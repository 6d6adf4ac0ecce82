/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_links.cuh: SU(3) links and clover matrices on a GPU, groups of them as cuda_spinor.cuh has
 * them. */
#pragma once

#include "vector/cuda/cuda_spinor.cuh"

/* ---- links ----------------------------------------------------------------------------------- */

/* R reals each of 32 links side by side, in chunks and what is left of one. Half: n / 32767, a link
 * of R = 12 is its first two rows. */
template <int P, int R> struct lat_link_form {
    enum {
        BYTES = lat_form<P>::BYTES,
        WORDS = R * BYTES / 4,
        CHUNKS = R * BYTES / 16,
        REST = R * BYTES % 16,  /* bytes: 0, 4 or 8 */
        BLOCK = 32 * R * BYTES, /* of a direction; of all of a group, and of those in space: */
        ALL = 8 * BLOCK,
        IN_SPACE = 6 * BLOCK
    };
};

DEVICE void put2(uint32_t *w, uint2 v)
{
    w[0] = v.x;
    w[1] = v.y;
}

/* SHARED: from shared memory. */
template <int P, int R, bool SHARED = false>
DEVICE void load_link(uint32_t *w, const char *block, uint32_t lane, uint64_t policy)
{
    typedef lat_link_form<P, R> form;
    const char *const rest = block + form::CHUNKS * 512 + lane * form::REST;
#pragma unroll
    for (int c = 0; c < form::CHUNKS; c++) {
        const char *const from = block + c * 512 + lane * 16;
        put4(w + 4 * c, SHARED ? *(const uint4 *)from : load16_once(from, policy));
    }
    if (form::REST == 8)
        put2(w + 4 * form::CHUNKS, SHARED ? *(const uint2 *)rest : load8_once(rest, policy));
    if (form::REST == 4)
        w[4 * form::CHUNKS] = SHARED ? *(const uint32_t *)rest : load4_once(rest, policy);
}

/* All rows: the third is the conjugate of the cross product of the others. In half a link is in
 * units of 1 / 32767: the product is brought back to them. */
template <int P, int R> DEVICE void open_link(typename lat_form<P>::real u[18], const uint32_t *w)
{
    typedef typename lat_form<P>::real real;
#pragma unroll
    for (int k = 0; k < R; k++)
        u[k] = word_real<P>(w, k);
    if (R == 12) {
        const real unit = P == LAT_STORAGE_HALF ? (real)LAT_FIXED_ONE : (real)1;
#pragma unroll
        for (int c = 0; c < 3; c++) {
            const real *const a = u + 2 * ((c + 1) % 3), *const b = u + 2 * ((c + 2) % 3);
            const real re = a[0] * b[6] - a[1] * b[7] - b[0] * a[6] + b[1] * a[7];
            const real im = b[0] * a[7] + b[1] * a[6] - a[0] * b[7] - a[1] * b[6];
            u[12 + 2 * c] = P == LAT_STORAGE_HALF ? unit * re : re;
            u[13 + 2 * c] = P == LAT_STORAGE_HALF ? unit * im : im;
        }
    }
}

/* ---- clover ---------------------------------------------------------------------------------- */

/* v <- scale C v, C two Hermitian 6x6 matrices of the halves of chirality (upper -+ lower) / sqrt
 * 2, each 6 real diagonal entries and 15 complex ones below them, row by row. ANY: the matrices may
 * lie in shared memory. */
template <int P, bool ANY = false>
DEVICE void clover_times(typename lat_form<P>::real v[24], const char *group, uint32_t lane,
                         uint64_t policy, typename lat_form<P>::real scale = 1)
{
    typedef typename lat_form<P>::real real;
    real norm = (real)0.5 * scale; /* both 1 / sqrt 2 */
    if (P == LAT_STORAGE_HALF)
        norm *= (real)(*(const float *)(group + 9 * 512 + lane * 4) * LAT_FIXED_ONE);
    real a[2][6][2];
#pragma unroll
    for (int q = 0; q < 2; q++) {
        real x[6][2], m[36];
        /* 36 reals: 18 chunks, 9, or half of 9 */
        enum { FIRST = 36 * lat_form<P>::BYTES / 16, CHUNKS = (36 * lat_form<P>::BYTES + 15) / 16 };
        uint32_t w[4 * CHUNKS];
#pragma unroll
        for (int c = 0; c < CHUNKS; c++) {
            const char *const from = group + (FIRST * q + c) * 512 + lane * 16;
            put4(w + 4 * c, ANY ? *(const uint4 *)from : load16_once(from, policy));
        }
#pragma unroll
        for (int k = 0; k < 36; k++)
            m[k] = word_real<P>(w + (P == LAT_STORAGE_HALF && q ? 2 : 0), k);
#pragma unroll
        for (int k = 0; k < 12; k++)
            (&x[0][0])[k] = q ? v[k] + v[12 + k] : v[k] - v[12 + k];
        lat_algebra<real>::hermitian(a[q], x, m);
    }
#pragma unroll
    for (int k = 0; k < 12; k++) {
        const real minus = (&a[0][0][0])[k], plus = (&a[1][0][0])[k];
        v[k] = norm * (minus + plus);
        v[12 + k] = norm * (plus - minus);
    }
}
