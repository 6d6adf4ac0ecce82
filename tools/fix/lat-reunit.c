/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-reunit: projects links to SU(N), and reports the distances. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lattice/boundary.h"
#include "base/error.h"
#include "base/memory.h"
#include "measure/measure.h"
#include "common/options.h"
#include "common/text.h"
#include "run/common/tool.h"
#include "site/sun.h"

enum { CHUNK = 256 }; /* matrices a partial sum: results do not depend on threads */
enum { POLAR, GRAM_SCHMIDT };
static const char *const methods[] = {"polar", "gram-schmidt"};

static int method = POLAR, precision = -1;
static double limit = 0.1, tolerance = 1e-6;
static const char *report;

static const lat_option options[] = {
    {LAT_OPT_CHOICE, "method", 'm', "polar|gram-schmidt", &method, 0, 0,
     "polar: the nearest matrix; gram-schmidt: rows one after the other"},
    {LAT_OPT_REAL, "limit", 0, "D", &limit, 0, 1e300,
     "refuse a field if a matrix would move farther than D"},
    {LAT_OPT_CHOICE, "precision", 'p', "single|double", &precision, 0, 0,
     "precision of the output (default: as in the input); single leaves a rounding of 6e-8"},
    {LAT_OPT_REAL | LAT_OPT_LOCAL, "tolerance", 0, "D", &tolerance, 0, 1e300,
     "report the number of matrices that moved farther than D"},
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "report", 0, "FILE", &report, 0, 0,
     "write to FILE which matrices moved, in columns separated by tabs"},
    {LAT_OPT_FLAG | LAT_OPT_LOCAL, "verbose", 'v', NULL, &lat_opts.verbose, 0, 0,
     "print on stderr what moved, and where the program runs"},
    {0}};

static const lat_tool tool = {
    .name = "lat-reunit",
    .args = "[FILE]",
    .summary =
        "Projects matrices to SU(N), but for those in SU(N) to rounding; distances are Frobenius "
        "norms of the difference.",
    .example = "lat-reunit --precision double --report moved.tsv cfg.lat -o clean.lat\n"
               "lat-reunit --method gram-schmidt --limit 1e-3 cfg.lat -o clean.lat\n"
               "lat-convert cfg.nersc | lat-reunit -p double | lat-orelax -o fixed.lat",
    .options = options,
    .max_files = 1,
    .common = LAT_HAS_INPUT | LAT_HAS_OUTPUT | LAT_HAS_THREADS,
    .start = lat_comm_start,
};

/* What the projection of some matrices did. */
typedef struct moved {
    double square, max; /* sum of squared distances, largest distance */
    size_t worst;       /* the matrix that moved by max */
    size_t beyond;      /* how many moved farther than the tolerance */
    size_t refused;     /* the first matrix that is singular or too far, or NONE */
    double refused_by;  /* its distance, NaN if singular */
} moved;
#define NONE ((size_t)-1)

typedef struct context {
    lat_output *out;
    FILE *text;
} context;

/* The distance from SU(N) that rounding to the precision of the output explains. A matrix that near
 * stays as it is, bit for bit: so links that are good keep their CRC. */
static double rounding_of(const lat_field *f)
{
    const bool in_double = precision < 0 ? f->head.real == LAT_F64 : precision;
    return 2 * f->head.nc * (in_double ? DBL_EPSILON : FLT_EPSILON);
}

static moved project_chunk(lat_field *f, size_t from, size_t to)
{
    const int n = f->head.nc;
    const unsigned open = f->head.kind == LAT_GAUGE ? lat_boundary_open(&f->head) : 0;
    const double rounding = rounding_of(f);
    double m[LAT_SUN_REALS], old[LAT_SUN_REALS];
    moved got = {.worst = from, .refused = NONE};
    for (size_t i = from; i < to; i++) {
        lat_field_get(f, i, m);
        if (open && lat_boundary_none(open, (int)(i % (size_t)f->head.geom.nd), m, 2 * n * n))
            continue; /* an open boundary has no link there */
        lat_field_get(f, i, old);
        const int rc = method == POLAR ? lat_sun_polar(n, m) : lat_sun_gram_schmidt(n, m);
        const double distance = rc ? NAN : lat_sun_distance(n, m, old);
        if (distance <= rounding)
            continue;
        if (!(distance <= limit)) {
            got.refused = i;
            got.refused_by = distance;
            break;
        }
        lat_field_put(f, i, m);
        got.square += distance * distance;
        got.beyond += distance > tolerance;
        if (distance > got.max) {
            got.max = distance;
            got.worst = i;
        }
    }
    return got;
}

static void add_up(moved *all, const moved *part, size_t n)
{
    *all = (moved){.refused = NONE};
    for (; n > 0; n--, part++) {
        all->square += part->square;
        all->beyond += part->beyond;
        if (part->max > all->max) {
            all->max = part->max;
            all->worst = part->worst;
        }
        if (all->refused == NONE) {
            all->refused = part->refused;
            all->refused_by = part->refused_by;
        }
    }
}

/* From numbers of this rank's matrices to global ones. */
static void globalise(const lat_field *f, moved *m)
{
    const size_t first = lat_field_site(f, 0) * (lat_field_matrices(f) / lat_field_sites(f));
    m->worst += first;
    m->refused += m->refused == NONE ? 0 : first;
}

/* Slice by slice, in chunks: the sums depend on neither threads nor ranks. */
static int project(lat_field *f, moved *all)
{
    const size_t matrices = lat_slice_matrices(&f->head), chunks = (matrices + CHUNK - 1) / CHUNK;
    const size_t own = (size_t)lat_field_slab(f).count, slices = (size_t)lat_slices(&f->head);
    moved *part = lat_alloc(own * chunks, sizeof *part, "a projection"),
          *slice = lat_alloc(own + slices, sizeof *slice, "a projection");
    int rc = part && slice ? 0 : -1;
    if (rc == 0) {
#pragma omp parallel for schedule(static)
        for (size_t c = 0; c < own * chunks; c++) {
            const size_t from = c / chunks * matrices, at = c % chunks * CHUNK, to = at + CHUNK;
            part[c] = project_chunk(f, from + at, from + (to < matrices ? to : matrices));
        }
        for (size_t s = 0; s < own; s++) {
            add_up(&slice[s], part + s * chunks, chunks);
            globalise(f, &slice[s]);
        }
        rc = lat_field_gather(f, slice, sizeof *slice, slice + own);
    }
    if (rc == 0)
        add_up(all, slice + own, slices);
    LAT_FREE(part, slice);
    return rc ? rc : lat_field_exchange(f);
}

static int refuse(const lat_field *f, const moved *m, long index)
{
    const char *name = lat_filter_name();
    char where[LAT_POSITION_TEXT];
    lat_position_text(&f->head, m->refused, where);
    if (isnan(m->refused_by))
        return lat_fail("%s: field %ld: expected a matrix near SU(%d) at %s, found a singular one",
                        name, index, f->head.nc, where);
    return lat_fail("%s: field %ld: expected a matrix within %g of SU(%d) at %s, found one at %g "
                    "(--limit accepts it)",
                    name, index, limit, f->head.nc, where, m->refused_by);
}

static int print_report(const context *c, const lat_field *f, const moved *m,
                        const lat_deviation off[2], long index)
{
    const size_t matrices = lat_header_matrices(&f->head);
    const double rms = sqrt(m->square / (double)matrices);
    char where[LAT_POSITION_TEXT];
    lat_position_text(&f->head, m->worst, where);
    if (lat_opts.verbose)
        lat_warn("field %ld: largest move %.3g at %s, rms %.3g, %zu of %zu farther than %g; "
                 "|U U^+ - 1| from %.3g to %.3g, |1 - det U| from %.3g to %.3g",
                 index, m->max, where, rms, m->beyond, matrices, tolerance, off[0].unitarity_max,
                 off[1].unitarity_max, off[0].det_max, off[1].det_max);
    if (c->text) {
        if (index == 0)
            fprintf(c->text,
                    "config\tmatrices\tmoved_max\tmoved_rms\tbeyond\ttolerance\tworst\t"
                    "unitarity_before\tunitarity_after\tdet_error_before\tdet_error_after\n");
        fprintf(c->text, "%ld\t%zu\t%.17g\t%.17g\t%zu\t%.17g\t%s\t%.17g\t%.17g\t%.17g\t%.17g\n",
                index, matrices, m->max, rms, m->beyond, tolerance, where, off[0].unitarity_max,
                off[1].unitarity_max, off[0].det_max, off[1].det_max);
    }
    return 0;
}

/* The links have changed: what the header states is measured again, or becomes unknown. */
static int update_header(lat_field *f)
{
    lat_condition condition;
    lat_info_remove(&f->head, LAT_INFO_NOT_IN_GROUP);
    f->head.plaquette = f->head.link_trace = NAN;
    if (f->head.kind == LAT_GAUGE && strcmp(f->head.gauge, "none"))
        return lat_condition_read(&f->head, &condition) || lat_measure_restate(f) ? -1 : 0;
    lat_header_ungauge(&f->head);
    return 0;
}

static int each(lat_field *f, long index, void *with)
{
    const lat_real wanted = precision < 0 ? f->head.real : precision ? LAT_F64 : LAT_F32;
    lat_deviation off[2];
    moved m;
    if (lat_header_spinors(&f->head)) {
        lat_fail("%s: expected links or a gauge transformation, found %s", lat_filter_name(),
                 lat_kind_text(f->head.kind));
        return LAT_FAILED;
    }
    if (lat_measure_deviation(f, &off[0]) || (wanted == LAT_F64 && lat_field_convert(f, wanted))
        || project(f, &m))
        return LAT_FAILED;
    if (m.refused != NONE) {
        refuse(f, &m, index);
        return LAT_FAILED;
    }
    if (lat_field_convert(f, wanted) || lat_measure_deviation(f, &off[1]) || update_header(f)
        || lat_provenance(&f->head, "%s, largest move %.3g, rms %.3g", methods[method], m.max,
                          sqrt(m.square / (double)lat_header_matrices(&f->head)))
        || print_report(with, f, &m, off, index))
        return LAT_FAILED;
    return LAT_DONE;
}

/* The report is written before the links get their name. */
static int finish(LAT_UNUSED long fields, void *with)
{
    const context *c = with;
    if (!c->text || (fflush(c->text) == 0 && lat_output_flush(c->out) == 0))
        return LAT_DONE;
    lat_fail("%s: writing the report failed", report); /* unless there is a sentence */
    return LAT_FAILED;
}

int main(int argc, char **argv)
{
    context c = {.out = NULL};
    lat_options_parse(&tool, argc, argv);
    lat_accept_any_links = true; /* --limit judges them */
    lat_usage_for("tolerance", report || lat_opts.verbose,
                  "--report and --verbose, and there is neither");
    if (report && !lat_opts.output && !strcmp(report, "-"))
        lat_usage("--report needs the name of a file: stdout is for the configuration");
    lat_usage_if_input("report", report);
    if (report
        && (!(c.out = lat_output_open(report, LAT_OUTPUT_TEXT | lat_output_flags(), lat_opts.comm))
            || !(c.text = lat_text_open(c.out)))) {
        lat_output_abort(c.out);
        return lat_report(LAT_FAILED);
    }
    const int code = lat_filter_run(each, finish, &c);
    if (!report)
        return code;
    if (code == LAT_DONE)
        return lat_text_close(c.text, c.out) ? lat_report(LAT_FAILED) : LAT_DONE;
    fclose(c.text);
    lat_output_abort(c.out);
    return code;
}
