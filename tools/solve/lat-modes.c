/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-modes: the lowest or largest eigenvectors of gamma5 M, M^+ M or gamma5 S.
 *
 * Each residual is computed by lib/quark/plain.h, which shares nothing with the search, of the
 * vectors that are written. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "common/options.h"
#include "common/progress.h"
#include "common/stop.h"
#include "common/text.h"
#include "dirac/temporal.h"
#include "modes/modes.h"
#include "quark/plain.h"
#include "run/common/device_options.h"
#include "run/quark/fermion_options.h"
#include "run/quark/links.h"
#include "run/quark/modefile.h"
#include "run/quark/modestate.h"
#include "run/common/resume.h"
#include "run/common/tool.h"
#include "smear/smear.h"
#include "stream/stream.h"

enum { SINGLE, DOUBLE }; /* of --precision */
#define SINGLE_FROM 1e-5 /* residual that single precision reaches by itself */
enum { BATCH = 4 };      /* vectors side by side, in single: more take more applications in all */

static const char *modes_text = "8", *log_path, *smear_text, *checkpoint, *resume;
static int matrix = LAT_MODES_OF_G5M, method = LAT_MODES_LANCZOS, precision = -1;
static bool largest, tsv, json;
static double residual = 1e-10, memory;
static long max_applications = 1000000, degree;
static uint64_t seed = 1;
static lat_device_options device;

static const lat_option options[] = {
    LAT_HEADING("Operator"),
    LAT_FERMION_OPTIONS,
    {LAT_OPT_CHOICE, "matrix", 0, LAT_MODES_MATRICES, &matrix, 0, 0,
     "matrix whose modes are found: gamma5 M, M^+ M, or gamma5 S, where S is the asymmetric Schur "
     "complement on odd sites",
     false},
    {LAT_OPT_TEXT, "smear-links", 0, "SMEARING", &smear_text, 0, 0,
     "smear the links of the operator: ape:A,N, stout:R,N or hyp:A,B,C,N, optionally followed by "
     ",spatial",
     false},
    LAT_HEADING("Search"),
    {LAT_OPT_TEXT, "modes", 0, "K", &modes_text, 0, 0,
     "number of modes; LOW-HIGH: the number from LOW to HIGH that leaves the widest gap to the "
     "next eigenvalue; auto: 8-24",
     false},
    {LAT_OPT_FLAG, "largest", 0, NULL, &largest, 0, 0,
     "find the modes with the largest modulus instead of the smallest", false},
    {LAT_OPT_REAL, "residual", 0, "R", &residual, 1e-14, 1,
     "search until |A v - value v| is below R for each mode, |v| = 1", false},
    {LAT_OPT_CHOICE, "method", 0, LAT_MODES_METHODS, &method, 0, 0,
     "lanczos: thick-restart Lanczos with a Chebyshev polynomial; ritz: conjugate gradients on the "
     "Ritz functional, one mode after the other",
     false},
    {LAT_OPT_CHOICE, "precision", 'p', "single|double", &precision, 0, 0,
     "precision of the search; single: several vectors at a time, refined in double (default: "
     "single if --residual is 1e-5 or larger)",
     false},
    {LAT_OPT_INT, "degree", 0, "N", &degree, 0, 10000,
     "degree of the polynomial; 0: chosen from the spectrum", false},
    {LAT_OPT_SEED, "seed", 's', "SEED", &seed, 0, 0, "seed of the random numbers", false},
    {LAT_OPT_INT, "max-applications", 0, "N", &max_applications, 1, 1e12,
     "give up after N applications of the matrix", LAT_OPT_LIMIT},
    LAT_HEADING("Output"),
    {LAT_OPT_FLAG, "tsv", 0, NULL, &tsv, 0, 0,
     "print a table instead of the modes, one row for each", true},
    {LAT_OPT_FLAG, "json", 0, NULL, &json, 0, 0,
     "print one object for each configuration instead of the modes, with bounds", true},
    {LAT_OPT_TEXT, "log", 'l', "FILE", &log_path, 0, 0, "also write the table of --tsv to FILE",
     true},
    LAT_HEADING("Run"),
    {LAT_OPT_TEXT, "checkpoint", 0, "FILE", &checkpoint, 0, 0,
     "write the state of the search to FILE, which must be new, or the FILE of --resume", true},
    {LAT_OPT_TEXT, "resume", 0, "FILE", &resume, 0, 0,
     "continue from the checkpoint FILE, with the same input and options", true},
    LAT_HEADING("Device"),
    {LAT_OPT_REAL, "memory", 0, "GB", &memory, 0, 1e9,
     "refuse a search whose vectors need more memory of the device (default: the free memory of a "
     "GPU; no limit on the CPU)",
     true},
    LAT_DEVICE_OPTIONS(device),
    LAT_TUNE_OPTION(device),
    {0}};

static const lat_tool tool = {
    .name = "lat-modes",
    .args = "[FILE]",
    .summary = "Finds the lowest eigenvectors of Dirac operators, with rigorous errors.",
    .example = "lat-modes --kappa 0.137 --modes 16 cfg.lat -o modes.lat --log modes.tsv",
    .options = options,
    .max_files = 1,
    .common = LAT_HAS_INPUT | LAT_HAS_OUTPUT | LAT_HAS_THREADS | LAT_HAS_QUIET,
    .start = lat_comm_start,
};

typedef struct run {
    lat_device *device, *cpu; /* cpu: where the device cannot do it */
    lat_output *out;
    FILE *text, *log;
    lat_links links;
    lat_smear smear;
    lat_field smeared; /* links of the operator, with --smear-links */
    lat_fermion fermion;
    int low, high;
    lat_modestate *kept;
    char name[80]; /* of the present search */
    int stopped;   /* by this signal */

    /* the modes of the present links */
    lat_temporal *gauge; /* of all spaces, or NULL */
    lat_grid *grid;
    lat_spinor_space *space;
    lat_dirac *d;
    struct {
        lat_grid *grid;
        lat_spinor_space *one, *many;
        lat_dirac *d, *batch;
    } single; /* with --precision single */
    lat_modes modes;
    lat_field v;                        /* as they are written */
    double *residual, *gap, *chirality; /* of the plain operator; [modes.count] */
} run;

static long config_of(const run *r) { return r->links.number - 1; }

/* Those of the operator. */
static const lat_field *links_of(const run *r) { return smear_text ? &r->smeared : &r->links.u; }

/* ---- the search ------------------------------------------------------------------------------ */

/* Looks after the search, and ends it where the run was asked to stop. */
static bool asked_to_stop(run *r)
{
    if (!r->stopped)
        r->stopped = lat_modestate_asked(r->kept);
    return r->stopped != 0;
}

static int show_progress(void *with, int converged, int of, double worst, long applications)
{
    run *r = with;
    if (asked_to_stop(r))
        return -1;
    if (isinf(worst)) /* nothing is known yet */
        lat_progress("applications %ld  0 of %d modes  configuration %ld", applications, of,
                     config_of(r));
    else
        lat_progress("residual %.1e  %d of %d modes  %ld applications  configuration %ld", worst,
                     converged, of, applications, config_of(r));
    return 0;
}

/* The device, or, where it was chosen by itself and cannot do it, the CPU. */
static lat_device *device_for(run *r)
{
    const bool can = lat_spinor_gpu_takes(&r->links.u.head.geom, lat_opts.comm->size);
    return lat_device_or_cpu(r->device, &device, can, &r->cpu);
}

static int unconverged(const run *r)
{
    char text[LAT_FERMION_TEXT];
    const char *there = lat_modestate_there(r->kept);
    lat_fail("configuration %ld: expected %d modes with residuals below %.3g, found one of %.3g "
             "after %ld applications of %s (%s; --max-applications allows more%s%s)",
             config_of(r), r->high, residual, r->modes.worst, r->modes.applications,
             lat_modes_matrix_text((lat_modes_matrix)matrix), lat_fermion_text(&r->fermion, text),
             there ? ", --resume " : "", there ? there : "");
    return LAT_UNCONVERGED;
}

/* Where the search is. */
static lat_spinor_space *searched(const run *r) { return r->single.one ? r->single.one : r->space; }

static int save(void *with, const lat_modes_state *state)
{
    run *r = with;
    return lat_modestate_save(r->kept, r->name, searched(r), &r->links.u, state) || asked_to_stop(r)
               ? -1
               : 0;
}

static int find(run *r, lat_modes_job *job)
{
    lat_modes_state from;
    int rc = lat_modestate_from(r->kept, r->name, searched(r), &from);
    if (rc > 0)
        job->from = &from;
    rc = rc < 0 || lat_modes_find(job, &r->modes) ? -1 : 0;
    lat_modestate_drop(&from);
    return rc;
}

/* Modes of the checkpoint: 1, 0 if it has none, or -1. */
static int restore(run *r)
{
    double number[LAT_MODESTATE_NUMBERS];
    const int rc = lat_modestate_done(r->kept, r->name, &r->v, number);
    if (rc <= 0)
        return rc;
    const int n = (int)lat_header_objects(&r->v.head);
    r->modes = (lat_modes){.rest = number[0], .norm = number[1], .converged = true};
    if (lat_modes_alloc(&r->modes, (size_t)n))
        return -1;
    memcpy(r->modes.value, r->v.head.quark.eigenvalue, sizeof(double) * (size_t)n);
    for (; r->modes.count < n; r->modes.count++)
        if (!(r->modes.vector[r->modes.count] = lat_spinor_new(r->space, "modes")))
            return -1;
    return 1;
}

/* The operator in single precision, for one vector and for batches. */
static int open_single(run *r, lat_device *on)
{
    const lat_field *u = links_of(r);
    const lat_grid_spec spec = {
        .lattice = u->head.geom, .storage = LAT_STORAGE_SINGLE, .across = -1};
    const lat_dirac_options how = {.reals = 0};
    return (r->single.grid = lat_grid_new(on, &spec))
                   && (r->single.one = lat_spinor_open_in(r->single.grid, u->head.nc, 1, r->gauge))
                   && (r->single.many = lat_spinor_open_in(r->single.grid, u->head.nc, BATCH,
                                                           r->gauge))
                   && (r->single.d = lat_dirac_open(r->single.one, u, &r->fermion, &how))
                   && (r->single.batch = lat_dirac_open(r->single.many, u, &r->fermion, &how))
               ? 0
               : -1;
}

static int search(run *r)
{
    static const lat_dirac_matrix matrices[] = {[LAT_MODES_OF_G5M] = {LAT_FULL, LAT_GAMMA5},
                                                [LAT_MODES_OF_NORMAL] = {LAT_FULL, LAT_NORMAL},
                                                [LAT_MODES_OF_G5S] = {LAT_ASYMMETRIC, LAT_GAMMA5}};
    const lat_field *u = links_of(r), *u0 = &r->links.u;
    const lat_grid_spec spec = {
        .lattice = u->head.geom, .storage = LAT_STORAGE_DOUBLE, .across = -1};
    const lat_dirac_options how = {.reals = 0};
    lat_device *on = device_for(r);
    if (on)
        lat_device_threads(on, u, precision == SINGLE ? BATCH : 1);
    if (!on || !(r->grid = lat_grid_new(on, &spec)) || lat_temporal_open(on, u, NULL, &r->gauge)
        || !(r->space = lat_spinor_open_in(r->grid, u->head.nc, 1, r->gauge))
        || !(r->d = lat_dirac_open(r->space, u, &r->fermion, &how))
        || (precision == SINGLE && open_single(r, on)))
        return LAT_FAILED;
    const lat_hermitian op = lat_hermitian_dirac(r->d, matrices[matrix]);
    lat_hermitian coarse;
    if (precision == SINGLE) {
        coarse = lat_hermitian_dirac(r->single.d, matrices[matrix]);
        coarse.many = r->single.batch;
    }
    lat_modes_job job = {.op = &op,
                         .coarse = precision == SINGLE ? &coarse : NULL,
                         .low = r->low,
                         .high = r->high,
                         .largest = largest,
                         .tolerance = .9 * residual, /* for rounding in the other code */
                         .method = (lat_modes_method)method,
                         .seed = seed,
                         .max_applications = max_applications,
                         .memory = memory * 1e9,
                         .degree = (int)degree,
                         .progress = show_progress,
                         .save = save,
                         .with = r};
    snprintf(r->name, sizeof r->name, "config %ld links %s", config_of(r), u0->head.read_crc);
    const int known = restore(r);
    if (known)
        return known > 0 ? LAT_DONE : LAT_FAILED;
    if (find(r, &job))
        return LAT_FAILED;
    return r->modes.converged ? LAT_DONE : unconverged(r);
}

/* ---- what is found, by other code ------------------------------------------------------------ */

static int new_modes(const run *r, int columns, lat_field *f)
{
    return lat_field_spinors(f, &r->links.u, LAT_MODES, columns);
}

/* Columns 0 .. of y become those of x from `first` on, or gamma5 times them, each times its value
 * if there are values. y may be x. */
static void copy_columns(const lat_field *x, int first, int columns, bool gamma5,
                         const double *value, lat_field *y)
{
    const size_t n = lat_header_full_reals(&x->head), all = lat_header_objects(&x->head),
                 most = lat_header_objects(&y->head);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < lat_field_sites(x); i++)
        for (size_t c = 0; c < (size_t)columns; c++) {
            const double *from = (const double *)x->data + (i * all + (size_t)first + c) * n;
            double *to = (double *)y->data + (i * most + c) * n;
            const double upper = value ? value[c] : 1, lower = gamma5 ? -upper : upper;
            for (size_t k = 0; k < n; k++)
                to[k] = (k < n / 2 ? upper : lower) * from[k];
        }
}

/* x = v on odd sites, A_ee^-1 D_eo v/2 on even ones, which the operators of the search compute:
 * then M x is 0 on even sites and S v on odd ones. */
static int complete(run *r, int first, int columns, lat_field *x)
{
    const lat_spinor_part odd = {LAT_ODD, 1, lat_spinor_numbers};
    lat_spinor_space *s = r->space;
    lat_dfield *y = lat_spinor_new(s, "a mode on all sites"), *b = lat_spinor_new(s, "zeros");
    int rc = y && b ? 0 : -1;
    for (int k = 0; k < columns && rc == 0; k++)
        rc = s->ops->copy(s, &odd, r->modes.vector[first + k], y)
                     || r->d->ops->reconstruct(r->d, &odd, y, b) || lat_spinor_get(s, y, 0, x, k)
                 ? -1
                 : 0;
    lat_dfield_free(y);
    lat_dfield_free(b);
    return rc;
}

/* What certifies, of a few modes at a time. */
enum { CERTIFIED = 8 };
typedef struct certificate {
    lat_plain *m, *adjoint; /* adjoint: of M^+ M, gamma5 M^+ gamma5 */
    lat_field v, x, b;      /* x: M' x is to be b; v: modes, where x is made of them */
} certificate;

/* Sets x of modes from `first` on, with its ghosts. */
static int set_x(run *r, certificate *z, int first, int columns)
{
    lat_field *v = z->adjoint ? &z->v : &z->x;
    if (matrix == LAT_MODES_OF_G5S)
        return complete(r, first, columns, &z->x) || lat_field_exchange(&z->x) ? -1 : 0;
    copy_columns(&r->v, first, columns, false, NULL, v);
    if (lat_field_exchange(v))
        return -1;
    if (!z->adjoint)
        return 0;
    if (lat_plain_apply(z->m, false, v, columns, lat_spinor_numbers, &z->x))
        return -1;
    copy_columns(&z->x, 0, columns, true, NULL, &z->x);
    return lat_field_exchange(&z->x);
}

static int certify_some(run *r, certificate *z, int first, int columns)
{
    const double *value = r->modes.value + first;
    double *found = r->residual + first;
    if (set_x(r, z, first, columns))
        return -1;
    copy_columns(&r->v, first, columns, true, value, &z->b);
    if (lat_plain_residual(z->adjoint ? z->adjoint : z->m, &z->x, &z->b, columns,
                           lat_spinor_numbers, found))
        return -1;
    for (int k = 0; k < columns; k++) /* was relative to |value v| */
        found[k] *= fabs(value[k]);
    return 0;
}

/* |A v - value v|, |gamma5 ..| being |..|: of gamma5 M it is |M v - value gamma5 v|; M^+ is gamma5
 * M' gamma5, M' with the other sign of the twist; of gamma5 S it is |M x - value gamma5 v|, with
 * the x of complete(). Where that is inexact, M x on even sites shows it. */
static int certify(run *r)
{
    const int n = r->modes.count, most = n < CERTIFIED ? n : CERTIFIED;
    certificate z = {.m = NULL};
    lat_fermion other = r->fermion;
    other.twist = -other.twist;
    int rc = (z.m = lat_plain_new(links_of(r), &r->fermion)) && new_modes(r, most, &z.x) == 0
                     && new_modes(r, most, &z.b) == 0
                 ? 0
                 : -1;
    if (rc == 0 && matrix == LAT_MODES_OF_NORMAL)
        rc = (z.adjoint = lat_plain_new(links_of(r), &other)) && new_modes(r, most, &z.v) == 0 ? 0
                                                                                               : -1;
    for (int k = 0; k < n && rc == 0; k += most)
        rc = certify_some(r, &z, k, n - k < most ? n - k : most);
    lat_field_free(&z.v);
    lat_field_free(&z.x);
    lat_field_free(&z.b);
    lat_plain_free(z.m);
    lat_plain_free(z.adjoint);
    return rc;
}

/* (v, gamma5 v) */
static int measure_chirality(run *r)
{
    const lat_spinor_part p = {matrix == LAT_MODES_OF_G5S ? LAT_ODD : LAT_BOTH, 1,
                               lat_spinor_numbers};
    const lat_spinor_ops *ops = r->space->ops;
    lat_dfield *w = lat_spinor_new(r->space, "gamma5 v");
    int rc = w ? 0 : -1;
    for (int k = 0; k < r->modes.count && rc == 0; k++) {
        lat_scalar dot, *to = &dot;
        const lat_dfield *v = r->modes.vector[k];
        rc = ops->copy(r->space, &p, v, w) || ops->gamma5(r->space, &p, w)
                     || ops->dots(r->space, &p, 1, &v, w, &to, NULL)
                 ? -1
                 : 0;
        r->chirality[k] = dot.re;
    }
    lat_dfield_free(w);
    return rc;
}

/* What the search left on sites that gamma5 S does not have. */
static int clear_even(run *r, lat_dfield *v)
{
    const lat_spinor_part even = {LAT_EVEN, 1, lat_spinor_numbers};
    return r->space->ops->zero(r->space, &even, v);
}

/* The modes to the host, and to the checkpoint. */
static int download(run *r)
{
    const double number[LAT_MODESTATE_NUMBERS] = {r->modes.rest, r->modes.norm};
    if (new_modes(r, r->modes.count, &r->v))
        return -1;
    for (int k = 0; k < r->modes.count; k++)
        if ((matrix == LAT_MODES_OF_G5S && clear_even(r, r->modes.vector[k]))
            || lat_spinor_get(r->space, r->modes.vector[k], 0, &r->v, k))
            return -1;
    return lat_quark_set_eigenvalues(&r->v.head.quark, r->modes.value)
           || lat_modestate_keep(r->kept, r->name, &r->v, number);
}

/* What is measured of the modes is that of those on the host. */
static int fetch(run *r)
{
    const size_t n = (size_t)r->modes.count;
    r->residual = lat_alloc(3 * n, sizeof(double), "residuals");
    if (!r->residual || (!r->v.data && download(r)))
        return -1;
    r->gap = r->residual + n;
    r->chirality = r->gap + n;
    for (int k = 0; k < r->modes.count; k++)
        if (lat_spinor_put(r->space, r->modes.vector[k], 0, &r->v, k))
            return -1;
    lat_modes_gaps(r->modes.count, r->modes.value, r->modes.rest, largest, r->gap);
    return measure_chirality(r) || certify(r) ? -1 : 0;
}

/* Exit code: is each residual what was asked for? */
static int judge(const run *r)
{
    for (int k = 0; k < r->modes.count; k++)
        if (!(r->residual[k] <= residual)) {
            lat_fail("configuration %ld, mode %d: expected a residual below %.3g, found %.3g, as "
                     "rounding allows it",
                     config_of(r), k, residual, r->residual[k]);
            return LAT_UNCONVERGED;
        }
    return LAT_DONE;
}

/* ---- output ---------------------------------------------------------------------------------- */

#define COLUMNS "configuration\tmode\tvalue\tresidual\tgap\tchirality"

static void print_table(const run *r, FILE *to)
{
    for (int k = 0; k < r->modes.count; k++)
        fprintf(to, "%ld\t%d\t%.15g\t%.4e\t%.6g\t%.10g\n", config_of(r), k, r->modes.value[k],
                r->residual[k], r->gap[k], r->chirality[k]);
}

static double kappa_of(const run *r, int sign)
{
    return lat_modes_kappa(r->modes.count, r->modes.value, r->residual, r->gap, sign);
}

/* "kappa_plus": 1e-9, or null where it is infinite. */
static void print_number(FILE *to, const char *name, double value)
{
    fprintf(to, isfinite(value) ? ", \"%s\": %.6g" : ", \"%s\": null", name, value);
}

static void print_json(const run *r, FILE *to)
{
    fprintf(to, "{\"configuration\": %ld, \"matrix\": \"%s\", \"largest\": %s", config_of(r),
            lat_modes_matrix_text((lat_modes_matrix)matrix), largest ? "true" : "false");
    print_number(to, "rest", r->modes.rest);
    for (int sign = 1; sign >= -1; sign -= 2) {
        const double kappa = kappa_of(r, sign);
        print_number(to, sign > 0 ? "kappa_plus" : "kappa_minus", kappa);
        print_number(to, sign > 0 ? "bound_plus" : "bound_minus", lat_modes_bound(kappa));
    }
    fprintf(to, ", \"modes\": [");
    for (int k = 0; k < r->modes.count; k++)
        fprintf(to,
                "%s{\"mode\": %d, \"value\": %.15g, \"residual\": %.4e, \"gap\": %.6g, "
                "\"chirality\": %.10g}",
                k ? ", " : "", k, r->modes.value[k], r->residual[k], r->gap[k], r->chirality[k]);
    fprintf(to, "]}\n");
}

static int describe(run *r)
{
    lat_header *head = &r->v.head;
    char number[40];
    double worst = 0;
    for (int k = 0; k < r->modes.count; k++)
        worst = fmax(worst, r->residual[k]);
    lat_header_of_links(head, &r->links.u.head, &r->fermion);
    snprintf(number, sizeof number, "%.17g", r->modes.rest);
    return lat_quark_set_residuals(&head->quark, r->residual)
                   || lat_quark_set_eigenvalues(&head->quark, r->modes.value)
                   || lat_info_set(head, LAT_INFO_MODES_MATRIX,
                                   lat_modes_matrix_text((lat_modes_matrix)matrix))
                   || lat_info_set(head, LAT_INFO_MODES_WHICH, largest ? "largest" : "lowest")
                   || lat_info_set(head, LAT_INFO_MODES_REST, number)
                   || (smear_text && lat_info_set(head, LAT_SMEARED_LINKS, smear_text))
                   || lat_provenance(head, "%d modes, residual %.2e, projectors to %.2e and %.2e",
                                     r->modes.count, worst, lat_modes_bound(kappa_of(r, 1)),
                                     lat_modes_bound(kappa_of(r, -1)))
               ? -1
               : 0;
}

static int write_modes(run *r)
{
    if (r->log) {
        print_table(r, r->log);
        fflush(r->log);
    }
    if (json)
        print_json(r, r->text);
    else if (tsv)
        print_table(r, r->text);
    else if (describe(r) || lat_stream_write(r->out, &r->v, lat_opts.store))
        return LAT_FAILED;
    return LAT_DONE;
}

/* ---- the run --------------------------------------------------------------------------------- */

static void close_single(run *r)
{
    lat_dirac_close(r->single.batch);
    lat_dirac_close(r->single.d);
    lat_spinor_close(r->single.many);
    lat_spinor_close(r->single.one);
    lat_grid_free(r->single.grid);
    memset(&r->single, 0, sizeof r->single);
}

static void close_modes(run *r)
{
    lat_modes_free(&r->modes);
    lat_dirac_close(r->d);
    lat_spinor_close(r->space);
    lat_grid_free(r->grid);
    close_single(r);
    lat_temporal_close(r->gauge);
    r->gauge = NULL;
    lat_field_free(&r->v);
    lat_field_free(&r->smeared);
    free(r->residual);
    r->residual = NULL;
    r->d = NULL;
    r->space = NULL;
    r->grid = NULL;
}

/* One configuration. An exit code. */
static int one(run *r)
{
    if (!r->device && !(r->device = lat_device_open(&device, lat_opts.comm)))
        return LAT_FAILED;
    if (lat_fermion_check_gauge(&r->links.u.head, lat_input_name(r->links.in))
        || lat_fermion_check_links(&r->fermion, &r->links.u.head, lat_input_name(r->links.in))
        || (smear_text && lat_smear_links(&r->links.u, &r->smear, &r->smeared)))
        return LAT_FAILED;
    int code = search(r);
    if (code == LAT_DONE && fetch(r))
        code = LAT_FAILED;
    if (code == LAT_DONE)
        code = judge(r);
    if (code != LAT_DONE && !r->stopped)
        lat_error_name(lat_input_name(r->links.in), resume);
    if (code == LAT_DONE)
        code = write_modes(r);
    close_modes(r);
    return code;
}

static int next_links(run *r) { return asked_to_stop(r) ? -1 : lat_links_next(&r->links); }

static int all(run *r)
{
    int rc, code = LAT_DONE;
    while (code == LAT_DONE && (rc = next_links(r)) != 0)
        code = rc < 0 ? LAT_FAILED : one(r);
    return code;
}

/* "16", "8-24" or "auto". */
static void parse_modes(run *r)
{
    char *end;
    const char *text = strcmp(modes_text, "auto") ? modes_text : "8-24";
    const long low = strtol(text, &end, 10), high = *end == '-' ? strtol(end + 1, &end, 10) : low;
    if (*end || end == text || low < 1 || high < low || high >= LAT_MAX_COLUMNS)
        lat_usage("--modes: expected a number from 1 to %d, LOW-HIGH or auto, found '%.80s'",
                  LAT_MAX_COLUMNS - 1, modes_text);
    r->low = (int)low;
    r->high = (int)high;
}

static void check_usage(run *r)
{
    lat_fermion_of_options(&r->fermion, false);
    if (smear_text && lat_smear_parse(smear_text, &r->smear))
        lat_usage("--smear-links: %s", lat_error());
    parse_modes(r);
    if (matrix != LAT_MODES_OF_NORMAL && r->fermion.twist != 0)
        lat_usage("--twist: %s is not Hermitian with a twist; --matrix MdagM is",
                  lat_modes_matrix_text((lat_modes_matrix)matrix));
    if (tsv && json)
        lat_usage("--tsv and --json exclude each other");
    const bool can = !largest && method == LAT_MODES_LANCZOS;
    if (precision == SINGLE && !can)
        lat_usage("--precision single is for the lowest modes by --method lanczos");
    if (precision < 0)
        precision = can && residual >= SINGLE_FROM ? SINGLE : DOUBLE;
    if (degree && (largest || method == LAT_MODES_RITZ))
        lat_usage("--degree is for the lowest modes by --method lanczos");
    lat_usage_if_input("log", log_path);
}

static int open_all(run *r)
{
    const lat_comm *comm = lat_opts.comm;
    const bool text = tsv || json;
    lat_checkpoint_usage(checkpoint, resume); /* ends the process: before there are threads */
    if (lat_device_begin(&device, comm)       /* a GPU starts while the links are read */
        || !(r->links.in = lat_input_open(lat_opts.input, comm))
        || !(r->out = lat_output_open(
                 lat_opts.output, lat_output_flags() | (text ? LAT_OUTPUT_TEXT : LAT_OUTPUT_OTHER),
                 comm))
        || (text && !(r->text = lat_text_open(r->out)))
        || (log_path && !(r->log = lat_log_open(log_path, COLUMNS, comm)))
        || !(r->kept = lat_modestate_open(checkpoint, resume, comm))) /* none of the others */
        return -1;
    if (tsv)
        fprintf(r->text, COLUMNS "\n");
    lat_modestate_watch(r->kept);
    return 0;
}

/* A run that was asked to stop says how to go on. */
static void keep(run *r, int code)
{
    if (code == LAT_FAILED && !r->stopped && lat_opts.comm->size == 1)
        r->stopped = lat_modestate_asked(r->kept); /* while it waited for a pipe */
    if (r->stopped > 0) {
        lat_error_clear(); /* it was only to get here */
        lat_modestate_stopped(r->kept, r->stopped);
    }
}

/* The output appears whole or not at all. */
static int close_output(run *r, int code)
{
    if (r->text && code == LAT_DONE)
        return lat_text_close(r->text, r->out) ? LAT_FAILED : code;
    if (r->text)
        fclose(r->text);
    if (code == LAT_DONE)
        return lat_stream_commit(r->out) ? LAT_FAILED : code;
    lat_output_abort(r->out);
    return code;
}

int main(int argc, char **argv)
{
    run r = {.low = 0};
    lat_options_parse(&tool, argc, argv);
    check_usage(&r);
    lat_header_init(&r.v.head);
    lat_header_init(&r.smeared.head);
    int code = open_all(&r) ? LAT_FAILED : all(&r);
    lat_progress_end();
    if (r.kept)
        keep(&r, code);
    lat_links_free(&r.links);
    lat_device_close(r.cpu);
    lat_device_close(r.device);
    lat_device_end();
    if (lat_log_close(r.log, log_path) && code == LAT_DONE)
        code = LAT_FAILED;
    code = close_output(&r, code);
    if (code == LAT_DONE)
        lat_modestate_remove(r.kept);
    lat_modestate_free(r.kept);
    if (r.stopped > 0)
        lat_stop_exit(lat_opts.comm, r.stopped);
    return code == LAT_DONE ? LAT_DONE : lat_report(code);
}
