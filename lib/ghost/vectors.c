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

static int more_sums(lat_ghost *m, size_t n)
{
    if (n <= m->sums_size)
        return 0;
    free(m->sums);
    m->sums = lat_alloc(n, sizeof *m->sums, "sums over the lattice");
    m->sums_size = m->sums ? n : 0;
    return m->sums ? 0 : -1;
}

static void add_to(double *to, const double *from, size_t n)
{
    for (size_t k = 0; k < n; k++)
        to[k] += from[k];
}

/* The chunks of the blocks first .. last-1 of this rank. */
void lat_ghost_chunks(lat_ghost *m, lat_ghost_pass *pass, const lat_ghost_call *c, size_t numbers,
                      size_t first, size_t last)
{
    const size_t chunks = (m->block + LAT_CHUNK - 1) / LAT_CHUNK;
#pragma omp parallel for schedule(static)
    for (size_t i = first * chunks; i < last * chunks; i++) {
        const size_t b = i / chunks, from = b * m->block + i % chunks * LAT_CHUNK,
                     to = from + LAT_CHUNK, end = (b + 1) * m->block;
        const int unit = lat_ghost_unit(m, b);
        double *sums = numbers ? m->sums + i * numbers : NULL;
        if (numbers)
            memset(sums, 0, numbers * sizeof *sums);
        if (!c->idle || !c->idle[unit])
            pass(m, c, unit, from, to < end ? to : end, sums);
    }
}

/* The sums of own blocks, mine[block][numbers], with memory for the sums of all blocks behind them,
 * to those of units: slice by slice, the same bits on any number of ranks. */
static int add_blocks(const lat_ghost *m, size_t numbers, double *mine, double *total)
{
    const size_t slices = (size_t)lat_slices(&m->lattice.head), record = m->blocks * numbers;
    double *all = mine + (size_t)lat_field_slab(&m->lattice).count * record;
    if (lat_field_gather(&m->lattice, mine, record * sizeof *mine, all))
        return -1;
    memset(total, 0, (size_t)m->units * numbers * sizeof *total);
    for (size_t b = 0; b < slices * m->blocks; b++)
        add_to(total + (size_t)lat_ghost_unit_of(m, b) * numbers, all + b * numbers, numbers);
    return 0;
}

/* The sums of chunks to those of units. */
int lat_ghost_add_up(lat_ghost *m, size_t numbers, double *total)
{
    const size_t own = (size_t)lat_field_slab(&m->lattice).count * m->blocks,
                 chunks = (m->block + LAT_CHUNK - 1) / LAT_CHUNK;
    double *mine = m->sums + own * chunks * numbers;
    memset(mine, 0, own * numbers * sizeof *mine);
    for (size_t i = 0; i < own * chunks; i++)
        add_to(mine + i / chunks * numbers, m->sums + i * numbers, numbers);
    return add_blocks(m, numbers, mine, total);
}

/* Memory for sums of chunks, which a GPU keeps, of own blocks and of all. */
int lat_ghost_prepare(lat_ghost *m, size_t numbers)
{
    const size_t slices = (size_t)lat_slices(&m->lattice.head),
                 own = (size_t)lat_field_slab(&m->lattice).count,
                 chunks = m->gpu ? 0 : (m->block + LAT_CHUNK - 1) / LAT_CHUNK;
    return lat_agree(m->lattice.comm,
                     more_sums(m, (own * chunks + own + slices) * m->blocks * numbers));
}

static int cpu_over(lat_ghost *m, lat_ghost_pass *pass, const lat_ghost_call *c, int numbers,
                    double *total)
{
    const size_t n = (size_t)numbers, own = (size_t)lat_field_slab(&m->lattice).count;
    if (lat_ghost_prepare(m, n))
        return -1;
    lat_ghost_chunks(m, pass, c, n, 0, own * m->blocks);
    return n ? lat_ghost_add_up(m, n, total) : 0;
}

static int gpu_over(lat_ghost *m, lat_ghost_pass_name pass, const lat_ghost_call *c, int numbers,
                    double *total)
{
    if (numbers && lat_ghost_prepare(m, (size_t)numbers))
        return -1;
    if (lat_ghost_gpu_over(m->gpu, pass, c, numbers, m->sums))
        return -1;
    return numbers ? add_blocks(m, (size_t)numbers, m->sums, total) : 0;
}

int lat_ghost_run(lat_ghost *m, lat_ghost_pass_name pass, const lat_ghost_call *c, int numbers,
                  double *total)
{
    return m->gpu ? gpu_over(m, pass, c, numbers, total)
                  : cpu_over(m, lat_ghost_kernel(m, pass), c, numbers, total);
}

int lat_ghost_dot(lat_ghost *m, const double *a, const double *b, double *to)
{
    const lat_ghost_call c = {.in = a, .other = b};
    return lat_ghost_run(m, LAT_GHOST_DOT, &c, m->columns, to);
}
