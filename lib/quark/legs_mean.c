/* SPDX-License-Identifier: BSD-3-Clause */
/* legs_mean.c: means of propagators and vertices over configurations. */
#include "legs_mean.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

void lat_legs_mean_free(lat_legs_mean *e)
{
    for (int i = 0; i < e->groups; i++) {
        for (int j = 0; j < e->group[i].bins; j++)
            free(e->group[i].bin[j].legs);
        free(e->group[i].bin);
    }
    free(e->group);
    e->group = NULL;
    e->groups = 0;
}

static lat_legs_group *find_group(lat_legs_mean *e, const lat_kinematics *k)
{
    for (int i = 0; i < e->groups; i++)
        if (!memcmp(e->group[i].k.n, k->n, sizeof k->n)
            && !memcmp(&e->group[i].k.ward, &k->ward, sizeof k->ward))
            return &e->group[i];
    if (lat_grow(&e->group, e->groups, sizeof *e->group, "momenta of an ensemble"))
        return NULL;
    e->group[e->groups].k = *k;
    return &e->group[e->groups++];
}

/* Configurations are told apart by the CRC of their links. */
static lat_legs_bin *find_bin(lat_legs_group *g, const char *links, size_t reals)
{
    for (int i = 0; *links && i < g->bins; i++)
        if (!strcmp(g->bin[i].links, links))
            return &g->bin[i];
    if (lat_grow(&g->bin, g->bins, sizeof *g->bin, "configurations of an ensemble"))
        return NULL;
    lat_legs_bin *new = &g->bin[g->bins];
    if (!(new->legs = lat_alloc_zero(reals, sizeof *new->legs, "the propagators of an ensemble")))
        return NULL;
    snprintf(new->links, sizeof new->links, "%s", links);
    g->bins++;
    return new;
}

int lat_legs_mean_add(lat_legs_mean *e, const char links[9], const lat_kinematics *k,
                      const double *legs)
{
    const size_t reals = lat_legs_reals(e->kind, e->nc);
    lat_legs_group *g = find_group(e, k);
    lat_legs_bin *b = g ? find_bin(g, links, reals) : NULL;
    if (!b)
        return -1;
    b->count++;
    for (size_t i = 0; i < reals; i++)
        b->legs[i] += legs[i];
    return 0;
}

/* The mean over all configurations but number `out` (-1: over all). */
static void mean_legs(const lat_legs_group *g, size_t reals, int out, double *legs)
{
    const int n = out < 0 ? g->bins : g->bins - 1;
    memset(legs, 0, reals * sizeof *legs);
    for (int j = 0; j < g->bins; j++) {
        const double weight = 1. / ((double)g->bin[j].count * n);
        for (size_t i = 0; j != out && i < reals; i++)
            legs[i] += weight * g->bin[j].legs[i];
    }
}

int lat_legs_mean_values(const lat_legs_mean *m, int i, double v[LAT_VALUES], double e[LAT_VALUES])
{
    const lat_legs_group *g = &m->group[i];
    const size_t reals = lat_legs_reals(m->kind, m->nc);
    const int n = lat_values_count(m->kind);
    double one[LAT_VALUES], sum[LAT_VALUES] = {0}, square[LAT_VALUES] = {0};
    double *legs = lat_alloc(reals, sizeof *legs, "a mean propagator");
    int rc = legs ? 0 : -1;
    if (rc == 0) {
        mean_legs(g, reals, -1, legs);
        rc = lat_values_of("mean", &g->k, m->kind, m->nc, legs, v);
    }
    for (int j = 0; rc == 0 && j < g->bins && g->bins > 1; j++) {
        mean_legs(g, reals, j, legs);
        rc = lat_values_of("mean", &g->k, m->kind, m->nc, legs, one);
        for (int l = 0; rc == 0 && l < n; l++) { /* from v: no cancellation */
            sum[l] += one[l] - v[l];
            square[l] += (one[l] - v[l]) * (one[l] - v[l]);
        }
    }
    for (int l = 0; rc == 0 && l < n; l++)
        e[l] = g->bins > 1
                   ? sqrt(fmax(square[l] - sum[l] * sum[l] / g->bins, 0) * (g->bins - 1) / g->bins)
                   : NAN;
    free(legs);
    return rc;
}
