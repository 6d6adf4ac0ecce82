/* SPDX-License-Identifier: BSD-3-Clause */
/* fmt_hirep.c: HiRep, SU(N) in double precision.
 *
 * Big endian (a converter of theirs makes little endian ones, read too): i32 N, T, X, Y, Z, f64
 * plaquette; then sites with t slowest and z fastest, directions t, x, y, z. SU(2) comes as
 * matrices or as quaternions, by an option of its compilation: the length of the file tells, on a
 * pipe the first links do. */
#include "base/bytes.h"
#include "base/error.h"
#include "format.h"

#define HEAD 28

static uint64_t bytes_of(uint64_t nc, uint64_t volume, bool quaternions)
{
    return HEAD + 4 * 8 * volume * (quaternions ? 4 : 2 * nc * nc);
}

static bool fits(const unsigned char *b, int64_t size, bool big)
{
    const uint64_t nc = lat_load_u32(b, big), volume = lat_probe_volume(b + 4, big);
    return nc >= 2 && nc <= LAT_MAX_COLOURS && volume
           && (lat_probe_size(size, bytes_of(nc, volume, false))
               || (nc == 2 && lat_probe_size(size, bytes_of(nc, volume, true))));
}

static bool probe(const unsigned char *b, size_t n, int64_t size)
{
    return n >= HEAD && (fits(b, size, true) || fits(b, size, false));
}

static int read_head(lat_input *in, lat_header *h, lat_read_context *r, bool *big)
{
    const char *name = lat_input_name(in);
    unsigned char b[HEAD];
    if (lat_input_read(in, b, sizeof b) < 0)
        return -1;
    *big = !(lat_load_u32(b, false) >= 2 && lat_load_u32(b, false) <= LAT_MAX_COLOURS);
    const uint32_t nc = lat_load_u32(b, *big);
    if (nc < 2 || nc > LAT_MAX_COLOURS)
        return lat_fail("%s: expected N of SU(N) from 2 to %d in a HiRep header, found %lu", name,
                        LAT_MAX_COLOURS, (unsigned long)nc);
    h->nc = (int)nc;
    h->reals = 2 * h->nc * h->nc;
    lat_dims_load(&h->geom, b + 4, *big, true);
    return lat_header_check(h, name) < 0 ? -1
                                         : lat_take_plaquette(in, r, lat_load_f64(b + 20, *big), 1);
}

/* 1 or 0, or -1; the payload is of whole matrices. */
static int are_quaternions(lat_input *in, const lat_header *h, const lat_payload *whole)
{
    static unsigned char ahead[LAT_PEEK];
    lat_payload four = *whole;
    if (h->nc != 2)
        return 0;
    if (lat_input_size(in) >= 0)
        return (uint64_t)lat_input_size(in) == bytes_of(2, lat_volume(&h->geom), true);
    const ssize_t n = lat_input_peek(in, ahead, sizeof ahead);
    if (n < 0)
        return -1;
    four.rows = 1;
    four.shape = LAT_QUATERNIONS;
    return lat_payload_fit(&four, 2, LAT_F64, ahead, (size_t)n)
           > lat_payload_fit(whole, 2, LAT_F64, ahead, (size_t)n);
}

static int begin(lat_input *in, lat_header *head, lat_payload *p, lat_read_context *r)
{
    if (read_head(in, head, r, &p->big) < 0)
        return -1;
    p->rows = head->nc;
    const int quaternions = are_quaternions(in, head, p);
    if (quaternions < 0)
        return -1;
    if (quaternions) {
        p->rows = 1;
        p->shape = LAT_QUATERNIONS;
        head->reals = 4;
    }
    return lat_set_source(head, "HiRep SU(%d)%s%s", head->nc, quaternions ? " quaternions" : "",
                          p->big ? "" : " little endian");
}

static void layout(const lat_header *head, LAT_UNUSED const lat_hints *hints, lat_payload *p)
{
    p->shape = head->nc == 2 && head->reals == 4 ? LAT_QUATERNIONS : LAT_BY_ROWS;
}

static int write_head(lat_output *out, const lat_header *head, LAT_UNUSED const lat_payload *p)
{
    unsigned char b[HEAD];
    lat_store_be32(b, (uint32_t)head->nc);
    lat_dims_store(&head->geom, b + 4, true, true);
    lat_store_f64(b + 20, head->plaquette, true);
    return lat_output_write(out, b, sizeof b);
}

const lat_format lat_format_hirep = {
    .name = "hirep",
    .about = "HiRep, SU(N); SU(2) with --rows 1 as quaternions",
    .fewer_rows = 2,
    .only = LAT_F64,
    .probe = probe,
    .begin = begin,
    .stored = {.big = true, .order = LAT_TIME_FIRST},
    .layout = layout,
    .head = write_head,
};
