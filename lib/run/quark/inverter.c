/* SPDX-License-Identifier: BSD-3-Clause */
/* inverter.c: opens operators and spaces of a solve, on one device or two. */
#include "inverter.h"

#include <math.h>
#include <stdio.h>
#include "base/error.h"
#include "common/options.h"
#include "subspace.h"
#include "wilson/memory.h"

/* ---- columns, and their name ----------------------------------------------------------------- */

int lat_inverter_columns(const lat_inverter *v, int *list)
{
    const int columns = v->columns ? v->columns : (int)lat_header_objects(&v->s.x->head);
    for (int i = 0; i < columns; i++)
        list[i] = v->columns ? v->column[i] : i;
    return columns;
}

void lat_inverter_name(lat_inverter *v)
{
    const char *links = v->links.u.head.read_crc, *source = v->s.b->head.read_crc;
    snprintf(v->s.name, sizeof v->s.name,
             "config %ld field %ld mass %a twist %a links %s source %s%s%s%s%s%s%s",
             lat_inverter_config(v), v->s.field, v->fermion.mass, v->fermion.twist,
             *links ? links : "-", *source ? source : "-", *v->deflation ? " deflated by " : "",
             v->deflation, *v->subspace ? " by subspace " : "", v->subspace,
             *v->known.text ? " with " : "", v->known.text);
}

int lat_inverter_written(lat_inverter *v)
{
    const char *links = v->links.u.head.read_crc, *source = v->s.b->head.read_crc;
    bool written;
    char name[96];
    snprintf(name, sizeof name, "config %ld field %ld links %s source %s", lat_inverter_config(v),
             v->s.field, links, source);
    if (lat_sections_input(&v->s.kept, name, &written))
        return -1;
    v->s.field += written;
    return written;
}

/* ---- where and how --------------------------------------------------------------------------- */

static lat_storage inner_precision(const lat_inverter *v, const lat_device *on)
{
    const bool fast = v->o->how.solver != LAT_SOLVER_BICGSTABL
                      && v->o->how.solver != LAT_SOLVER_GCR;
    switch ((lat_inner)v->o->precision) {
    case LAT_INNER_AUTO: break;
    case LAT_INNER_SINGLE: return LAT_STORAGE_SINGLE;
    case LAT_INNER_DOUBLE: return LAT_STORAGE_DOUBLE;
    case LAT_INNER_HALF: return LAT_STORAGE_HALF;
    }
    return on->gpu && fast ? LAT_STORAGE_HALF : LAT_STORAGE_SINGLE;
}

const lat_field *lat_inverter_links(const lat_inverter *v)
{
    return v->o->smearing ? &v->smeared : &v->links.u;
}

int lat_inverter_take_links(lat_inverter *v)
{
    const lat_field *u = &v->links.u;
    const char *name = lat_input_name(v->links.in);
    if (v->taken == v->links.number)
        return 0;
    lat_inverter_close(v);
    lat_field_free(&v->smeared);
    v->taken = v->links.number;
    if (!v->device && !(v->device = lat_device_open(&v->o->device, lat_opts.comm)))
        return -1;
    return lat_rc(lat_fermion_check_gauge(&u->head, name)
                  || lat_fermion_check_links(&v->fermion, &u->head, name)
                  || (v->o->smearing && lat_smear_links(u, &v->o->smear, &v->smeared)));
}

lat_device *lat_inverter_device(lat_inverter *v, const lat_field *links)
{
    const bool can = lat_space_gpu_takes(&links->head.geom, lat_opts.comm)
                     && (v->o->reals != 8 || links->head.nc == 2);
    return lat_device_or_cpu(v->device, can);
}

void lat_inverter_close(lat_inverter *v)
{
    if (v->s.wilson && lat_wilson_promoted(v->s.wilson))
        lat_warn("half precision stagnated in %ld columns, which went on in single",
                 lat_wilson_promoted(v->s.wilson));
    lat_overlap_pair_close(&v->s.overlap);
    lat_plain_free(v->s.plain);
    lat_wilson_close(v->s.wilson);
    lat_plain_gpu_free(v->s.plain_gpu);
    v->s.plain = NULL;
    v->s.wilson = NULL;
    v->s.plain_gpu = NULL;
}

/* It may still be written from there. */
static int close_mirror(lat_inverter *v)
{
    const int rc = v->s.mirror ? lat_writer_end(&v->s.writer) : 0;
    lat_mirror_close(v->s.mirror);
    v->s.mirror = NULL;
    return rc;
}

void lat_inverter_end(lat_inverter *v)
{
    lat_inverter_close(v);
    close_mirror(v);
    lat_field_free(&v->smeared);
}

/* The largest modulus of an eigenvalue. */
static double reach(const lat_field *modes)
{
    double most = 0;
    for (size_t k = 0; k < lat_header_objects(&modes->head); k++)
        most = fmax(most, fabs(modes->head.quark.eigenvalue[k]));
    return most;
}

/* The modes of --deflate for the present links and this operator, named in v->deflation. */
static int find_modes(lat_inverter *v, const lat_fermion *f, lat_field *modes,
                      lat_modes_matrix *matrix)
{
    if (lat_modefile_find(v->modes, &v->links.u, f, v->o->smearing, modes, matrix))
        return -1;
    snprintf(v->deflation, sizeof v->deflation, "%zu modes of %s up to %.3g, CRC %s",
             lat_header_objects(&modes->head), lat_modes_matrix_text(*matrix), reach(modes),
             modes->head.read_crc);
    return 0;
}

/* They say what is solved, the Schur complement or M itself. */
static int read_modes(lat_inverter *v, lat_field *modes, lat_modes_matrix *matrix)
{
    if (find_modes(v, &v->fermion, modes, matrix))
        return -1;
    if (lat_opt_given("even-odd")
        && (v->o->even_odd == LAT_EVEN_ODD_NONE) != (*matrix != LAT_MODES_OF_G5S))
        return lat_fail("%s: expected modes of %s for this --even-odd, found those of %s",
                        lat_input_name(v->modes),
                        v->o->even_odd == LAT_EVEN_ODD_NONE ? "gamma5 M or M^+ M" : "gamma5 S",
                        lat_modes_matrix_text(*matrix));
    return 0;
}

/* What stays on a GPU besides solvers: the solution, and the operator that certifies it. */
static double x_bytes(const lat_inverter *v) { return (double)lat_header_bytes(&v->s.x->head); }

static double plain_bytes(const lat_inverter *v)
{
    return lat_plain_gpu_bytes(&v->links.u.head, &v->fermion);
}

/* Of the device, for what is not there yet. */
static double bytes_for(const lat_inverter *v, const lat_device *on)
{
    return v->o->memory > 0 ? v->o->memory * 1e9 - (v->s.mirror ? x_bytes(v) : 0)
                                  - (v->s.plain_gpu ? plain_bytes(v) : 0)
                            : lat_device_free_bytes(on);
}

/* Where a solver is chosen by itself there is a multigrid only if it has memory beside the columns.
 */
static void drop_multigrid(const lat_inverter *v, const lat_device *on, const lat_wilson_use *use,
                           double bytes, lat_wilson_options *o)
{
    const double wanted = lat_wilson_bytes(on, &v->links.u.head, &v->fermion, o, use, true);
    if (!o->multigrid || use->solver != LAT_SOLVER_AUTO || v->subspaces || wanted <= bytes)
        return;
    o->multigrid = false;
    lat_verbose("no multigrid: with it %d columns would need %.3g GB of memory, %.3g GB are there",
                o->columns, wanted * 1e-9, bytes * 1e-9);
}

int lat_inverter_batch(lat_inverter *v, lat_device *on, size_t modes, lat_wilson_options *o)
{
    const lat_wilson_use use = {(lat_solver)v->o->how.solver, v->twists, (int)modes};
    const lat_header *links = &v->links.u.head;
    const bool given = lat_opt_given("batch");
    const double bytes = bytes_for(v, on),
                 wanted = lat_wilson_bytes(on, links, &v->fermion, o, &use, false);
    if (bytes < 0)
        return -1;
    if (given && wanted <= bytes) {
        drop_multigrid(v, on, &use, bytes, o);
        return 0;
    }
    const int fit = lat_wilson_columns(on, links, &v->fermion, o, &use, bytes);
    if (fit == 0)
        return -1;
    if (given)
        return lat_fail(
            "--batch %d needs %.3g GB of memory, %.3g GB are there: expected --batch %d",
            o->columns, wanted * 1e-9, bytes * 1e-9, fit);
    lat_wilson_options fewer = *o;
    fewer.columns = fit;
    const bool spare = lat_wilson_bytes(on, links, &v->fermion, &fewer, &use, true) <= bytes;
    if (fit < o->columns)
        lat_verbose("%d of %d columns side by side: all would need %.3g GB of memory, %.3g GB are "
                    "there",
                    fit, o->columns,
                    lat_wilson_bytes(on, links, &v->fermion, o, &use, spare) * 1e-9, bytes * 1e-9);
    v->o->how.batch = o->columns = fit;
    drop_multigrid(v, on, &use, bytes, o);
    return 0;
}

/* May the solution stay on a GPU until it is written, and be certified there? Where that leaves
 * memory for all columns side by side. */
static bool takes_mirror(const lat_inverter *v, const lat_device *on, size_t modes,
                         const lat_wilson_options *o)
{
    const lat_wilson_use use = {(lat_solver)v->o->how.solver, 0, (int)modes};
    return v->whole && !lat_columns_used(&v->s.kept) && lat_mirror_takes(on, &v->s.x->head)
           && lat_wilson_bytes(on, &lat_inverter_links(v)->head, &v->fermion, o, &use, true)
                      + plain_bytes(v) + (v->s.mirror ? 0 : x_bytes(v))
                  <= bytes_for(v, on);
}

/* The mirror is that of the links before, if there is one: it may not have been written yet. */
static int open_mirror(lat_inverter *v, lat_device *on, size_t modes, lat_wilson_options *o)
{
    if (v->s.mirror && !lat_mirror_fits(v->s.mirror, &v->s.x->head) && close_mirror(v))
        return -1;
    if (!takes_mirror(v, on, modes, o))
        return close_mirror(v);
    if (!(v->s.plain_gpu = lat_plain_gpu_new(on, lat_inverter_links(v), &v->fermion)))
        return -1;
    if (!v->s.mirror) {
        if (!(v->s.mirror = lat_mirror_open(on, &v->s.x->head)))
            return -1;
        lat_verbose("solutions stay on the GPU until they are written: %.3g GB",
                    (x_bytes(v) + plain_bytes(v)) * 1e-9);
    }
    o->dirac.there = lat_plain_gpu_links(v->s.plain_gpu);
    return 0;
}

/* m: a multigrid of these links for another mass; or NULL. */
static int open_wilson(lat_inverter *v, lat_device *on, lat_wilson_options *o, lat_multigrid *m)
{
    const lat_field *links = lat_inverter_links(v);
    lat_field modes = {.data = NULL};
    lat_modes_matrix matrix = LAT_MODES_OF_G5M;
    int rc = v->modes ? read_modes(v, &modes, &matrix) : 0;
    if (v->modes)
        o->form = matrix == LAT_MODES_OF_G5S ? LAT_ASYMMETRIC : LAT_FULL;
    const size_t count = v->modes ? lat_header_objects(&modes.head) : 0;
    if (rc == 0
        && (open_mirror(v, on, count, o) || lat_inverter_batch(v, on, count, o)
            || !(v->s.plain = lat_plain_new(links, &v->fermion))
            || !(v->s.wilson = lat_wilson_open(on, links, &v->fermion, o))))
        rc = -1;
    if (rc == 0 && v->modes)
        rc = lat_wilson_deflate(v->s.wilson, &modes, matrix == LAT_MODES_OF_NORMAL,
                                lat_input_name(v->modes));
    lat_field_free(&modes);
    if (rc || !m || !o->multigrid) {
        lat_multigrid_close(m);
        return rc;
    }
    return lat_wilson_take_multigrid(v->s.wilson, m);
}

/* The same with the multigrid of the file of subspaces, for each links anew. */
static int open_with_subspace(lat_inverter *v, lat_device *on, lat_wilson_options *o)
{
    lat_subspace sub;
    int rc = lat_subspace_find(v->subspaces, &v->links.u, &v->fermion, v->o->smearing, &sub);
    lat_subspace_serve(&sub, o);
    snprintf(v->subspace, sizeof v->subspace, "%s", sub.vectors.head.read_crc);
    if (rc == 0)
        rc = lat_rc(open_wilson(v, on, o, NULL)
                    || lat_subspace_make(v->s.wilson, v->s.plain, lat_inverter_links(v),
                                         lat_input_name(v->subspaces)));
    lat_subspace_free(&sub);
    return rc;
}

int lat_inverter_wide(lat_inverter *v, int columns)
{
    if (!lat_opt_given("batch"))
        v->o->how.batch = LAT_INVERTER_BATCH;
    return columns < v->o->how.batch ? columns : (int)v->o->how.batch;
}

/* The overlap operator, with modes of H and of its own, if there are files of them. */
static int open_overlap(lat_inverter *v, lat_device *on, int columns)
{
    lat_fermion massless = v->fermion;
    lat_field modes = {.data = NULL};
    lat_modes_matrix matrix;
    massless.mass = 0;
    int rc = lat_rc(lat_overlap_known_find(&v->known, lat_inverter_config(v), &v->links.u,
                                           &v->fermion, v->o->smearing)
                    || (v->modes && find_modes(v, &massless, &modes, &matrix))
                    || lat_overlap_pair_open(&v->s.overlap, on, lat_inverter_links(v), &v->fermion,
                                             columns, v->o->precision != LAT_INNER_DOUBLE,
                                             v->o->how.residual, &v->known));
    if (rc == 0 && v->modes)
        rc = lat_overlap_deflate(v->s.overlap.fast, &modes, lat_input_name(v->modes));
    lat_field_free(&modes);
    return rc;
}

/* Multigrid where it is asked for; and where it may be, if the solver is chosen by itself. */
static int allow_multigrid(lat_inverter *v, lat_device *on, lat_wilson_options *o)
{
    const lat_geometry *lattice = &v->links.u.head.geom;
    const bool asked = v->o->how.solver == LAT_SOLVER_MG;
    if (!asked
        && (v->o->how.solver != LAT_SOLVER_AUTO || v->modes || lat_inverter_overlap(v)
            || o->form == LAT_FULL || o->inner == LAT_STORAGE_DOUBLE))
        return 0;
    o->setup.columns = v->columns ? v->columns : (double)lat_header_objects(&v->s.b->head);
    o->setup.columns *= (v->masses > 1 ? v->masses : 1) * (v->fields > 1 ? v->fields : 1);
    o->made_mass = v->masses > 1 ? v->lightest : v->fermion.mass;
    o->made_twist = v->fermion.twist;
    o->multigrid = lat_multigrid_takes(on, lattice, v->links.u.head.nc) == 0;
    if (!o->multigrid && asked)
        return -1;
    if (!o->multigrid)
        lat_error_clear();
    return 0;
}

int lat_inverter_open(lat_inverter *v)
{
    static const lat_dirac_form forms[] = {LAT_SYMMETRIC, LAT_ASYMMETRIC, LAT_FULL};
    const int columns = v->columns ? v->columns : (int)lat_header_objects(&v->s.b->head);
    const lat_field *links = lat_inverter_links(v);
    lat_device *on = lat_inverter_device(v, links);
    if (!on)
        return -1;
    lat_wilson_options o = {
        .columns = lat_inverter_wide(v, columns),
        .form = forms[v->o->even_odd],
        .inner = inner_precision(v, on),
        .dirac = {.reals = (int)v->o->reals},
    };
    if (allow_multigrid(v, on, &o))
        return -1;
    lat_device_threads(on, links, o.columns);
    if (v->s.overlap.fast && lat_inverter_overlap(v)) { /* of another mass */
        lat_overlap_pair_mass(&v->s.overlap, v->fermion.mass);
        return 0;
    }
    lat_multigrid *const m = v->s.wilson ? lat_wilson_give_multigrid(v->s.wilson) : NULL;
    lat_inverter_close(v);
    v->wide = columns;
    if (lat_inverter_overlap(v))
        return open_overlap(v, on, o.columns);
    if (v->subspaces && !m)
        return open_with_subspace(v, on, &o);
    return open_wilson(v, on, &o, m);
}
