/* SPDX-License-Identifier: BSD-3-Clause */
/* fmt_hirep.c: HiRep, SU(N) in double precision.
 *
 * Big endian (a converter of theirs makes little endian ones, read too): i32 N, T, X, Y, Z, f64
 * plaquette; then sites with t slowest and z fastest, directions t, x, y, z. SU(2) comes as matrices
 * or as quaternions, by an option of its compilation: the length of the file tells, on a pipe the
 * first links do. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "common/bytes.h"
#include "common/error.h"
#include "format.h"
#include "payload.h"

#define HEAD 28

static uint32_t get32(const unsigned char *p, bool big)
{
    return big ? lat_load_be32(p) : lat_load_le32(p);
}

static uint64_t bytes_of(uint64_t nc, uint64_t volume, bool quaternions)
{
    return HEAD + 4 * 8 * volume * (quaternions ? 4 : 2 * nc * nc);
}

static bool fits(const unsigned char *b, int64_t size, bool big)
{
    const uint64_t nc = get32(b, big), volume = lat_probe_volume(b + 4, big);
    return nc >= 2 && nc <= LAT_MAX_COLOURS && volume &&
           (lat_probe_size(size, bytes_of(nc, volume, false)) ||
            (nc == 2 && lat_probe_size(size, bytes_of(nc, volume, true))));
}

static bool probe(const unsigned char *b, size_t n, int64_t size)
{
    return n >= HEAD && (fits(b, size, true) || fits(b, size, false));
}

/* ---- reading --------------------------------------------------------------------------------- */

static lat_payload payload(bool big, int nc, bool quaternions)
{
    return (lat_payload){.big = big,
                         .rows = quaternions ? 1 : nc,
                         .shape = quaternions ? LAT_QUATERNIONS : LAT_BY_ROWS,
                         .order = {.sites = "txyz", .links = "txyz"}};
}

static int read_head(lat_input *in, lat_header *h, lat_reading *r, bool *big)
{
    const char *name = lat_input_name(in);
    unsigned char b[HEAD];
    double plaquette;
    if (lat_input_read(in, b, sizeof b) < 0)
        return -1;
    *big = !(get32(b, false) >= 2 && get32(b, false) <= LAT_MAX_COLOURS);
    const uint32_t nc = get32(b, *big);
    if (nc < 2 || nc > LAT_MAX_COLOURS)
        return lat_fail("%s: expected N of SU(N) from 2 to %d in a HiRep header, found %lu", name,
                        LAT_MAX_COLOURS, (unsigned long)nc);
    h->nc = (int)nc;
    h->reals = 2 * h->nc * h->nc;
    lat_dims_load(&h->geom, b + 4, *big, true);
    const uint64_t bits = *big ? lat_load_be64(b + 20) : lat_load_le64(b + 20);
    memcpy(&plaquette, &bits, sizeof plaquette);
    return lat_header_check(h, name) < 0 ? -1 : lat_take_plaquette(in, r, plaquette, 1);
}

/* 1 or 0, or -1. */
static int are_quaternions(lat_input *in, const lat_header *h, bool big)
{
    static unsigned char ahead[LAT_AHEAD];
    const lat_payload whole = payload(big, 2, false), four = payload(big, 2, true);
    const uint64_t volume = lat_volume(&h->geom);
    if (h->nc != 2)
        return 0;
    if (lat_input_size(in) >= 0)
        return (uint64_t)lat_input_size(in) == bytes_of(2, volume, true);
    const ssize_t n = lat_input_peek(in, ahead, sizeof ahead);
    if (n < 0)
        return -1;
    return lat_payload_fit(&four, 2, LAT_F64, ahead, (size_t)n) >
           lat_payload_fit(&whole, 2, LAT_F64, ahead, (size_t)n);
}

static int read_field(lat_input *in, lat_field *f, lat_reading *r)
{
    char source[80];
    bool big = true;
    *f = (lat_field){0};
    lat_header_init(&f->head);
    int quaternions = 0, bad = read_head(in, &f->head, r, &big);
    if (!bad)
        bad = (quaternions = are_quaternions(in, &f->head, big)) < 0;
    if (!bad) {
        const lat_payload p = payload(big, f->head.nc, quaternions);
        f->head.reals = quaternions ? 4 : f->head.reals;
        snprintf(source, sizeof source, "HiRep SU(%d)%s%s", f->head.nc, quaternions ? " quaternions" : "",
                 big ? "" : " little endian");
        bad = lat_payload_take(in, f, &p, source);
    }
    if (bad)
        lat_field_free(f);
    return bad ? -1 : 1;
}

/* ---- writing --------------------------------------------------------------------------------- */

static int write_field(lat_output *out, lat_field *f, const lat_writing *w)
{
    const lat_header *h = &f->head;
    const lat_payload p = payload(true, h->nc, h->nc == 2 && h->reals == 4);
    unsigned char b[HEAD];
    uint64_t bits;
    (void)w;
    memcpy(&bits, &h->plaquette, sizeof bits);
    lat_store_be32(b, (uint32_t)h->nc);
    lat_dims_store(&h->geom, b + 4, true, true);
    lat_store_be64(b + 20, bits);
    return lat_output_write(out, b, sizeof b) < 0 ? -1 : lat_payload_write(out, f, &p);
}

const lat_format lat_format_hirep = {
    .name = "hirep",
    .extension = ".hirep",
    .about = "HiRep, SU(N); SU(2) with --rows 1 as quaternions",
    .foreign = true,
    .fewer_rows = 2,
    .only = LAT_F64,
    .nd = 4,
    .probe = probe,
    .read = read_field,
    .write = write_field,
};
