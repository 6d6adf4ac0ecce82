/* SPDX-License-Identifier: BSD-3-Clause */
/* plain.c: residuals from the definition of M (ghost.h): traces of T^a T^b with links as they were
 * read. It shares nothing with the operator but the order of a vector, and sums over it. */
#include <math.h>
#include <stdlib.h>
#include "base/memory.h"
#include "ghost_internal.h"

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

/* The elements of T^a T^b that are not zero: returns how many. */
static int products_of(int n, int a, int b, lat_ghost_element *product)
{
    double s[LAT_SUN_REALS], t[LAT_SUN_REALS];
    int count = 0;
    generator(n, a, s);
    generator(n, b, t);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            lat_ghost_element e = {a, b, i, j, 0, 0};
            for (int k = 0; k < n; k++) {
                const double *x = s + 2 * (i * n + k), *y = t + 2 * (k * n + j);
                e.re += x[0] * y[0] - x[1] * y[1];
                e.im += x[0] * y[1] + x[1] * y[0];
            }
            if (e.re != 0 || e.im != 0)
                product[count++] = e;
        }
    return count;
}

/* Links as they were read, in the order of vectors. */
static void read_links(const lat_ghost *m, const lat_field *u, double *links)
{
    const size_t nd = (size_t)u->head.geom.nd, link = lat_ghost_link(m),
                 each = (size_t)m->directions * link;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < m->held; i++)
        for (int d = 0; d < m->directions; d++)
            lat_field_get(u, i * nd + (size_t)m->axis[m->direction[d]],
                          links + lat_ghost_site(m, i) * each + (size_t)d * link);
}

/* To the device of m, once. A row or column of T has one element but for diagonal ones: a product
 * has N elements at most. */
static int prepare(lat_ghost *m, const lat_field *u)
{
    static const char what[] = "residuals";
    const size_t bytes = m->held * (size_t)m->directions * lat_ghost_link(m) * sizeof(double),
                 most = (size_t)(m->colours * m->colours * m->nc) * sizeof(lat_ghost_element);
    double *links = lat_alloc(1, bytes, what), *there = lat_ghost_alloc(m, bytes, what);
    lat_ghost_element *product = lat_alloc(1, most, what),
                      *product_there = lat_ghost_alloc(m, most, what);
    int rc = links && there && product && product_there ? 0 : -1, count = 0;
    if (rc == 0) {
        read_links(m, u, links);
        for (int a = 0; a < m->colours; a++)
            for (int b = 0; b < m->colours; b++)
                count += products_of(m->nc, a, b, product + count);
        rc = lat_ghost_move(m, there, links, bytes)
             || lat_ghost_move(m, product_there, product, most);
    }
    m->plain = (lat_ghost_plain){product_there, count, there}; /* which lat_ghost_free frees */
    m->plain_there = rc == 0;
    LAT_FREE(links, product);
    return rc ? -1 : 0;
}

/* total: of each unit the numbers of the pass, then means, then squares of columns. */
static int norms(lat_ghost *m, const lat_ghost_call *c, double *total, double *to)
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

int lat_ghost_residual(lat_ghost *m, const lat_field *u, const double *b, double *x,
                       const double *lambda, double *to)
{
    const size_t numbers = 2 * ((size_t)m->columns + lat_ghost_reals(m));
    double *y = lat_ghost_vector(m, "a residual"),
           *total = lat_alloc((size_t)m->units * numbers, sizeof *total, "a residual");
    const lat_ghost_call c = {.in = x, .other = b, .out = y, .a = lambda, .plain = &m->plain};
    int rc = lat_agree(m->lattice.comm,
                       y && total && (m->plain_there || prepare(m, u) == 0) ? 0 : -1);
    rc = rc || lat_ghost_exchange(m, x) || norms(m, &c, total, to) ? -1 : 0;
    lat_ghost_vector_free(m, y);
    free(total);
    return rc;
}
