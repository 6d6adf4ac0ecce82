/* SPDX-License-Identifier: BSD-3-Clause */
/* contract.c: channels, momenta, mesons, and sums over a slice. */
#include "contract.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "contract_internal.h"
#include "lattice/iterate.h"
#include "lattice/slices.h"
#include "slice_sum.h"

/* ---- channels -------------------------------------------------------------------------------- */

enum { MOST_CHANNELS = 300 };

/* Names of mesons, sink and source. */
static const char *const mesons[][3] = {
    {"pion", "g5", "g5"},     {"rho_x", "gx", "gx"},    {"rho_y", "gy", "gy"},
    {"rho_z", "gz", "gz"},    {"a0", "1", "1"},         {"a1_x", "gxg5", "gxg5"},
    {"a1_y", "gyg5", "gyg5"}, {"a1_z", "gzg5", "gzg5"}, {"b1_x", "gygz", "gygz"},
    {"b1_y", "gzgx", "gzgx"}, {"b1_z", "gxgy", "gxgy"}, {"axial_t", "gtg5", "g5"}};
enum { MESONS = sizeof mesons / sizeof *mesons };

static const struct {
    const char *name;
    lat_channel_kind kind;
} baryons[] = {
    {"nucleon", LAT_NUCLEON},   {"sigma", LAT_SIGMA},      {"xi", LAT_XI},
    {"lambda", LAT_LAMBDA},     {"delta", LAT_DELTA},      {"nucleon_nr", LAT_NUCLEON_NR},
    {"sigma_nr", LAT_SIGMA_NR}, {"delta_nr", LAT_DELTA_NR}};
enum { BARYONS = sizeof baryons / sizeof *baryons, RELATIVISTIC = 5 };

typedef struct channel_list {
    lat_channel *channel;
    int count;
} channel_list;

static int append(channel_list *l, lat_channel c)
{
    for (int i = 0; i < l->count; i++)
        if (!strcmp(l->channel[i].name, c.name))
            return 0; /* once is enough */
    if (l->count == MOST_CHANNELS)
        return lat_fail_usage("expected at most %d channels", MOST_CHANNELS);
    l->channel[l->count++] = c;
    return 0;
}

static int append_meson(channel_list *l, const char *name, const char *sink, const char *source)
{
    lat_channel c = {.kind = LAT_MESON};
    if (strlen(name) >= sizeof c.name)
        return lat_fail_usage("channel %s: the name is too long", name);
    strcpy(c.name, name);
    if (lat_gamma_parse(sink, &c.sink) || lat_gamma_parse(source, &c.source))
        return -1;
    return append(l, c);
}

/* Mesons whose names begin with a word, up to "_". 1 if there is none. */
static int append_mesons(channel_list *l, const char *word, bool all)
{
    const size_t n = strlen(word);
    int rc = 1;
    for (int i = 0; rc >= 0 && i < MESONS; i++)
        if (all || !strcmp(mesons[i][0], word)
            || (!strncmp(mesons[i][0], word, n) && mesons[i][0][n] == '_' && strcmp(word, "axial")))
            rc = append_meson(l, mesons[i][0], mesons[i][1], mesons[i][2]);
    return rc;
}

static int append_baryons(channel_list *l, const char *word, int nc, bool all)
{
    int rc = 1;
    for (int i = 0; rc >= 0 && i < BARYONS; i++)
        for (int backward = 0; rc >= 0 && backward < (i < RELATIVISTIC ? 2 : 1); backward++) {
            lat_channel c = {.kind = baryons[i].kind, .backward = backward > 0};
            snprintf(c.name, sizeof c.name, "%s%s", baryons[i].name, backward ? "_backward" : "");
            if (!all && strcmp(word, c.name))
                continue;
            rc = nc == 3 ? append(l, c)
                         : lat_fail_usage("channel %s: baryons have three colours, the propagator "
                                          "has %d",
                                          c.name, nc);
        }
    return rc;
}

static int append_word(channel_list *l, char *word, int nc)
{
    const bool all = !strcmp(word, "all");
    const lat_channel pcac = {.name = "pcac", .kind = LAT_PCAC};
    char *colon = strchr(word, ':');
    if (colon) {
        char name[80];
        snprintf(name, sizeof name, "%s", word);
        *colon = '\0';
        return append_meson(l, name, word, colon + 1);
    }
    if (all && (append_mesons(l, word, true) || append(l, pcac)))
        return -1;
    if (all)
        return nc == 3 ? append_baryons(l, word, nc, true) : 0;
    if (!strcmp(word, "pcac"))
        return append(l, pcac);
    int rc = append_mesons(l, word, !strcmp(word, "mesons"));
    if (rc > 0)
        rc = append_baryons(l, word, nc, !strcmp(word, "baryons"));
    return rc <= 0 ? rc
                   : lat_fail_usage("expected channels pion, rho, a0, a1, b1, axial_t, pcac, "
                                    "nucleon, sigma, xi, lambda, delta, nucleon_nr, sigma_nr, "
                                    "delta_nr, a pair as gtg5:g5, mesons, baryons or all, found "
                                    "'%s'",
                                    word);
}

lat_channel *lat_channels_parse(const char *text, int nc, int *count)
{
    channel_list l = {lat_alloc(MOST_CHANNELS, sizeof(lat_channel), "channels"), 0};
    char *copy = strdup(text), *rest = copy, *word;
    int rc = l.channel && copy ? 0 : lat_fail("out of memory: channels");
    while (rc == 0 && (word = strsep(&rest, ",")))
        rc = append_word(&l, word, nc);
    free(copy);
    *count = l.count;
    if (rc == 0)
        return l.channel;
    free(l.channel);
    return NULL;
}

/* ---- momenta --------------------------------------------------------------------------------- */

static int square(const int *n) { return n[0] * n[0] + n[1] * n[1] + n[2] * n[2]; }

static int by_square(const void *left, const void *right)
{
    const int *a = left, *b = right;
    if (square(a) != square(b))
        return square(a) - square(b);
    for (int i = 2; i >= 0; i--) /* (1,0,0) before (-1,0,0), x first */
        if (a[i] != b[i])
            return abs(a[i]) != abs(b[i]) ? abs(a[i]) - abs(b[i]) : b[i] - a[i];
    return 0;
}

typedef int triple[3];

/* Different momenta, -L/2 < n <= L/2, of n^2 <= n2. */
static triple *momenta_upto(long n2, const lat_geometry *geom, int *count)
{
    int low[3], high[3];
    for (int i = 0; i < 3; i++) {
        const int most = (int)floor(sqrt((double)n2));
        high[i] = geom->dims[i] / 2 < most ? geom->dims[i] / 2 : most;
        low[i] = -((geom->dims[i] - 1) / 2) > -most ? -((geom->dims[i] - 1) / 2) : -most;
    }
    const size_t all = (size_t)(high[0] - low[0] + 1) * (size_t)(high[1] - low[1] + 1)
                       * (size_t)(high[2] - low[2] + 1);
    triple *list = lat_alloc(all, sizeof *list, "momenta");
    *count = 0;
    for (int z = low[2]; list && z <= high[2]; z++)
        for (int y = low[1]; y <= high[1]; y++)
            for (int x = low[0]; x <= high[0]; x++) {
                const triple n = {x, y, z};
                if (square(n) <= n2)
                    memcpy(list[(*count)++], n, sizeof n);
            }
    if (list)
        qsort(list, (size_t)*count, sizeof *list, by_square);
    return list;
}

bool lat_momentum_small(const long n[3])
{
    enum { MOST = 1000000 };
    bool small = true;
    for (int i = 0; i < 3; i++)
        small = small && n[i] >= -MOST && n[i] <= MOST;
    return small;
}

int (*lat_momenta_parse(const char *text, const lat_geometry *geom, int *count))[3]
{
    char *end;
    const long n2 = strtol(text, &end, 10);
    *count = 0;
    if (end != text && !*end && n2 >= 0 && n2 <= 1000)
        return momenta_upto(n2, geom, count);
    triple *list = lat_alloc(strlen(text) / 2 + 1, sizeof *list, "momenta");
    const char *p = text;
    if (!list)
        return NULL;
    for (int used;; p += used + 1) {
        long n[3];
        used = -1;
        if (sscanf(p, "%ld,%ld,%ld%n", &n[0], &n[1], &n[2], &used) != 3 || used < 0)
            break;
        for (int i = 0; i < 3; i++)
            list[*count][i] = (int)n[i];
        if (!lat_momentum_small(n))
            break;
        for (int m = 0; m < *count; m++)
            if (lat_same_modulo(geom, 3, list[m], list[*count])) {
                lat_fail_usage("expected different momenta, found %d,%d,%d twice%s", list[m][0],
                               list[m][1], list[m][2],
                               memcmp(list[m], list[*count], sizeof *list)
                                   ? ", as n counts modulo the extents"
                                   : "");
                free(list);
                return NULL;
            }
        ++*count;
        if (!p[used])
            return list;
        if (p[used] != ';' && p[used] != '/')
            break;
    }
    free(list);
    lat_fail_usage("expected momenta as a largest n^2, or as nx,ny,nz with / between, found '%s'",
                   text);
    return NULL;
}

/* ---- mesons ---------------------------------------------------------------------------------- */

/* A channel as sum_ab i^power S1[a1][b1] conj(S2[a2][b2]), colours summed. */
typedef struct trace {
    int a1[16], b1[16], a2[16], b2[16], power[16];
} trace;

/* -tr[ A' S1 B' S2^+ ], A' = gamma5 A, B' = gamma_t B^+ gamma_t gamma5. */
static trace trace_of(lat_gamma sink, lat_gamma source)
{
    const lat_gamma g5 = lat_gamma_of(LAT_GAMMA_5), gt = lat_gamma_of(LAT_GAMMA_T);
    const lat_gamma bar = lat_gamma_mul(gt, lat_gamma_mul(lat_gamma_dag(source), gt));
    const lat_gamma l = lat_gamma_mul(g5, sink), r = lat_gamma_mul(bar, g5);
    trace t;
    for (int k = 0; k < 16; k++) {
        const int a = k / 4, b = k % 4;
        t.a1[k] = l.column[a];
        t.b1[k] = b;
        t.a2[k] = a;
        t.b2[k] = r.column[b];
        t.power[k] = (2 + l.power[a] + r.power[b]) % 4;
    }
    return t;
}

LAT_INLINE cplx meson_site(const trace *t, int n, const double *s1, const double *s2)
{
    cplx total = {0, 0};
    for (int k = 0; k < 16; k++) {
        double re = 0, im = 0;
        for (int c = 0; c < n; c++) { /* of the source */
            const double *p = s1 + 2 * (((t->b1[k] * n + c) * 4 + t->a1[k]) * n);
            const double *q = s2 + 2 * (((t->b2[k] * n + c) * 4 + t->a2[k]) * n);
            for (int i = 0; i < n; i++) {
                re += p[2 * i] * q[2 * i] + p[2 * i + 1] * q[2 * i + 1];
                im += p[2 * i + 1] * q[2 * i] - p[2 * i] * q[2 * i + 1];
            }
        }
        switch (t->power[k]) {
        case 0: total.re += re, total.im += im; break;
        case 1: total.re -= im, total.im += re; break;
        case 2: total.re -= re, total.im -= im; break;
        default: total.re += im, total.im -= re;
        }
    }
    return total;
}

static cplx meson(const trace *t, int n, const double *s1, const double *s2)
{
    switch (n) {
    case 2: return meson_site(t, 2, s1, s2);
    case 3: return meson_site(t, 3, s1, s2);
    default: return meson_site(t, n, s1, s2);
    }
}

/* ---- sums over a slice ----------------------------------------------------------------------- */

enum { BARYON_REALS = 288 }; /* of a propagator of SU(3) at a site */

/* All that a chunk of sites needs. */
typedef struct job {
    const lat_contraction *c;
    const trace *trace; /* of each channel; of PCAC that of axial_t, then that of the pion */
    const cplx *phase;  /* [row][x, y, z][coordinate] */
    const int *row;     /* of each channel: that of its first momentum; the others follow */
    int rows;
    int longest; /* coordinates in a row of `phase` */
    bool baryons;
    const double *first, *second;
} job;

static cplx phase_of(const job *j, int row, const int *x)
{
    const cplx *p = j->phase + (size_t)(3 * row * j->longest);
    cplx xy = {0, 0}, xyz = {0, 0};
    cplx_add(&xy, p[x[0]], p[j->longest + x[1]]);
    cplx_add(&xyz, xy, p[2 * j->longest + x[2]]);
    return xyz;
}

/* Adds site number `site` of the slice, the value of each channel times each phase. baryon: their
 * values at this site, LAT_ISA_MOST_DOUBLES apart. */
static void add_site(const job *j, size_t site, const cplx *phase, const cplx *baryon, cplx *sum)
{
    const lat_contraction *c = j->c;
    const int n = c->head->nc;
    const size_t reals = 32 * (size_t)n * (size_t)n;
    const double *s1 = j->first + site * reals, *s2 = j->second + site * reals;
    for (int k = 0; k < c->channels; k++) {
        const lat_channel *channel = &c->channel[k];
        cplx *to = sum + k * c->momenta;
        cplx v = channel->kind == LAT_MESON  ? meson(&j->trace[k], n, s1, s2)
                 : channel->kind == LAT_PCAC ? (cplx){meson(&j->trace[k], n, s1, s2).re,
                                                      meson(&j->trace[c->channels], n, s1, s2).re}
                                             : baryon[k * LAT_ISA_MOST_DOUBLES];
        if (channel->kind == LAT_PCAC) {
            to->re += v.re;
            to->im += v.im;
            continue;
        }
        for (int m = 0; m < c->momenta; m++)
            cplx_add(&to[m], v, phase[j->row[k] + m]);
    }
}

static void add_sites(const void *with, size_t from, size_t to, double *scratch, double *sum)
{
    const job *j = with;
    const lat_contraction *c = j->c;
    cplx *phase = (cplx *)scratch, *baryon = phase + j->rows;
    const size_t group = j->baryons ? (size_t)lat_isa_doubles(lat_isa_widest()) : 1;
    for (size_t site = from; site < to; site++) {
        const size_t lane = (site - from) % group;
        int x[LAT_MAX_DIMS];
        if (j->baryons && lane == 0)
            lat_baryon_sites(c->channel, c->channels, j->first + site * BARYON_REALS,
                             j->second + site * BARYON_REALS,
                             (int)(to - site < group ? to - site : group), baryon);
        lat_coordinates(&c->head->geom, site, x);
        for (int i = 0; i < j->rows; i++)
            phase[i] = phase_of(j, i, x);
        add_site(j, site, phase, baryon + lane, (cplx *)sum);
    }
}

static const double *shift_of(const lat_contraction *c, int channel)
{
    static const double none[3];
    return c->shift ? c->shift[channel] : none;
}

/* Channels of one shift share rows. NULL without memory. */
static int *make_rows(const lat_contraction *c, int *rows)
{
    int *row = lat_alloc((size_t)c->channels + 1, sizeof *row, "channels");
    *rows = 0;
    for (int k = 0; row && k < c->channels; k++) {
        int same = 0;
        while (memcmp(shift_of(c, same), shift_of(c, k), 3 * sizeof(double)) != 0)
            same++;
        row[k] = same < k ? row[same] : *rows;
        *rows += same < k ? 0 : c->momenta;
    }
    return row;
}

/* The rows of the momenta of one shift. */
static void fill_rows(const lat_contraction *c, const double *shift, int longest, cplx *phase)
{
    for (int m = 0; m < c->momenta; m++)
        for (int i = 0; i < 3; i++)
            for (int x = 0; x < c->head->geom.dims[i]; x++) {
                const int L = c->head->geom.dims[i], d = x - c->place[i];
                const long cycles = (long)c->momentum[m][i] * d % L;
                const double angle = 2 * M_PI * ((double)cycles + shift[i] * d) / L;
                phase[(3 * m + i) * longest + x] = (cplx){cos(angle), sin(angle)};
            }
}

static cplx *make_phases(const lat_contraction *c, const int *row, int rows, int longest)
{
    cplx *phase = lat_alloc((size_t)(3 * rows * longest) + 1, sizeof *phase, "phases");
    for (int k = 0; phase && k < c->channels; k++)
        fill_rows(c, shift_of(c, k), longest, phase + (size_t)3 * row[k] * longest);
    return phase;
}

static void make_traces(const lat_contraction *c, trace *t)
{
    lat_gamma g5 = lat_gamma_of(LAT_GAMMA_5);
    for (int k = 0; k < c->channels; k++)
        if (c->channel[k].kind == LAT_MESON)
            t[k] = trace_of(c->channel[k].sink, c->channel[k].source);
        else
            t[k] = trace_of(lat_gamma_mul(lat_gamma_of(LAT_GAMMA_T), g5), g5);
    t[c->channels] = trace_of(g5, g5);
}

int lat_contract_slice(const lat_contraction *c, const double *first, const double *second,
                       double *out)
{
    job j = {.c = c, .first = first, .second = second};
    for (int i = 0; i < 3; i++)
        j.longest = c->head->geom.dims[i] > j.longest ? c->head->geom.dims[i] : j.longest;
    for (int k = 0; k < c->channels; k++)
        j.baryons |= lat_channel_baryon(&c->channel[k]);
    trace *t = lat_alloc((size_t)c->channels + 1, sizeof *t, "channels");
    int *row = make_rows(c, &j.rows);
    cplx *phase = row ? make_phases(c, row, j.rows, j.longest) : NULL;
    int rc = -1;
    if (t && phase) {
        make_traces(c, t);
        j.trace = t;
        j.row = row;
        j.phase = phase;
        rc = lat_slice_sum(lat_slice_sites(c->head), 2 * (size_t)c->channels * (size_t)c->momenta,
                           2 * (size_t)j.rows
                               + (j.baryons ? 2 * LAT_ISA_MOST_DOUBLES * (size_t)c->channels : 0),
                           add_sites, &j, out);
    }
    LAT_FREE(t, row, phase);
    return rc;
}
