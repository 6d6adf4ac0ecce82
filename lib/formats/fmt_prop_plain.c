/* SPDX-License-Identifier: BSD-3-Clause */
/* fmt_prop_plain.c: spinors and propagators that are one array of numbers, with a short head or
 * none.
 *
 * npy-prop: a NumPy array of complex numbers [t][z][y][x][spin][source spin][colour][source
 * colour], as PyQUDA writes it, or [t][z][y][x][spin][colour]. kyu-prop: big-endian f64 [source
 * spin][source colour][re, im][spin][colour][t][z][y][x]. xqcd-prop: little-endian f32 [source
 * spin][source colour][t][z][y][x][spin][colour][re, im]. openqcd-sfld: i32 T, X, Y, Z, in openQCD
 * 2.0 and later i32 0 (1: only even points), f64 square norm, then f64
 * [t][x][y][z][spin][colour][re, im], little endian. ddalphaamg-vector: text between <header> and
 * </header>, or none; little-endian f64 [t][z][y][x][spin][colour][re, im]. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "npy.h"
#include "quarks.h"

/* ---- DDalphaAMG ------------------------------------------------------------------------------ */

static int skip_header(lat_input *in)
{
    static const char begin[] = "<header>", end[] = "</header>\n";
    char b[4096];
    const ssize_t n = lat_input_peek(in, b, sizeof b);
    if (n < (ssize_t)strlen(begin) || memcmp(b, begin, strlen(begin)) != 0)
        return n < 0 ? -1 : 0;
    const char *at = memmem(b, (size_t)n, end, strlen(end));
    return at ? lat_input_skip(in, (uint64_t)(at - b) + strlen(end))
              : lat_fail("%s: expected </header> and a newline in its first %zd bytes",
                         lat_input_name(in), n);
}

static int read_ddalphaamg(lat_input *in, lat_field *f, lat_quark_hints *h)
{
    f->head.real = LAT_F64;
    return lat_rc(skip_header(in) < 0 || lat_take_dims(in, &f->head.geom, &h->dims) < 0
                  || lat_quark_read_whole(in, f, LAT_SPINOR, &h->format->array));
}

/* ---- openQCD --------------------------------------------------------------------------------- */

extern const lat_format lat_format_openqcd_sfld;

#define SFLD_HEAD 24 /* bytes; later versions have 4 more */
#define SFLD_MOST 28
#define NORM_WITHIN 1e-10 /* relative; of sums in another order, some n eps */

static bool probe_sfld(const unsigned char *b, size_t n, int64_t size)
{
    const uint64_t volume = n >= SFLD_HEAD ? lat_probe_volume(b, false) : 0;
    return volume && size >= 0
           && ((uint64_t)size == SFLD_HEAD + 192 * volume
               || (uint64_t)size == SFLD_MOST + 192 * volume
               || (uint64_t)size == SFLD_MOST + 96 * volume);
}

/* Bytes of the header. The length of a file tells; else the integer does, which as part of a norm
 * is seldom so small. */
static size_t sfld_head(const lat_input *in, const unsigned char *b)
{
    const int64_t size = lat_input_size(in);
    const uint64_t points = 192 * lat_probe_volume(b, false);
    if (size >= 0 && (uint64_t)size == SFLD_HEAD + points)
        return SFLD_HEAD;
    if (size >= 0
        && ((uint64_t)size == SFLD_MOST + points || (uint64_t)size == SFLD_MOST + points / 2))
        return SFLD_MOST;
    return lat_load_le32(b + 16) <= 1 ? SFLD_MOST : SFLD_HEAD;
}

/* Of this rank. */
static double square_norm(const lat_field *f)
{
    const size_t slices = (size_t)lat_field_slab(f).count, n = lat_field_reals(f) / slices;
    double sum = 0;
    for (size_t t = 0; t < slices; t++) {
        double slice = 0;
        for (size_t i = t * n; i < (t + 1) * n; i++)
            slice += ((const double *)f->data)[i] * ((const double *)f->data)[i];
        sum += slice;
    }
    return sum;
}

static int read_sfld(lat_input *in, lat_field *f, lat_quark_hints *h)
{
    unsigned char b[SFLD_MOST];
    const char *name = lat_input_name(in);
    if (lat_input_read(in, b, SFLD_HEAD) < 0)
        return -1;
    const size_t n = sfld_head(in, b);
    if (n > SFLD_HEAD && lat_input_read(in, b + SFLD_HEAD, n - SFLD_HEAD) < 0)
        return -1;
    if (n > SFLD_HEAD && lat_load_le32(b + 16) != 0)
        return lat_fail("%s: expected 0 after the extents, a spinor on all points, found %ld%s",
                        name, (long)(int32_t)lat_load_le32(b + 16),
                        lat_load_le32(b + 16) == 1 ? ": half of the points are not read" : "");
    lat_dims_load(&f->head.geom, b, false, true);
    f->head.real = LAT_F64;
    const int rc = lat_quark_read_whole(in, f, LAT_SPINOR, &h->format->array);
    if (lat_quark_meet(f, rc) < 0)
        return -1;
    double found = square_norm(f);
    if (lat_field_shared(f) && f->comm->sum(f->comm, &found, 1))
        return -1;
    const double stated = lat_load_f64(b + n - 8, false);
    return isfinite(found) && fabs(found - stated) <= NORM_WITHIN * found
               ? 0
               : lat_mismatch(h->force,
                              "%s: square norm %.15g is stated, %.15g found (damaged copy?)", name,
                              stated, found);
}

static int write_sfld(lat_output *out, const lat_field *f)
{
    unsigned char b[SFLD_HEAD];
    lat_dims_store(&f->head.geom, b, false, true);
    lat_store_f64(b + 16, square_norm(f), false);
    return lat_rc(lat_output_write(out, b, sizeof b) < 0
                  || lat_quark_array_write(out, f, &lat_format_openqcd_sfld.array));
}

/* ---- NumPy ----------------------------------------------------------------------------------- */

/* Has it the shape of a propagator or a spinor? */
static bool has_spinors(const lat_npy *a, lat_kind *kind)
{
    const uint64_t *d = a->extent;
    const bool propagator = a->rank == 8 && d[4] == 4 && d[5] == 4 && d[6] == 3 && d[7] == 3,
               spinor = a->rank == 6 && d[4] == 4 && d[5] == 3;
    *kind = propagator ? LAT_PROPAGATOR : LAT_SPINOR;
    return propagator || spinor;
}

static bool probe_npy(const unsigned char *b, size_t n, LAT_UNUSED int64_t size)
{
    lat_npy array;
    lat_kind kind;
    return lat_npy_parse(b, n, &array) > 0 && has_spinors(&array, &kind);
}

static int read_npy(lat_input *in, lat_field *f, lat_quark_hints *h)
{
    unsigned char b[LAT_NPY_MOST];
    char axes[LAT_QUARK_AXES], text[LAT_NPY_MOST];
    lat_npy array;
    lat_kind kind;
    const char *name = lat_input_name(in);
    const ssize_t n = lat_input_peek(in, b, sizeof b);
    const size_t head = n < 0 ? 0 : lat_npy_parse(b, (size_t)n, &array);
    if (n < 0)
        return -1;
    if (head == 0 || !has_spinors(&array, &kind))
        return lat_fail("%s: expected a NumPy array of complex numbers of shape (T, "
                        "Z, Y, X, 4, 4, 3, 3) or (T, Z, Y, X, 4, 3), found %.200s",
                        name, lat_npy_text(b, (size_t)n, text) ? text : "another head");
    f->head.real = array.real;
    lat_quark_take_order(&f->head.geom, axes, h->order[0] ? h->order : "tzyx", kind, array.extent);
    if (array.fortran)
        for (size_t i = 0, last = strlen(axes) - 2; i < last;
             i++, last--) { /* i stays the fastest */
            const char c = axes[i];
            axes[i] = axes[last];
            axes[last] = c;
        }
    const lat_quark_array a = {.axes = axes, .big = array.big};
    h->unvouched = !h->order[0];
    return lat_input_skip(in, head) < 0 ? -1 : lat_quark_read_whole(in, f, kind, &a);
}

static int write_npy(lat_output *out, const lat_field *f)
{
    char b[LAT_NPY_HEAD + 1], shape[64];
    const int *d = f->head.geom.dims;
    const lat_quark_array a = {.axes = f->head.kind == LAT_PROPAGATOR ? "tzyxsScCi" : "tzyxsci"};
    snprintf(shape, sizeof shape, "%d, %d, %d, %d, %s", d[3], d[2], d[1], d[0],
             f->head.kind == LAT_PROPAGATOR ? "4, 4, 3, 3" : "4, 3");
    lat_npy_print(b, f->head.real, shape);
    return lat_output_write(out, b, LAT_NPY_HEAD) < 0 ? -1 : lat_quark_array_write(out, f, &a);
}

/* ---- the list -------------------------------------------------------------------------------- */

const lat_format lat_format_npy_prop = {
    .name = "npy-prop",
    .extension = ".npy",
    .about = "NumPy array of a propagator or spinor, as PyQUDA writes it",
    .source = "NumPy array",
    .takes = LAT_TAKES_ORDER,
    .probe = probe_npy,
    .quarks = LAT_HOLDS_PROPAGATORS | LAT_HOLDS_SPINORS,
    .proven = true,
    .read = read_npy,
    .write = write_npy,
};

const lat_format lat_format_kyu_prop = {
    .name = "kyu-prop",
    .extension = ".kyuprop",
    .about = "propagator of KYU, without a head",
    .source = "KYU propagator",
    .only = LAT_F64,
    .quarks = LAT_HOLDS_PROPAGATORS,
    .basis = "dirac-pauli",
    .array = {.axes = "SCisctzyx", .big = true},
};

const lat_format lat_format_xqcd_prop = {
    .name = "xqcd-prop",
    .extension = ".xqcdprop",
    .about = "propagator of XQCD, without a head",
    .source = "XQCD propagator",
    .only = LAT_F32,
    .quarks = LAT_HOLDS_PROPAGATORS,
    .basis = "dirac-pauli",
    .array = {.axes = "SCtzyxsci"},
};

const lat_format lat_format_openqcd_sfld = {
    .name = "openqcd-sfld",
    .extension = ".sfld",
    .about = "spinor field of openQCD (export_sfld)",
    .source = "openQCD spinor field",
    .only = LAT_F64,
    .probe = probe_sfld,
    .quarks = LAT_HOLDS_SPINORS,
    .basis = "chiral",
    .array = {.axes = "txyzsci"},
    .read = read_sfld,
    .write = write_sfld,
};

const lat_format lat_format_ddalphaamg_vector = {
    .name = "ddalphaamg-vector",
    .extension = ".ddvec",
    .about = "spinor field of DDalphaAMG (vector_io)",
    .source = "DDalphaAMG vector",
    .only = LAT_F64,
    .begins = {"<header>"},
    .quarks = LAT_HOLDS_SPINORS,
    .basis = "ddalphaamg",
    .array = {.axes = "tzyxsci"},
    .read = read_ddalphaamg,
};
