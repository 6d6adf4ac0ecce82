/* SPDX-License-Identifier: BSD-3-Clause */
/* dirac_gpu.cu: Dirac operators on GPUs: the table of dirac.h, of hops (cuda_hop.cuh) and the
 * diagonal (cuda_diagonal.cuh). */
#include "dirac/cuda/cuda_diagonal.cuh"
#include "grid/cuda_tuning.h"

#include <math.h>
extern "C" {
extern const lat_dirac_ops lat_dirac_gpu;
}

static int failed(cudaError_t e) { return lat_cuda_failed(e, "a Dirac operator"); }

static lat_gpu_dirac *gpu_dirac_of(lat_dirac *d) { return (lat_gpu_dirac *)d; }

/* ---- hops ------------------------------------------------------------------------------------ */

/* out <- end of (b X + a Y D in), X and Y being A, its inverse or 1. */
typedef enum { ONE, DIAGONAL, INVERSE } factor;

typedef struct hop_job {
    int parity; /* that is written */
    bool dagger, gamma5;
    double a, b;
    factor of_x, of_hop;
    const lat_dfield *x, *in;
    lat_dfield *out, *image; /* image: the inverse, of_hop, times out; or NULL */
} hop_job;

/* The factors: matrices, numbers in *coefficient, and what gamma5 has. */
static void set_factor(const lat_gpu_dirac *d, factor f, int parity, double *coefficient,
                       double *g5, const char **clover, const char **second)
{
    const double twist = d->dirac.fermion.twist, scalar = d->scalar, given = *coefficient;
    *second = NULL;
    if (f == ONE)
        return;
    if (d->dirac.clover) {
        *clover = f == DIAGONAL ? d->clover[parity] : d->inverse[parity];
        if (f == INVERSE && twist != 0)
            *second = d->clover[parity];
        *g5 = given * (f == DIAGONAL ? twist : -twist);
        return;
    }
    const double divide = f == DIAGONAL ? 1 : scalar * scalar + twist * twist;
    *coefficient = given * scalar / divide;
    *g5 = given * (f == DIAGONAL ? twist : -twist) / divide;
}

/* Numbers of a column that an end asks for. */
static int numbers_of(const lat_apply_end *end) { return lat_sum_numbers(lat_apply_sums(end)); }

/* Strips of so many pairs of z, of which none is more than `most`. */
static void set_strips(lat_hop_args *a, uint32_t pairs, uint32_t most)
{
    lat_gpu_sites *const s = &a->lattice.sites;
    s->pairs[0] = pairs;
    s->strip = lat_cuda_strip(pairs, most, a->columns);
    s->by_strip = lat_cuda_divide_by(s->strip);
}

/* In which order the hop takes sites, and whether by way of tiles. Results do not depend on it.
 * Where z is cut, the strip with the first and the last plane is the last one. */
static void set_order(const lat_gpu_space *s, lat_hop_args *a)
{
    const bool single = s->space.grid->spec.storage == LAT_STORAGE_SINGLE,
               cut = s->sites.ghosts & 4;
    const uint32_t pairs = s->sites.pairs[0];
    a->tiles = a->columns > (single ? 1 : 6) && (single || s->sites.half >= LAT_CUDA_TILED_SITES);
    if (!s->sites.strip)
        return;
    set_strips(a, pairs, cut && pairs > 1 ? pairs / 2 : pairs);
    a->lattice.sites.begin[0] = !cut ? 0 : a->backwards ? pairs - 1 : 1 % pairs;
}

/* What is done with the result of the hop, and its sums. */
static void set_end(const lat_gpu_space *s, const hop_job *j, const lat_part *p,
                    const lat_apply_end *end, lat_hop_args *a)
{
    lat_epilogue *const e = &a->end;
    const bool kept = end->keep && (end->onto || lat_apply_recursion(end));
    if (lat_apply_recursion(end)) {
        const double f = lat_apply_factor(end);
        e->recursion = true;
        e->a *= f;
        e->b *= f;
        e->shift[0] = f * end->shift.re;
        e->shift[1] = f * end->shift.im;
        e->terms = end->terms;
    }
    if (lat_apply_adds(end)) {
        e->add = true;
        e->onto = end->onto ? lat_gpu_at(s, end->onto, j->parity) : a->out;
        e->later = end->scalars ? lat_gpu_row(lat_row_of(end->scalars, LAT_ROW_MINUS)) : NULL;
        for (int k = 0; k < end->terms; k++)
            e->more[k] = lat_gpu_at(s, end->more[k], j->parity);
        for (int i = 0; i < p->columns; i++) {
            const int c = p->column[i];
            e->alpha[i] = end->add ? end->add[c] : 0;
            e->keep[i] = kept ? end->keep[c] : 1;
            for (int k = 0; k < end->terms; k++)
                e->by[k][i] = end->by[k][c];
        }
    }
    const bool same = end->with == j->x && !e->add && !j->gamma5;
    e->sums = (uint32_t)lat_apply_sums(end);
    e->with = e->sums & LAT_SUM_DOT && !same ? lat_gpu_at(s, end->with, j->parity) : NULL;
}

static int launch(const lat_gpu_dirac *d, const lat_hop_args *a)
{
    return failed(lat_gpu_launch_of(d)(a, d->dirac.reals, lat_gpu_stream(&d->s->space)));
}

/* A launch of so many pairs of planes and of slices, from these on. */
static int launch_pairs(const lat_gpu_dirac *d, lat_hop_args *a, const uint32_t pairs[2],
                        uint32_t z, uint32_t t)
{
    lat_gpu_sites *const s = &a->lattice.sites;
    set_strips(a, pairs[0], pairs[0]);
    s->pairs[1] = pairs[1];
    s->by_pairs_t = lat_cuda_divide_by(pairs[1]);
    s->begin[0] = z;
    s->begin[1] = t;
    return launch(d, a);
}

/* The hop is at sites that need no carried ghost until these have come. z, t: 1 if some of that
 * axis are carried. */
static int launch_apart(lat_gpu_dirac *d, lat_hop_args *a, uint32_t z, uint32_t t)
{
    const lat_gpu_sites *const s = &d->s->sites;
    const uint32_t first_z = (s->ghosts >> 2 & 1) % s->pairs[0], first_t = t ? 1 : s->begin[1],
                   inner[2] = {s->pairs[0] - 2 * z, s->pairs[1] - 2 * t}, of_t[2] = {inner[0], 2},
                   of_z[2] = {2, s->pairs[1]};
    if (launch_pairs(d, a, inner, first_z, first_t) || lat_gpu_faces_come(d->s, a, false)
        || (t && launch_pairs(d, a, of_t, first_z, s->pairs[1] - 1)))
        return -1;
    return z ? launch_pairs(d, a, of_z, s->pairs[0] - 1, 0) : 0;
}

/* The hop, with faces to other ranks: z, t: some of them are carried. */
static int launch_hop(lat_gpu_dirac *d, lat_hop_args *a)
{
    const lat_gpu_sites *const s = &d->s->sites;
    const unsigned carried = d->s->carried;
    const uint32_t y = carried >> LAT_Y_DOWN != 0, z = (carried >> LAT_Z_DOWN & 3) != 0,
                   t = (carried & 3) != 0;
    /* without tiles none, and where faces of y are carried, which all planes need */
    const bool inner = !y && s->pairs[0] > 2 * z && s->pairs[1] > 2 * t;
    if (lat_gpu_faces(d->s, a, d->in_turn))
        return -1;
    if (carried && inner && !d->in_turn)
        return launch_apart(d, a, z, t);
    return carried && lat_gpu_faces_come(d->s, a, d->in_turn) ? -1 : launch(d, a);
}

/* Launches it, of a parity or of both; side 0 or 1 of the `arrays` sides of the sums. */
static int start_hop(lat_gpu_dirac *d, const hop_job *j, const lat_part *p,
                     const lat_apply_end *end, bool both, int side, int arrays)
{
    lat_gpu_space *s = d->s;
    const lat_fermion *f = &d->dirac.fermion;
    const char *ignored;
    lat_hop_args a = {};
    a.lattice = d->hop;
    a.links = d->links[j->parity];
    a.in = lat_gpu_at(s, j->in, 1 - j->parity);
    a.out = lat_gpu_at(s, j->out, j->parity);
    a.end.x = lat_gpu_at(s, j->x, j->parity);
    a.end.a = j->a * f->nu / f->xi; /* hops in the kernel have weight 1 in space */
    a.end.b = j->b;
    a.parity = j->parity;
    a.both = both;
    a.swap = j->dagger;
    if (j->gamma5) { /* an exchange of spins, and the sign */
        a.end.flip = true;
        a.end.a = -a.end.a;
        a.end.b = -a.end.b;
    }
    set_factor(d, j->of_hop, j->parity, &a.end.a, &a.end.g5_h, &a.end.clover_h, &a.end.clover_h2);
    if (j->x)
        set_factor(d, j->of_x, j->parity, &a.end.b, &a.end.g5_x, &a.end.clover_x, &ignored);
    a.columns = p->columns;
    s->last_first = !s->last_first && !numbers_of(end) && !lat_apply_adds(end) && !s->sites.ghosts;
    for (int i = 0; i < p->columns; i++)
        a.active[i] = (uint8_t)p->column[s->last_first ? p->columns - 1 - i : i];
    a.end.image = lat_gpu_at(s, j->image, j->parity);
    if (end)
        set_end(s, j, p, end, &a);
    if (numbers_of(end)) {
        a.end.arrays = arrays;
        a.end.partial = s->partial + (size_t)side * s->groups;
    }
    a.backwards = s->launches++ % 2;
    set_order(s, &a);
    return launch_hop(d, &a);
}

/* On the parities of the part: hops that write even sites, odd ones, or both. */
static int run_hop(lat_gpu_dirac *d, hop_job j, const lat_part *p, const lat_apply_end *end)
{
    const int sides = lat_part_parities(p), arrays = sides * (int)d->s->groups;
    const int numbers = numbers_of(end);
    if (p->columns == 0)
        return 0;
    if (numbers && lat_gpu_sums_begin(d->s, p->columns, numbers, arrays))
        return -1;
    const bool both = sides == 2 && !d->s->sites.ghosts;
    for (int side = 0; side < (both ? 1 : sides); side++) {
        j.parity = lat_part_first(p) + side;
        if (start_hop(d, &j, p, end, both, side, arrays))
            return -1;
    }
    if (!numbers)
        return 0;
    if (end->scalars)
        return lat_gpu_sums_step(d->s, p, numbers, arrays, end->scalars, end->step, end->epsilon);
    if (lat_gpu_sums_finish(d->s, p->columns, numbers, arrays))
        return -1;
    lat_apply_hand_over(end, p, d->s->sum);
    return 0;
}

static int dirac_gpu_hop(lat_dirac *d, bool dagger, const lat_part *p, double a,
                         const lat_dfield *chi, double b, lat_dfield *out, lat_dfield *in)
{
    const hop_job j = {0, dagger, false, b, a, ONE, ONE, chi, in, out, NULL};
    return run_hop(gpu_dirac_of(d), j, p, NULL);
}

/* ---- the diagonal part ----------------------------------------------------------------------- */

/* Where there are matrices, a thread has all columns: they stay in the first cache. */
static int dirac_gpu_diagonal(lat_dirac *dirac, bool inverse, bool dagger, const lat_part *p,
                              lat_dfield *out, const lat_dfield *in)
{
    const lat_gpu_dirac *d = gpu_dirac_of(dirac);
    const lat_gpu_space *s = d->s;
    lat_diagonal_args a = {};
    if (p->columns == 0)
        return 0;
    for (int parity = 0; parity < 2; parity++) {
        a.a = 1;
        set_factor(d, inverse ? INVERSE : DIAGONAL, parity, &a.a, &a.g5, &a.clover[parity],
                   &a.second[parity]);
    }
    a.half = s->sites.half;
    a.groups = s->groups;
    a.parity = s->parity;
    a.column = s->column;
    a.first = lat_part_first(p);
    a.in = (const char *)in->data;
    a.out = (char *)out->data;
    a.g5 = dagger ? -a.g5 : a.g5;
    a.columns = p->columns;
    for (int i = 0; i < p->columns; i++)
        a.active[i] = (uint8_t)p->column[i];
    const dim3 blocks((a.groups + 3) / 4, dirac->clover ? 1 : (unsigned)p->columns,
                      (unsigned)lat_part_parities(p));
    return failed(lat_by_storage(s->space.grid->spec.storage, [&](auto P) {
        return lat_cuda_start(lat_gpu_early(s), diagonal<P>, blocks, 128, lat_gpu_stream(&s->space),
                              a);
    }));
}

static int dirac_gpu_logdet(lat_dirac *dirac, lat_parity parity, double *log, long *negative)
{
    const lat_gpu_dirac *d = gpu_dirac_of(dirac);
    const double twist = d->dirac.fermion.twist, s = d->scalar;
    *log = 0;
    *negative = 0;
    for (int p = 0; p < 2; p++) {
        if (parity != LAT_BOTH && (int)parity != p)
            continue;
        if (d->dirac.clover) {
            *log += d->log[p];
            *negative += d->negative[p];
            continue;
        }
        *log += 2 * d->s->space.nc * (double)lat_volume(&d->s->space.grid->slot)
                * ::log(hypot(s, twist));
        /* blocks of 2N rows: no determinant is negative */
    }
    return 0;
}

/* ---- matrices -------------------------------------------------------------------------------- */

static lat_part with_parity(const lat_part *p, int parity)
{
    lat_part q = *p;
    q.parity = parity ? LAT_ODD : LAT_EVEN;
    return q;
}

/* The field of that parity, which is made unless there is one; NULL with lat_error set. */
static lat_dfield *field(lat_gpu_dirac *d, lat_dfield *x[3], lat_parity parity)
{
    const lat_comm *comm = d->s->space.grid->dev->comm;
    if (x[parity])
        return x[parity];
    x[parity] = lat_vector_new_of(&d->s->space, parity, "spinors between hops");
    return lat_agree(comm, x[parity] ? 0 : -1) ? NULL : x[parity];
}

/* Does d->first get A_oo^-1 of the result of S, which S^+ begins with, in the hop that makes it? It
 * is not rounded on the way. */
static bool makes_image(const lat_gpu_dirac *d, lat_dirac_form form)
{
    bool real = true;
    for (int mu = 0; mu < 4; mu++)
        real = real && d->hop.phase[mu][1] == 0 && (mu == 3 || d->hop.phase[mu][0] == 1);
    return form == LAT_SYMMETRIC && d->dirac.clover && d->dirac.fermion.twist == 0 && real;
}

/* M, M^+ or gamma5 M of both parities, or of S of one. `in` differs from out. In steps of CG
 * d->first goes from S to S^+, if it can. */
static int plain(lat_gpu_dirac *d, lat_dirac_form form, lat_dirac_kind kind, const lat_part *p,
                 lat_dfield *out, lat_dfield *in, const lat_apply_end *end)
{
    const bool dagger = kind == LAT_DAGGER, gamma5 = kind == LAT_GAMMA5;
    if (form == LAT_FULL) {
        const hop_job j = {0, dagger, gamma5, -0.5, 1, DIAGONAL, ONE, in, in, out, NULL};
        return run_hop(d, j, p, end);
    }
    const lat_part there = with_parity(p, p->parity != LAT_ODD);
    const bool last = form == LAT_SYMMETRIC && dagger; /* A_oo^-1 comes first, from the right */
    const bool of_cg = end && end->scalars
                       && (end->step == LAT_STEP_CG_ALPHA || end->step == LAT_STEP_CG_BETA),
               image = of_cg && makes_image(d, form);
    lat_dfield *const between = field(d, d->between, there.parity), *front = NULL, *from = in;
    if (!between || ((last || image) && !(front = field(d, d->first, p->parity))))
        return -1;
    if (last) {
        if (!image && dirac_gpu_diagonal(&d->dirac, true, true, p, front, in))
            return -1;
        from = front;
    }
    const hop_job first = {0, dagger, false, 1, 0, ONE, INVERSE, NULL, from, between, NULL};
    const hop_job second = {0,
                            dagger,
                            gamma5,
                            -0.25,
                            1,
                            form == LAT_SYMMETRIC ? ONE : DIAGONAL,
                            form == LAT_SYMMETRIC && !last ? INVERSE : ONE,
                            in,
                            between,
                            out,
                            image && !last ? front : NULL};
    return run_hop(d, first, &there, NULL) || run_hop(d, second, p, end) ? -1 : 0;
}

/* gamma5 of M or S in half, where it takes instructions to exchange spins; what is added to lies
 * apart from it. */
static int with_gamma5(lat_gpu_dirac *d, lat_dirac_form form, const lat_part *p, lat_dfield *out,
                       lat_dfield *in, const lat_apply_end *end)
{
    const lat_vector_ops *ops = d->s->space.ops;
    const bool add = end && end->add;
    lat_dfield *const to = add ? field(d, d->middle, p->parity) : out;
    if (!to || plain(d, form, LAT_PLAIN, p, to, in, NULL) || ops->gamma5(&d->s->space, p, to))
        return -1;
    lat_scalar a[LAT_VECTOR_COLUMNS] = {};
    for (int i = 0; i < p->columns && add; i++)
        a[p->column[i]].re = end->add[p->column[i]];
    const lat_scalar *const number = a;
    if (add && ops->axpys(&d->s->space, p, 1, &number, &to, out, NULL))
        return -1;
    return numbers_of(end) ? lat_dirac_sums_apart(&d->dirac, p, out, in, end) : 0;
}

static int dirac_gpu_apply(lat_dirac *dirac, lat_dirac_matrix m, const lat_part *part,
                           lat_dfield *out, lat_dfield *in, const lat_apply_end *end)
{
    lat_gpu_dirac *d = gpu_dirac_of(dirac);
    lat_part p = *part;
    if (m.form == LAT_FULL)
        p.parity = LAT_BOTH;
    if (lat_apply_recursion(end)
        && (!dirac->fuses || numbers_of(end) || (end->add && end->shift.im != 0)
            || (lat_apply_shifted(end) && m.kind != LAT_GAMMA5)))
        return lat_dirac_in_passes(dirac, m, &p, out, in, end);
    if (end && end->onto && m.kind == LAT_GAMMA5) /* with_gamma5 adds to `out` alone */
        return lat_dirac_in_passes(dirac, m, &p, out, in, end);
    switch (m.kind) {
    case LAT_PLAIN:
    case LAT_DAGGER: return plain(d, m.form, m.kind, &p, out, in, end);
    case LAT_GAMMA5:
        return d->s->space.grid->spec.storage == LAT_STORAGE_HALF
                   ? with_gamma5(d, m.form, &p, out, in, end)
                   : plain(d, m.form, m.kind, &p, out, in, end);
    case LAT_NORMAL: break;
    }
    /* M in lies in a field of its own: `out` may be added to. */
    lat_dfield *const middle = field(d, d->middle, p.parity);
    return lat_rc(!middle || plain(d, m.form, LAT_PLAIN, &p, middle, in, NULL)
                  || plain(d, m.form, LAT_DAGGER, &p, out, middle, end));
}

/* ---- even and odd ---------------------------------------------------------------------------- */

static int dirac_gpu_prepare(lat_dirac *dirac, lat_dirac_form form, const lat_part *p,
                             lat_dfield *rhs, lat_dfield *b)
{
    lat_gpu_dirac *d = gpu_dirac_of(dirac);
    const lat_part there = with_parity(p, p->parity != LAT_ODD);
    lat_dfield *const between = field(d, d->between, there.parity);
    const hop_job j = {0, false, false, 0.5, 1, ONE, ONE, b, between, rhs, NULL};
    if (!between || dirac_gpu_diagonal(dirac, true, false, &there, between, b)
        || run_hop(d, j, p, NULL))
        return -1;
    return form == LAT_SYMMETRIC ? dirac_gpu_diagonal(dirac, true, false, p, rhs, rhs) : 0;
}

static int dirac_gpu_reconstruct(lat_dirac *dirac, const lat_part *p, lat_dfield *x,
                                 const lat_dfield *b)
{
    lat_gpu_dirac *d = gpu_dirac_of(dirac);
    const lat_part there = with_parity(p, p->parity != LAT_ODD);
    const hop_job j = {0, false, false, 0.5, 1, ONE, ONE, b, x, x, NULL};
    return lat_rc(run_hop(d, j, &there, NULL)
                  || dirac_gpu_diagonal(dirac, true, false, &there, x, x));
}

const lat_dirac_ops lat_dirac_gpu = {
    lat_gpu_dirac_open, lat_gpu_dirac_close,   dirac_gpu_apply,
    dirac_gpu_hop,      dirac_gpu_diagonal,    dirac_gpu_logdet,
    dirac_gpu_prepare,  dirac_gpu_reconstruct, lat_dirac_flops,
};
