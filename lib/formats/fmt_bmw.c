/* SPDX-License-Identifier: BSD-3-Clause */
/* fmt_bmw.c: BMW and KYU, big endian doubles; read only.
 *
 * BMW: a text "#BMW X Y Z T CHECKSUM" and anything after it, 4096 bytes; then two rows of each link
 * in the order of ILDG. "#18BMW ...": all three rows. How its checksum is made is not known to us.
 *
 * KYU: no header. All first reals, of all sites with x fastest, then all second ones: direction
 * slowest, then column, row, re and im. */
#include <stdio.h>
#include <string.h>
#include "base/bytes.h"
#include "base/error.h"
#include "lattice/slices.h"
#include "format.h"

#define HEAD 4096

static int begin_bmw(lat_input *in, lat_header *head, lat_payload *p,
                     LAT_UNUSED lat_read_context *r)
{
    const char *name = lat_input_name(in);
    char b[HEAD + 1], sum[33] = "";
    int *d = head->geom.dims;
    if (lat_input_read(in, b, HEAD) < 0)
        return -1;
    b[HEAD] = 0;
    b[strcspn(b, "\n")] = 0;
    const bool whole = lat_begins((unsigned char *)b, HEAD, "#18BMW ");
    if (sscanf(b, whole ? "#18BMW %5d %5d %5d %5d %32s" : "#BMW %5d %5d %5d %5d %32s", d, d + 1,
               d + 2, d + 3, sum)
        < 4)
        return lat_fail("%s: expected #BMW and four extents in the first line, found '%.40s'", name,
                        b);
    head->reals = whole ? 18 : 12;
    *p = (lat_payload){.big = true, .rows = whole ? 3 : 2};
    return lat_set_source(head, "BMW, %d reals, checksum %s not verified", head->reals, sum);
}

/* One real of every site. */
static int read_plane(lat_input *in, size_t volume, double *links, size_t at)
{
    static unsigned char b[1 << 16];
    const size_t most = sizeof b / 8;
    for (size_t site = 0; site < volume;) {
        const size_t n = volume - site < most ? volume - site : most;
        if (lat_input_read(in, b, 8 * n) < 0)
            return -1;
        for (size_t i = 0; i < n; i++, site++) {
            const uint64_t bits = lat_load_be64(b + 8 * i);
            memcpy(links + site * 72 + at, &bits, sizeof bits);
        }
    }
    return 0;
}

static int read_kyu(lat_input *in, const lat_header *head, LAT_UNUSED lat_payload *p, void *links)
{
    for (size_t i = 0; i < 72; i++) {
        const size_t mu = i / 18, column = i / 6 % 3, row = i / 2 % 3;
        if (read_plane(in, lat_volume(&head->geom), links,
                       mu * 18 + 2 * (3 * row + column) + i % 2))
            return -1;
    }
    return 0;
}

static int begin_kyu(lat_input *in, lat_header *head, lat_payload *p, lat_read_context *r)
{
    *p = (lat_payload){.big = true, .read_links = read_kyu};
    return lat_take_dims(in, &head->geom, &r->dims);
}

const lat_format lat_format_bmw = {
    .name = "bmw",
    .about = "BMW, with and without last rows; its checksum is not verified",
    .nc = 3,
    .begins = {"#BMW ", "#18BMW "},
    .begin = begin_bmw,
};

const lat_format lat_format_kyu = {
    .name = "kyu",
    .unvouched = true,
    .about = "KYU: real by real; --dims",
    .source = "KYU",
    .nc = 3,
    .begin = begin_kyu,
};
