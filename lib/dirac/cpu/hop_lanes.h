/* SPDX-License-Identifier: BSD-3-Clause */
/* hop_lanes.h: the hop over blocks of sites, with what follows in the same pass (template;
 * dirac_lanes.c expands it).
 *
 * bench/history has what was tried. What makes it fast: real and imaginary parts of many sites in
 * vectors of their own; the half spinor is projected first, then permuted; a link is loaded once
 * into a register; the sum over directions is in plain local variables; right-hand sides of a block
 * come one after the other while its links are in the first cache. One text serves D and D^+: they
 * differ in where the upper and the lower spins of a field are. */

/* Spinors of any sites, one a lane. */
APART void LAT_(collect)(LAT_T *to, const LAT_T *in, size_t pitch, const int64_t *position)
{
    for (int l = 0; l < LAT_WIDTH; l++) {
        const LAT_S *from = (const LAT_S *)(in + (size_t)(position[l] / LAT_WIDTH) * pitch)
                            + position[l] % LAT_WIDTH;
        for (int e = 0; e < SPINOR; e++)
            ((LAT_S *)to)[e * LAT_WIDTH + l] = from[e * LAT_WIDTH];
    }
}

APART void LAT_(rotate_apart)(LAT_(half) *h, const LAT_T phase[2]) { LAT_(rotate)(h, phase); }

#define EACH(x) \
    for (int i = 0; i < 2; i++) \
    LAT_COLOURS(h.v[i][c][0] = x(h.v[i][c][0]); h.v[i][c][1] = x(h.v[i][c][1]);)
#define PERMUTE(v) LAT_(permute_lanes)(v, perm)
#define TIMES(v) (v * phase[0])
/* Lanes permuted, boundary phases. Backward hops have the conjugate phase in the table already. */
LAT_HOST_DEVICE LAT_(half) LAT_(twist)(LAT_(half) h, const lat_hop_table *table, int n)
{
    const lat_hop_twist t = table->twist[n];
    if (t.perm > 0) {
        const int32_t *perm = table->perm + t.perm * (BYTES / 4);
        EACH(PERMUTE)
    }
    if (t.phase >= 0) {
        const LAT_T *phase = (const LAT_T *)table->phase + 2 * t.phase;
        if (t.real) {
            EACH(TIMES)
        } else {
            LAT_(half) other = h; /* so that h itself can be in registers */
            LAT_(rotate_apart)(&other, phase);
            h = other;
        }
    }
    return h;
}
#undef EACH
#undef PERMUTE
#undef TIMES

/* ---- links ----------------------------------------------------------------------------------- */

#if LAT_N == 3
/* c exp(i (x + y)) for angles in units of 2 pi, from their own exponentials. */
#define ROTATE(to, s, x, y) \
    to.re = (s) * (x.re * y.re - x.im * y.im); \
    to.im = (s) * (x.re * y.im + x.im * y.re);
/* Two rows of a link from its eight angles (links.c: lat_link_angles). */
APART void LAT_(from_angles)(LAT_T *to, const LAT_T *angle)
{
    LAT_T s[3], c[3];
    LAT_(c) f[5], z[6], x, y;
    for (int i = 0; i < 3; i++)
        LAT_(sincos_2pi)(angle[i], &s[i], &c[i]);
    for (int i = 0; i < 5; i++)
        LAT_(sincos_2pi)(angle[3 + i], &f[i].im, &f[i].re);
    const LAT_(c) one = {LAT_(set)(1), LAT_(set)(0)};
    const LAT_(c) g2 = {f[2].re, -f[2].im}, g4 = {f[4].re, -f[4].im};
    ROTATE(z[0], c[0] * c[1], f[0], one)
    ROTATE(z[1], s[0], f[2], one)
    ROTATE(z[2], c[0] * s[1], f[3], one)
    /* s2 s3 e(-4-5) - s1 c2 c3 e(1+2-3) */
    x = (LAT_(c)){f[3].re, -f[3].im};
    ROTATE(z[3], s[1] * s[2], x, g4)
    ROTATE(x, LAT_(set)(1), f[0], f[1])
    ROTATE(y, s[0] * c[1] * c[2], x, g2)
    z[3].re -= y.re;
    z[3].im -= y.im;
    ROTATE(z[4], c[0] * c[2], f[1], one)
    /* - c2 s3 e(-1-5) - s1 s2 c3 e(2-3+4) */
    x = (LAT_(c)){f[0].re, -f[0].im};
    ROTATE(z[5], -(c[1] * s[2]), x, g4)
    ROTATE(x, LAT_(set)(1), f[1], f[3])
    ROTATE(y, s[0] * s[1] * c[2], x, g2)
    z[5].re -= y.re;
    z[5].im -= y.im;
    for (int i = 0; i < 6; i++) {
        to[2 * i] = z[i].re;
        to[2 * i + 1] = z[i].im;
    }
}
#undef ROTATE
#endif

/* ---- the diagonal ---------------------------------------------------------------------------- */

/* y = C x, C the packed clover term or its inverse; x and y are upper spins, then lower ones. */
APART void LAT_(clover)(LAT_T *y, const LAT_T *x, const LAT_T *packed)
{
    LAT_T sum[2 * LAT_N][2], plus[2 * LAT_N][2], minus[2 * LAT_N][2];
    for (int i = 0; i < HALF; i++)
        (&sum[0][0])[i] = x[i] + x[HALF + i];
    LAT_(hermitian)(plus, sum, packed);
    for (int i = 0; i < HALF; i++)
        (&sum[0][0])[i] = x[i] - x[HALF + i];
    LAT_(hermitian)(minus, sum, packed + CLOVER / 2);
    for (int i = 0; i < HALF; i++) {
        y[i] = (&plus[0][0])[i] + (&minus[0][0])[i];
        y[HALF + i] = (&plus[0][0])[i] - (&minus[0][0])[i];
    }
}

/* y = A x, or A^-1 x = A^+ (A^+A)^-1 x, of one block. */
APART void LAT_(block)(LAT_T *y, const LAT_T *x, const lat_diagonal *g, size_t block, bool inverse,
                       bool dagger)
{
    const LAT_T *clover = (const LAT_T *)g->clover + block * CLOVER,
                *inverted = (const LAT_T *)g->inverse + block * CLOVER;
    const LAT_T twist = LAT_(set)((LAT_S)(dagger ? -g->twist : g->twist));
    LAT_T t[SPINOR];
    if (!g->clover) {
        const double square = g->scalar * g->scalar + g->twist * g->twist;
        const LAT_T s = LAT_(set)((LAT_S)(inverse ? g->scalar / square : g->scalar));
        for (int i = 0; i < SPINOR; i++)
            y[i] = s * x[i];
        LAT_(add_twist)(y, x, inverse ? LAT_(set)((LAT_S)(-1 / square)) * twist : twist);
    } else if (!inverse) {
        LAT_(clover)(y, x, clover);
        LAT_(add_twist)(y, x, twist);
    } else if (g->twist == 0) {
        LAT_(clover)(y, x, inverted);
    } else {
        LAT_(clover)(t, x, clover);
        LAT_(add_twist)(t, x, -twist);
        LAT_(clover)(y, t, inverted);
    }
}

/* ---- the sweep ------------------------------------------------------------------------------- */

#define PER_LINE (64 / (int)sizeof(LAT_T))        /* vectors */
#define SIDE(p, flip) ((p) + ((flip) ? HALF : 0)) /* the upper spins, and with !flip the lower */

/* Asks for n vectors, n known to the compiler: into the first cache, into the second one, or into
 * the first for one use. */
LAT_HOST_DEVICE void LAT_(fetch)(const LAT_T *v, int n, fetch_to where)
{
#pragma GCC unroll 24
    for (int i = 0; i < n; i += PER_LINE) {
        if (where == TO_FIRST_ONCE)
            __builtin_prefetch(v + i, 0, 0);
        else if (where == TO_SECOND)
            __builtin_prefetch(v + i, 0, 2);
        else
            __builtin_prefetch(v + i);
    }
}

/* What the compiler knows of a sweep: links have all rows but the last; what comes next is
 * prefetched; neighbours may have to be collected. Copies for these, because branches between
 * directions cost registers. */
typedef struct {
    bool few, ahead, collects;
} LAT_(how);

/* What comes next: where it reads its spinors, and links to be fetched meanwhile, `share` vectors a
 * direction, but for the directions of `unit`; far: forward in t, of a column FAR further on, which
 * comes from memory; or NULL. */
#define FAR 6
typedef struct {
    const LAT_T *in, *of_t, *of_space, *far;
    const lat_hop_step *step;
    int share;
    unsigned unit;
} LAT_(ahead);

/* A block, of a column: links are 1 if bit d of `unit` is set; `last` has the last rows of all
 * directions, of which those that are stored without are made if this column is the first. */
typedef struct {
    const lat_hop_table *table;
    const lat_hop_step *step;
    const LAT_T *of_t, *of_space, *in;
    LAT_T *last;
    size_t pitch;
    unsigned unit;
    bool first, flip;
    LAT_T weight;
} LAT_(here);

/* Those of direction d, `each` vectors apart. */
#define LINKS(of_t, of_space, each) (d < 2 ? (of_t) + d * (each) : (of_space) + (d - 2) * (each))

LAT_HOST_DEVICE void LAT_(fetch_next)(const LAT_(ahead) *next, const LAT_(here) *w, int d,
                                      int reals)
{
    const LAT_T *q = next->in + (size_t)next->step[d].block * w->pitch;
    if (d < 2 && next->unit >> d & 1)
        ;
    else if (next->share == reals)
        LAT_(fetch)(LINKS(next->of_t, next->of_space, reals), reals, TO_FIRST_ONCE);
    else
        for (int i = 0; i < next->share; i += PER_LINE)
            LAT_(fetch)(LINKS(next->of_t, next->of_space, next->share) + i, PER_LINE, TO_FIRST);
    if (d < 2)
        LAT_(fetch)(SIDE(q, w->flip == (d == 1)), HALF, TO_FIRST);
    else
        LAT_(fetch)(q, SPINOR, TO_FIRST);
    if (d == 0 && next->far)
        LAT_(fetch)(next->far, SPINOR, TO_SECOND);
}

/* One direction. That links are 1 the two directions of t look at alone, as they begin the sum, of
 * which little is in registers then. */
LAT_HOST_DEVICE void LAT_(direction)(LAT_(spinor) *r, const LAT_(here) *w, const LAT_(ahead) *next,
                                     int d, LAT_(how) how)
{
    const int reals = how.few ? LINK_REALS - 2 * LAT_N : LINK_REALS;
    const lat_hop_step st = w->step[d];
    const LAT_T *p = w->in + (size_t)st.block * w->pitch;
    const LAT_T *u = LINKS(w->of_t, w->of_space, reals);
    LAT_T *last = how.few ? w->last + d * 2 * LAT_N : NULL;
    if (how.ahead)
        LAT_(fetch_next)(next, w, d, reals);
    if (how.few && w->first && d >= 2)
        LAT_(last_row)(last, u);
    LAT_T other[SPINOR];
    if (how.collects && w->table->twist[st.twist].perm < 0) {
        LAT_(collect)(other, w->in, w->pitch, w->table->collect + (size_t)st.block * LAT_WIDTH);
        p = other;
    }
    LAT_(half) h = LAT_(project)(SIDE(p, w->flip), SIDE(p, !w->flip), d);
    if (__builtin_expect(st.twist, 0))
        h = LAT_(twist)(h, w->table, st.twist);
    if (d < 2 && w->unit >> d & 1) {
        LAT_(add_unit)(r, &h, d, w->weight, LAT_(set)(1));
    } else {
        if (how.few && w->first && d < 2)
            LAT_(last_row)(last, u);
        LAT_(add_link)(r, u, how.few ? last : u + LINK_REALS - 2 * LAT_N, false, &h, d, w->weight,
                       LAT_(set)(1));
    }
}

/* r <- A^-1 r, or A chi + b r. */
LAT_HOST_DEVICE void LAT_(end_block)(LAT_(spinor) *r, const lat_hop_work *w, const lat_hop_call *k,
                                     const LAT_T *chi, int block, LAT_T b)
{
    LAT_T x[SPINOR], y[SPINOR];
    if (k->block == LAT_BLOCK_INVERT) {
        memcpy(x, r, sizeof x);
        LAT_(block)(y, x, &w->diagonal, (size_t)block, true, k->dagger);
        memcpy(r, y, sizeof y);
        return;
    }
    memcpy(x, SIDE(chi, k->flip_chi), sizeof x / 2);
    memcpy(x + HALF, SIDE(chi, !k->flip_chi), sizeof x / 2);
    LAT_(block)(y, x, &w->diagonal, (size_t)block, false, k->dagger);
    for (int s = 0; s < 4; s++)
        LAT_COLOURS(for (int e = 0; e < 2; e++)
                        r->v[s][c][e] = y[(s * LAT_N + c) * 2 + e] + b * r->v[s][c][e];)
}

#define EACH_REAL(p, flip, ...) \
    { \
        const LAT_T *const half_[2] = {SIDE(p, flip), SIDE(p, !(flip))}; \
        for (int s = 0; s < 4; s++) \
            LAT_COLOURS(for (int e = 0; e < 2; e++) { \
                const LAT_T y = half_[s / 2][(s % 2 * LAT_N + c) * 2 + e]; \
                LAT_T *x = &r->v[s][c][e]; \
                __VA_ARGS__ \
            }) \
    }

/* The sums of each site that `numbers` asks for. */
LAT_HOST_DEVICE void LAT_(end_sums)(const LAT_(spinor) *r, const lat_hop_call *k, int block,
                                    const LAT_T *chi, const LAT_T *with, LAT_T *to)
{
    if (with) {
        const LAT_T *const half[2] = {SIDE(with, k->flip_out), SIDE(with, !k->flip_out)};
        LAT_T re = LAT_(set)(0), im = re, re2 = re, im2 = re;
        for (int s = 0; s < 4; s++)
            LAT_COLOURS(const LAT_T *y = half[s / 2] + (s % 2 * LAT_N + c) * 2;
                        re += y[0] * r->v[s][c][0]; re2 += y[1] * r->v[s][c][1];
                        im += y[0] * r->v[s][c][1]; im2 -= y[1] * r->v[s][c][0];)
        to[0] = re + re2;
        to[1] = im + im2;
        to += 2;
    }
    if (k->shadow) {
        LAT_(shadow)(to, (const LAT_T *)r->v, (const LAT_(bits) *)k->signs + block, k->flip_out);
        to += 2;
    }
    if (k->shadow_in) {
        LAT_(shadow)(to, chi, (const LAT_(bits) *)k->signs + block, false);
        to += 2;
    }
    if (k->numbers & 1) {
        LAT_T q[2] = {LAT_(set)(0), LAT_(set)(0)};
        for (int s = 0; s < 4; s++)
            LAT_COLOURS(for (int e = 0; e < 2; e++) q[e] += r->v[s][c][e] * r->v[s][c][e];)
        to[0] = q[0] + q[1];
    }
}

/* What follows the hop of a block and column, and the store. */
LAT_HOST_DEVICE void LAT_(end)(LAT_(spinor) *r, const lat_hop_work *w, const lat_hop_call *k,
                               int block, int i, size_t at)
{
    const LAT_T b = LAT_(set)((LAT_S)k->b);
    LAT_T *out = (LAT_T *)k->out + at;
    const LAT_T *chi = k->chi ? (const LAT_T *)k->chi + at : NULL;
    if (k->block != LAT_BLOCK_NONE)
        LAT_(end_block)(r, w, k, chi, block, b);
    if (k->block != LAT_BLOCK_APPLY) {
        if (chi) {
            const LAT_T a = LAT_(set)((LAT_S)k->a);
            EACH_REAL(chi, k->flip_chi, *x = a * y + b * *x;)
        } else if (k->b != 1) {
            for (int s = 0; s < 4; s++)
                LAT_COLOURS(for (int e = 0; e < 2; e++) r->v[s][c][e] *= b;)
        }
    }
    if (k->add) {
        const LAT_T g = LAT_(set)((LAT_S)k->add[k->column[i]]);
        EACH_REAL(out, k->flip_out, *x = y + g * *x;)
    }
    if (k->sums)
        LAT_(end_sums)(r, k, block, chi, k->with ? (const LAT_T *)k->with + at : NULL,
                       (LAT_T *)k->sums
                           + ((size_t)block * (size_t)k->columns + (size_t)i) * (size_t)k->numbers);
    LAT_T *const half[2] = {SIDE(out, k->flip_out), SIDE(out, !k->flip_out)};
    if (k->past_cache)
        for (int s = 0; s < 4; s++)
            LAT_COLOURS(for (int e = 0; e < 2; e++)
                            STREAM(half[s / 2] + (s % 2 * LAT_N + c) * 2 + e, r->v[s][c][e]);)
    else
        for (int s = 0; s < 4; s++)
            LAT_COLOURS(for (int e = 0; e < 2; e++)
                            half[s / 2][(s % 2 * LAT_N + c) * 2 + e] = r->v[s][c][e];)
}
#undef EACH_REAL

/* Block b of a sweep, and what comes next of it: the next block but for the column. */
LAT_HOST_DEVICE void LAT_(enter_block)(const lat_hop_work *w, const lat_hop_call *k, int b,
                                       bool more, LAT_(here) *here, LAT_(ahead) *next)
{
    here->step = w->table->step + (size_t)b * 8;
    here->of_t = (const LAT_T *)w->links[0] + (size_t)b * 2 * (size_t)w->reals;
    here->of_space = (const LAT_T *)w->links[1] + (size_t)b * 6 * (size_t)w->reals;
    here->unit = w->unit[b];
    const unsigned unit = w->unit[b + more];
    next->step = more ? here->step + 8 : here->step;
    next->of_t = here->of_t + more * 2 * w->reals;
    next->of_space = here->of_space + more * 6 * w->reals;
    next->unit = unit & (k->columns == 1 || unit == 3 ? 3 : 0);
}

/* Column i of a block. `after` is what comes next of the block. */
LAT_HOST_DEVICE void LAT_(column)(const lat_hop_work *w, const lat_hop_call *k, int b, int i,
                                  LAT_(here) *here, const LAT_(ahead) *after, LAT_(how) how)
{
    const LAT_T *fields = k->in;
    const int far = k->columns < FAR ? k->columns : FAR;
    const bool more = i + 1 < k->columns, far_more = i + far < k->columns;
    here->in = fields + (size_t)k->column[i] * SPINOR;
    here->first = i == 0;
    LAT_(ahead) next = *after;
    next.in = fields + (size_t)k->column[more ? i + 1 : 0] * SPINOR;
    next.step = more ? here->step : after->step;
    next.of_t += i * 2 * next.share;
    next.of_space += i * 6 * next.share;
    next.far = NULL;
    if (k->far)
        next.far = fields + (size_t)k->column[far_more ? i + far : i + far - k->columns] * SPINOR
                   + (size_t)(far_more ? here->step : after->step)->block * here->pitch;
    LAT_(spinor) r;
#define DIRECTION(d) LAT_(direction)(&r, here, &next, d, how);
    LAT_EACH_DIRECTION(DIRECTION)
#undef DIRECTION
    LAT_(end)(&r, w, k, b, i, (size_t)b * here->pitch + (size_t)k->column[i] * SPINOR);
}

LAT_HOST_DEVICE void LAT_(sweep)(const lat_hop_work *w, const lat_hop_call *k, int begin, int end,
                                 LAT_(how) how)
{
    LAT_T last[8 * 2 * LAT_N];
    LAT_(here) here;
    LAT_(ahead) next;
    here.table = w->table;
    here.last = last;
    here.pitch = (size_t)w->columns * SPINOR;
    here.flip = k->flip_in;
    here.weight = LAT_(set)((LAT_S)(2 * w->temporal));
    next.share = (w->reals + k->columns - 1) / k->columns;
#if LAT_N == 3
    LAT_T rows[8 * 12];
#endif
    for (int b = begin; b < end; b++) {
        LAT_(enter_block)(w, k, b, b + 1 < end, &here, &next);
#if LAT_N == 3
        if (how.few && w->reals == 8) {
            for (int d = 0; d < 8; d++)
                LAT_(from_angles)(rows + 12 * d, LINKS(here.of_t, here.of_space, 8));
            here.of_t = rows;
            here.of_space = rows + 24;
        }
#endif
        for (int i = 0; i < k->columns; i++)
            LAT_(column)(w, k, b, i, &here, &next, how);
    }
    if (k->past_cache)
        FENCE;
}

#define SWEEP(name, ...) \
    APART void LAT_(name)(const lat_hop_work *w, const lat_hop_call *k, int begin, int end) \
    { \
        LAT_(sweep)(w, k, begin, end, (LAT_(how)){__VA_ARGS__}); \
    }
SWEEP(sweep_all, false, false, false)
SWEEP(sweep_all_ahead, false, true, false)
SWEEP(sweep_all_collect, false, false, true)
SWEEP(sweep_few, true, false, false)
SWEEP(sweep_few_ahead, true, true, false)
SWEEP(sweep_few_collect, true, false, true)
#undef SWEEP

static void LAT_(hop)(const lat_hop_work *w, const lat_hop_call *k, int begin, int end)
{
    static lat_hop_blocks *const sweeps[2][3] = {
        {LAT_(sweep_all), LAT_(sweep_all_ahead), LAT_(sweep_all_collect)},
        {LAT_(sweep_few), LAT_(sweep_few_ahead), LAT_(sweep_few_collect)}};
    sweeps[w->reals < LINK_REALS][w->table->collects ? 2 : k->ahead](w, k, begin, end);
}

/* out <- A in, or A^-1 in. */
static void LAT_(diagonal)(const lat_hop_work *w, const lat_hop_call *k, int begin, int end)
{
    const size_t pitch = (size_t)w->columns * SPINOR;
    for (int b = begin; b < end; b++)
        for (int i = 0; i < k->columns; i++) {
            const size_t at = (size_t)b * pitch + (size_t)k->column[i] * SPINOR;
            LAT_T y[SPINOR];
            LAT_(block)(y, (const LAT_T *)k->in + at, &w->diagonal, (size_t)b,
                        k->block == LAT_BLOCK_INVERT, k->dagger);
            memcpy((LAT_T *)k->out + at, y, sizeof y);
        }
}
#undef SIDE
#undef PER_LINE
#undef LINKS
#undef FAR
