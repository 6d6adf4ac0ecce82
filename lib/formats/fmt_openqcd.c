/* SPDX-License-Identifier: BSD-3-Clause */
/* fmt_openqcd.c: openQCD's exported configurations, and DDalphaAMG's with the same header.
 *
 * Little endian: four i32 extents, f64 three times the plaquette; then 3 x 3 matrices in double.
 * openQCD: extents T, X, Y, Z; for each odd site, t slowest and z fastest, the links +t, -t, +x,
 * -x, +y, -y, +z, -z, where -mu is the one that comes here from x - mu; all extents are even.
 * DDalphaAMG: extents T, Z, Y, X; all sites, x fastest, directions t, z, y, x. Length and form of
 * the header are the same, so the plaquette tells, or --dims where X and Z differ. PyQUDA has
 * openQCD's order of the links, and the extents T, Z, Y, X. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "format.h"

#define HEAD 24

extern const lat_format lat_format_openqcd, lat_format_ddalphaamg;

static bool probe(const unsigned char *b, size_t n, int64_t size)
{
    const uint64_t volume = n >= HEAD ? lat_probe_volume(b, false) : 0;
    return volume && lat_probe_size(size, HEAD + 576 * volume)
           && fabs(lat_load_f64(b + 16, false)) <= 3.1;
}

/* Between the extents as openQCD and as DDalphaAMG would have them. */
static void exchange_x_z(lat_geometry *geom)
{
    const int x = geom->dims[0];
    geom->dims[0] = geom->dims[2];
    geom->dims[2] = x;
}

/* ---- the order of links ---------------------------------------------------------------------- */

static bool odd(const int x[4]) { return (x[0] + x[1] + x[2] + x[3]) & 1; }

/* The odd site number i: z takes every second value, which ones depends on the others. */
static void odd_site(const int *d, size_t i, int x[4])
{
    const size_t half = (size_t)d[2] / 2, row = i / half;
    x[1] = (int)(row % (size_t)d[1]);
    x[0] = (int)(row / (size_t)d[1] % (size_t)d[0]);
    x[3] = (int)(row / (size_t)d[1] / (size_t)d[0]);
    x[2] = 2 * (int)(i % half) + ((x[0] + x[1] + x[3] + 1) & 1);
}

/* lat_matrix_map of openQCD. */
static void map_openqcd(const lat_geometry *geom, size_t first, size_t n, size_t *to)
{
    for (size_t i = 0; i < n; i++) {
        const size_t k = first + i;
        const int mu = (int)(k / 2 + 3) % 4; /* t, x, y, z */
        int x[4];
        odd_site(geom->dims, k / 8, x);
        if (k & 1)
            x[mu] = (x[mu] ? x[mu] : geom->dims[mu]) - 1;
        to[i] = 4 * lat_site(geom, x) + (size_t)mu;
    }
}

/* The inverse: the number of a link in the file. */
static size_t number_of(const lat_geometry *geom, size_t link)
{
    const int *d = geom->dims, mu = (int)(link % 4);
    int x[4];
    lat_coordinates(geom, link / 4, x);
    const bool backward = !odd(x);
    if (backward)
        x[mu] = (x[mu] + 1) % d[mu];
    const size_t row = ((size_t)x[3] * (size_t)d[0] + (size_t)x[0]) * (size_t)d[1] + (size_t)x[1];
    return 8 * (row * (size_t)d[2] / 2 + (size_t)x[2] / 2) + 2 * (((size_t)mu + 1) % 4) + backward;
}

/* Three programs have this header. PyQUDA's files have openQCD's order of the links, and
 * DDalphaAMG's order of the extents. */
typedef enum { OPENQCD, DDALPHAAMG, PYQUDA, PROGRAMS } program;

/* The number of a link in a file, and back; the extents are those that the program has. The order
 * of directions t, z, y, x is its own inverse. */
static size_t number_by(program p, const lat_geometry *geom, size_t link)
{
    return p == DDALPHAAMG ? link ^ 3 : number_of(geom, link);
}

static size_t link_by(program p, const lat_geometry *geom, size_t number)
{
    size_t link = number ^ 3;
    if (p != DDALPHAAMG)
        map_openqcd(geom, number, 1, &link);
    return link;
}

/* Permutes the links of a field that was read as one program's file, in memory, cycle by cycle,
 * without a second field. Its extents become those of the other program. */
static int rearrange(lat_field *f, program from, program to)
{
    const lat_geometry before = f->head.geom;
    lat_geometry *geom = &f->head.geom;
    if ((from == OPENQCD) != (to == OPENQCD))
        exchange_x_z(geom);
    const size_t links = lat_field_matrices(f);
    double(*u)[18] = f->data, moving[18], next_link[18];
    unsigned char *done = lat_alloc_zero(links, 1, "marks for links");
    if (!done)
        return -1;
    for (size_t start = 0; start < links; start++) {
        size_t at = start;
        memcpy(moving, u[start], sizeof moving);
        while (!done[at]) {
            const size_t next = link_by(to, geom, number_by(from, &before, at));
            done[at] = 1;
            memcpy(next_link, u[next], sizeof next_link);
            memcpy(u[next], moving, sizeof moving);
            memcpy(moving, next_link, sizeof moving);
            at = next;
        }
    }
    free(done);
    return 0;
}

/* The same to a field in memory; or else to how it is read. */
static int read_as(lat_field *f, lat_payload *p, program from, program to)
{
    if (f->data)
        return rearrange(f, from, to);
    if ((from == OPENQCD) != (to == OPENQCD))
        exchange_x_z(&f->head.geom);
    *p = to == DDALPHAAMG ? lat_format_ddalphaamg.stored : lat_format_openqcd.stored;
    p->rows = f->head.nc;
    return 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool all_even(const lat_geometry *geom)
{
    return !((geom->dims[0] | geom->dims[1] | geom->dims[2] | geom->dims[3]) & 1);
}

static int read_head(lat_input *in, lat_header *head, lat_read_context *r, bool ddalphaamg)
{
    unsigned char b[HEAD];
    if (lat_input_read(in, b, sizeof b) < 0)
        return -1;
    lat_dims_load(&head->geom, b, false, true);
    if (ddalphaamg)
        exchange_x_z(&head->geom);
    return lat_rc(lat_header_check(head, lat_input_name(in)) < 0
                  || lat_take_plaquette(in, r, lat_load_f64(b + 16, false), 1.0 / 3));
}

static int begin_ddalphaamg(lat_input *in, lat_header *head, LAT_UNUSED lat_payload *p,
                            lat_read_context *r)
{
    return read_head(in, head, r, true);
}

/* Which programs are tried, and the plaquette as the first one's. */
typedef struct order_test {
    program tried[PROGRAMS];
    int count, now; /* now = count: none fits */
    double before;
} order_test;

/* Does --dims name the extents T, Z, Y, X, and not those of openQCD? */
static bool dims_tell(const lat_geometry *dims, const lat_geometry *openqcd)
{
    lat_geometry other = *openqcd;
    exchange_x_z(&other);
    return dims->nd && memcmp(dims->dims, openqcd->dims, sizeof dims->dims) != 0
           && memcmp(dims->dims, other.dims, sizeof dims->dims) == 0;
}

static int begin_openqcd(lat_input *in, lat_header *head, lat_payload *p, lat_read_context *r)
{
    order_test *d = lat_format_state(r, sizeof *d);
    if (!d || read_head(in, head, r, false) < 0)
        return -1;
    const bool tells = dims_tell(&r->dims, &head->geom), odd_extent = !all_even(&head->geom);
    *d = tells ? (order_test){.tried = {PYQUDA, DDALPHAAMG}, .count = 2}
               : (order_test){.tried = {OPENQCD, DDALPHAAMG, PYQUDA}, .count = 3};
    if (odd_extent)
        *d = (order_test){.tried = {DDALPHAAMG}, .count = 1};
    r->ambiguous = d->count > 1;
    if (odd_extent)
        *p = lat_format_ddalphaamg.stored;
    if (odd_extent || tells)
        exchange_x_z(&head->geom);
    return lat_set_source(head, odd_extent ? "DDalphaAMG (openQCD has even extents)"
                                : tells    ? "openQCD, its header T, Z, Y, X (as --dims tells)"
                                           : "openQCD");
}

/* Does --dims say that the extents are T, Z, Y, X? */
static bool told(const order_test *d) { return d->count == 2; }

/* What is said of a file that is none of openQCD. */
static int say_program(const char *name, lat_header *head, program found, const order_test *d,
                       const lat_read_context *r)
{
    const bool pyquda = found == PYQUDA;
    if (told(d))
        return lat_set_source(head, "DDalphaAMG (as --dims tells)");
    lat_warn("%s: %s: so its plaquette is %.12g as stated, else %.12g", name,
             pyquda ? "has openQCD's links and the header T, Z, Y, X, as PyQUDA writes it"
                    : "is DDalphaAMG's, not openQCD's",
             r->plaquette, d->before);
    return lat_set_source(head, "%s (told from openQCD by the plaquette)",
                          pyquda ? "openQCD with the header T, Z, Y, X" : "DDalphaAMG");
}

static int end_openqcd(lat_input *in, lat_field *f, lat_payload *p, lat_read_context *r)
{
    order_test *d = r->state;
    if (d->now == d->count) /* none fitted: lat_validate reports the first one */
        return 0;
    const program now = d->tried[d->now];
    if (d->now == 0)
        d->before = f->head.plaquette;
    if (d->count == 1 || fabs(f->head.plaquette - r->plaquette) <= r->plaquette_within)
        return d->now ? say_program(lat_input_name(in), &f->head, now, d, r) : 0;
    if (++d->now == d->count && told(d))
        return say_program(lat_input_name(in), &f->head, now, d, r);
    return read_as(f, p, now, d->tried[d->now % d->count]) < 0 ? -1 : 1;
}

/* ---- writing --------------------------------------------------------------------------------- */

static int even_only(const char *name, const lat_header *h)
{
    char dims[64];
    return all_even(&h->geom) ? 0
                              : lat_fail("%s: openqcd files have even extents, found %s", name,
                                         lat_dims_text(&h->geom, dims));
}

static int write_head(lat_output *out, const lat_geometry *geom, double plaquette)
{
    unsigned char b[HEAD];
    lat_dims_store(geom, b, false, true);
    lat_store_f64(b + 16, 3 * plaquette, false);
    return lat_output_write(out, b, sizeof b);
}

static int head_openqcd(lat_output *out, const lat_header *head, LAT_UNUSED const lat_payload *p)
{
    return write_head(out, &head->geom, head->plaquette);
}

static int head_ddalphaamg(lat_output *out, const lat_header *head, LAT_UNUSED const lat_payload *p)
{
    lat_geometry geom = head->geom;
    exchange_x_z(&geom);
    return write_head(out, &geom, head->plaquette);
}

const lat_format lat_format_openqcd = {
    .name = "openqcd",
    .extension = ".oqcd",
    .about = "openQCD; DDalphaAMG's files are recognised by the plaquette",
    .only = LAT_F64,
    .nc = 3,
    .probe = probe,
    .begin = begin_openqcd,
    .end = end_openqcd,
    .admit = even_only,
    .stored = {.map = map_openqcd, .map_ahead = true},
    .head = head_openqcd,
};

const lat_format lat_format_ddalphaamg = {
    .name = "ddalphaamg",
    .extension = ".ddamg",
    .about = "DDalphaAMG: openQCD's header with T, Z, Y, X; another order",
    .source = "DDalphaAMG",
    .only = LAT_F64,
    .nc = 3,
    .begin = begin_ddalphaamg,
    .stored = {.order = {.links = "tzyx"}},
    .head = head_ddalphaamg,
};
