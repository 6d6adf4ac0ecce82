/* SPDX-License-Identifier: BSD-3-Clause */
/* quark.c: the part of a header that is about quarks. */
#include "quark.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "header.h"

void lat_quark_init(lat_quark *q)
{
    *q = (lat_quark){.columns = 0, .basis = LAT_BASIS};
    lat_fermion_init(&q->fermion);
}

void lat_quark_free(lat_quark *q)
{
    LAT_FREE(q->source, q->residual, q->eigenvalue);
    lat_quark_init(q);
}

static int copy_numbers(double **to, const double *from, int n)
{
    *to = NULL;
    if (!from || n < 1)
        return 0;
    *to = lat_alloc((size_t)n, sizeof **to, "numbers of columns");
    if (!*to)
        return -1;
    memcpy(*to, from, (size_t)n * sizeof **to);
    return 0;
}

int lat_quark_copy(lat_quark *to, const lat_quark *from)
{
    *to = *from;
    to->source = NULL;
    to->residual = to->eigenvalue = NULL;
    if (copy_numbers(&to->residual, from->residual, from->columns)
        || copy_numbers(&to->eigenvalue, from->eigenvalue, from->columns)
        || lat_quark_set_source(to, from->source)) {
        lat_quark_free(to);
        return -1;
    }
    return 0;
}

int lat_quark_set_source(lat_quark *q, const char *text)
{
    lat_lines one = {0};
    if (text && lat_lines_add(&one, "%s", text))
        return -1;
    free(q->source);
    q->source = text ? one.line[0] : NULL;
    free(one.line);
    return 0;
}

static int replace_numbers(double **to, const double *from, int n)
{
    double *copy;
    if (copy_numbers(&copy, from, n))
        return -1;
    free(*to);
    *to = copy;
    return 0;
}

int lat_quark_set_residuals(lat_quark *q, const double *residual)
{
    return replace_numbers(&q->residual, residual, q->columns);
}

int lat_quark_set_eigenvalues(lat_quark *q, const double *eigenvalue)
{
    return replace_numbers(&q->eigenvalue, eigenvalue, q->columns);
}

int lat_quark_check(const lat_quark *q, const char *name)
{
    if (strcmp(q->basis, LAT_BASIS) != 0)
        return lat_fail("%s: expected spinors in the basis " LAT_BASIS ", found '%.15s'", name,
                        q->basis);
    if (!lat_fermion_known(&q->fermion) && q->residual)
        return lat_fail("%s: residuals need an operator, and none is stated", name);
    for (int c = 0; c < q->columns; c++)
        if ((q->residual && !(q->residual[c] >= 0 && isfinite(q->residual[c])))
            || (q->eigenvalue && !isfinite(q->eigenvalue[c])))
            return lat_fail("%s: expected finite numbers of column %d, found residual %g, "
                            "eigenvalue %g",
                            name, c, q->residual ? q->residual[c] : 0,
                            q->eigenvalue ? q->eigenvalue[c] : 0);
    if (q->links[0] && (strlen(q->links) != 8 || strspn(q->links, "0123456789abcdef") != 8))
        return lat_fail("%s: expected the CRC of the links as 8 hexadecimal digits, found '%.8s'",
                        name, q->links);
    return lat_fermion_check(&q->fermion, name);
}
