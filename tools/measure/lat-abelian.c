/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-abelian: Abelian projection: the diagonal part of links in maximally Abelian gauge, and its
 * magnetic monopoles (docs/conventions.md, "Abelian projection"). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lattice/boundary.h"
#include "lattice/ensemble.h"
#include "base/error.h"
#include "base/memory.h"
#include "measure/abelian.h"
#include "measure/measure.h"
#include "common/options.h"
#include "stream/stream.h"
#include "common/text.h"
#include "run/common/print.h"
#include "run/common/tool.h"
#include "lattice/iterate.h"

static const char *links, *currents;

static const lat_option options[] = {
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "links", 0, "FILE", &links, 0, 0,
     "write the Abelian links to FILE, as diagonal SU(N) matrices"},
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "currents", 0, "FILE", &currents, 0, 0,
     "write the monopole currents to FILE, one row for each that is not 0"},
    LAT_REQUIRE_OPTION,
    LAT_PRINT_OPTIONS("configuration", "configuration"),
    {0}};

static const lat_tool tool = {
    .name = "lat-abelian",
    .args = "[FILE...]",
    .summary = "Projects links in maximally Abelian gauge to Abelian links, and measures monopole "
               "currents and their density.",
    .example = "lat-orelax --gauge mag --theta 1e-14 cfg.0100.lat | lat-abelian --tsv --currents "
               "cfg.0100.tsv\n"
               "lat-abelian --links abelian.lat cfg.mag.lat\n"
               "lat-abelian --tsv mag/*.lat | lat-stat > monopoles.tsv",
    .options = options,
    .max_files = 1 << 20,
    .common = LAT_HAS_INPUT | LAT_HAS_THREADS,
};

#define TWO_PI (2 * M_PI)

enum {
    FUNCTIONAL,
    THETA,
    OFF_DIAGONAL,
    OFF_DIAGONAL_MAX,
    OVERLAP,
    PLAQUETTE,
    DENSITY,
    DENSITY_SPATIAL,
    DENSITY_TEMPORAL,
    NUMBERS
};
static const char *const names[NUMBERS] = {
    "functional",        "theta",     "off_diagonal",      "off_diagonal_max",  "overlap",
    "abelian_plaquette", "monopoles", "monopoles_spatial", "monopoles_temporal"};
static const char *const labels[NUMBERS] = {"functional", "theta",     "off-diagonal",
                                            "  maximum",  "overlap",   "plaquette",
                                            "monopoles",  "  spatial", "  temporal"};

typedef struct measured {
    long config;
    lat_geometry geom;
    int nc;
    double number[NUMBERS];         /* NaN where there is none */
    double colour[LAT_MAX_COLOURS]; /* density of each */
    long violations; /* sites where a current is not conserved, or the currents of the colours do
                        not add up to 0 */
    bool forced;     /* it is not in maximally Abelian gauge */
    char ensemble[LAT_ENSEMBLE_TEXT]; /* of the links that were read */
} measured;

/* A cube of directions a < b < c at a site. The current through it flows along mu, the fourth
 * direction; `sign` is that of the permutation (mu,a,b,c). In three dimensions there is one cube
 * and no mu. */
typedef struct cube {
    int mu, a, b, c, sign;
} cube;
static const cube cubes[] = {{3, 0, 1, 2, -1}, {2, 0, 1, 3, 1}, {1, 0, 2, 3, -1}, {0, 1, 2, 3, 1}};

static int cubes_of(const lat_geometry *geom) { return geom->nd == 4 ? 4 : geom->nd == 3 ? 1 : 0; }

/* The planes, in the order 01 02 12 03 13 23: a < b is number b (b-1) / 2 + a. */
static int plane(int a, int b) { return b * (b - 1) / 2 + a; }

typedef struct projected {
    const lat_geometry *geom;
    int nc, planes, ncubes;
    size_t sites;
    double *phase;        /* [site][mu][colour] */
    signed char *strings; /* [site][plane][colour]: n of a plaquette */
    signed char *current; /* [site][cube][colour]: k */
} projected;

static int projected_new(projected *p, const lat_field *f)
{
    const lat_geometry *geom = &f->head.geom;
    const size_t n = (size_t)f->head.nc;
    *p = (projected){.geom = geom,
                     .nc = f->head.nc,
                     .planes = geom->nd * (geom->nd - 1) / 2,
                     .ncubes = cubes_of(geom),
                     .sites = lat_volume(geom)};
    /* One element more: in one dimension there are none. */
    p->phase = lat_alloc(p->sites * (size_t)geom->nd * n, sizeof *p->phase, "Abelian phases");
    p->strings = lat_alloc(p->sites * (size_t)p->planes * n + 1, sizeof *p->strings,
                           "Dirac strings");
    p->current = lat_alloc(p->sites * (size_t)p->ncubes * n + 1, sizeof *p->current,
                           "monopole currents");
    return p->phase && p->strings && p->current ? 0 : -1; /* the caller frees it in any case */
}

/* Off-diagonal squares, their largest of a link, and Re tr U u^+. */
static void links_chunk(const lat_field *f, size_t from, size_t to, const void *arg,
                        lat_partial *part)
{
    const projected *p = arg;
    const int n = p->nc;
    double u[LAT_SUN_REALS];
    for (size_t l = from; l < to; l++) {
        double *phase = p->phase + l * (size_t)n, off = 0;
        lat_load(f, l, n, u);
        lat_abelian_phases(n, u, phase);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                const double *e = u + 2 * (i * n + j);
                if (i == j)
                    part->sum[1] += e[0] * cos(phase[i]) + e[1] * sin(phase[i]);
                else
                    off += e[0] * e[0] + e[1] * e[1];
            }
        part->sum[0] += off;
        part->max[0] = lat_worse(part->max[0], off);
    }
}

/* The angles of a plaquette are phi_i = reduced + 2 pi n_i, -pi to pi at first. Their sum is 2 pi
 * times an integer l; so l of the largest (|l| of the smallest) are shifted once more, and then
 * the sum is 0 (as for SU(3) in Stack, Tucker, Wensley, hep-lat/0110196). */
static void count_strings(int n, const double *phi, signed char *strings)
{
    double reduced[LAT_MAX_COLOURS], sum = 0;
    for (int i = 0; i < n; i++) {
        const double n_i = rint(phi[i] / TWO_PI);
        strings[i] = (signed char)n_i;
        reduced[i] = phi[i] - TWO_PI * n_i;
        sum += reduced[i];
    }
    for (int l = (int)rint(sum / TWO_PI); l != 0; l -= l > 0 ? 1 : -1) {
        const int sign = l > 0 ? 1 : -1;
        int most = 0;
        for (int i = 1; i < n; i++)
            if (sign * reduced[i] > sign * reduced[most])
                most = i;
        reduced[most] -= TWO_PI * sign;
        strings[most] = (signed char)(strings[most] + sign);
    }
}

/* Strings of all plaquettes at sites from..to-1, and the sum of cos phi. */
static void strings_chunk(const lat_field *f, size_t from, size_t to, const void *arg,
                          lat_partial *part)
{
    const projected *p = arg;
    const size_t n = (size_t)p->nc, nd = (size_t)p->geom->nd;
    double phi[LAT_MAX_COLOURS];
    lat_iterator w;
    for (lat_iterator_start(&w, f, from); w.site < to; lat_iterator_next(&w))
        for (int b = 1; b < p->geom->nd; b++)
            for (int a = 0; a < b; a++) {
                const double *here = p->phase + w.site * nd * n;
                const double *right = p->phase + (lat_iterator_up(&w, a) * nd + (size_t)b) * n;
                const double *above = p->phase + (lat_iterator_up(&w, b) * nd + (size_t)a) * n;
                for (size_t i = 0; i < n; i++) {
                    phi[i] = here[(size_t)a * n + i] + right[i] - above[i]
                             - here[(size_t)b * n + i];
                    part->sum[0] += cos(phi[i]);
                }
                count_strings(p->nc, phi,
                              p->strings + (w.site * (size_t)p->planes + (size_t)plane(a, b)) * n);
            }
}

LAT_INLINE int string_at(const projected *p, size_t site, int a, int b, int i)
{
    return p->strings[(site * (size_t)p->planes + (size_t)plane(a, b)) * (size_t)p->nc + (size_t)i];
}

/* k_mu = -1/2 eps_{mu nu rho sigma} d_nu n_{rho sigma} (DeGrand and Toussaint, PRD 22 (1980) 2478):
 * the flux of the reduced angles out of a cube over 2 pi, since that of phi is 0. */
static void currents_chunk(const lat_field *f, size_t from, size_t to, const void *arg,
                           lat_partial *part)
{
    const projected *p = arg;
    lat_iterator w;
    for (lat_iterator_start(&w, f, from); w.site < to; lat_iterator_next(&w))
        for (int q = 0; q < p->ncubes; q++) {
            const cube *c = &cubes[q];
            const size_t a = lat_iterator_up(&w, c->a), b = lat_iterator_up(&w, c->b),
                         d = lat_iterator_up(&w, c->c);
            for (int i = 0; i < p->nc; i++) {
                const int flux = string_at(p, a, c->b, c->c, i)
                                 - string_at(p, w.site, c->b, c->c, i)
                                 - string_at(p, b, c->a, c->c, i)
                                 + string_at(p, w.site, c->a, c->c, i)
                                 + string_at(p, d, c->a, c->b, i)
                                 - string_at(p, w.site, c->a, c->b, i);
                const int k = -c->sign * flux;
                p->current[(w.site * (size_t)p->ncubes + (size_t)q) * (size_t)p->nc + (size_t)i] =
                    (signed char)k;
                part->sum[c->mu == p->geom->nd - 1] += abs(k);
            }
        }
}

/* Sites where sum_mu k_mu(x + mu) - k_mu(x) is not 0 for a colour, or the colours' currents do not
 * add up to 0. In three dimensions there is no direction mu, and only the second is tested. */
static void violations_chunk(const lat_field *f, size_t from, size_t to, const void *arg,
                             lat_partial *part)
{
    const projected *p = arg;
    const size_t n = (size_t)p->nc, cells = (size_t)p->ncubes;
    lat_iterator w;
    for (lat_iterator_start(&w, f, from); w.site < to; lat_iterator_next(&w)) {
        bool bad = false;
        for (size_t i = 0; i < n; i++) {
            int out = 0;
            for (size_t q = 0; p->geom->nd == 4 && q < cells; q++)
                out += p->current[(lat_iterator_up(&w, cubes[q].mu) * cells + q) * n + i]
                       - p->current[(w.site * cells + q) * n + i];
            bad |= out != 0;
        }
        for (size_t q = 0; q < cells; q++) {
            int sum = 0;
            for (size_t i = 0; i < n; i++)
                sum += p->current[(w.site * cells + q) * n + i];
            bad |= sum != 0;
        }
        part->sum[0] += bad;
    }
}

static void colours(const projected *p, measured *m)
{
    const size_t n = (size_t)p->nc, cells = p->sites * (size_t)p->ncubes;
    for (size_t i = 0; i < n; i++) {
        size_t sum = 0;
        for (size_t c = 0; c < cells; c++)
            sum += (size_t)abs(p->current[c * n + i]);
        m->colour[i] = cells ? (double)sum / (double)cells : NAN;
    }
}

static int project(const lat_field *f, projected *p, measured *m)
{
    const double sites = (double)p->sites, n = p->nc, nd = p->geom->nd;
    lat_partial sum;
    if (lat_over_chunks(f, lat_slice_matrices(&f->head), links_chunk, p, &sum))
        return -1;
    m->number[OFF_DIAGONAL] = sum.sum[0] / (sites * nd * n);
    m->number[OFF_DIAGONAL_MAX] = sum.max[0] / n;
    m->number[OVERLAP] = sum.sum[1] / (sites * nd * n);
    if (lat_over_chunks(f, lat_slice_sites(&f->head), strings_chunk, p, &sum))
        return -1;
    m->number[PLAQUETTE] = p->planes ? sum.sum[0] / (sites * n * p->planes) : NAN;
    if (lat_over_chunks(f, lat_slice_sites(&f->head), currents_chunk, p, &sum))
        return -1;
    m->number[DENSITY] = p->ncubes ? (sum.sum[0] + sum.sum[1]) / (sites * n * p->ncubes) : NAN;
    m->number[DENSITY_SPATIAL] = p->ncubes == 4 ? sum.sum[0] / (sites * n * 3) : NAN;
    m->number[DENSITY_TEMPORAL] = p->ncubes == 4 ? sum.sum[1] / (sites * n) : NAN;
    colours(p, m);
    if (lat_over_chunks(f, lat_slice_sites(&f->head), violations_chunk, p, &sum))
        return -1;
    m->violations = lrint(sum.sum[0]);
    return 0;
}

/* ---- links and currents ---------------------------------------------------------------------- */

static void print_currents(FILE *to, const projected *p, long config)
{
    const size_t n = (size_t)p->nc, cells = (size_t)p->ncubes;
    int x[LAT_MAX_DIMS];
    for (size_t s = 0; s < p->sites; s++)
        for (size_t q = 0; q < cells; q++)
            for (size_t i = 0; i < n; i++) {
                const int k = p->current[(s * cells + q) * n + i];
                if (k == 0)
                    continue;
                lat_coordinates(p->geom, s, x);
                fprintf(to, "%ld\t%zu", config, i + 1);
                for (int mu = 0; mu < p->geom->nd; mu++)
                    fprintf(to, "%c%d", mu ? ',' : '\t', x[mu]);
                fprintf(to, "\t%c\t%d", p->geom->nd == 4 ? "xyzt"[cubes[q].mu] : '-', k);
                lat_report_end_row(to);
            }
}

/* Makes f the Abelian field and writes it. Its header states no gauge, because the diagonal phases
 * are free. */
static int write_links(lat_output *out, lat_field *f, const projected *p, const measured *m)
{
    const int n = p->nc;
#pragma omp parallel for schedule(static)
    for (size_t l = 0; l < p->sites * (size_t)p->geom->nd; l++) {
        double u[LAT_SUN_REALS];
        memset(u, 0, sizeof(double) * 2 * (size_t)(n * n));
        for (int i = 0; i < n; i++) {
            u[2 * (i * n + i)] = cos(p->phase[l * (size_t)n + (size_t)i]);
            u[2 * (i * n + i) + 1] = sin(p->phase[l * (size_t)n + (size_t)i]);
        }
        lat_field_put(f, l, u);
    }
    lat_header_ungauge(&f->head);
    lat_header_unflow(&f->head);
    lat_info_remove(&f->head, LAT_INFO_NOT_IN_GROUP);
    f->head.plaquette = f->head.link_trace = NAN;
    return lat_rc(
        lat_info_set(&f->head, LAT_INFO_PROJECTION, "abelian")
        || lat_provenance(&f->head, "Abelian projection%s",
                          m->forced ? " of links that are not in maximally Abelian gauge (--force)"
                                    : "")
        || lat_stream_write(out, f, lat_opts.store));
}

/* ---- printing -------------------------------------------------------------------------------- */

static void text(lat_printer *r, const void *of)
{
    const measured *m = of;
    lat_text_begin(r, "configuration");
    lat_text_lattice(r->to, &m->geom, m->nc);
    if (m->forced)
        fprintf(r->to, "gauge          not maximally Abelian (--force)\n");
    lat_text_reals(r->to, NUMBERS, labels, m->number);
    for (int i = 0; cubes_of(&m->geom) && i < m->nc; i++)
        fprintf(r->to, "  colour %-5d %.15g\n", i + 1, m->colour[i]);
    fprintf(r->to, "not conserved  %ld\n", m->violations);
}

static void values(lat_printer *r, const void *of)
{
    const measured *m = of;
    lat_print_reals(r, NUMBERS, names, m->number);
    lat_print_array(r, "colours", m->nc, m->colour);
    lat_print_whole(r, "not_conserved", m->violations);
    if (r->form == LAT_FORM_JSON)
        lat_print_flag(r, "forced", m->forced);
    lat_print_lattice(r, &m->geom, m->nc);
    if (r->form == LAT_FORM_JSON)
        return;
    lat_print_flag(r, "forced", m->forced);
    lat_print_word(r, LAT_ENSEMBLE_COLUMN, m->ensemble);
}

/* ---- the run --------------------------------------------------------------------------------- */

/* An exit code. */
static int measure(const lat_field *f, projected *p, measured *m, const char *name)
{
    const lat_condition mag = lat_condition_of(LAT_MAG, &f->head.geom, -1);
    lat_gauge_state state;
    if (lat_boundary_closed(&f->head, -1, "monopoles", name)
        || lat_measure_gauge(f, &mag, &state, NULL, NULL))
        return LAT_FAILED;
    const int off = lat_require_gauge(&f->head, &mag, &state, name, m->config);
    if (off != LAT_DONE)
        return off;
    m->forced = lat_gauge_is_off(&state);
    m->number[FUNCTIONAL] = state.functional;
    m->number[THETA] = state.theta;
    return projected_new(p, f) || project(f, p, m) ? LAT_FAILED : LAT_DONE;
}

/* Of all files. */
static struct {
    lat_output *links, *table;
    FILE *currents;
} files;

/* One configuration: an exit code. */
static int one(lat_field *f, lat_input *in, FILE *to, long config)
{
    static const lat_print_kind kind = {.key = "config", .text = text, .values = values};
    measured m = {.config = config, .geom = f->head.geom, .nc = f->head.nc};
    projected p = {.phase = NULL};
    lat_ensemble_text(&f->head, m.ensemble);
    int code = measure(f, &p, &m, lat_input_name(in));
    if (code == LAT_DONE && files.currents)
        print_currents(files.currents, &p, config);
    if (code == LAT_DONE && files.links && write_links(files.links, f, &p, &m))
        code = LAT_FAILED;
    LAT_FREE(p.phase, p.strings, p.current);
    return code == LAT_DONE ? lat_print_object(to, in, &kind, &m, config, 1) : code;
}

static int all(lat_input *in, FILE *to) { return lat_print_links(in, to, one, false); }

static int open_files(void)
{
    if (links && !(files.links = lat_output_open(links, LAT_OUTPUT_OTHER, lat_opts.comm)))
        return -1;
    if (!currents)
        return 0;
    if (!(files.table = lat_output_open(currents, LAT_OUTPUT_TEXT, lat_opts.comm))
        || !(files.currents = lat_text_open(files.table)))
        return -1;
    fprintf(files.currents, "config\tcolour\tsite\tdirection\tcurrent%s\n",
            lat_opts.nfiles > 1 ? "\tfile" : "");
    return 0;
}

static void abort_files(void)
{
    if (files.currents)
        fclose(files.currents);
    lat_output_abort(files.table);
    lat_output_abort(files.links);
}

/* After the last file. */
static int commit_files(LAT_UNUSED FILE *text)
{
    int rc = 0;
    if (files.currents)
        rc = lat_text_close(files.currents, files.table);
    if (files.links)
        rc = lat_stream_commit(files.links) || rc;
    memset(&files, 0, sizeof files);
    return rc ? LAT_FAILED : LAT_DONE;
}

int main(int argc, char **argv)
{
    lat_options_parse(&tool, argc, argv);
    if (currents && !strcmp(currents, "-")
        && (!lat_print_opts.output || !strcmp(lat_print_opts.output, "-")))
        lat_usage("--currents needs the name of a file: stdout is for the measurement");
    lat_usage_if_input("links", links);
    lat_usage_if_input("currents", currents);
    const int code = open_files() ? lat_report(LAT_FAILED) : lat_print_run(all, commit_files);
    abort_files(); /* what is not committed */
    return code;
}
