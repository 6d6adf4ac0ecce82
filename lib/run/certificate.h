/* SPDX-License-Identifier: BSD-3-Clause */
/* certificate.h: residuals of columns that are solved, by code that shares nothing with the solver,
 * while a GPU solves the next ones. */
#ifndef LAT_RUN_CERTIFICATE_H
#define LAT_RUN_CERTIFICATE_H

#include <pthread.h>
#include "certify/plain.h"

typedef struct lat_certificate {
    bool running;
    pthread_t thread;
    lat_plain *plain;
    const lat_field *x, *b;
    int columns, threads, rc;
    int column[LAT_MAX_COLUMNS];
    double residual[LAT_MAX_COLUMNS]; /* lat_plain_residual, of each */
} lat_certificate;

/* Begins with these columns of x, on one rank; nobody writes to them, or to b, before the end. One
 * thread is left to the caller, as long as `beside`. */
void lat_certificate_begin(lat_certificate *c, lat_plain *plain, const lat_field *x,
                           const lat_field *b, int columns, const int *column, bool beside);

/* Waits for it: 0 and c->residual, or -1 with lat_error set. All of c zero: 0, and no columns. */
int lat_certificate_end(lat_certificate *c);

#endif
