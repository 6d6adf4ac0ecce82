/* SPDX-License-Identifier: BSD-3-Clause */
/* condition.c: the gauge conditions. */
#include "condition.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"

#define ROW(NAME, ...) [LAT_##NAME] = {__VA_ARGS__},
const lat_gauge_row lat_gauge_table[] = {LAT_EACH_GAUGE(ROW)};
#define GAUGES ((int)(sizeof lat_gauge_table / sizeof *lat_gauge_table))
static const char axes[] = "xyzt";

const char *lat_gauge_name(lat_gauge gauge) { return lat_gauge_table[gauge].name; }

int lat_gauge_check_group(lat_gauge gauge, int nc)
{
    const lat_gauge_row *row = lat_gauge_table + gauge;
    if (nc <= row->groups)
        return 0;
    return lat_fail("SU(%d): %s is fixed for SU(2) to SU(%d)", nc, row->title, row->groups);
}

lat_condition lat_condition_of(lat_gauge gauge, const lat_geometry *geom, int time)
{
    lat_condition c = {.gauge = gauge, .time = -1};
    for (int mu = 0; mu < geom->nd; mu++)
        c.weight[mu] = 1;
    if (lat_gauge_table[gauge].sliced) {
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
    const lat_gauge_row *row = lat_gauge_table + gauge;
    if (time >= geom->nd)
        return lat_fail_usage("--time %c: the lattice has %d dimensions", axes[time], geom->nd);
    if (time >= 0 && !row->sliced)
        return lat_fail_usage("--time is for Coulomb gauge (--gauge coulomb), not for %s",
                              row->name);
    if (row->sliced && geom->nd < 2)
        return lat_fail_usage("%s needs two dimensions at least", row->title);
    *c = lat_condition_of(gauge, geom, time);
    if (!weights)
        return 0;
    if (!row->weighted)
        return lat_fail_usage("--weights is for Landau gauge, not for %s", row->name);
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
static int read_name(const lat_header *head, const char *name, lat_condition *c)
{
    const char *dot = strchr(name, '.');
    const size_t length = dot ? (size_t)(dot - name) : strlen(name);
    for (int i = 0; i < GAUGES; i++) {
        const lat_gauge_row *row = lat_gauge_table + i;
        if (length != strlen(row->name) || memcmp(name, row->name, length))
            continue;
        const char *axis = dot && dot[1] && !dot[2] ? strchr(axes, dot[1]) : NULL;
        if (dot && (!row->sliced || !axis || axis - axes >= head->geom.nd))
            break;
        if (row->sliced && head->geom.nd < 2)
            return lat_fail("the header says gauge %s, which needs two dimensions at least, in one",
                            row->name);
        *c = lat_condition_of((lat_gauge)i, &head->geom, axis ? (int)(axis - axes) : -1);
        return 0;
    }
    return lat_fail("the header says gauge %.40s, which this version does not know", name);
}

int lat_condition_read(const lat_header *head, lat_condition *c)
{
    if (read_name(head, head->gauge, c))
        return -1;
    if (lat_gauge_table[c->gauge].weighted)
        memcpy(c->weight, head->weight, (size_t)head->geom.nd * sizeof *c->weight);
    return 0;
}

const char *lat_condition_text(const lat_condition *c, const lat_geometry *geom,
                               char buf[LAT_CONDITION_TEXT])
{
    const lat_gauge_row *row = lat_gauge_table + c->gauge;
    const bool axis = row->sliced && c->time != geom->nd - 1;
    snprintf(buf, LAT_CONDITION_TEXT, "%s%s%c", row->name, axis ? "." : "",
             axis ? axes[c->time] : '\0');
    return buf;
}

void lat_condition_write(lat_header *head, const lat_condition *c)
{
    const lat_gauge_row *row = lat_gauge_table + c->gauge;
    lat_condition_text(c, &head->geom, head->gauge);
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        head->weight[mu] = row->weighted && mu < head->geom.nd ? c->weight[mu] : 1;
}

const char *lat_weights_text(const double *weight, int nd, int digits, char text[LAT_WEIGHTS_TEXT])
{
    bool all_one = true;
    size_t n = 0;
    for (int mu = 0; mu < nd; mu++) {
        all_one = all_one && weight[mu] == 1;
        n += (size_t)snprintf(text + n, LAT_WEIGHTS_TEXT - n, "%s%.*g", mu ? "," : "", digits,
                              weight[mu]);
    }
    if (all_one)
        text[0] = '\0';
    return text;
}

int lat_condition_write_annealed(lat_header *head, const lat_condition *c)
{
    char name[LAT_CONDITION_TEXT], weights[LAT_WEIGHTS_TEXT];
    const bool weighted = *lat_weights_text(c->weight, head->geom.nd, 17, weights)
                          && lat_gauge_table[c->gauge].weighted;
    lat_condition_text(c, &head->geom, name);
    lat_info_remove(head, LAT_INFO_ANNEALED_WEIGHTS);
    return lat_rc(lat_info_set(head, LAT_INFO_ANNEALED, name) < 0
                  || (weighted && lat_info_set(head, LAT_INFO_ANNEALED_WEIGHTS, weights) < 0));
}

int lat_condition_read_annealed(const lat_header *head, lat_condition *c)
{
    const char *name = lat_info_get(head, LAT_INFO_ANNEALED),
               *weights = lat_info_get(head, LAT_INFO_ANNEALED_WEIGHTS);
    if (!name)
        return 0;
    if (read_name(head, name, c))
        return -1;
    if (weights
        && (!lat_gauge_table[c->gauge].weighted
            || parse_weights(weights, head->geom.nd, c->weight)))
        return lat_fail("the header says " LAT_INFO_ANNEALED_WEIGHTS
                        " = %.80s, expected %d numbers from 0 to 1e6 for Landau gauge",
                        weights, head->geom.nd);
    return 1;
}

bool lat_condition_same(const lat_condition *a, const lat_condition *b)
{
    return a->gauge == b->gauge && a->time == b->time
           && memcmp(a->weight, b->weight, sizeof a->weight) == 0;
}
