/* SPDX-License-Identifier: BSD-3-Clause */
/* fmt_milc.c: MILC version 5, binary; GLU's of that kind, its predecessors and Fermilab's files.
 *
 * In the byte order of the writer, recognised by the magic number: i32 magic 20103, i32 X, Y, Z, T,
 * char time_stamp[64], i32 order, then (order != 0: i32 natural index of each site, in the order
 * of the file), u32 sum29, u32 sum31, and the links as f32, 18 reals, directions x, y, z, t.
 * Written little endian and in natural order.
 *
 * LargeN-YM writes the same of SU(N), 2 N^2 reals a link. The header does not say N: the length of
 * the file does, or --group.
 *
 * GLU writes 20104 and f64, and sums over reals what MILC sums over words: of each the sum of its
 * two halves.
 *
 * The format of 1996: i32 53546, X, Y, Z, T, bytes of the header, order (0: natural), a text and
 * parameters; links as above are the end of the file, and nothing is summed.
 *
 * Versions 1 to 4: i32 59354, X, Y, Z, T, two f32 parameters, links as above. Fermilab: i32
 * 0x71626434, time, 4 bytes a real, 72 reals a site, X, Y, Z, T, order (0: natural), links as
 * above. Neither has sums. */
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "format.h"

#define MAGIC 20103
#define GLU 20104
#define STAMP 64
#define HEAD (5 * 4 + STAMP + 4)

/* Everything up to `order`. */
static int read_head(lat_input *in, lat_header *h, bool *big, bool *listed)
{
    const char *name = lat_input_name(in);
    unsigned char b[HEAD];
    char stamp[STAMP + 1];
    if (lat_input_read(in, b, sizeof b))
        return -1;
    const bool glu = lat_begins_number(b, 4, GLU);
    *big = lat_load_u32(b, true) == (glu ? GLU : MAGIC);
    if (!lat_begins_number(b, 4, MAGIC) && !glu)
        return lat_fail("%s: expected the magic number %d of MILC version 5, found %lu", name,
                        MAGIC, (unsigned long)lat_load_u32(b, false));
    h->real = glu ? LAT_F64 : LAT_F32;
    lat_dims_load(&h->geom, b + 4, *big, false);
    *listed = lat_load_u32(b + HEAD - 4, *big) != 0;
    memcpy(stamp, b + 20, STAMP);
    stamp[STAMP] = 0;
    if (lat_header_check(h, name))
        return -1;
    return stamp[0] ? lat_info_set(h, "time_stamp", stamp) : 0;
}

/* The natural index of every site of the file: a permutation. */
static int read_order(lat_input *in, size_t volume, bool big, uint32_t **order)
{
    const char *name = lat_input_name(in);
    uint32_t *list = lat_alloc(volume, sizeof *list, "a list of sites");
    unsigned char *seen = lat_alloc_zero(volume, 1, "a list of sites");
    *order = list;
    int bad = list && seen ? lat_input_read(in, list, volume * sizeof *list) : -1;
    for (size_t i = 0; i < volume && !bad; i++) {
        list[i] = lat_load_u32((unsigned char *)&list[i], big);
        if (list[i] >= volume || seen[list[i]]++)
            bad = lat_fail("%s: expected each of %zu sites once in the list of sites, found %lu at "
                           "position %zu",
                           name, volume, (unsigned long)list[i], i);
    }
    free(seen);
    return bad ? -1 : 0;
}

typedef struct stated {
    uint32_t sum29, sum31;
} stated;

static int set_source(lat_header *h, bool big, const stated *sums)
{
    return lat_set_source(h, "MILC v5 %s%s endian, checksums %08lx %08lx",
                          h->real == LAT_F64 ? "of GLU, double precision, " : "",
                          big ? "big" : "little", (unsigned long)sums->sum29,
                          (unsigned long)sums->sum31);
}

/* The group: SU(3), or what the length says of another N, as LargeN-YM writes it, or --group. */
static int take_group(lat_input *in, lat_header *h, uint64_t listed, int given)
{
    const int64_t size = lat_input_size(in);
    const uint64_t links = 4 * (uint64_t)lat_volume(&h->geom),
                   rest = size < 0 ? 0 : (uint64_t)size - lat_input_offset(in);
    int found = 0;
    for (int n = 2; n <= LAT_MAX_COLOURS; n++)
        if (rest == 8 + 4 * listed + links * 2 * (uint64_t)(n * n) * (uint64_t)h->real)
            found = n;
    if (given && found && found != given)
        return lat_fail("%s: has the length of links of SU(%d): expected that of --group %d",
                        lat_input_name(in), found, given);
    h->nc = given ? given : found ? found : 3;
    h->reals = 2 * h->nc * h->nc;
    return lat_header_check(h, lat_input_name(in));
}

static int begin(lat_input *in, lat_header *h, lat_payload *p, lat_read_context *r)
{
    stated *s = lat_format_state(r, sizeof *s);
    unsigned char b[8];
    bool big = false, listed = false;
    if (!s || read_head(in, h, &big, &listed) < 0)
        return -1;
    const uint64_t sites = listed ? lat_volume(&h->geom) : 0;
    if (take_group(in, h, sites, r->hints.nc) < 0)
        return -1;
    *p = (lat_payload){.big = big, .rows = h->nc, .digest = lat_milc_digest};
    if (h->real == LAT_F64)
        p->digest = big ? lat_glu_digest_big : lat_glu_digest_little;
    if (lat_expect_bytes(in, 8 + 4 * sites + lat_payload_bytes(h, h->nc), 5 * sites,
                         "a configuration of that size")
        || (listed && read_order(in, sites, big, &p->sites) < 0) || lat_input_read(in, b, sizeof b))
        return -1;
    *s = (stated){lat_load_u32(b, big), lat_load_u32(b + 4, big)};
    return set_source(h, big, s);
}

static int end(lat_input *in, lat_field *f, lat_payload *p, lat_read_context *r)
{
    const stated *s = r->state;
    const bool glu = f->head.real == LAT_F64;
    stated found;
    lat_milc_sums(&p->sum.milc, glu ? lat_big_endian() : p->big, &found.sum29, &found.sum31);
    if ((found.sum29 != s->sum29 || found.sum31 != s->sum31)
        && lat_mismatch(r->force,
                        "%s: checksums %08lx %08lx are stated, %08lx %08lx found in the data "
                        "(damaged copy?)",
                        lat_input_name(in), (unsigned long)s->sum29, (unsigned long)s->sum31,
                        (unsigned long)found.sum29, (unsigned long)found.sum31))
        return -1;
    return set_source(&f->head, p->big, &found);
}

static int write_head(lat_output *out, const lat_header *head, const lat_payload *p)
{
    unsigned char b[HEAD + 8] = {0};
    uint32_t s29, s31;
    const char *stamp = lat_info_get(head, "time_stamp");
    /* No clock: the same input gives the same bytes. */
    if (!stamp || strlen(stamp) >= STAMP)
        stamp = "Thu Jan  1 00:00:00 1970";
    lat_milc_sums(&p->sum.milc, false, &s29, &s31);
    lat_store_le32(b, MAGIC);
    lat_dims_store(&head->geom, b + 4, false, false);
    memcpy(b + 20, stamp, strlen(stamp));
    lat_store_le32(b + HEAD, s29);
    lat_store_le32(b + HEAD + 4, s31);
    return lat_output_write(out, b, sizeof b);
}

/* ---- without sums ---------------------------------------------------------------------------- */

#define OLD 59354
#define OLD_HEAD 28
#define FNAL 0x71626434
#define FNAL_HEAD 36

/* Whole head in b; `dims`: where the extents are. */
static int take_plain(lat_input *in, lat_header *head, lat_payload *p, const unsigned char *b,
                      uint32_t magic, size_t dims, const char *what)
{
    *p = (lat_payload){.big = lat_load_u32(b, true) == magic, .rows = 3};
    if (!lat_begins_number(b, 4, magic))
        return lat_fail("%s: expected the magic number %lu of %s, found %lu", lat_input_name(in),
                        (unsigned long)magic, what, (unsigned long)lat_load_u32(b, false));
    head->real = LAT_F32;
    lat_dims_load(&head->geom, b + dims, p->big, false);
    return lat_set_source(head, "%s %s endian, no checksums", what, p->big ? "big" : "little");
}

static int begin_old(lat_input *in, lat_header *head, lat_payload *p,
                     LAT_UNUSED lat_read_context *r)
{
    unsigned char b[OLD_HEAD];
    return lat_input_read(in, b, sizeof b) ? -1 : take_plain(in, head, p, b, OLD, 4, "MILC v1");
}

static int begin_fnal(lat_input *in, lat_header *head, lat_payload *p,
                      LAT_UNUSED lat_read_context *r)
{
    unsigned char b[FNAL_HEAD];
    if (lat_input_read(in, b, sizeof b))
        return -1;
    const bool big = lat_load_u32(b, true) == FNAL;
    const uint32_t real = lat_load_u32(b + 8, big), each = lat_load_u32(b + 12, big),
                   order = lat_load_u32(b + 32, big);
    if (lat_begins_number(b, 4, FNAL) && (real != 4 || each != 72 || order))
        return lat_fail("%s: expected 72 reals of 4 bytes a site in order 0, found %lu of %lu in "
                        "order %lu: not a gauge field",
                        lat_input_name(in), (unsigned long)each, (unsigned long)real,
                        (unsigned long)order);
    return take_plain(in, head, p, b, FNAL, 16, "Fermilab");
}

#define OF_1996 53546
#define HEAD_1996 28

static int begin_1996(lat_input *in, lat_header *head, lat_payload *p,
                      LAT_UNUSED lat_read_context *r)
{
    unsigned char b[HEAD_1996];
    if (lat_need_size(in) || lat_input_read(in, b, sizeof b)
        || take_plain(in, head, p, b, OF_1996, 4, "MILC of 1996") < 0
        || lat_header_check(head, lat_input_name(in)))
        return -1;
    if (lat_load_u32(b + 24, p->big))
        return lat_fail("%s: expected sites in order 0 in a MILC file of 1996, found order %lu",
                        lat_input_name(in), (unsigned long)lat_load_u32(b + 24, p->big));
    return lat_skip_to_links(in, head, 3);
}

const lat_format lat_format_milc1996 = {
    .name = "milc1996",
    .extension = ".milc",
    .about = "MILC of 1996, SU(3) single, in a file (not on a pipe)",
    .nc = 3,
    .magic = {OF_1996},
    .begin = begin_1996,
};

const lat_format lat_format_milcold = {
    .name = "milcold",
    .extension = ".milc",
    .about = "MILC versions 1 to 4, SU(3) in single precision",
    .nc = 3,
    .magic = {OLD},
    .begin = begin_old,
};

const lat_format lat_format_fnal = {
    .name = "fnal",
    .about = "Fermilab, SU(3) in single precision",
    .nc = 3,
    .magic = {FNAL},
    .begin = begin_fnal,
};

const lat_format lat_format_milc = {
    .name = "milc",
    .about = "MILC 5 and LargeN-YM, single precision; reads GLU's double, too",
    .only = LAT_F32,
    .takes = LAT_TAKES_GROUP,
    .magic = {MAGIC, GLU},
    .begin = begin,
    .end = end,
    .stored = {.digest = lat_milc_digest},
    .sums = true,
    .head = write_head,
};
