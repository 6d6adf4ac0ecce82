/* SPDX-License-Identifier: BSD-3-Clause */
/* loops_wilson.c: all Wilson loops of a configuration, class by class; a device counts them. */
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "lattice/unitary.h"
#include "loops_device.h"

/* Divides N W of one n by the number of loops. */
static void means(const lat_loops *s, int directions, double *w)
{
    const lat_loops_how *how = s->how;
    const int pairs = lat_loops_pairs(how);
    int pair = 0;
    for (int i = 0; i < lat_loops_numbers(how); i++) {
        const int time = i / pairs + 1,
                  times = how->window ? how->last - how->first + 1 - time : s->slices;
        w[i] /= (double)s->sites * directions * s->n * times;
    }
    for (int i = 0; i < how->levels; i++)
        for (int j = i; j < how->levels; j++, pair++)
            for (int t = 0; t < how->time && j > i; t++)
                w[t * pairs + pair] /= 2; /* i and j at either end */
}

/* All n of class c, `count` of them, to w. */
static int class_of(lat_loops *s, int c, int count, double *w)
{
    int d[LAT_LOOPS_DIRECTIONS][LAT_MAX_DIMS];
    const int directions = lat_loops_directions(s->how->vector[c], s->axes, d);
    int rc = s->device->begin(s, count);
    for (int i = 0; i < directions && rc == 0; i++) {
        rc = s->device->steps(s, d[i]);
        for (int n = 1; n <= count && rc == 0; n++)
            rc = s->device->add(s, d[i], n);
    }
    rc = rc ? rc : s->device->sums(s, count, w);
    for (int n = 0; n < count && rc == 0; n++)
        means(s, directions, w + n * lat_loops_numbers(s->how));
    return rc;
}

static int all_classes(lat_loops *s, double *w)
{
    int rc = 0;
    for (int c = 0; c < s->how->classes && rc == 0; c++) {
        lat_loops_how one = *s->how;
        one.classes = 1;
        memcpy(one.vector[0], s->how->vector[c], sizeof one.vector[0]);
        const int count = lat_loops_separations(&one, NULL);
        rc = count ? class_of(s, c, count, w) : 0;
        w += count * lat_loops_numbers(s->how);
    }
    return rc;
}

int lat_loops_wilson(lat_device *dev, lat_field *u, const lat_loops_how *how, double *w)
{
    if (lat_links_unitary(u, "loops"))
        return -1;
    lat_loops *s = lat_loops_new(dev, u, how);
    int rc = lat_agree(lat_field_shared(u) ? u->comm : &lat_comm_self, s ? 0 : -1);
    if (rc == 0)
        rc = lat_rc(s->device->open(s, u) || all_classes(s, w));
    if (s)
        s->device->close(s);
    free(s);
    return rc;
}
