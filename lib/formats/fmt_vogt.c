/* SPDX-License-Identifier: BSD-3-Clause */
/* fmt_vogt.c: cuLGT's VOGT files, SU(N) in either precision.
 *
 * i16 number of dimensions (4), N, T, X, Y, Z, bytes of a real (4 or 8), in the byte order of the
 * writer; then sites with t slowest and z fastest, directions t, x, y, z. Nothing is summed.
 * Written little endian. */
#include <stdint.h>
#include "base/error.h"
#include "format.h"

#define HEAD 14

enum { DIMENSIONS, COLOURS, T, X, Y, Z, REAL, WORDS };

static void get_words(const unsigned char *b, bool big, int v[WORDS])
{
    for (int i = 0; i < WORDS; i++)
        v[i] = (int16_t)(b[2 * i + big] | b[2 * i + !big] << 8);
}

static bool sensible(const int v[WORDS])
{
    return v[DIMENSIONS] == 4 && v[COLOURS] >= 2 && v[COLOURS] <= LAT_MAX_COLOURS
           && (v[REAL] == LAT_F32 || v[REAL] == LAT_F64);
}

static bool fits(const unsigned char *b, int64_t size, bool big)
{
    int v[WORDS];
    uint64_t volume = 1;
    get_words(b, big, v);
    for (int i = T; i <= Z; i++) {
        if (v[i] < 1 || v[i] > 1024)
            return false;
        volume *= (uint64_t)v[i];
    }
    return sensible(v)
           && lat_probe_size(size,
                             HEAD + 8 * volume * (uint64_t)(v[COLOURS] * v[COLOURS] * v[REAL]));
}

static bool probe(const unsigned char *b, size_t n, int64_t size)
{
    return n >= HEAD && (fits(b, size, false) || fits(b, size, true));
}

static int read_head(lat_input *in, lat_header *h, bool *big)
{
    unsigned char b[HEAD];
    int v[WORDS];
    if (lat_input_read(in, b, sizeof b) < 0)
        return -1;
    *big = b[0] == 0;
    get_words(b, *big, v);
    if (!sensible(v))
        return lat_fail("%s: expected 4 dimensions, N of SU(N) from 2 to %d and reals of 4 or 8 "
                        "bytes in a VOGT header, found %d, %d and %d",
                        lat_input_name(in), LAT_MAX_COLOURS, v[DIMENSIONS], v[COLOURS], v[REAL]);
    h->geom = (lat_geometry){.nd = 4, .dims = {v[X], v[Y], v[Z], v[T]}};
    h->nc = v[COLOURS];
    h->reals = 2 * h->nc * h->nc;
    h->real = (lat_real)v[REAL];
    return 0;
}

static int begin(lat_input *in, lat_header *head, lat_payload *p, LAT_UNUSED lat_read_context *r)
{
    return lat_rc(read_head(in, head, &p->big) < 0
                  || lat_set_source(head, p->big ? "cuLGT VOGT, big endian" : "cuLGT VOGT"));
}

static int admit(const char *name, const lat_header *h)
{
    for (int mu = 0; mu < 4; mu++)
        if (h->geom.dims[mu] > INT16_MAX)
            return lat_fail("%s: vogt files have extents up to %d, found %d", name, INT16_MAX,
                            h->geom.dims[mu]);
    return 0;
}

static int write_head(lat_output *out, const lat_header *head, LAT_UNUSED const lat_payload *p)
{
    const int *d = head->geom.dims;
    const int v[WORDS] = {4, head->nc, d[3], d[0], d[1], d[2], (int)head->real};
    unsigned char b[HEAD];
    for (int i = 0; i < WORDS; i++) {
        b[2 * i] = (unsigned char)(v[i] & 255);
        b[2 * i + 1] = (unsigned char)(v[i] >> 8);
    }
    return lat_output_write(out, b, sizeof b);
}

const lat_format lat_format_vogt = {
    .name = "vogt",
    .about = "cuLGT VOGT, SU(N); written little endian",
    .probe = probe,
    .begin = begin,
    .admit = admit,
    .stored = {.order = LAT_TIME_FIRST},
    .head = write_head,
};
