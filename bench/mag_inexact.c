/* SPDX-License-Identifier: BSD-3-Clause */
/* mag_inexact: the SU(3) update of maximally Abelian gauge as in the gauge-fixing paper, beside the
 * exact one, pipelines/paper.
 *
 * A hit in the SU(2) subgroup (p,q) maximises D (h0^2 + h3^2 - h1^2 - h2^2) / 2 + E ... over h,
 * where for each of the links V away from x, m its block (p,q) of rows and columns, D = 1/2
 * sum(|m00|^2 - |m01|^2 - |m10|^2 + |m11|^2), c = sum(m00 conj(m10) - m01 conj(m11)), E = Im c, F =
 * Re c, h ~ (D + l, E, F, 0), l = sqrt(D^2 + E^2 + F^2) is exact (docs/gauges.md). The paper puts
 * the quaternion nearest to m, (m + adj(m)^+) / 2, in the place of m, where it is no longer: for
 * SU(2) both are the same. Links are rotated in place, as there. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "measure/measure.h"
#include "common/options.h"
#include "stream/stream.h"
#include "run/common/print.h"
#include "run/common/tool.h"
#include "lattice/iterate.h"
#include "lattice/transform.h"
#include "site/sun.h"

static long copies = 4, sweeps = 2000;
static uint64_t seed = 1;
static double omega = 1.35;

static const lat_option options[] = {
    {LAT_OPT_INT, "copies", 'c', "N", &copies, 1, 10000, "random starts"},
    {LAT_OPT_INT, "sweeps", 0, "N", &sweeps, 1, 10000000, "of each"},
    {LAT_OPT_REAL, "omega", 'w', "OMEGA", &omega, 1, 1.99, "overrelaxation"},
    {LAT_OPT_SEED, "seed", 's', "SEED", &seed, 0, 0, "of the starts"},
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "output", 'o', "FILE", &lat_print_opts.output, 0, 0,
     "write there, not to stdout"},
    {0}};

static const lat_tool tool = {
    .name = "mag_inexact",
    .args = "[FILE]",
    .summary = "Maximally Abelian gauge by exact hits and by those of the gauge-fixing paper.",
    .example = "mag_inexact --copies 10 b5.7-12.lat",
    .options = options,
    .max_files = 1,
    .common = LAT_HAS_INPUT | LAT_HAS_THREADS,
};

typedef struct block {
    double re[2][2], im[2][2];
} block;

/* Rows and columns p, q of a link away from x: of U, or of U^+ if it comes in. */
static block cut(int n, const double *u, int p, int q, bool dagger)
{
    const int at[2] = {p, q};
    block m;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            const double *e = dagger ? u + 2 * (at[j] * n + at[i]) : u + 2 * (at[i] * n + at[j]);
            m.re[i][j] = e[0];
            m.im[i][j] = dagger ? -e[1] : e[1];
        }
    return m;
}

/* What of it is a quaternion: [[a, b], [-b*, a*]]. */
static void quaternion(block *m)
{
    const double a = (m->re[0][0] + m->re[1][1]) / 2, b = (m->im[0][0] - m->im[1][1]) / 2;
    const double c = (m->re[0][1] - m->re[1][0]) / 2, d = (m->im[0][1] + m->im[1][0]) / 2;
    *m = (block){{{a, c}, {-c, a}}, {{b, d}, {d, -b}}};
}

static void gather(const block *m, double s[3])
{
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            s[0] += (i == j ? 0.5 : -0.5) * (m->re[i][j] * m->re[i][j] + m->im[i][j] * m->im[i][j]);
    for (int j = 0; j < 2; j++) {
        const double sign = j == 0 ? 1 : -1;
        s[1] += sign * (m->im[0][j] * m->re[1][j] - m->re[0][j] * m->im[1][j]);
        s[2] += sign * (m->re[0][j] * m->re[1][j] + m->im[0][j] * m->im[1][j]);
    }
}

/* Rows (or, of a link that comes in, columns) p and q of u by h, or by h^+ from the right. */
static void rotate(int n, double *u, int p, int q, const double h[3], bool incoming)
{
    for (int k = 0; k < n; k++) {
        double *a = u + 2 * (incoming ? k * n + p : p * n + k),
               *b = u + 2 * (incoming ? k * n + q : q * n + k);
        const double s = incoming ? -1 : 1; /* U h^+ is (h U^+)^+ */
        const double ar = a[0], ai = s * a[1], br = b[0], bi = s * b[1];
        a[0] = h[0] * ar + h[2] * br - h[1] * bi;
        a[1] = s * (h[0] * ai + h[2] * bi + h[1] * br);
        b[0] = -h[2] * ar - h[1] * ai + h[0] * br;
        b[1] = s * (-h[2] * ai + h[1] * ar + h[0] * bi);
    }
}

static void hit(double *const *out, double *const *in, int nd, int n, int p, int q, bool exact)
{
    double s[3] = {0};
    for (int k = 0; k < 2 * nd; k++) {
        block m = cut(n, k < nd ? out[k] : in[k - nd], p, q, k >= nd);
        if (!exact)
            quaternion(&m);
        gather(&m, s);
    }
    double h[3] = {s[0] + sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]), s[1], s[2]};
    double norm = sqrt(h[0] * h[0] + h[1] * h[1] + h[2] * h[2]);
    if (!(norm > 0))
        return;
    h[0] = 1 - omega + omega * h[0] / norm;
    h[1] *= omega / norm;
    h[2] *= omega / norm;
    norm = sqrt(h[0] * h[0] + h[1] * h[1] + h[2] * h[2]);
    for (int i = 0; i < 3; i++)
        h[i] /= norm;
    for (int mu = 0; mu < nd; mu++) {
        rotate(n, out[mu], p, q, h, false);
        rotate(n, in[mu], p, q, h, true);
    }
}

static void sweep(lat_field *u, bool exact)
{
    const lat_geometry *geom = &u->head.geom;
    const int nd = geom->nd, n = u->head.nc;
    const size_t size = 2 * (size_t)(n * n), sites = lat_volume(geom), chunk = 64;
    double *links = u->data;
    for (int parity = 0; parity < 2; parity++) {
#pragma omp parallel for schedule(static)
        for (size_t from = 0; from < sites; from += chunk) {
            lat_iterator w;
            for (lat_iterator_start(&w, u, from); w.site < from + chunk && w.site < sites;
                 lat_iterator_next(&w)) {
                double *out[LAT_MAX_DIMS], *in[LAT_MAX_DIMS];
                if ((w.x[0] + w.x[1] + w.x[2] + w.x[3]) % 2 != parity)
                    continue;
                for (int mu = 0; mu < nd; mu++) {
                    out[mu] = links + (w.site * (size_t)nd + (size_t)mu) * size;
                    in[mu] = links + (lat_iterator_down(&w, mu) * (size_t)nd + (size_t)mu) * size;
                }
                for (int p = 0; p < n; p++)
                    for (int q = p + 1; q < n; q++)
                        hit(out, in, nd, n, p, q, exact);
            }
        }
    }
}

static int relax(const lat_field *u, long copy, bool exact, FILE *text)
{
    const lat_condition mag = lat_condition_of(LAT_MAG, &u->head.geom, -1);
    lat_gauge_state state;
    lat_field v = {.data = NULL}, g;
    int rc = -1;
    if (lat_transform_new(&g, &u->head, &lat_comm_self))
        return -1;
    lat_transform_random(&g, seed + (uint64_t)copy, 0); /* as lat-orelax --copies */
    if (lat_header_copy(&v.head, &u->head) == 0 && lat_field_alloc(&v, &lat_comm_self) == 0) {
        memcpy(v.data, u->data, lat_field_reals(u) * sizeof(double));
        rc = lat_transform_apply(&v, &g);
        double before = 0;
        for (long i = 0; rc == 0 && i < sweeps; i++) {
            if (i == sweeps - 100 && (rc = lat_measure_gauge(&v, &mag, &state, NULL, NULL)) == 0)
                before = state.functional;
            sweep(&v, exact);
        }
        if (rc == 0 && (rc = lat_measure_gauge(&v, &mag, &state, NULL, NULL)) == 0)
            fprintf(text, "%s\t%ld\t%ld\t%.12f\t%.3e\t%.3e\n", exact ? "exact" : "paper", copy,
                    sweeps, state.functional, state.functional - before, state.theta);
        lat_field_free(&v);
    }
    lat_field_free(&g);
    return rc || fflush(text) ? -1 : 0;
}

static int all(lat_input *in, FILE *text)
{
    lat_field u;
    int rc = lat_stream_read(in, &u);
    if (rc <= 0)
        return rc < 0 ? LAT_FAILED : lat_fail("%s: no configuration", lat_input_name(in)),
               LAT_FAILED;
    rc = u.head.kind == LAT_GAUGE && sweeps >= 100
             ? lat_field_convert(&u, LAT_F64)
             : lat_fail("expected a gauge field, and 100 sweeps");
    for (int mu = 0; rc == 0 && mu < u.head.geom.nd; mu++)
        if (u.head.geom.dims[mu] % 2)
            rc = lat_fail("extent %d is odd; even and odd sites need even extents",
                          u.head.geom.dims[mu]);
    fprintf(text, "update\tcopy\tsweeps\tfunctional\tlast_100\ttheta\n");
    for (long copy = 0; rc == 0 && copy < copies; copy++)
        rc = relax(&u, copy, false, text) || relax(&u, copy, true, text) ? -1 : 0;
    lat_field_free(&u);
    return rc ? LAT_FAILED : LAT_DONE;
}

int main(int argc, char **argv)
{
    lat_options_parse(&tool, argc, argv);
    return lat_print_run(all, NULL);
}
