/* SPDX-License-Identifier: BSD-3-Clause */
/* mirror_gpu.cu: host fields of spinors on a GPU, mirror.h. */
#include "cuda_dirac.cuh"
#include "cuda_pack.cuh"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "grid/cuda_tuning.h"
extern "C" {
#include "base/error.h"
#include "base/threads.h"
#include "mirror.h"
#include "staging.h"
#include "temporal.h"
}

#define THREADS 128

static int failed(cudaError_t e) { return lat_cuda_failed(e, "solutions"); }

struct lat_mirror {
    const lat_cuda_device *dev;
    size_t bytes, sites, objects;
    double *data;
    pthread_mutex_t lock;
    pthread_cond_t change;
    bool lent;
    /* pieces on their way to the host, by a stream of their own, in `places` of memory there: */
    cudaStream_t stream;
    char *pinned;
    cudaEvent_t *there;
    size_t places, begun, arrived; /* begun, arrived: how many so far */
};

bool lat_mirror_takes(const lat_device *dev, const lat_header *head)
{
    return dev->gpu && dev->comm->size == 1 && head->nc == 3 && head->geom.nd == 4
           && head->real == LAT_F64 && lat_order_natural(&head->order);
}

lat_mirror *lat_mirror_open(lat_device *dev, const lat_header *head)
{
    lat_mirror *m = (lat_mirror *)calloc(1, sizeof *m);
    if (!m) {
        lat_fail("out of memory: solutions");
        return NULL;
    }
    m->dev = lat_cuda_device_of(dev);
    m->bytes = lat_header_bytes(head);
    m->sites = lat_volume(&head->geom);
    m->objects = lat_header_objects(head);
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->change, NULL);
    if (!failed(cudaStreamCreateWithFlags(&m->stream, cudaStreamNonBlocking))
        && lat_cuda_malloc((void **)&m->data, m->bytes, "solutions") == 0)
        return m;
    lat_mirror_close(m);
    return NULL;
}

static void forget_pieces(lat_mirror *m)
{
    for (size_t k = 0; k < m->places; k++)
        if (m->there[k])
            cudaEventDestroy(m->there[k]);
    cudaFreeHost(m->pinned);
    free(m->there);
    m->pinned = NULL;
    m->there = NULL;
    m->places = 0;
}

void lat_mirror_close(lat_mirror *m)
{
    if (!m)
        return;
    forget_pieces(m);
    cudaFree(m->data);
    if (m->stream)
        cudaStreamDestroy(m->stream);
    pthread_mutex_destroy(&m->lock);
    pthread_cond_destroy(&m->change);
    free(m);
}

bool lat_mirror_fits(const lat_mirror *m, const lat_header *head)
{
    return lat_mirror_takes(&m->dev->dev, head) && lat_volume(&head->geom) == m->sites
           && lat_header_objects(head) == m->objects;
}

int lat_mirror_lend(lat_mirror *m)
{
    if (failed(cudaStreamSynchronize(m->dev->stream)))
        return -1;
    pthread_mutex_lock(&m->lock);
    m->lent = true;
    pthread_mutex_unlock(&m->lock);
    return 0;
}

void lat_mirror_give_back(lat_mirror *m)
{
    pthread_mutex_lock(&m->lock);
    m->lent = false;
    pthread_cond_signal(&m->change);
    pthread_mutex_unlock(&m->lock);
}

static void wait_for_mirror(lat_mirror *m)
{
    pthread_mutex_lock(&m->lock);
    while (m->lent)
        pthread_cond_wait(&m->change, &m->lock);
    pthread_mutex_unlock(&m->lock);
}

int lat_mirror_take(lat_mirror *m, lat_spinor_space *space, const lat_spinor_part *p,
                    const lat_dfield *x, const int *object)
{
    const lat_gpu_space *s = lat_gpu_space_of(space);
    const double *const g = space->temporal ? (const double *)space->temporal->device : NULL;
    if (space->grid->spec.storage != LAT_STORAGE_DOUBLE || space->nc != 3)
        return lat_fail("solutions: expected spinors of SU(3) in double");
    wait_for_mirror(m);
    for (int i = 0; i < p->columns; i++) {
        const int c = p->column[i];
        unpack_spinors<LAT_STORAGE_DOUBLE>
            <<<lat_cuda_blocks(m->sites, THREADS), THREADS, 0, m->dev->stream>>>(
                s->sites, s->parity, m->data + (size_t)object[c] * LAT_STAGE_SPINOR,
                m->objects * LAT_STAGE_SPINOR, g, 0, m->sites,
                (const char *)x->data + (size_t)c * s->column);
        if (failed(cudaGetLastError()))
            return -1;
    }
    return 0;
}

/* Pieces that wait at a time: those that are held, one that is on its way, the rest of one. */
int lat_mirror_begin(lat_mirror *m, size_t held)
{
    const size_t all = (m->bytes + LAT_MIRROR_PIECE - 1) / LAT_MIRROR_PIECE,
                 wanted = (held + LAT_MIRROR_PIECE - 1) / LAT_MIRROR_PIECE + 2,
                 places = wanted < all ? wanted : all;
    m->begun = m->arrived = 0;
    if (failed(cudaSetDevice(lat_cuda_device_number()))) /* in a thread */
        return -1;
    if (m->places >= places)
        return 0;
    forget_pieces(m);
    m->there = (cudaEvent_t *)calloc(places, sizeof *m->there);
    if (!m->there)
        return lat_fail("out of memory: solutions");
    m->places = places;
    bool bad = false;
    for (size_t k = 0; k < places && !bad; k++)
        bad = failed(cudaEventCreateWithFlags(&m->there[k], cudaEventDisableTiming));
    if (!bad && !failed(cudaMallocHost((void **)&m->pinned, places * LAT_MIRROR_PIECE)))
        return 0;
    forget_pieces(m);
    return -1;
}

/* Piece k sets out. */
static int send(const lat_mirror *m, size_t k)
{
    const size_t at = k * LAT_MIRROR_PIECE, left = m->bytes - at,
                 n = left < LAT_MIRROR_PIECE ? left : LAT_MIRROR_PIECE, place = k % m->places;
    return failed(cudaMemcpyAsync(m->pinned + place * LAT_MIRROR_PIECE, (const char *)m->data + at,
                                  n, cudaMemcpyDeviceToHost, m->stream))
                   || failed(cudaEventRecord(m->there[place], m->stream))
               ? -1
               : 0;
}

const void *lat_mirror_bytes(void *mirror, size_t from, size_t n, size_t done)
{
    lat_mirror *const m = (lat_mirror *)mirror;
    const size_t k = from / LAT_MIRROR_PIECE, free_below = done / LAT_MIRROR_PIECE + m->places;
    for (; m->begun < free_below && m->begun * LAT_MIRROR_PIECE < m->bytes; m->begun++)
        if (send(m, m->begun))
            return NULL;
    if (from + n > m->bytes || (from + n - 1) / LAT_MIRROR_PIECE != k || k >= m->begun) {
        lat_fail("solutions: %zu bytes from %zu on are not there", n, from);
        return NULL;
    }
    for (; m->arrived <= k; m->arrived++)
        if (failed(cudaEventSynchronize(m->there[m->arrived % m->places])))
            return NULL;
    return m->pinned + k % m->places * LAT_MIRROR_PIECE + from % LAT_MIRROR_PIECE;
}

int lat_mirror_get(lat_mirror *m, lat_field *host)
{
    if (!lat_mirror_fits(m, &host->head))
        return lat_fail("solutions: expected a field of %zu spinors a site", m->objects);
    if (failed(cudaStreamSynchronize(m->dev->stream)) || lat_mirror_begin(m, LAT_MIRROR_PIECE))
        return -1;
    for (size_t at = 0; at < m->bytes; at += LAT_MIRROR_PIECE) {
        const size_t left = m->bytes - at, n = left < LAT_MIRROR_PIECE ? left : LAT_MIRROR_PIECE;
        const void *const piece = lat_mirror_bytes(m, at, n, at);
        if (!piece)
            return -1;
        lat_memcpy((char *)host->data + at, piece, n);
    }
    return 0;
}

const double *lat_mirror_data(const lat_mirror *m) { return m->data; }
