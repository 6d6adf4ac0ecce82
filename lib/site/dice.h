/* SPDX-License-Identifier: BSD-3-Clause */
/* dice.h: random numbers for the sites in the lanes of LAT_T (template, see real.h): those of
 * lat_random (random.h), each lane counted by its own site. */

/* What a draw depends on, besides the number of the draw. */
typedef struct {
    uint64_t seed;
    const int64_t *site; /* [LAT_WIDTH] global sites; an idle lane has -1, and nobody looks at it */
    uint32_t copy, step;
} LAT_(dice);

/* Four words for each lane. */
LAT_HD void LAT_(roll)(const LAT_(dice) *d, uint32_t draw, uint32_t w[4][LAT_WIDTH])
{
    uint32_t k0 = (uint32_t)d->seed, k1 = (uint32_t)(d->seed >> 32);
    for (int l = 0; l < LAT_WIDTH; l++) {
        w[0][l] = (uint32_t)d->site[l];
        w[1][l] = (uint32_t)((uint64_t)d->site[l] >> 32) | d->copy << 8;
        w[2][l] = d->step;
        w[3][l] = draw;
    }
    /* Philox4x32-10 (Salmon et al., SC11), written over lanes; check_dice compares it with Random123. */
    for (int round = 0; round < 10; round++) {
        for (int l = 0; l < LAT_WIDTH; l++) {
            const uint64_t a = (uint64_t)0xD2511F53u * w[0][l], b = (uint64_t)0xCD9E8D57u * w[2][l];
            const uint32_t x = (uint32_t)(b >> 32) ^ w[1][l] ^ k0, y = (uint32_t)(a >> 32) ^ w[3][l] ^ k1;
            w[0][l] = x;
            w[1][l] = (uint32_t)b;
            w[2][l] = y;
            w[3][l] = (uint32_t)a;
        }
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
}

/* A number in (0, 1) for each lane: the 24 or, with the second word, 52 highest bits and a half. */
LAT_HD LAT_T LAT_(fraction)(const uint32_t high[LAT_WIDTH], const uint32_t low[LAT_WIDTH])
{
    LAT_S f[LAT_WIDTH];
    for (int l = 0; l < LAT_WIDTH; l++) {
#if LAT_SIZE == 4
        (void)low;
        f[l] = ((LAT_S)(int32_t)(high[l] >> 9) + 0.5f) * 0x1p-23f;
#else
        f[l] = ((LAT_S)(int64_t)((uint64_t)high[l] << 20 ^ low[l] >> 12) + 0.5) * 0x1p-52;
#endif
    }
    LAT_T u;
    memcpy(&u, f, sizeof u);
    return u;
}

/* Four numbers in (0, 1) of draw n; in single those of double, rounded down. */
LAT_HD void LAT_(fractions)(const LAT_(dice) *d, uint32_t n, LAT_T u[4])
{
    uint32_t w[4][LAT_WIDTH];
    LAT_(roll)(d, 2 * n, w);
#if LAT_SIZE == 4
    for (int i = 0; i < 4; i++)
        u[i] = LAT_(fraction)(w[i], w[i]);
#else
    uint32_t v[4][LAT_WIDTH];
    LAT_(roll)(d, 2 * n + 1, v);
    for (int i = 0; i < 4; i++)
        u[i] = LAT_(fraction)(w[i], v[i]);
#endif
}
