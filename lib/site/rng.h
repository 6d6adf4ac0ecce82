/* SPDX-License-Identifier: BSD-3-Clause */
/* rng.h: random numbers for the sites in the lanes of LAT_T (template, see real.h): those of
 * lat_random (random.h), each lane counted by its own site. */

/* What a draw depends on, besides the number of the draw. */
typedef struct {
    uint64_t seed;
    const int64_t *site; /* [LAT_WIDTH] global sites; an idle lane has -1, and nobody looks at it */
    uint32_t config, step;
} LAT_(rng);

/* 64-bit lanes, of which the low halves are words; each holds a counter. */
#if LAT_WIDTH == 1
typedef uint64_t LAT_(u64);
#else
typedef uint64_t LAT_(u64) __attribute__((vector_size(sizeof(LAT_T))));
#endif

/* The low half times m. Compilers know the instruction, but not always that it is what this wants.
 */
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

/* The high half, low; the new high half is anything. A shuffle, where shifts wait for the
 * multiplier's port. */
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

/* Philox4x32-10 (Salmon et al., SC11) of n counters; check_heat compares it with Random123. The
 * high halves are anything, before and after. They go side by side: keys are the same, and none
 * waits for its own products. */
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

/* In single two words share 64 bits: one set of counters for either half. */
#undef LAT_HALVES
#define LAT_HALVES (LAT_SIZE == 4 && LAT_WIDTH > 1 ? 2 : 1)

LAT_HOST_DEVICE void LAT_(counters)(const LAT_(rng) *d, uint32_t draw, LAT_(u64) c[][4])
{
    LAT_(u64) zero = {0};
#if LAT_SIZE == 4 && LAT_WIDTH > 1
    LAT_(bits) low, high;
    for (int l = 0; l < LAT_WIDTH; l++) {
        low[l] = (uint32_t)d->site[l];
        high[l] = (uint32_t)((uint64_t)d->site[l] >> 32) | d->config << 8;
    }
    for (int half = 0; half < 2; half++) {
        c[half][0] = (LAT_(u64))low >> 32 * half;
        c[half][1] = (LAT_(u64))high >> 32 * half;
        c[half][2] = zero + d->step;
        c[half][3] = zero + draw;
    }
#else
    memcpy(&c[0][0], d->site, sizeof c[0][0]);
    c[0][1] = c[0][0] >> 32 | (uint64_t)(uint32_t)(d->config << 8);
    c[0][2] = zero + d->step;
    c[0][3] = zero + draw;
#endif
}

/* The four words of each lane; in double the high halves are 0. */
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

/* Words of n draws. */
LAT_HOST_DEVICE void LAT_(random_words)(const LAT_(rng) *d, int n, const uint32_t draw[],
                                        LAT_(bits) w[][4])
{
    LAT_(u64) c[4 * LAT_HALVES][4];
    LAT_UNROLL_ALL
    for (int i = 0; i < n; i++)
        LAT_(counters)(d, draw[i], c + i * LAT_HALVES);
    LAT_(philox)(c, n * LAT_HALVES, d->seed);
    LAT_UNROLL_ALL
    for (int i = 0; i < n; i++)
        LAT_(join_words)(c + i * LAT_HALVES, w[i]);
}

/* A number in (0, 1) for each lane: the 23 or, with the second word, 52 highest bits and a half.
 * With them behind the point, 1.bits is less 1 - half a unit; both steps are exact. */
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

/* Four numbers in (0, 1) each of draws n and m; in single those of double, rounded down. */
LAT_HOST_DEVICE void LAT_(uniforms_of_two)(const LAT_(rng) *d, uint32_t n, uint32_t m, LAT_T u[8])
{
    const uint32_t draw[] = {2 * n, 2 * m, 2 * n + 1, 2 * m + 1};
    LAT_(bits) w[4][4];
    LAT_(random_words)(d, LAT_SIZE == 8 ? 4 : 2, draw, w);
    LAT_UNROLL_ALL
    for (int i = 0; i < 8; i++)
        u[i] = LAT_(uniform)(w[i / 4][i % 4],
                             LAT_SIZE == 8 ? w[2 + i / 4][i % 4] : w[i / 4][i % 4]);
}

/* The same of draw n alone. */
LAT_HOST_DEVICE void LAT_(uniforms)(const LAT_(rng) *d, uint32_t n, LAT_T u[4])
{
    const uint32_t draw[] = {2 * n, 2 * n + 1};
    LAT_(bits) w[2][4];
    LAT_(random_words)(d, LAT_SIZE == 8 ? 2 : 1, draw, w);
    LAT_UNROLL_ALL
    for (int i = 0; i < 4; i++)
        u[i] = LAT_(uniform)(w[0][i], LAT_SIZE == 8 ? w[1][i] : w[0][i]);
}
