/* SPDX-License-Identifier: BSD-3-Clause */
/* quarks.c: spinors and propagators of other programs: arrays, spin bases, normalisation. */
#include "quarks.h"

#include <math.h>
#include <string.h>
#include "base/error.h"
#include "lattice/reals.h"
#include "quark/source.h"

/* ---- basis and normalisation ----------------------------------------------------------------- */

/* What is done to the 8 N reals of each column of site x. */
typedef void at_site(const void *with, const lat_field *f, size_t x, double *s);

static void each_site(lat_field *f, at_site *change, const void *with)
{
    const size_t columns = lat_header_objects(&f->head), reals = lat_header_full_reals(&f->head);
#pragma omp parallel for schedule(static)
    for (size_t x = 0; x < lat_field_sites(f); x++) {
        double s[32 * LAT_MAX_COLOURS * LAT_MAX_COLOURS]; /* of a propagator */
        for (size_t c = 0; c < columns; c++)
            lat_field_get(f, x * columns + c, s + c * reals);
        change(with, f, x, s);
        for (size_t c = 0; c < columns; c++)
            lat_field_put(f, x * columns + c, s + c * reals);
    }
}

/* All numbers times `scale`, in another basis: the numbers of the file to ours, or `back`. */
typedef struct numbers {
    const lat_basis *basis;
    bool back;
    double scale;
} numbers;

static void change_site(const void *with, const lat_field *f, LAT_UNUSED size_t x, double *s)
{
    const numbers *n = with;
    const int nc = f->head.nc;
    if (f->head.kind == LAT_PROPAGATOR)
        lat_basis_propagator(n->basis, n->back, nc, s);
    else
        lat_basis_spinor(n->basis, n->back, nc, s);
    for (size_t k = 0; k < lat_header_objects(&f->head) * lat_header_full_reals(&f->head); k++)
        s[k] *= n->scale;
}

static void change_source(const void *with, const lat_field *f, LAT_UNUSED size_t x, double *s)
{
    lat_basis_source(with, false, f->head.nc, s);
}

void lat_quarks_source_basis(lat_field *f, const lat_basis *b)
{
    if (strcmp(b->name, LAT_BASIS))
        each_site(f, change_source, b);
}

lat_norm lat_quarks_norm(const lat_format *format, const lat_quark_hints *h)
{
    return h->norm ? h->norm : format->norm ? format->norm : LAT_NORM_MASS;
}

/* The factor from a file's numbers to M^-1; NaN with lat_error set. Sources are as they are. A
 * kappa that differs from that of the header by more than digits is a mismatch. */
static double file_scale(const char *name, const lat_format *format, const lat_header *head,
                         const lat_quark_hints *h)
{
    const lat_fermion *fermion = &head->quark.fermion;
    /* NaN where the header states none. */
    const double stated = !strcmp(fermion->name, "wilson") ? lat_kappa_of_mass(fermion->mass) : NAN,
                 kappa = isnan(h->kappa) ? stated : h->kappa;
    if (lat_quarks_norm(format, h) != LAT_NORM_KAPPA)
        return 1;
    if (fabs(kappa - stated) > 1e-6 * fabs(stated)
        && lat_mismatch(h->force,
                        "%s: expected kappa %.10g, which the header states, found --kappa %.10g "
                        "(--force takes it)",
                        name, stated, kappa))
        return NAN;
    if (isnan(kappa))
        lat_fail(
            "%s: %s files hold M^-1/(2 kappa), and kappa is not known: give --kappa, or "
            "read it by lat-convert --normalisation mass, which leaves the numbers as they are",
            name, format->name);
    return 2 * kappa;
}

/* Between the basis and norm of a foreign file and ours. */
static int change(const char *name, lat_field *f, const lat_format *format,
                  const lat_quark_hints *h, bool back)
{
    const double scale = file_scale(name, format, &f->head, h);
    const lat_basis *b = h->basis ? h->basis
                                  : lat_basis_find(format->basis ? format->basis : LAT_BASIS);
    if (isnan(scale) || !b)
        return -1;
    if (strcmp(b->name, LAT_BASIS) || scale != 1)
        each_site(f, change_site, &(numbers){b, back, back ? 1 / scale : scale});
    return 0;
}

/* ---- what options state ---------------------------------------------------------------------- */

int lat_quarks_state_boundary(const char *name, lat_header *head, const lat_phase *boundary,
                              bool force)
{
    lat_fermion *f = &head->quark.fermion, said = *f;
    char its[LAT_BOUNDARY_TEXT], given[LAT_BOUNDARY_TEXT];
    if (!boundary)
        return 0;
    memcpy(said.boundary, boundary, sizeof said.boundary);
    if (lat_fermion_bounded(f) && !lat_fermion_same(f, &said)
        && lat_mismatch(force,
                        "%s: expected boundary %s, which the header states, found --boundary %s "
                        "(--force takes it)",
                        name, lat_boundary_text(f->boundary, its),
                        lat_boundary_text(boundary, given)))
        return -1;
    said.bounded = !lat_fermion_known(f);
    *f = said;
    return 0;
}

static int state_source(const char *name, lat_quark *q, const lat_quark_hints *h)
{
    if (!h->source || (q->source && !strcmp(q->source, h->source)))
        return 0;
    if (q->source
        && lat_mismatch(h->force,
                        "%s: expected source %.200s, which the header states, found --source %s "
                        "(--force takes it)",
                        name, q->source, h->source))
        return -1;
    if (!lat_fermion_bounded(&q->fermion))
        return lat_fail(
            "%s: expected --boundary beside --source: what has a source and no boundary "
            "of quarks is a source itself",
            name);
    return lat_quark_set_source(q, h->source);
}

/* Phases: an angle for a step along each axis, 0 at a site. */
typedef struct phases {
    double step[LAT_MAX_DIMS];
    int place[LAT_MAX_DIMS];
} phases;

static void rotate_site(const void *with, const lat_field *f, size_t x, double *s)
{
    const phases *p = with;
    int at[LAT_MAX_DIMS];
    double angle = 0;
    lat_coordinates(&f->head.geom, x, at);
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        angle += p->step[mu] * (at[mu] - p->place[mu]);
    const double c = cos(angle), d = sin(angle);
    for (size_t k = 0; k < lat_header_objects(&f->head) * lat_header_full_reals(&f->head); k += 2) {
        const double re = s[k], im = s[k + 1];
        s[k] = c * re - d * im;
        s[k + 1] = c * im + d * re;
    }
}

/* The propagator of links exp(i a) U with a = pi theta/L has exp(-i a (x - x0)) times ours. */
static int gather_phases(const char *name, lat_field *f, const double *spread)
{
    const lat_quark *q = &f->head.quark;
    phases p;
    if (f->head.kind == LAT_MODES)
        return lat_fail("%s: --spread: expected solutions, found modes", name);
    const unsigned known = lat_source_place(q->source, p.place);
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++) {
        p.step[mu] = M_PI * spread[mu] / f->head.geom.dims[mu];
        if (spread[mu] != 0 && (!lat_fermion_bounded(&q->fermion) || !(known >> mu & 1)))
            return lat_fail(
                "%s: --spread: expected the boundary of the quarks (--boundary) and the "
                "place of the source along %c (--source), found %s",
                name, "xyzt"[mu], lat_fermion_bounded(&q->fermion) ? "no place" : "no boundary");
    }
    each_site(f, rotate_site, &p);
    return 0;
}

int lat_quarks_state(const char *name, lat_field *f, const lat_quark_hints *h)
{
    return lat_rc(lat_quarks_state_boundary(name, &f->head, h->boundary, h->force)
                  || state_source(name, &f->head.quark, h)
                  || (h->spread && gather_phases(name, f, h->spread)));
}

/* ---- a field --------------------------------------------------------------------------------- */

static int expect_finite(const char *name, const lat_field *f)
{
    const uint64_t infinite = f->head.real == LAT_F64 ? 0x7ff0000000000000 : 0x7f800000;
    return lat_reals_largest(f->data, lat_field_reals(f), f->head.real) < infinite
               ? 0
               : lat_fail("%s: expected finite numbers, found NaN or infinity: another byte order?",
                          name);
}

/* As the file has it. */
static int read_stated(lat_input *in, lat_field *f, const lat_format *from, lat_quark_hints *h)
{
    if (from->read && from->read(in, f, h) < 0)
        return -1;
    if (!from->read) {
        f->head.real = from->only;
        if (lat_take_dims(in, &f->head.geom, &h->dims) < 0
            || lat_quark_read_whole(in, f,
                                    from->quarks & LAT_HOLDS_SPINORS ? LAT_SPINOR : LAT_PROPAGATOR,
                                    &from->array))
            return -1;
    }
    return from->source ? lat_set_source(&f->head, "%s", from->source) : 0;
}

/* In our basis, and M^-1. */
static int read_changed(lat_input *in, lat_field *f, const lat_format *from, lat_quark_hints *h,
                        int real)
{
    const char *name = lat_input_name(in);
    return lat_rc(read_stated(in, f, from, h) < 0 || lat_expect_end(in, h->force) < 0
                  || expect_finite(name, f) < 0
                  || (real == LAT_F64 && lat_field_convert(f, LAT_F64) < 0)
                  || change(name, f, from, h, false) < 0
                  || (real == LAT_F32 && lat_field_convert(f, LAT_F32) < 0));
}

int lat_quarks_read(lat_input *in, lat_field *f, const lat_format *from,
                    const lat_quark_hints *hints, int real)
{
    const char *name = lat_input_name(in);
    lat_quark_hints h = *hints;
    h.format = from;
    *f = (lat_field){.comm = h.comm};
    lat_header_init(&f->head);
    int rc = read_changed(in, f, from, &h, real);
    if (h.comm)
        rc = lat_quark_meet_at_end(name, f, h.comm, rc);
    if (rc < 0)
        lat_field_free(f);
    else if (h.unvouched)
        lat_warn("%s: nothing in it vouches for the order of its axes: it is read as t, z, y, x "
                 "(--order t,z,y,x of lat-convert says that they are)",
                 name);
    return rc;
}

/* Can the format hold the field? */
static int admit(const char *name, const lat_field *f, const lat_format *to)
{
    const bool propagators = to->quarks & LAT_HOLDS_PROPAGATORS,
               spinors = to->quarks & LAT_HOLDS_SPINORS;
    const lat_header *head = &f->head;
    char dims[64];
    if (!(head->kind == LAT_PROPAGATOR ? propagators : head->kind == LAT_SPINOR && spinors))
        return lat_fail("%s: holds %s, and %s files hold %s", name, lat_kind_text(head->kind),
                        to->name,
                        !propagators ? "a spinor field"
                        : spinors    ? "a spinor field or a quark propagator"
                                     : "a quark propagator");
    if (head->nc != 3)
        return lat_fail("%s: holds SU(%d) on %s, and %s files hold SU(3)", name, head->nc,
                        lat_dims_text(&head->geom, dims), to->name);
    return 0;
}

/* The precision that is written; 0 with lat_error set. */
static int written_real(const char *name, const lat_field *f, const lat_format *to, int real)
{
    if (to->only == LAT_F32 && f->head.real == LAT_F64 && real != LAT_F32)
        return lat_fail("%s: holds double precision, and %s files hold single: say --precision "
                        "single to round",
                        name, to->name),
               0;
    return to->only ? (int)to->only : real ? real : (int)f->head.real;
}

/* A higher precision is taken before the numbers are changed, a lower one after it. */
int lat_quarks_write(const char *name, lat_output *out, lat_field *f, const lat_format *to,
                     const lat_quark_hints *h, int real)
{
    const int wanted = admit(name, f, to) < 0 ? 0 : written_real(name, f, to, real);
    return !wanted || (wanted == LAT_F64 && lat_field_convert(f, LAT_F64) < 0)
                   || change(name, f, to, h, true) < 0 || lat_field_convert(f, (lat_real)wanted) < 0
               ? -1
           : to->write ? to->write(out, f)
                       : lat_quark_array_write(out, f, &to->array);
}
