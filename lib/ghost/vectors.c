/* SPDX-License-Identifier: BSD-3-Clause */
/* vectors.c: vectors on the device of an operator, passes over them, and sums in a fixed order. */
#include <stdlib.h>
#include "base/memory.h"
#include "base/threads.h"
#include "ghost_internal.h"
#include "lattice/slices.h"

/* ---- vectors --------------------------------------------------------------------------------- */

static size_t site_bytes(const lat_ghost *m)
{
    return lat_ghost_reals(m) * (m->single ? sizeof(float) : sizeof(double));
}
static size_t vector_bytes(const lat_ghost *m) { return m->sites * site_bytes(m); }

void *lat_ghost_alloc(const lat_ghost *m, size_t bytes, const char *what)
{
    return m->gpu ? lat_ghost_gpu_alloc(bytes, what) : lat_alloc(1, bytes, what);
}

int lat_ghost_move(const lat_ghost *m, void *to, const void *from, size_t bytes)
{
    if (m->gpu)
        return lat_ghost_gpu_copy(m->gpu, to, from, bytes);
    lat_memcpy(to, from, bytes);
    return 0;
}

double *lat_ghost_vector(const lat_ghost *m, const char *what)
{
    return lat_ghost_alloc(m, m->held * site_bytes(m), what);
}

void lat_ghost_vector_free(const lat_ghost *m, double *v)
{
    if (v && m->gpu)
        lat_ghost_gpu_release(v);
    else
        free(v);
}

int lat_ghost_copy(lat_ghost *m, double *to, const double *from)
{
    return lat_ghost_move(m, to, from, vector_bytes(m));
}

int lat_ghost_zero(lat_ghost *m, double *v)
{
    if (m->gpu)
        return lat_ghost_gpu_zero(m->gpu, v, vector_bytes(m));
    memset(v, 0, vector_bytes(m));
    return 0;
}

/* Unit by unit, or several at a time where there are enough. */
static int invert_single(const lat_ghost *m, float *v, const bool *idle)
{
    const size_t reals = m->sites / (size_t)m->units * lat_ghost_reals(m);
    int rc = 0;
    /* A parallel region in another one has one thread. */
#pragma omp parallel for schedule(dynamic) reduction(| : rc) if (m->units >= 2 * lat_threads())
    for (int unit = 0; unit < m->units; unit++) {
        if (!idle || !idle[unit])
            rc |= lat_single_laplace_invert(m->laplace_single, v + (size_t)unit * reals);
    }
    return rc ? -1 : 0;
}

int lat_ghost_invert(lat_ghost *m, double *v, const bool *idle)
{
    return m->gpu      ? lat_ghost_gpu_invert(m->gpu, v, idle)
           : m->single ? invert_single(m, (float *)v, idle)
                       : lat_laplace_invert(m->laplace, v);
}

/* ---- passes and sums ------------------------------------------------------------------------- */

/* A pass of an operator. */
typedef struct passing {
    const lat_ghost *m;
    lat_ghost_pass *pass;
    const lat_ghost_call *c;
} passing;

static void chunk(const void *with, size_t block, size_t from, size_t to, double *sums)
{
    const passing *p = with;
    const int unit = lat_ghost_unit(p->m, block);
    if (!p->c->idle || !p->c->idle[unit])
        p->pass(p->m, p->c, unit, from, to, sums);
}

void lat_ghost_over(lat_ghost *m, lat_ghost_pass_name name, const lat_ghost_call *c, size_t first,
                    size_t last)
{
    const passing p = {m, lat_ghost_kernel(m, name), c};
    lat_sums_over(&m->sums, first, last, chunk, &p);
}

/* A GPU adds up chunks itself. */
int lat_ghost_prepare(lat_ghost *m, int numbers)
{
    m->sums.f = &m->lattice;
    m->sums.items = m->gpu ? 0 : m->block;
    m->sums.blocks = m->blocks;
    m->sums.numbers = (size_t)numbers;
    return lat_agree(m->lattice.comm, lat_sums_reserve(&m->sums));
}

int lat_ghost_add_up(lat_ghost *m, double *total)
{
    const lat_sums *s = &m->sums;
    if (s->numbers == 0)
        return 0;
    if (lat_sums_gather(&m->sums))
        return -1;
    memset(total, 0, (size_t)m->units * s->numbers * sizeof *total);
    for (size_t b = 0; b < (size_t)lat_slices(&m->lattice.head) * m->blocks; b++)
        lat_sums_add(s, total + (size_t)lat_ghost_unit_of(m, b) * s->numbers,
                     s->all + b * s->numbers, 1);
    return 0;
}

int lat_ghost_run(lat_ghost *m, lat_ghost_pass_name pass, const lat_ghost_call *c, int numbers,
                  double *total)
{
    if (lat_ghost_prepare(m, numbers)
        || (m->gpu && lat_ghost_gpu_over(m->gpu, pass, c, numbers, m->sums.own)))
        return -1;
    if (!m->gpu)
        lat_ghost_over(m, pass, c, 0, (size_t)lat_field_slab(&m->lattice).count * m->blocks);
    return lat_ghost_add_up(m, total);
}

int lat_ghost_dot(lat_ghost *m, const double *a, const double *b, double *to)
{
    const lat_ghost_call c = {.in = a, .other = b};
    return lat_ghost_run(m, LAT_GHOST_DOT, &c, m->columns, to);
}
