/* SPDX-License-Identifier: BSD-3-Clause */
/* fmt_mdp.c: MDP fields (FermiQCD, cuLGT, qcdutils), SU(N) in either precision.
 *
 * char[60] "File Type: MDP FIELD\n", char[60] program, char[60] date, u32 magic (FermiQCD's or
 * qcdutils'), i32 number of dimensions (4), i32 box[10] = T, X, Y, Z, 0 ..., i32 bytes a site, i32
 * sites; the byte order is that of the magic number. Then sites with t slowest and z fastest,
 * directions t, x, y, z. Nothing is summed. Texts may end in garbage. Written little endian. */
#include <string.h>
#include "base/bytes.h"
#include "base/error.h"
#include "format.h"

#define TYPE "File Type: MDP FIELD"
#define HEAD 236
#define FERMIQCD 0x87654321u
#define QCDUTILS 1325884739u

enum { MAGIC = 180, DIMENSIONS = 184, BOX = 188, SITE_BYTES = 228, SITES = 232 };

static bool is_magic(uint32_t v) { return v == FERMIQCD || v == QCDUTILS; }

/* N and precision follow from the bytes of a site, since 8 N^2 4 = 8 M^2 8 has no solution. */
static int take_site(const char *name, lat_header *h, uint32_t bytes)
{
    for (int n = 2; n <= LAT_MAX_COLOURS; n++)
        for (int w = LAT_F32; w <= LAT_F64; w += LAT_F64 - LAT_F32)
            if (bytes == (uint32_t)(8 * n * n * w)) {
                h->nc = n;
                h->reals = 2 * n * n;
                h->real = (lat_real)w;
                return 0;
            }
    return lat_fail("%s: expected four links of SU(N) a site, found %lu bytes a site: not a gauge "
                    "field",
                    name, (unsigned long)bytes);
}

static int read_head(lat_input *in, lat_header *h, bool *big)
{
    const char *name = lat_input_name(in);
    unsigned char b[HEAD];
    if (lat_input_read(in, b, sizeof b) < 0)
        return -1;
    *big = is_magic(lat_load_u32(b + MAGIC, true));
    if (!lat_begins(b, sizeof b, TYPE) || (!*big && !is_magic(lat_load_u32(b + MAGIC, false))))
        return lat_fail("%s: expected '" TYPE "' and the magic number %x of MDP, found %08lx", name,
                        FERMIQCD, (unsigned long)lat_load_u32(b + MAGIC, false));
    if (lat_load_u32(b + DIMENSIONS, *big) != 4)
        return lat_fail("%s: expected an MDP field of 4 dimensions, found %lu", name,
                        (unsigned long)lat_load_u32(b + DIMENSIONS, *big));
    lat_dims_load(&h->geom, b + BOX, *big, true);
    if (take_site(name, h, lat_load_u32(b + SITE_BYTES, *big)) < 0 || lat_header_check(h, name) < 0)
        return -1;
    if (lat_load_u32(b + SITES, *big) == (uint32_t)lat_volume(&h->geom)) /* 32 bits of it */
        return 0;
    return lat_fail("%s: expected %zu sites as its extents make, found %lu", name,
                    lat_volume(&h->geom), (unsigned long)lat_load_u32(b + SITES, *big));
}

static int begin(lat_input *in, lat_header *head, lat_payload *p, LAT_UNUSED lat_read_context *r)
{
    return lat_rc(read_head(in, head, &p->big) < 0
                  || lat_set_source(head, p->big ? "MDP, big endian" : "MDP"));
}

static int write_head(lat_output *out, const lat_header *h, LAT_UNUSED const lat_payload *p)
{
    unsigned char b[HEAD] = {0};
    strcpy((char *)b, TYPE "\n");
    strcpy((char *)b + 60, "lat-convert\n");
    strcpy((char *)b + 120,
           "Thu Jan  1 00:00:00 1970\n"); /* no clock: the same input, the same bytes */
    lat_store_le32(b + MAGIC, FERMIQCD);
    lat_store_le32(b + DIMENSIONS, 4);
    lat_dims_store(&h->geom, b + BOX, false, true);
    lat_store_le32(b + SITE_BYTES, (uint32_t)(8 * h->nc * h->nc * (int)h->real));
    lat_store_le32(b + SITES, (uint32_t)lat_volume(&h->geom));
    return lat_output_write(out, b, sizeof b);
}

static int admit(const char *name, const lat_header *h)
{
    return lat_volume(&h->geom) <= INT32_MAX
               ? 0
               : lat_fail("%s: mdp files count up to %d sites, found %zu", name, INT32_MAX,
                          lat_volume(&h->geom));
}

const lat_format lat_format_mdp = {
    .name = "mdp",
    .about = "MDP (FermiQCD), SU(N); written little endian",
    .begins = {TYPE},
    .begin = begin,
    .admit = admit,
    .stored = {.order = LAT_TIME_FIRST},
    .head = write_head,
};
