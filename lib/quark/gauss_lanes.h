/* SPDX-License-Identifier: BSD-3-Clause */
/* gauss_lanes.h: a step of Gaussian smearing for LANES spins side by side, 2, 4 or 8, by functions
 * AS(name) (template; gauss.c expands it for each). */
#define V AS(vector)

typedef double V __attribute__((vector_size(8 * LANES)));

/* sum += U from, or U^+ from, of n colours. */
LAT_INLINE void AS(hop)(int n, const double *u, bool dagger, V *sum, const V *from)
{
#pragma GCC unroll 3
    for (int j = 0; j < n; j++)
#pragma GCC unroll 3
        for (int i = 0; i < n; i++) {
            const double *z = dagger ? u + 2 * (j * n + i) : u + 2 * (i * n + j);
            V *const re = sum + 2 * i, *const im = re + 1;
            *re += z[0] * from[2 * j];
            *im += z[0] * from[2 * j + 1];
            if (dagger) {
                *re += z[1] * from[2 * j + 1];
                *im -= z[1] * from[2 * j];
            } else {
                *re -= z[1] * from[2 * j + 1];
                *im += z[1] * from[2 * j];
            }
        }
}

/* Sites from .. to-1 of the slice. */
LAT_INLINE void AS(sites)(const job *j, size_t from, size_t to, int n)
{
    const size_t row = 2 * (size_t)n, link = row * (size_t)n;
    for (size_t x = from; x < to; x++) {
        const V *const in = (const V *)j->from;
        V *const out = (V *)j->to + x * row, sum[2 * LAT_MAX_COLOURS];
        for (size_t k = 0; k < row; k++)
            sum[k] = (V){0};
        for (size_t mu = 0; mu < 3; mu++) {
            const size_t up = j->next[6 * x + mu], down = j->next[6 * x + 3 + mu];
            AS(hop)(n, j->links + (3 * x + mu) * link, false, sum, in + up * row);
            AS(hop)(n, j->links + (3 * down + mu) * link, true, sum, in + down * row);
        }
        for (size_t k = 0; k < row; k++)
            out[k] = j->keep * in[x * row + k] + j->a * sum[k];
    }
}

#undef V
#undef AS
#undef LANES
