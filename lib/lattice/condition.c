/* SPDX-License-Identifier: BSD-3-Clause */
/* condition.c: the gauge conditions. */
#include "condition.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"

static const char *const names[] = {"landau", "coulomb", "mag"};
static const char axes[] = "xyzt";

const char *lat_gauge_name(lat_gauge gauge) { return names[gauge]; }

lat_condition lat_condition_of(lat_gauge gauge, const lat_geometry *geom, int time)
{
    lat_condition c = {.gauge = gauge, .time = -1};
    for (int mu = 0; mu < geom->nd; mu++)
        c.weight[mu] = 1;
    if (gauge == LAT_COULOMB) {
        c.time = time < 0 ? geom->nd - 1 : time;
        c.weight[c.time] = 0;
    }
    return c;
}

static int parse_weights(const char *text, int nd, double weight[LAT_MAX_DIMS])
{
    double sum = 0;
    char *end = NULL;
    for (int mu = 0; mu < nd; mu++, text = end + 1) {
        weight[mu] = strtod(text, &end);
        if (end == text || *end != (mu + 1 < nd ? ',' : '\0')
            || !(weight[mu] >= 0 && weight[mu] <= 1e6))
            return -1;
        sum += weight[mu];
    }
    return sum > 0 ? 0 : -1;
}

int lat_condition_make(lat_gauge gauge, int time, const char *weights, const lat_geometry *geom,
                       lat_condition *c)
{
    if (time >= geom->nd)
        return lat_fail_usage("--time %c: the lattice has %d dimensions", axes[time], geom->nd);
    if (time >= 0 && gauge != LAT_COULOMB)
        return lat_fail_usage("--time is for Coulomb gauge, not for %s", names[gauge]);
    if (gauge == LAT_COULOMB && geom->nd < 2)
        return lat_fail_usage("Coulomb gauge needs two dimensions at least");
    *c = lat_condition_of(gauge, geom, time);
    if (!weights)
        return 0;
    if (gauge != LAT_LANDAU)
        return lat_fail_usage("--weights is for Landau gauge, not for %s", names[gauge]);
    if (parse_weights(weights, geom->nd, c->weight))
        return lat_fail_usage(
            "--weights %s: expected %d numbers from 0 to 1e6, not all 0, with commas between",
            weights, geom->nd);
    return 0;
}

double lat_condition_weights(const lat_condition *c)
{
    double sum = 0;
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        sum += c->weight[mu];
    return sum;
}

int lat_condition_slices(const lat_condition *c, const lat_geometry *geom)
{
    return c->time < 0 ? 1 : geom->dims[c->time];
}

/* In a header Coulomb gauge whose time is x, not the last direction, is "coulomb.x". */
int lat_condition_read(const lat_header *head, lat_condition *c)
{
    const char *dot = strchr(head->gauge, '.');
    const size_t length = dot ? (size_t)(dot - head->gauge) : strlen(head->gauge);
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++) {
        if (length != strlen(names[i]) || memcmp(head->gauge, names[i], length))
            continue;
        const char *axis = dot && dot[1] && !dot[2] ? strchr(axes, dot[1]) : NULL;
        if (dot && (i != LAT_COULOMB || !axis || axis - axes >= head->geom.nd))
            break;
        if (i == LAT_COULOMB && head->geom.nd < 2)
            return lat_fail(
                "the header says gauge coulomb, which needs two dimensions at least, in one");
        *c = lat_condition_of((lat_gauge)i, &head->geom, axis ? (int)(axis - axes) : -1);
        if (i == LAT_LANDAU)
            memcpy(c->weight, head->weight, (size_t)head->geom.nd * sizeof *c->weight);
        return 0;
    }
    return lat_fail("the header says gauge %s, which this version does not know", head->gauge);
}

void lat_condition_write(lat_header *head, const lat_condition *c)
{
    const bool axis = c->gauge == LAT_COULOMB && c->time != head->geom.nd - 1;
    snprintf(head->gauge, sizeof head->gauge, "%s%s%c", names[c->gauge], axis ? "." : "",
             axis ? axes[c->time] : '\0');
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        head->weight[mu] = c->gauge == LAT_LANDAU && mu < head->geom.nd ? c->weight[mu] : 1;
}
