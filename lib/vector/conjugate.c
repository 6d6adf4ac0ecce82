/* SPDX-License-Identifier: BSD-3-Clause */
/* conjugate.c: the loop of conjugate gradients. */
#include "vector/conjugate.h"
#include "base/memory.h"

int lat_conjugate_open(lat_conjugate *c, int columns)
{
    const size_t n = (size_t)columns;
    c->rho = lat_alloc_zero(5 * n, sizeof *c->rho, "conjugate gradients");
    c->list = lat_alloc(n, sizeof *c->list, "conjugate gradients");
    if (!c->rho || !c->list)
        return -1;
    c->next = c->rho + n;
    c->pq = c->rho + 2 * n;
    c->alpha = c->rho + 3 * n;
    c->beta = c->rho + 4 * n;
    c->active.column = c->list;
    return 0;
}

void lat_conjugate_close(lat_conjugate *c) { LAT_FREE(c->rho, c->list); }

static void leave(lat_conjugate *c, const lat_conjugate_calls *calls, void *with)
{
    int left = 0;
    LAT_FOR_COLUMNS (k, &c->active)
        if (calls->ended(with, k))
            c->rho[k] = c->alpha[k] = c->beta[k] = 0;
        else
            c->list[left++] = k;
    c->active.columns = left;
}

int lat_conjugate_run(lat_conjugate *c, const lat_conjugate_calls *calls, void *with)
{
    int rc;
    for (c->iterations = 0;; c->iterations++) {
        LAT_FOR_COLUMNS (k, &c->active) {
            c->beta[k] = lat_cg_beta(c->rho[k], c->next[k]);
            c->rho[k] = c->next[k];
        }
        if ((rc = calls->direction(with)))
            return rc;
        leave(c, calls, with);
        if (c->active.columns == 0)
            return 0;
        if ((rc = calls->product(with)))
            return rc;
        LAT_FOR_COLUMNS (k, &c->active)
            c->alpha[k] = lat_cg_alpha(c->rho[k], c->pq[k]);
        if ((rc = calls->step(with)))
            return rc;
    }
}
