/* SPDX-License-Identifier: BSD-3-Clause */
/* source_columns.c: sources of quark propagators: their numbers, and the steps of smearing. */
#include "source_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "base/pages.h"
#include "gauss.h"
#include "lattice/iterate.h"
#include "site/random.h"

/* ---- columns --------------------------------------------------------------------------------- */

/* The number of field `field` in what is diluted, the first slowest. */
typedef struct part {
    int time, parity, spin, colour; /* -1: all */
} part;

static part part_of(const lat_source *s, int field, int column)
{
    const bool one = lat_source_columns(s) == 1;
    part p = {-1, -1, -1, -1};
    if (!one) {
        p.spin = column / s->nc;
        p.colour = column % s->nc;
    }
    if (one && s->dilute & LAT_DILUTE_COLOUR) {
        p.colour = field % s->nc;
        field /= s->nc;
    }
    if (one && s->dilute & LAT_DILUTE_SPIN) {
        p.spin = field % 4;
        field /= 4;
    }
    if (s->dilute & LAT_DILUTE_EVENODD) {
        p.parity = field % 2;
        field /= 2;
    }
    if (s->dilute & LAT_DILUTE_TIME)
        p.time = field;
    else if (s->shape == LAT_SOURCE_NOISE && !s->everywhere)
        p.time = s->x[3];
    return p;
}

static void phase(const lat_source *s, const int *x, int axes, double z[2])
{
    double angle = 0;
    for (int mu = 0; mu < axes; mu++) {
        /* n x / L without its whole part: exact for whole n. */
        const double cycles = s->n[mu] * x[mu] / s->geom.dims[mu];
        angle += cycles - floor(cycles);
    }
    z[0] = cos(2 * M_PI * angle);
    z[1] = sin(2 * M_PI * angle);
}

/* exp(-d^2 / r^2), d to the nearest image in space. */
static double ball(const lat_source *s, const int *x)
{
    double d2 = 0;
    for (int i = 0; i < 3; i++) {
        const int L = s->geom.dims[i], d = abs(x[i] - s->x[i]);
        d2 += pow(d < L - d ? d : L - d, 2);
    }
    return exp(-d2 / (s->r * s->r));
}

static bool in_box(const lat_source *s, const int *x)
{
    for (int i = 0; i < 3; i++)
        if ((x[i] - s->x[i] + s->geom.dims[i]) % s->geom.dims[i] >= s->box[i])
            return false;
    return true;
}

/* The value at x, for all spins and colours but of noise. False where it is zero. */
static bool value(const lat_source *s, const int *x, double z[2])
{
    z[0] = 1;
    z[1] = 0;
    if (s->shape == LAT_SOURCE_MOMENTUM) {
        phase(s, x, 4, z);
        return true;
    }
    if (x[3] != s->x[3])
        return false;
    switch (s->shape) {
    case LAT_SOURCE_WALL: phase(s, x, 3, z); return true;
    case LAT_SOURCE_BOX: return in_box(s, x);
    case LAT_SOURCE_BALL: z[0] = ball(s, x); return true;
    default: return !memcmp(x, s->x, sizeof s->x);
    }
}

/* A power of i, or of -1: the two highest bits, or the highest, of a word for this site, spin and
 * colour. */
static void noise(const lat_source *s, uint64_t site, int component, double z[2])
{
    static const double roots[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    uint32_t w[4];
    lat_random(s->seed, site, (uint32_t)s->config, LAT_FOR_SOURCE, (uint32_t)component, w);
    memcpy(z, roots[s->roots == 4 ? w[0] >> 30 : (w[0] >> 31) * 2], sizeof roots[0]);
}

static void noise_site(const lat_source *s, const part *p, const int *x, uint64_t site, double *psi)
{
    if ((p->time >= 0 && x[3] != p->time)
        || (p->parity >= 0 && (x[0] + x[1] + x[2] + x[3]) % 2 != p->parity))
        return;
    for (int spin = 0; spin < 4; spin++)
        for (int c = 0; c < s->nc; c++) {
            const int drawn = (s->dilute & LAT_DILUTE_SPIN ? 0 : spin * s->nc)
                              + (s->dilute & LAT_DILUTE_COLOUR ? 0 : c);
            if ((p->spin < 0 || p->spin == spin) && (p->colour < 0 || p->colour == c))
                noise(s, site, drawn, psi + 2 * (spin * s->nc + c));
        }
}

/* The same on own slices of `slab` alone, counted from this rank's first. */
static int make_slices(const lat_source *s, int field, int column, lat_slab slab, double *psi)
{
    const size_t slice = lat_slice_sites(&s->u->head), sites = slice * (size_t)slab.count,
                 first = slice * (size_t)slab.first, reals = 8 * (size_t)s->nc;
    const part p = part_of(s, field, column);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < sites; i++) {
        int x[LAT_MAX_DIMS];
        const size_t site = lat_field_site(s->u, first + i);
        double z[2], *at = psi + i * reals;
        lat_coordinates(&s->geom, site, x);
        memset(at, 0, reals * sizeof *at);
        if (s->shape == LAT_SOURCE_NOISE)
            noise_site(s, &p, x, site, at);
        else if (value(s, x, z))
            memcpy(at + 2 * column, z, sizeof z);
    }
    for (int t = 0; s->steps && t < slab.count; t++)
        if (lat_sink_smear(s, slab.first + t, 1, psi + (size_t)t * slice * reals))
            return -1;
    return 0;
}

int lat_source_make(const lat_source *s, int field, int column, double *psi)
{
    return make_slices(s, field, column, (lat_slab){0, lat_field_slab(s->u).count}, psi);
}

/* The own slices, counted from this rank's first, on which a field is not zero. */
static lat_slab slices_of(const lat_source *s, int field)
{
    const lat_slab own = lat_field_slab(s->u);
    const part p = part_of(s, field, 0);
    const bool all = s->shape == LAT_SOURCE_MOMENTUM
                     || (s->shape == LAT_SOURCE_NOISE && p.time < 0);
    const int t = (s->shape == LAT_SOURCE_NOISE ? p.time : s->x[3]) - own.first;
    return all                       ? (lat_slab){0, own.count}
           : t >= 0 && t < own.count ? (lat_slab){t, 1}
                                     : (lat_slab){0, 0};
}

static int make_columns(const lat_source *s, int field, lat_field *b)
{
    const lat_slab slab = slices_of(s, field);
    const size_t slice = lat_slice_sites(&b->head), sites = slice * (size_t)slab.count,
                 first = slice * (size_t)slab.first, n = 8 * (size_t)s->nc;
    const int columns = lat_source_columns(s);
    lat_pages_zero(b->data, lat_field_reals(b) * sizeof(double));
    b->zeros.first = slab.first;
    b->zeros.last = lat_field_slab(b).count - slab.first - slab.count;
    if (slab.count == 0)
        return 0;
    double *psi = lat_alloc(sites, n * sizeof *psi, "a source");
    int rc = psi ? 0 : -1;
    for (int c = 0; rc == 0 && c < columns; c++) {
        rc = make_slices(s, field, c, slab, psi);
        if (rc)
            break;
#pragma omp parallel for schedule(static)
        for (size_t i = 0; i < sites; i++)
            lat_field_put(b, (first + i) * (size_t)columns + (size_t)c, psi + i * n);
    }
    free(psi);
    return rc;
}

/* The text of a header: of field number `field`, where there are several (" field 3 of 8"); noise
 * says of which configuration it is, if not 0 (",config=3"): other numbers are another source. The
 * caller frees it. NULL without memory. */
static char *header_text(const lat_source *s, int field)
{
    char number[32] = "", of_all[64] = "";
    const int fields = lat_source_fields(s), source = (int)strcspn(s->text, "/");
    if (lat_source_counts(s) && s->config > 0)
        snprintf(number, sizeof number, ",config=%ld", s->config);
    if (fields > 1)
        snprintf(of_all, sizeof of_all, " field %d of %d", field, fields);
    return lat_text_new("%.*s%s%s%s", source, s->text, number, s->text + source, of_all);
}

int lat_source_field(const lat_source *s, int field, lat_field *b)
{
    const lat_header *links = &s->u->head;
    const int columns = lat_source_columns(s);
    memset(b, 0, sizeof *b);
    if (lat_header_copy(&b->head, links))
        return -1;
    b->head.real = LAT_F64;
    b->head.order = (lat_order){.sites = ""};
    lat_header_make_spinors(&b->head, columns == 1 ? LAT_SPINOR : LAT_PROPAGATOR, columns);
    if (links->kind == LAT_GAUGE)
        strcpy(b->head.quark.links, lat_header_links_crc(links));
    char *text = header_text(s, field);
    const int rc = lat_rc(!text || lat_quark_set_source(&b->head.quark, text)
                          || lat_field_alloc(b, s->u->comm) || make_columns(s, field, b));
    free(text);
    if (rc)
        lat_field_free(b);
    return rc;
}

/* ---- steps ----------------------------------------------------------------------------------- */

void lat_source_drop_links(lat_source *s)
{
    for (int i = 0; i < s->steps; i++)
        if (s->step[i].smeared.data)
            lat_field_free(&s->step[i].smeared);
}

int lat_source_begin(lat_source *s, const lat_field *u, long config)
{
    char a[64], b[64];
    lat_source_drop_links(s);
    if (memcmp(&u->head.geom, &s->geom, sizeof s->geom) || u->head.nc != s->nc)
        return lat_fail("source %s is for SU(%d) on %s, the links are SU(%d) on %s", s->text, s->nc,
                        lat_dims_text(&s->geom, a), u->head.nc, lat_dims_text(&u->head.geom, b));
    if (s->steps && (u->head.kind != LAT_GAUGE || !u->data))
        return lat_fail("source %s: smearing needs links", s->text);
    s->u = u;
    s->config = s->numbered ? s->config : config;
    const lat_field *links = u;
    for (int i = 0; i < s->steps; i++)
        if (!s->step[i].gauss) {
            if (lat_smear_links(links, &s->step[i].links, &s->step[i].smeared))
                return -1;
            links = &s->step[i].smeared;
        }
    return 0;
}

int lat_source_gauss_steps(const lat_source *s)
{
    int n = 0;
    for (int i = 0; i < s->steps; i++)
        n += s->step[i].gauss ? s->step[i].times : 0;
    return n;
}

void lat_source_smear_by(lat_source *s, lat_gauss_fn *fn, void *with)
{
    s->gauss = fn;
    s->with = with;
}

static int gauss(const lat_source *s, const lat_source_step *p, const lat_field *u, int t,
                 int columns, double *psi)
{
    return s->gauss ? s->gauss(s->with, u, t, p->width, p->times, columns, psi)
                    : lat_gauss_slice(u, t, p->width, p->times, columns, psi);
}

static bool zero(const double *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (v[i] != 0)
            return false;
    return true;
}

int lat_sink_smear(const lat_source *s, int t, int columns, double *psi)
{
    const lat_field *links = s->u;
    if (zero(psi, lat_slice_sites(&s->u->head) * (size_t)columns * 8 * (size_t)s->nc))
        return 0;
    for (int i = 0; i < s->steps; i++)
        if (!s->step[i].gauss)
            links = &s->step[i].smeared;
        else if (gauss(s, &s->step[i], links, t, columns, psi))
            return -1;
    return 0;
}
