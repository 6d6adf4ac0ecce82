/* SPDX-License-Identifier: BSD-3-Clause */
/* rng.h: random numbers for the sites in the lanes of LAT_T (template, see real.h): the numbers of
 * lat_random (random.h), counter-based, each lane with its own site. */

/* All that a draw depends on, but the number of the draw. */
typedef struct {
    uint64_t seed;
    const int64_t *site; /* [LAT_WIDTH] global sites; an idle lane has -1, its numbers are unused */
    uint32_t config, step;
} LAT_(rng);

/* Vectors of 64 bits a lane: a 32-bit word of a Philox counter in the low half of each. */
#if LAT_WIDTH == 1
typedef uint64_t LAT_(u64);
#else
typedef uint64_t LAT_(u64) __attribute__((vector_size(sizeof(LAT_T))));
#endif

/* The low half of each lane times m. Written out, because compilers do not always see that one
 * instruction does it. */
LAT_HOST_DEVICE LAT_(u64) LAT_(mul_low)(LAT_(u64) a, uint32_t m)
{
#if LAT_SIZE * LAT_WIDTH == 64 && defined(__AVX512F__)
    return (LAT_(u64))_mm512_mul_epu32((__m512i)a, _mm512_set1_epi64(m));
#elif LAT_SIZE * LAT_WIDTH == 32 && defined(__AVX2__)
    return (LAT_(u64))_mm256_mul_epu32((__m256i)a, _mm256_set1_epi64x(m));
#else
    return (a & 0xffffffff) * m;
#endif
}

/* The high half of each lane moved to the low half; the new high half is undefined. A shuffle is
 * faster than a shift, which needs the port of the multiplier. */
LAT_HOST_DEVICE LAT_(u64) LAT_(high_half)(LAT_(u64) a)
{
#if LAT_SIZE * LAT_WIDTH == 64 && defined(__AVX512F__)
    return (LAT_(u64))_mm512_shuffle_epi32((__m512i)a, (_MM_PERM_ENUM)0xf5);
#elif LAT_SIZE * LAT_WIDTH == 32 && defined(__AVX2__)
    return (LAT_(u64))_mm256_shuffle_epi32((__m256i)a, 0xf5);
#else
    return a >> 32;
#endif
}

/* Philox4x32-10 (Salmon et al., SC11) of n counters; check_heat compares it with Random123. High
 * halves are undefined, before and after. The n counters are processed side by side: they share the
 * keys, and the latency of the products is hidden. */
LAT_HOST_DEVICE void LAT_(philox)(LAT_(u64) c[][4], int n, uint64_t seed)
{
    LAT_(u64) zero = {0}, k0 = zero + (uint32_t)seed, k1 = zero + (seed >> 32);
    for (int round = 0; round < 10; round++) {
        LAT_UNROLL_ALL
        for (int i = 0; i < n; i++) {
            const LAT_(u64) a = LAT_(mul_low)(c[i][0], 0xD2511F53u),
                            b = LAT_(mul_low)(c[i][2], 0xCD9E8D57u);
            c[i][0] = LAT_(high_half)(b) ^ c[i][1] ^ k0;
            c[i][1] = b;
            c[i][2] = LAT_(high_half)(a) ^ c[i][3] ^ k1;
            c[i][3] = a;
        }
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
}

/* In single precision a 64-bit lane has two sites: one set of counters for each. */
#undef LAT_HALVES
#define LAT_HALVES (LAT_SIZE == 4 && LAT_WIDTH > 1 ? 2 : 1)

/* The counter of draw number `draw` in every lane, as lat_random has it. */
LAT_HOST_DEVICE void LAT_(counters)(const LAT_(rng) *rng, uint32_t draw, LAT_(u64) c[][4])
{
    LAT_(u64) zero = {0};
#if LAT_SIZE == 4 && LAT_WIDTH > 1
    LAT_(bits) low, high;
    for (int l = 0; l < LAT_WIDTH; l++) {
        low[l] = (uint32_t)rng->site[l];
        high[l] = (uint32_t)((uint64_t)rng->site[l] >> 32) | rng->config << 8;
    }
    for (int half = 0; half < 2; half++) {
        c[half][0] = (LAT_(u64))low >> 32 * half;
        c[half][1] = (LAT_(u64))high >> 32 * half;
        c[half][2] = zero + rng->step;
        c[half][3] = zero + draw;
    }
#else
    memcpy(&c[0][0], rng->site, sizeof c[0][0]);
    c[0][1] = c[0][0] >> 32 | (uint64_t)(uint32_t)(rng->config << 8);
    c[0][2] = zero + rng->step;
    c[0][3] = zero + draw;
#endif
}

/* The four 32-bit words of each lane of LAT_T; in double the high halves are 0. */
LAT_HOST_DEVICE void LAT_(join_words)(LAT_(u64) c[][4], LAT_(bits) w[4])
{
    LAT_UNROLL_ALL
    for (int i = 0; i < 4; i++)
#if LAT_SIZE == 4 && LAT_WIDTH > 1
        w[i] = (LAT_(bits))((c[0][i] & 0xffffffff) | c[1][i] << 32);
#else
        w[i] = (LAT_(bits))(c[0][i] & 0xffffffff);
#endif
}

/* The words of n draws, at most 4. */
LAT_HOST_DEVICE void LAT_(random_words)(const LAT_(rng) *rng, int n, const uint32_t draw[],
                                        LAT_(bits) w[][4])
{
    LAT_(u64) c[4 * LAT_HALVES][4];
    LAT_UNROLL_ALL
    for (int i = 0; i < n; i++)
        LAT_(counters)(rng, draw[i], c + i * LAT_HALVES);
    LAT_(philox)(c, n * LAT_HALVES, rng->seed);
    LAT_UNROLL_ALL
    for (int i = 0; i < n; i++)
        LAT_(join_words)(c + i * LAT_HALVES, w[i]);
}

/* A uniform number in (0, 1) for each lane, (bits + 1/2) 2^-n: in single the n = 23 highest bits of
 * `high`, in double the n = 52 highest of both words. It is made as 1.bits minus (1 - half a unit
 * in the last digit); both steps are exact. */
LAT_HOST_DEVICE LAT_T LAT_(uniform)(LAT_(bits) high, LAT_(bits) low)
{
    const LAT_(bits) one = LAT_(to_bits)(LAT_(set)(1));
#if LAT_SIZE == 4
    (void)low;
    return LAT_(of_bits)(one | high >> 9) - LAT_(set)(0x1.fffffep-1f);
#else
    return LAT_(of_bits)(one | (high << 20 ^ low >> 12)) - LAT_(set)(0x1.fffffffffffffp-1);
#endif
}

/* Four uniform numbers each of draws n and m; in single the numbers of double, rounded down. */
LAT_HOST_DEVICE void LAT_(uniforms_of_two)(const LAT_(rng) *rng, uint32_t n, uint32_t m, LAT_T u[8])
{
    const uint32_t draw[] = {2 * n, 2 * m, 2 * n + 1, 2 * m + 1};
    LAT_(bits) w[4][4];
    LAT_(random_words)(rng, LAT_SIZE == 8 ? 4 : 2, draw, w);
    LAT_UNROLL_ALL
    for (int i = 0; i < 8; i++)
        u[i] = LAT_(uniform)(w[i / 4][i % 4],
                             LAT_SIZE == 8 ? w[2 + i / 4][i % 4] : w[i / 4][i % 4]);
}

/* Four uniform numbers of draw n. */
LAT_HOST_DEVICE void LAT_(uniforms)(const LAT_(rng) *rng, uint32_t n, LAT_T u[4])
{
    const uint32_t draw[] = {2 * n, 2 * n + 1};
    LAT_(bits) w[2][4];
    LAT_(random_words)(rng, LAT_SIZE == 8 ? 2 : 1, draw, w);
    LAT_UNROLL_ALL
    for (int i = 0; i < 4; i++)
        u[i] = LAT_(uniform)(w[0][i], LAT_SIZE == 8 ? w[1][i] : w[0][i]);
}
