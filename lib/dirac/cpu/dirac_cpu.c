/* SPDX-License-Identifier: BSD-3-Clause */
/* dirac_cpu.c: Dirac operators on the CPU. A call is a few hops by all threads; each overlaps the
 * exchange of its faces with the interior (grid/cpu_halo.h). */
#include "dirac/cpu/dirac_cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/error.h"
#include "base/isa.h"
#include "base/memory.h"
#include "base/threads.h"
#include "dirac/cpu/hop_table.h"
#include "dirac/links.h"
#include "grid/cpu_halo.h"
#include "grid/lanes.h"
#include "lattice/field.h"
#include "vector/temporal.h"

LAT_LANES_TABLE(lat_dirac_lanes, LAT_VECTOR_MOST);

/* ---- open and close -------------------------------------------------------------------------- */

static void dirac_cpu_close(lat_dirac *d)
{
    lat_cpu_dirac *c = lat_cpu_dirac_of(d);
    lat_hop_table_free(&c->table);
    lat_dfield_free(c->tmp);
    lat_dfield_free(c->other);
    LAT_FREE(c->links[0], c->links[1], c->unit, c->clover, c->inverse, c);
}

/* log |det A| where A is the same at all sites. */
static void scalar_logdet(lat_cpu_dirac *c)
{
    const lat_diagonal *g = &c->work.diagonal;
    const double half_volume = (double)lat_volume(&c->s->space.grid->spec.lattice) / 2;
    const int spins = 4 * c->s->space.nc;
    for (int parity = 0; parity < 2; parity++)
        c->logdet[parity] = half_volume * spins * log(g->scalar * g->scalar + g->twist * g->twist)
                            / 2;
}

/* Bytes of the third cache, 0 if nobody knows. */
static double third_cache(void)
{
#ifdef _SC_LEVEL3_CACHE_SIZE
    return fmax(0, (double)sysconf(_SC_LEVEL3_CACHE_SIZE));
#else
    return 0;
#endif
}

static int fill_operator(lat_cpu_dirac *c, const lat_field *u, const lat_field *here,
                         const lat_dirac_options *options)
{
    const lat_fermion *f = &c->d.fermion;
    const lat_cpu_grid *g = lat_cpu(c->s->space.grid);
    c->w = f->nu / f->xi;
    c->in_turn = options->in_turn;
    c->third = third_cache();
    c->d.reals = lat_link_reals(u, g->grid.spec.storage, options->reals, options->unitary);
    if (c->d.reals < 0 || lat_hop_table_fill(&c->table, g, f->boundary)
        || lat_cpu_dirac_links(c, here))
        return -1;
    c->d.clover = lat_fermion_blocks(f);
    c->work = (lat_hop_work){.table = &c->table,
                             .links = {c->links[0], c->links[1]},
                             .unit = c->unit,
                             .reals = c->d.reals,
                             .columns = c->s->space.columns,
                             .temporal = 1 / c->w};
    c->d.links = lat_temporal_unit(c->s->space.temporal, g->grid.spec.storage) ? 6 : 8;
    c->work.diagonal = (lat_diagonal){1 + 3 * c->w + f->mass, f->twist, NULL, NULL};
    if (c->d.clover) {
        if (lat_cpu_dirac_clover(c, here, options->traceless))
            return -1;
        c->work.diagonal.clover = c->clover;
        c->work.diagonal.inverse = c->inverse;
    } else {
        if (c->work.diagonal.scalar == 0 && f->twist == 0)
            return lat_fail("mass %g: the diagonal of the Dirac operator is 0", f->mass);
        scalar_logdet(c);
    }
    c->tmp = lat_vector_new_of(&c->s->space, LAT_EVEN, "a field of the Dirac operator");
    return c->tmp ? 0 : -1;
}

static lat_dirac *dirac_cpu_open(lat_space *s, const lat_field *u, const lat_fermion *fermion,
                                 const lat_dirac_options *options)
{
    lat_cpu_dirac *c = lat_alloc_zero(1, sizeof *c, "a Dirac operator");
    if (!c)
        return NULL;
    c->d = (lat_dirac){.ops = &lat_dirac_cpu, .space = s, .fermion = *fermion};
    c->s = lat_cpu_space_of(s);
    c->lanes = lat_dirac_lanes_table[lat_isa_widest()][s->nc]
               + (s->grid->spec.storage == LAT_STORAGE_DOUBLE);
    lat_field part;
    const lat_field *here = lat_grid_there(s->grid, u, options->box, &part);
    const int rc = here ? fill_operator(c, u, here, options) : -1;
    lat_field_free(&part);
    if (rc == 0)
        return &c->d;
    dirac_cpu_close(&c->d);
    return NULL;
}

/* ---- hops ------------------------------------------------------------------------------------ */

/* One hop of a call, from in to `parity` sites of out. */
typedef struct hop {
    lat_parity parity;
    lat_dfield *out, *in;
    lat_hop_call call; /* but fields, columns */
} hop;

typedef struct context {
    const lat_cpu_dirac *c;
    const lat_hop_call *call;
} context;

static void hop_blocks(void *context_, LAT_UNUSED int unit, int begin, int end)
{
    const context *p = context_;
    p->c->lanes->hop(&p->c->work, p->call, begin, end);
}

/* The caller's share of a hop. */
static void do_hop(const lat_cpu_dirac *c, lat_cpu_team *team, const hop *h)
{
    static const int unit = 0;
    const lat_hop_call *k = &h->call;
    const int first = k->column[0], last = k->column[k->columns - 1];
    const lat_halo_part part = {1 - (int)h->parity, &unit, 1, first, last - first + 1};
    context p = {c, k};
    lat_cpu_operator(team, h->in, &part, hop_blocks, &p);
}

/* Bytes of vectors that a hop of all active columns reads and writes. */
static double hop_bytes(const lat_cpu_dirac *c, int columns)
{
    const lat_layout *lay = lat_cpu(c->s->space.grid)->lay;
    const double half = (double)lay->nblocks / 2 * lay->lanes * c->s->lanes->real;
    return half * (8 * c->d.reals + columns * 16. * c->s->space.nc);
}

/* From here on a hop gains by prefetches and stores past the caches; below it loses by them
 * (bench/history). */
#define LEAVES_CACHE (4 << 20)

static bool chosen(lat_cache how, bool best)
{
    return how == LAT_CACHE_AUTO ? best : how == LAT_CACHE_ALWAYS;
}

/* Of several columns: whether neighbours forward in t are read from memory first, and all others
 * from the third cache. Then it gains some 5 % to ask for the former early; else it loses as much
 * (bench/history). Each thread has slices of its own. */
static bool far(const lat_cpu_dirac *c, int columns)
{
    const lat_layout *lay = lat_cpu(c->s->space.grid)->lay;
    const lat_hop_step *middle = c->table.step + (size_t)(lay->neven / 2) * 8;
    const double block = 8. * c->s->space.nc * lay->lanes * c->s->lanes->real * columns,
                 slices = block * abs(middle[0].block - middle[1].block) * lat_threads();
    return columns > 1 && lay->neven * block > c->third / 2 && slices < c->third / 2;
}

static void complete(const lat_cpu_dirac *c, const lat_part *p, hop *h)
{
    const double bytes = hop_bytes(c, p->columns);
    h->call.out = h->out->data;
    h->call.in = h->in->data;
    h->call.columns = p->columns;
    h->call.column = p->column;
    h->call.ahead = chosen(c->ahead, bytes > LEAVES_CACHE);
    h->call.far = h->call.ahead && far(c, p->columns);
}

/* Passes write the norm last; ends have it first. */
static void norm_first(double *v, int columns, int numbers)
{
    for (; columns > 0; columns--, v += numbers) {
        const double norm = v[numbers - 1];
        memmove(v + 1, v, (size_t)(numbers - 1) * sizeof *v);
        v[0] = norm;
    }
}

/* What an end wants of a hop; `add` takes its coefficients. */
static void set_hop_end(const lat_cpu_dirac *c, const lat_apply_end *end, const lat_part *p,
                        double *add, lat_hop_call *k)
{
    const int sums = lat_apply_sums(end);
    k->add = end->add;
    if (end->scalars && lat_apply_adds(end)) {
        LAT_FOR_COLUMNS (j, p)
            add[j] = end->scalars->row[LAT_ROW_MINUS][j].re;
        k->add = add;
    }
    k->numbers = lat_sum_numbers(sums);
    k->sums = sums ? c->s->numbers : NULL;
    k->with = sums & LAT_SUM_DOT ? end->with->data : NULL;
    k->signs = sums & (LAT_SUM_SHADOW | LAT_SUM_SHADOW_IN) ? c->s->signs : NULL;
    k->shadow = sums & LAT_SUM_SHADOW;
    k->shadow_in = sums & LAT_SUM_SHADOW_IN;
}

/* The sums of a call, once all threads have added up their slices. */
static int finish_hop_sums(const lat_cpu_dirac *c, const lat_part *p, const lat_apply_end *end)
{
    const int sums = lat_apply_sums(end), numbers = lat_sum_numbers(sums);
    if (lat_cpu_sum_total(c->s, p, numbers))
        return -1;
    if (sums & LAT_SUM_NORM)
        norm_first(c->s->total, p->columns, numbers);
    if (end->scalars)
        lat_scalars_take(end->scalars, p, end->step, end->epsilon, numbers, c->s->total);
    else
        lat_apply_hand_over(end, p, c->s->total);
    return 0;
}

/* A thread's share of hops, and of their sums. */
static void share_hops(const lat_cpu_dirac *c, lat_cpu_team *team, const lat_part *p, const hop *h,
                       int hops, int numbers)
{
    for (int i = 0; i < hops && team->rc == 0; i++)
        do_hop(c, team, &h[i]);
    if (numbers && team->rc == 0)
        lat_cpu_sum_slices(c->s, p, numbers);
}

/* Hops one after the other; `end` is of those that write what the last one does. */
static int run_hops(lat_cpu_dirac *c, const lat_part *p, hop *h, int hops, const lat_apply_end *end)
{
    lat_cpu_team team = {.in_turn = c->in_turn};
    const int numbers = lat_sum_numbers(lat_apply_sums(end));
    double add[LAT_VECTOR_COLUMNS];
    if (p->columns == 0)
        return 0;
    if (numbers && lat_cpu_sum_reserve(c->s, p, numbers))
        return -1;
    for (int i = 0; i < hops; i++) {
        complete(c, p, &h[i]);
        /* What the next hop or a sum with `out` reads is better in a cache. */
        h[i].call.past_cache = h[i].out != c->tmp && !lat_apply_adds(end)
                               && chosen(c->past_cache, hop_bytes(c, p->columns) > LEAVES_CACHE);
        if (end && h[i].out == h[hops - 1].out)
            set_hop_end(c, end, p, add, &h[i].call);
    }
    if (lat_threads() == 1) {
        share_hops(c, &team, p, h, hops, numbers);
    } else {
#pragma omp parallel
        share_hops(c, &team, p, h, hops, numbers);
    }
    return team.rc || (numbers && finish_hop_sums(c, p, end)) ? -1 : 0;
}

/* The rest of a call: what is done to spins. */
static lat_hop_call call_of(lat_dirac_kind kind)
{
    const bool dagger = kind == LAT_DAGGER;
    return (lat_hop_call){.flip_in = dagger,
                          .flip_chi = dagger,
                          .flip_out = dagger || kind == LAT_GAMMA5,
                          .dagger = dagger,
                          .a = 1,
                          .b = 1};
}

/* Is A more than a number? */
static bool has_blocks(const lat_cpu_dirac *c) { return c->d.clover || c->d.fermion.twist != 0; }

static int dirac_cpu_hop(lat_dirac *d, bool dagger, const lat_part *p, double a,
                         const lat_dfield *chi, double b, lat_dfield *out, lat_dfield *in)
{
    lat_cpu_dirac *c = lat_cpu_dirac_of(d);
    hop h[2];
    int n = 0;
    for (int parity = 0; parity < 2; parity++) {
        if (p->parity != LAT_BOTH && (int)p->parity != parity)
            continue;
        h[n] = (hop){(lat_parity)parity, out, in, call_of(dagger ? LAT_DAGGER : LAT_PLAIN)};
        h[n].call.chi = chi ? chi->data : NULL;
        h[n].call.a = a;
        h[n++].call.b = b * c->w;
    }
    return run_hops(c, p, h, n, NULL);
}

/* ---- M --------------------------------------------------------------------------------------- */

/* M, M^+ or gamma5 M. */
static int full(lat_cpu_dirac *c, lat_dirac_kind kind, const lat_part *p, lat_dfield *out,
                lat_dfield *in, const lat_apply_end *end)
{
    hop h[2];
    for (int parity = 0; parity < 2; parity++) {
        h[parity] = (hop){(lat_parity)parity, out, in, call_of(kind)};
        lat_hop_call *k = &h[parity].call;
        k->chi = in->data;
        k->block = has_blocks(c) ? LAT_BLOCK_APPLY : LAT_BLOCK_NONE;
        k->a = c->work.diagonal.scalar;
        k->b = -c->w / 2;
    }
    return run_hops(c, p, h, 2, end);
}

/* S, S^+ or gamma5 S. */
static int schur(lat_cpu_dirac *c, lat_dirac_matrix matrix, const lat_part *p, lat_dfield *out,
                 lat_dfield *in, const lat_apply_end *end)
{
    const bool blocks = has_blocks(c), symmetric = matrix.form == LAT_SYMMETRIC,
               last = symmetric && matrix.kind == LAT_DAGGER && blocks;
    const double scalar = c->work.diagonal.scalar, hops = -c->w * c->w / 4;
    lat_dfield *from = in;
    if (last) { /* A^-1 comes first: to a field of its own, as chi is `in` */
        if (!c->other && !(c->other = lat_vector_new_of(&c->s->space, p->parity, "a field of S^+")))
            return -1;
        if (c->d.ops->diagonal(&c->d, true, true, p, c->other, in))
            return -1;
        from = c->other;
    }
    hop h[2] = {{(lat_parity)(1 - (int)p->parity), c->tmp, from,
                 call_of(matrix.kind == LAT_DAGGER ? LAT_DAGGER : LAT_PLAIN)},
                {p->parity, out, c->tmp, call_of(matrix.kind)}};
    h[1].call.chi = in->data;
    if (blocks) {
        h[0].call.block = LAT_BLOCK_INVERT;
        h[1].call.block = !symmetric ? LAT_BLOCK_APPLY : last ? LAT_BLOCK_NONE : LAT_BLOCK_INVERT;
        h[1].call.b = hops;
    } else {
        h[1].call.a = symmetric ? 1 : scalar;
        h[1].call.b = symmetric ? hops / (scalar * scalar) : hops / scalar;
    }
    return run_hops(c, p, h, 2, end);
}

static int apply_one(lat_cpu_dirac *c, lat_dirac_matrix matrix, const lat_part *p, lat_dfield *out,
                     lat_dfield *in, const lat_apply_end *end)
{
    return matrix.form == LAT_FULL ? full(c, matrix.kind, p, out, in, end)
                                   : schur(c, matrix, p, out, in, end);
}

static int dirac_cpu_apply(lat_dirac *d, lat_dirac_matrix matrix, const lat_part *p,
                           lat_dfield *out, lat_dfield *in, const lat_apply_end *end)
{
    lat_cpu_dirac *c = lat_cpu_dirac_of(d);
    if ((matrix.form == LAT_FULL) != (p->parity == LAT_BOTH))
        return lat_fail("Dirac operator: expected sites of %s parity",
                        matrix.form == LAT_FULL ? "either" : "one");
    if (lat_apply_recursion(end) || (end && end->onto))
        return lat_dirac_in_passes(d, matrix, p, out, in, end);
    if (matrix.kind != LAT_NORMAL)
        return apply_one(c, matrix, p, out, in, end);
    /* S in is on the same sites of tmp as `in`, the hop of S^+ goes to the other ones. */
    const lat_dirac_matrix plain = {matrix.form, LAT_PLAIN}, dagger = {matrix.form, LAT_DAGGER};
    return lat_rc(apply_one(c, plain, p, c->tmp, in, NULL)
                  || apply_one(c, dagger, p, out, c->tmp, end));
}

/* ---- the diagonal, and the system of one parity ---------------------------------------------- */

static int dirac_cpu_diagonal(lat_dirac *d, bool inverse, bool dagger, const lat_part *p,
                              lat_dfield *out, const lat_dfield *in)
{
    const lat_cpu_dirac *c = lat_cpu_dirac_of(d);
    const lat_hop_call call = {.out = out->data,
                               .in = in->data,
                               .columns = p->columns,
                               .column = p->column,
                               .dagger = dagger,
                               .block = inverse ? LAT_BLOCK_INVERT : LAT_BLOCK_APPLY};
    int begin, end;
    lat_cpu_blocks(d->space->grid, p->parity, &begin, &end);
#pragma omp parallel
    {
        int64_t from, to;
        lat_thread_range(end - begin, &from, &to);
        c->lanes->diagonal(&c->work, &call, begin + (int)from, begin + (int)to);
    }
    return 0;
}

static int dirac_cpu_logdet(lat_dirac *d, lat_parity parity, double *log, long *negative)
{
    const lat_cpu_dirac *c = lat_cpu_dirac_of(d);
    *log = 0;
    *negative = 0;
    for (int i = 0; i < 2; i++)
        if (parity == LAT_BOTH || (int)parity == i) {
            *log += c->logdet[i];
            *negative += c->negative[i];
        }
    return 0;
}

static int check_system(lat_dirac_form form, const lat_part *p)
{
    return form == LAT_FULL || p->parity == LAT_BOTH
               ? lat_fail("Dirac operator: expected a Schur complement of one parity")
               : 0;
}

static int dirac_cpu_prepare(lat_dirac *d, lat_dirac_form form, const lat_part *p, lat_dfield *rhs,
                             lat_dfield *b)
{
    lat_cpu_dirac *c = lat_cpu_dirac_of(d);
    const lat_part other = {(lat_parity)(1 - (int)p->parity), p->columns, p->column};
    if (check_system(form, p) || dirac_cpu_diagonal(d, true, false, &other, c->tmp, b)
        || dirac_cpu_hop(d, false, p, 1, b, .5, rhs, c->tmp))
        return -1;
    return form == LAT_SYMMETRIC ? dirac_cpu_diagonal(d, true, false, p, rhs, rhs) : 0;
}

static int dirac_cpu_reconstruct(lat_dirac *d, const lat_part *p, lat_dfield *x,
                                 const lat_dfield *b)
{
    lat_cpu_dirac *c = lat_cpu_dirac_of(d);
    const lat_part other = {(lat_parity)(1 - (int)p->parity), p->columns, p->column};
    /* To tmp first: x is read at neighbours. */
    if (check_system(LAT_SYMMETRIC, p) || dirac_cpu_hop(d, false, &other, 1, b, .5, c->tmp, x))
        return -1;
    return dirac_cpu_diagonal(d, true, false, &other, x, c->tmp);
}

const lat_dirac_ops lat_dirac_cpu = {
    .open = dirac_cpu_open,
    .close = dirac_cpu_close,
    .apply = dirac_cpu_apply,
    .hop = dirac_cpu_hop,
    .diagonal = dirac_cpu_diagonal,
    .logdet = dirac_cpu_logdet,
    .prepare = dirac_cpu_prepare,
    .reconstruct = dirac_cpu_reconstruct,
    .flops = lat_dirac_flops,
};
