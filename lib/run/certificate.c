/* SPDX-License-Identifier: BSD-3-Clause */
/* certificate.c: residuals by plain code, beside the solve or after it. */
#include "certificate.h"

#include <string.h>
#include "base/thread.h"
#include "base/threads.h"

static void *compute(void *with)
{
    lat_certificate *c = with;
    c->rc = lat_plain_residual(c->plain, c->x, c->b, c->columns, c->column, c->residual);
    return NULL;
}

/* The number of threads belongs to the thread that asks for them. */
static void *compute_beside(void *with)
{
    lat_threads_set(((const lat_certificate *)with)->threads);
    return compute(with);
}

void lat_certificate_begin(lat_certificate *c, lat_plain *plain, const lat_field *x,
                           const lat_field *b, int columns, const int *column, bool beside)
{
    c->plain = plain;
    c->x = x;
    c->b = b;
    c->columns = columns;
    c->threads = lat_threads_beside();
    memcpy(c->column, column, (size_t)columns * sizeof *column);
    c->running = beside && lat_threads() > 1
                 && lat_thread_start(&c->thread, compute_beside, c) == 0;
    if (!c->running)
        compute(c);
}

int lat_certificate_end(lat_certificate *c)
{
    if (c->running)
        pthread_join(c->thread, NULL);
    c->running = false;
    return c->rc;
}
