/* SPDX-License-Identifier: BSD-3-Clause */
/* newton.c: Newton's method near a maximum. Fields lie in vector lanes (grid/cpu_grid.h) on two
 * grids, in double and in single, which have different lanes: what goes from one to the other goes
 * through rows in natural order, as Fourier transforms want them anyway.
 *
 * A unit is a slice of Coulomb gauge, or the lattice. Threads share the blocks of a unit, or take
 * whole units where there are enough. Sums are those of chunks of blocks, in order. */
#include "newton_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/isa.h"
#include "base/memory.h"
#include "base/threads.h"
#include "fourier/laplace_single.h"
#include "grid/cpu_grid.h"
#include "newton_lanes.h"

static const lat_newton_ops *const *const tables[] = LAT_ISA_EACH(lat_newton_, );

/* theta so near to a saddle, or a maximum, that the functional is quadratic there. */
#define BESIDE 1e-6

enum { CHUNK = 16, MOST_ITERATIONS = 60, MOST_STEPS = 40 };

struct lat_newton {
    lat_device device; /* without its halo */
    const lat_newton_ops *ops;
    lat_condition condition;
    const lat_field *links;
    int nc, units;
    size_t sites;                          /* of a unit */
    lat_grid *wide, *narrow;               /* double, single */
    lat_dfield *u, *g;                     /* double: links; g before and after a step */
    lat_dfield *w, *e, *h, *s, *r, *p, *q; /* single: lat_newton_fields */
    lat_lane_work work;
    float *rows, *hermitian;
    double *sums; /* [units][chunks][2] */
    size_t chunks;
    lat_laplace_single *laplace;
};

/* ---- opening --------------------------------------------------------------------------------- */

int lat_newton_check(const lat_device *dev, const lat_field *u, const lat_condition *c)
{
    if (!lat_laplace_single_built)
        return lat_fail("Newton's method needs FFTW in single precision (libfftw3f), and this "
                        "program was built without it");
    if (lat_gauge_table[c->gauge].problem != LAT_LINEAR)
        return lat_fail("Newton's method is here for Landau and Coulomb gauge, not for %s",
                        lat_gauge_table[c->gauge].title);
    if (u->head.nc > LAT_NEWTON_MOST)
        return lat_fail("Newton's method is here for SU(2) to SU(%d), found SU(%d)",
                        LAT_NEWTON_MOST, u->head.nc);
    if (dev->gpu)
        return lat_fail("Newton's method runs on the CPU, found a GPU (--device cpu)");
    if (dev->comm->size > 1)
        return lat_fail("Newton's method runs on one rank, found %d", dev->comm->size);
    for (int mu = 0; mu < u->head.geom.nd; mu++)
        if (mu != c->time && !(c->weight[mu] > 0))
            return lat_fail("Newton's method needs weights above 0, found %g along %c",
                            c->weight[mu], "xyzt"[mu]);
    return 0;
}

static lat_dfield *narrow_new(lat_newton *n, int objects, int reals)
{
    const lat_shape shape = {.objects = objects, .reals = reals};
    return lat_dfield_new(n->narrow, shape, 1, "Newton's method");
}

static int open_single(lat_newton *n)
{
    const int nc = n->nc, algebra = lat_newton_algebra(nc);
    const lat_shape links = {.objects = 2 * n->narrow->slot.nd,
                             .reals = 2 * (nc - 1) * nc,
                             .nc = nc,
                             .both = true},
                    matrix = {.objects = 1, .reals = 2 * nc * nc, .nc = nc};
    return (n->w = lat_dfield_new(n->narrow, links, 1, "the links"))
                   && (n->e = lat_dfield_new(n->narrow, matrix, 1, "a transformation"))
                   && (n->h = narrow_new(n, 1, nc * nc)) && (n->s = narrow_new(n, 1, algebra))
                   && (n->r = narrow_new(n, 1, algebra)) && (n->p = narrow_new(n, 1, algebra))
                   && (n->q = narrow_new(n, 1, algebra))
               ? 0
               : -1;
}

static int open_double(lat_newton *n)
{
    const int nc = n->nc, nd = n->wide->slot.nd,
              rows = lat_fix_rows(n->links, LAT_F64, n->device.comm);
    const lat_shape links = {.objects = 2 * nd, .reals = 2 * rows * nc, .nc = nc, .both = true},
                    matrix = {.objects = 1, .reals = 2 * nc * nc, .nc = nc};
    if (rows < 0 || !(n->u = lat_dfield_new(n->wide, links, 1, "the links"))
        || lat_dfield_put(n->u, 0, n->links, rows == nc ? n->condition.weight : NULL)
        || !(n->g = lat_dfield_new(n->wide, matrix, 2, "transformations")))
        return -1;
    n->work = (lat_lane_work){.lay = lat_cpu(n->wide)->lay, .rows = rows, .problem = LAT_LINEAR};
    for (int i = 0; i < nd; i++)
        n->work.weight[i] = n->condition.weight[n->wide->axis[i]];
    return 0;
}

static int open_rows(lat_newton *n)
{
    const size_t all = n->sites * (size_t)n->units;
    const int blocks = lat_cpu(n->wide)->lay->nblocks > lat_cpu(n->narrow)->lay->nblocks
                           ? lat_cpu(n->wide)->lay->nblocks
                           : lat_cpu(n->narrow)->lay->nblocks;
    n->chunks = (size_t)((blocks + CHUNK - 1) / CHUNK);
    n->rows = lat_alloc(all, (size_t)lat_newton_row(n->nc) * sizeof(float), "Newton's method");
    n->hermitian = lat_alloc(all, (size_t)(n->nc * n->nc) * sizeof(float), "Newton's method");
    n->sums = lat_alloc((size_t)n->units, n->chunks * 2 * sizeof(double), "Newton's method");
    n->laplace = lat_laplace_single_new(&n->wide->slot, n->work.weight, lat_newton_row(n->nc));
    return n->rows && n->hermitian && n->sums && n->laplace ? 0 : -1;
}

lat_newton *lat_newton_open(lat_device *dev, const lat_field *u, const lat_condition *c)
{
    if (lat_newton_check(dev, u, c))
        return NULL;
    lat_newton *n = calloc(1, sizeof *n);
    if (!n) {
        lat_fail("out of memory: Newton's method");
        return NULL;
    }
    n->device = *dev;
    n->device.options.check = false;
    n->condition = *c;
    n->links = u;
    n->nc = u->head.nc;
    n->ops = tables[lat_isa_widest()][n->nc];
    const lat_grid_spec wide = {.lattice = u->head.geom,
                                .storage = LAT_STORAGE_DOUBLE,
                                .across = c->time},
                        narrow = {.lattice = u->head.geom,
                                  .storage = LAT_STORAGE_SINGLE,
                                  .across = c->time};
    n->wide = lat_grid_new(&n->device, &wide);
    n->narrow = lat_grid_new(&n->device, &narrow);
    if (n->wide && n->narrow) {
        n->units = n->wide->slices;
        n->sites = lat_volume(&n->wide->slot);
    }
    if (!n->units || open_double(n) || open_single(n) || open_rows(n)) {
        lat_newton_close(n);
        return NULL;
    }
    return n;
}

void lat_newton_close(lat_newton *n)
{
    if (!n)
        return;
    lat_dfield *const fields[] = {n->u, n->g, n->w, n->e, n->h, n->s, n->r, n->p, n->q};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        lat_dfield_free(fields[i]);
    lat_grid_free(n->wide);
    lat_grid_free(n->narrow);
    lat_laplace_single_free(n->laplace);
    free(n->rows);
    free(n->hermitian);
    free(n->sums);
    free(n);
}

/* ---- passes over a unit ---------------------------------------------------------------------- */

typedef struct run {
    const lat_newton *n;
    lat_newton_fields f;
    lat_lane_work work;
    void *g[2]; /* g[now] is g */
    int now;
    float *hermitian;
    double *sums;
    double share, square; /* of g: sum of Re tr x, and |A|^2 */
    double delta;         /* the trust region: the largest |s|_L; 0: not yet known */
    int steps, iterations;
    bool saddle;
    double ritz;
} run;

typedef void pass(const run *r, int begin, int end, double value, double sums[2]);

/* A pass over the blocks of a layout. */
static void over(const run *r, const lat_layout *lay, pass *fn, double value, double total[2])
{
    const int chunks = (lay->nblocks + CHUNK - 1) / CHUNK;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < chunks; i++) {
        const int begin = i * CHUNK,
                  end = begin + CHUNK < lay->nblocks ? begin + CHUNK : lay->nblocks;
        double *sums = r->sums + 2 * (size_t)i;
        sums[0] = sums[1] = 0;
        fn(r, begin, end, value, sums);
    }
    total[0] = total[1] = 0;
    for (int i = 0; i < chunks; i++) {
        total[0] += r->sums[2 * (size_t)i];
        total[1] += r->sums[2 * (size_t)i + 1];
    }
}

static void pass_gradient(const run *r, int begin, int end, double value, double sums[2])
{
    (void)value;
    r->n->ops->gradient(&r->work, begin, end, r->f.rows, r->hermitian, sums);
}

static void pass_step(const run *r, int begin, int end, double scale, double sums[2])
{
    (void)sums;
    r->n->ops->step(r->work.lay, r->g[!r->now], r->g[r->now], begin, end, r->f.rows, scale);
}

static void pass_rotate(const run *r, int begin, int end, double value, double sums[2])
{
    (void)value, (void)sums;
    r->n->ops->rotate(&r->f, begin, end);
}

static void pass_begin(const run *r, int begin, int end, double scale, double sums[2])
{
    (void)sums;
    r->n->ops->begin(&r->f, begin, end, scale, r->hermitian);
}

static void pass_direction(const run *r, int begin, int end, double b, double sums[2])
{
    (void)sums;
    r->n->ops->direction(&r->f, begin, end, b);
}

static void pass_hop(const run *r, int begin, int end, double value, double sums[2])
{
    (void)value;
    sums[0] = r->n->ops->hop(&r->f, begin, end);
}

static void pass_update(const run *r, int begin, int end, double a, double sums[2])
{
    sums[0] = r->n->ops->update(&r->f, begin, end, a);
}

static void pass_take(const run *r, int begin, int end, double scale, double sums[2])
{
    (void)sums;
    r->n->ops->take(&r->f, begin, end, scale);
}

/* theta = 4 |A|^2 / (N V): Delta is twice A (site/landau.h). */
static double theta_of(const lat_newton *n, double square)
{
    return 4 * square / (n->nc * (double)n->sites);
}

/* A, H and the functional of g[which]. */
static void gradient(run *r, int which, double sums[2])
{
    r->work.g = r->g[which];
    over(r, r->work.lay, pass_gradient, 0, sums);
}

/* ---- the lowest Ritz value ------------------------------------------------------------------- */

/* How many eigenvalues of the tridiagonal matrix, d[n] and off[n-1], are below x (Sturm). */
static int below(int n, const double *d, const double *off, double x)
{
    int count = 0;
    double pivot = 1;
    for (int i = 0; i < n; i++) {
        pivot = d[i] - x - (i ? off[i - 1] * off[i - 1] / pivot : 0);
        if (pivot == 0)
            pivot = -1e-300;
        count += pivot < 0;
    }
    return count;
}

/* The lowest eigenvalue of Lanczos' matrix of L^-1/2 M L^-1/2, which conjugate gradients make with
 * their coefficients a[n], b[n-1] (Saad, Iterative Methods for Sparse Linear Systems, 6.7.3). */
static double lowest_ritz(int n, const double *a, const double *b)
{
    double d[MOST_ITERATIONS], off[MOST_ITERATIONS], low = INFINITY, high = INFINITY;
    for (int i = 0; i < n; i++) {
        d[i] = 1 / a[i] + (i ? b[i - 1] / a[i - 1] : 0);
        off[i] = i + 1 < n ? sqrt(b[i]) / fabs(a[i]) : 0;
    }
    for (int i = 0; i < n; i++) { /* Gershgorin's discs; no diagonal element is below */
        low = fmin(low, d[i] - off[i] - (i ? off[i - 1] : 0));
        high = fmin(high, d[i]);
    }
    for (int k = 0; k < 60 && n > 0; k++) {
        const double middle = 0.5 * (low + high);
        if (below(n, d, off, middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* ---- a step ---------------------------------------------------------------------------------- */

typedef struct solution {
    double scale; /* s is multiplied by this */
    double gain;  /* of the functional, sum of Re tr x / 2, that the model promises */
    double norm;  /* |s|_L */
    bool bound;   /* is on the boundary of the trust region */
} solution;

/* M s = -A, where |s|_L < delta, to |r|^2 <= tolerance |A|^2. A is in the rows. Vectors are in
 * units of |A|: single precision has no small numbers. */
static int solve(run *r, double tolerance, solution *x)
{
    const lat_layout *lay = r->f.lay;
    const double size = sqrt(r->square);
    double a[MOST_ITERATIONS], b[MOST_ITERATIONS], rz, next, t[2];
    double ss = 0, sp = 0, pp, delta2;
    int k = 0;
    *x = (solution){.scale = size};
    over(r, lay, pass_begin, 1 / size, t);
    if (lat_laplace_single_invert(r->n->laplace, r->f.rows, &rz))
        return -1;
    over(r, lay, pass_direction, 0, t);
    if (r->delta == 0)
        r->delta = 3 * sqrt(rz) * size;
    delta2 = r->delta / size * (r->delta / size);
    pp = rz;
    for (;; k++) {
        over(r, lay, pass_hop, 0, t);
        const double pq = t[0], step = rz / pq, far = ss + 2 * step * sp + step * step * pp;
        double along = step;
        a[k] = step;
        r->saddle = !(pq > 0);
        x->bound = r->saddle || far >= delta2;
        if (x->bound)
            along = (sqrt(fmax(0, sp * sp + pp * (delta2 - ss))) - sp) / pp;
        x->gain += along * rz - 0.5 * along * along * pq;
        over(r, lay, pass_update, along, t);
        ss = x->bound ? delta2 : far;
        if (x->bound || t[0] <= tolerance || k + 1 == MOST_ITERATIONS)
            break;
        if (lat_laplace_single_invert(r->n->laplace, r->f.rows, &next))
            return -1;
        b[k] = next / rz;
        sp = b[k] * (sp + step * pp);
        pp = next + b[k] * b[k] * pp;
        rz = next;
        over(r, lay, pass_direction, b[k], t);
    }
    x->gain *= size * size;
    x->norm = sqrt(ss) * size;
    r->iterations += k + 1;
    r->ritz = fmin(r->ritz, lowest_ritz(k + 1, a, b));
    return 0;
}

/* exp(s) g: 1 if it is another g and a good one, 0 if overrelaxation is to go on. */
static int step(run *r, double target)
{
    const double theta = theta_of(r->n, r->square), eta = fmin(0.1, 10 * sqrt(theta));
    double sums[2], unused[2];
    solution x;
    if (solve(r, fmax(eta * eta, 0.2 * target / theta), &x))
        return -1;
    over(r, r->f.lay, pass_take, x.scale, unused);
    over(r, r->work.lay, pass_step, x.scale, unused);
    gradient(r, !r->now, sums);
    /* Where the gain is lost in the rounding of the functional theta decides. */
    const double after = theta_of(r->n, sums[1]), rho = x.gain > 1e-11 * fabs(r->share) / 2
                                                            ? (sums[0] - r->share) / 2 / x.gain
                                                        : after < theta ? 1
                                                                        : 0;
    if (rho < 0.25)
        r->delta = x.norm / 4;
    else if (rho > 0.75 && x.bound)
        r->delta *= 2.5;
    if (!(rho >= 0.05))
        return 0;
    r->now = !r->now;
    r->steps++;
    r->share = sums[0];
    r->square = sums[1];
    over(r, r->f.lay, pass_rotate, 0, unused);
    /* Close to a saddle steps end at the boundary, and theta rises: the functional tells whether
     * they are good, and the trust region grows. Sweeps would take hundreds to leave it. Where
     * theta is larger they decide to which maximum. */
    return rho >= 0.5 && (after <= theta / 2 ? !r->saddle : x.bound && after < BESIDE);
}

/* ---- a unit ---------------------------------------------------------------------------------- */

static run run_of(const lat_newton *n, int unit)
{
    const size_t first = n->sites * (size_t)unit;
    run r = {.n = n, .work = n->work, .ritz = INFINITY};
    r.work.u = lat_cpu_unit(n->u, unit);
    r.g[0] = lat_cpu_unit(n->g, unit);
    r.g[1] = lat_cpu_unit(n->g, n->units + unit);
    r.f = (lat_newton_fields){.lay = lat_cpu(n->narrow)->lay,
                              .w = lat_cpu_unit(n->w, unit),
                              .e = lat_cpu_unit(n->e, unit),
                              .h = lat_cpu_unit(n->h, unit),
                              .s = lat_cpu_unit(n->s, unit),
                              .r = lat_cpu_unit(n->r, unit),
                              .p = lat_cpu_unit(n->p, unit),
                              .q = lat_cpu_unit(n->q, unit),
                              .rows = n->rows + first * (size_t)lat_newton_row(n->nc)};
    for (int i = 0; i < LAT_MAX_DIMS; i++)
        r.f.weight[i] = (float)n->work.weight[i];
    r.hermitian = n->hermitian + first * (size_t)(n->nc * n->nc);
    r.sums = n->sums + (size_t)unit * n->chunks * 2;
    return r;
}

/* Steps from g, which is in both grids. g[0] is the result. */
static int run_unit(run *r, double theta)
{
    double sums[2];
    int rc = 1;
    gradient(r, 0, sums);
    r->share = sums[0];
    r->square = sums[1];
    if (!(theta_of(r->n, r->square) >= theta))
        return 0;
    over(r, r->f.lay, pass_rotate, 0, sums);
    for (int k = 0; rc > 0 && k < MOST_STEPS && theta_of(r->n, r->square) >= theta; k++)
        rc = step(r, theta);
    if (r->now)
        memcpy(r->g[0], r->g[1], r->n->g->unit_bytes);
    return rc < 0 ? -1 : 0;
}

static void report_unit(const run *r, double theta, lat_newton_report *report)
{
    report->slices++;
    report->converged += theta_of(r->n, r->square) < theta;
    report->saddles += r->saddle;
    report->steps += r->steps;
    report->iterations += r->iterations;
    report->ritz = fmin(report->ritz, r->ritz);
    if (theta_of(r->n, r->square) < theta)
        report->ended_ritz = fmin(report->ended_ritz, r->ritz);
}

/* The state of the slices that were chosen. */
static void state_of(const lat_newton *n, const run *r, int chosen, lat_gauge_state *s)
{
    const double per = 2 * n->nc * lat_condition_weights(&n->condition) * (double)n->sites;
    *s = (lat_gauge_state){0};
    for (int unit = 0; unit < n->units; unit++) {
        const double theta = theta_of(n, r[unit].square);
        s->functional += r[unit].share / per / chosen;
        s->theta += theta / chosen;
        s->theta_slice = fmax(s->theta_slice, theta);
    }
}

/* Slots whose slices are not chosen are empty meanwhile: nothing is copied to them and back. */
static void assign_slots(const lat_newton *n, const bool *slice)
{
    for (int unit = 0; unit < n->units; unit++) {
        lat_grid_assign(n->wide, unit, !slice || slice[unit] ? unit : -1);
        lat_grid_assign(n->narrow, unit, !slice || slice[unit] ? unit : -1);
    }
}

static int run_units(const lat_newton *n, run *r, const bool *slice, double theta)
{
    int rc = 0;
    /* A parallel region in another one has one thread. */
#pragma omp parallel for schedule(dynamic) reduction(| : rc) if (n->units >= 2 * lat_threads())
    for (int unit = 0; unit < n->units; unit++) {
        r[unit] = run_of(n, unit);
        if (!slice || slice[unit])
            rc |= run_unit(&r[unit], theta);
    }
    return rc ? -1 : 0;
}

static int put_all(lat_newton *n, const lat_field *g)
{
    return lat_dfield_put(n->w, 0, n->links, NULL) || lat_dfield_put(n->e, 0, g, NULL)
                   || lat_dfield_put(n->g, 0, g, NULL)
               ? -1
               : 0;
}

int lat_newton_run(lat_newton *n, lat_field *g, const bool *slice, double theta,
                   lat_newton_report *report, lat_gauge_state *s, double *slices)
{
    *report = (lat_newton_report){.ritz = INFINITY, .ended_ritz = INFINITY};
    run *r = lat_alloc((size_t)n->units, sizeof *r, "Newton's method");
    assign_slots(n, slice);
    const int rc = !r || put_all(n, g) || run_units(n, r, slice, theta)
                           || lat_dfield_get(n->g, 0, g, true)
                       ? -1
                       : 0;
    for (int unit = 0; rc == 0 && unit < n->units; unit++)
        if (!slice || slice[unit]) {
            report_unit(&r[unit], theta, report);
            slices[unit] = theta_of(n, r[unit].square);
        }
    if (rc == 0)
        state_of(n, r, report->slices, s);
    free(r);
    return rc;
}

int lat_newton_apply(lat_newton *n, lat_field *g, float *out, const float *in)
{
    const size_t row = (size_t)lat_newton_row(n->nc), reals = n->sites * row;
    double unused[2];
    assign_slots(n, NULL);
    if (put_all(n, g))
        return -1;
    for (int unit = 0; unit < n->units; unit++, in += reals, out += reals) {
        run r = run_of(n, unit);
        gradient(&r, 0, unused);
        over(&r, r.f.lay, pass_rotate, 0, unused);
        memcpy(r.f.rows, in, reals * sizeof *in);
        over(&r, r.f.lay, pass_begin, -1, unused); /* rows stay; p = 0 */
        over(&r, r.f.lay, pass_direction, 0, unused);
        over(&r, r.f.lay, pass_hop, 0, unused);
        r.f.s = r.f.q;
        over(&r, r.f.lay, pass_take, 0, unused);
        memcpy(out, r.f.rows, reals * sizeof *out);
    }
    return 0;
}
