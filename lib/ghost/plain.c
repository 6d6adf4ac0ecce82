/* SPDX-License-Identifier: BSD-3-Clause */
/* plain.c: residuals from the definition of M (ghost.h): matrices of the adjoint colours at each
 * site, made of T^a and traces, on the host's field. It shares nothing with ghost.c but the order
 * of a vector, and the sums. */
#include <math.h>
#include <stdlib.h>
#include "base/error.h"
#include "base/memory.h"
#include "ghost_internal.h"

typedef struct plain {
    const lat_field *u;
    int n, colours;
    lat_ghost_element *product;
    size_t products;
} plain;

/* T^a, row by row, re and im: the order of ghost.h. */
static void generator(int n, int a, double *t)
{
    int k = 1;
    memset(t, 0, 2 * (size_t)n * (size_t)n * sizeof *t);
    while ((k + 1) * (k + 1) - 1 <= a)
        k++;
    const int i = (a - (k * k - 1)) / 2;
    if (a == (k + 1) * (k + 1) - 2) {
        const double d = 1 / sqrt(2.0 * k * (k + 1));
        for (int j = 0; j < k; j++)
            t[2 * (j * n + j)] = d;
        t[2 * (k * n + k)] = -k * d;
    } else if ((a - (k * k - 1)) % 2 == 0) {
        t[2 * (i * n + k)] = t[2 * (k * n + i)] = 0.5;
    } else {
        t[2 * (i * n + k) + 1] = -0.5;
        t[2 * (k * n + i) + 1] = 0.5;
    }
}

static void add_products(plain *p, int a, int b)
{
    double s[LAT_SUN_REALS], t[LAT_SUN_REALS];
    generator(p->n, a, s);
    generator(p->n, b, t);
    for (int i = 0; i < p->n; i++)
        for (int j = 0; j < p->n; j++) {
            lat_ghost_element e = {a, b, i, j, 0, 0};
            for (int k = 0; k < p->n; k++) {
                const double *x = s + 2 * (i * p->n + k), *y = t + 2 * (k * p->n + j);
                e.re += x[0] * y[0] - x[1] * y[1];
                e.im += x[0] * y[1] + x[1] * y[0];
            }
            if (e.re != 0 || e.im != 0)
                p->product[p->products++] = e;
        }
}

/* A row or column of T has one element but for diagonal ones: N elements at most. */
static int plain_new(plain *p, const lat_field *u)
{
    const int n = u->head.nc, colours = n * n - 1;
    *p = (plain){.u = u, .n = n, .colours = colours};
    p->product = lat_alloc((size_t)colours * (size_t)colours, (size_t)n * sizeof *p->product,
                           "products of generators");
    if (!p->product)
        return -1;
    for (int a = 0; a < colours; a++)
        for (int b = 0; b < colours; b++)
            add_products(p, a, b);
    return 0;
}

/* to[a][b] += factor Re tr T^a T^b U; the other order of a and b: transposed. */
static void add_traces(const plain *p, const double *u, double factor, bool transposed, double *to)
{
    for (size_t k = 0; k < p->products; k++) {
        const lat_ghost_element *e = &p->product[k];
        const double *x = u + 2 * (e->j * p->n + e->i);
        to[transposed ? e->b * p->colours + e->a : e->a * p->colours + e->b] += factor
                                                                                * (e->re * x[0]
                                                                                   - e->im * x[1]);
    }
}

/* y[colour][8] += sign m x[colour][8]. */
static void multiply(int colours, const double *m, double sign, const double *x, double *y)
{
    for (int a = 0; a < colours; a++)
        for (int b = 0; b < colours; b++) {
            const double f = sign * m[a * colours + b];
            for (int l = 0; l < 8; l++)
                y[a * 8 + l] += f * x[b * 8 + l];
        }
}

static void term(const lat_ghost *m, const plain *p, const double *matrix, double sign,
                 const double *x, double *y)
{
    const size_t pack = (size_t)p->colours * 8;
    for (size_t k = 0; k < (size_t)m->packs; k++)
        multiply(p->colours, matrix, sign, x + k * pack, y + k * pack);
}

/* y = M x at a site of u; work: 2 matrices of the adjoint colours. */
static void apply_site(const lat_ghost *m, const plain *p, const lat_condition *c, size_t site,
                       const double *x, double *work, double *y)
{
    const size_t nd = (size_t)p->u->head.geom.nd, reals = lat_ghost_reals(m),
                 square = (size_t)p->colours * (size_t)p->colours;
    double u[LAT_SUN_REALS], *a = work, *hop = work + square;
    memset(a, 0, square * sizeof *a);
    memset(y, 0, reals * sizeof *y);
    for (int mu = 0; mu < (int)nd; mu++)
        for (int step = 1; step >= -1 && mu != c->time; step -= 2) {
            const size_t next = lat_field_next(p->u, site, mu, step);
            lat_field_get(p->u, (step > 0 ? site : next) * nd + (size_t)mu, u);
            add_traces(p, u, c->weight[mu], false, a);
            add_traces(p, u, c->weight[mu], true, a);
            memset(hop, 0, square * sizeof *hop);
            add_traces(p, u, 2 * c->weight[mu], step > 0, hop); /* B has T^b T^a, C T^a T^b */
            term(m, p, hop, -1, x + lat_ghost_site(m, next) * reals, y);
        }
    term(m, p, a, 1, x + lat_ghost_site(m, site) * reals, y);
}

static int apply(const lat_ghost *m, const plain *p, const lat_condition *c, const double *x,
                 double *y)
{
    const size_t reals = lat_ghost_reals(m), square = (size_t)p->colours * (size_t)p->colours;
    bool failed = false;
#pragma omp parallel
    {
        double *work = lat_alloc(2, square * sizeof *work, "matrices of adjoint colours");
#pragma omp for schedule(static)
        for (size_t site = 0; site < m->sites; site++)
            if (work)
                apply_site(m, p, c, site, x, work, y + lat_ghost_site(m, site) * reals);
        if (!work) {
#pragma omp atomic write
            failed = true;
        }
        free(work);
    }
    return failed ? -1 : 0;
}

/* The condition that m was made for. */
static lat_condition condition(const lat_ghost *m)
{
    lat_condition c = {.gauge = m->time < 0 ? LAT_LANDAU : LAT_COULOMB,
                       .time = m->time < 0 ? -1 : m->axis[m->time]};
    for (int i = 0; i < m->lattice.head.geom.nd; i++)
        c.weight[m->axis[i]] = m->weight[i];
    return c;
}

/* The number of the column and unit of real k of a site. */
static size_t column_of(const lat_ghost *m, int unit, size_t k)
{
    return (size_t)unit * (size_t)m->columns + k / (8 * (size_t)m->colours) * 8 + k % 8;
}

/* y = b - y, or lambda x - y; sums over sites. */
static void subtract(const lat_ghost *m, const lat_ghost_call *c, int unit, size_t from, size_t to,
                     double *sums)
{
    const size_t reals = lat_ghost_reals(m);
    for (size_t site = from; site < to; site++)
        for (size_t k = 0; k < reals; k++) {
            const size_t i = site * reals + k;
            c->out[i] = (c->a ? c->a[column_of(m, unit, k)] * c->in[i] : c->other[i]) - c->out[i];
            sums[k] += c->out[i];
        }
}

/* |r - mean|^2 and |b|^2, or |x|^2, of columns. */
static void squares(const lat_ghost *m, const lat_ghost_call *c, int unit, size_t from, size_t to,
                    double *sums)
{
    const size_t reals = lat_ghost_reals(m), columns = (size_t)m->columns;
    for (size_t site = from; site < to; site++)
        for (size_t k = 0; k < reals; k++) {
            const size_t i = site * reals + k, column = column_of(m, 0, k);
            const double r = c->out[i] - c->mean[(size_t)unit * reals + k],
                         b = c->a ? c->in[i] : c->other[i];
            sums[column] += r * r;
            sums[columns + column] += b * b;
        }
}

/* to = |P r| / |b| from r = out. */
static int norms(lat_ghost *m, lat_ghost_call *c, double *sums, double *means, double *to)
{
    const int reals = (int)lat_ghost_reals(m), columns = m->columns;
    if (lat_ghost_over(m, subtract, c, reals, sums))
        return -1;
    lat_ghost_means(m, sums, reals, 0, means);
    c->mean = means;
    if (lat_ghost_over(m, squares, c, 2 * columns, sums))
        return -1;
    for (int i = 0; i < m->units * columns; i++) {
        const double *s = sums + i / columns * 2 * columns + i % columns;
        to[i] = s[columns] > 0 ? sqrt(s[0] / s[columns]) : sqrt(s[0]);
    }
    return 0;
}

static int residual(lat_ghost *m, const lat_field *u, const double *b, double *x,
                    const double *lambda, double *to)
{
    const lat_condition c = condition(m);
    const size_t reals = lat_ghost_reals(m), columns = (size_t)m->columns,
                 numbers = reals > 2 * columns ? reals : 2 * columns;
    const lat_comm *comm = m->lattice.comm;
    plain p = {.u = u};
    double *y = lat_alloc(m->held, reals * sizeof *y, "a residual"),
           *sums = lat_alloc((size_t)m->units * (numbers + reals), sizeof *sums, "a residual");
    lat_ghost_call call = {.in = x, .other = b, .out = y, .a = lambda};
    int rc = lat_agree(comm, plain_new(&p, u) || !y || !sums ? -1 : 0);
    if (rc == 0)
        rc = lat_ghost_exchange(m, x);
    if (rc == 0)
        rc = lat_agree(comm, apply(m, &p, &c, x, y));
    if (rc == 0)
        rc = norms(m, &call, sums, sums + (size_t)m->units * numbers, to);
    free(p.product);
    free(y);
    free(sums);
    return rc;
}

/* ---- on a GPU ---------------------------------------------------------------------------------
 */

/* What the GPU's pass needs of the definition: links as they were read, products of generators. */
static int send(lat_ghost *m, const lat_field *u)
{
    const size_t nd = (size_t)u->head.geom.nd, link = lat_ghost_link(m),
                 each = (size_t)m->directions * link;
    plain p;
    double *links = lat_alloc(m->held, each * sizeof *links, "links");
    if (!links || plain_new(&p, u)) {
        free(links);
        return -1;
    }
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < m->held; i++)
        for (int d = 0; d < m->directions; d++)
            lat_field_get(u, i * nd + (size_t)m->axis[m->direction[d]],
                          links + lat_ghost_site(m, i) * each + (size_t)d * link);
    const int rc = lat_ghost_gpu_plain(m->gpu, p.product, p.products, links);
    m->plain_there = rc == 0;
    free(p.product);
    free(links);
    return rc;
}

/* total: of each unit the numbers of the pass, then means, then squares of columns. */
static int gpu_norms(lat_ghost *m, const lat_ghost_call *c, double *total, double *to)
{
    const int columns = m->columns, numbers = columns + (int)lat_ghost_reals(m);
    double *means = total + m->units * numbers, *squares = means + m->units * (numbers - columns);
    const lat_ghost_call shift = {.out = c->out, .mean = means};
    if (lat_ghost_run(m, LAT_GHOST_PLAIN, c, numbers, total))
        return -1;
    lat_ghost_means(m, total, numbers, columns, means);
    if (lat_ghost_run(m, LAT_GHOST_SHIFT, &shift, 0, NULL)
        || lat_ghost_dot(m, c->out, c->out, squares))
        return -1;
    for (int i = 0; i < m->units * columns; i++) {
        const double b = total[i / columns * numbers + i % columns];
        to[i] = b > 0 ? sqrt(squares[i] / b) : sqrt(squares[i]);
    }
    return 0;
}

static int gpu_residual(lat_ghost *m, const lat_field *u, const double *b, const double *x,
                        const double *lambda, double *to)
{
    const size_t numbers = 2 * ((size_t)m->columns + lat_ghost_reals(m));
    double *y = lat_ghost_vector(m, "a residual"),
           *total = lat_alloc((size_t)m->units * numbers, sizeof *total, "a residual");
    const lat_ghost_call c = {.in = x, .other = b, .out = y, .a = lambda};
    const int rc = !y || !total || (!m->plain_there && send(m, u)) || gpu_norms(m, &c, total, to)
                       ? -1
                       : 0;
    lat_ghost_vector_free(m, y);
    free(total);
    return rc;
}

int lat_ghost_residual(lat_ghost *m, const lat_field *u, const double *b, double *x,
                       const double *lambda, double *to)
{
    return m->gpu ? gpu_residual(m, u, b, x, lambda, to) : residual(m, u, b, x, lambda, to);
}
