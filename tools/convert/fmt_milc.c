/* SPDX-License-Identifier: BSD-3-Clause */
/* fmt_milc.c: MILC version 5, binary; its predecessors and Fermilab's files.
 *
 * In the byte order of the writer, told by the magic number: i32 magic 20103, i32 X, Y, Z, T,
 * char time_stamp[64], i32 order, then (order != 0: i32 natural index of each site, in the order
 * of the file), u32 sum29, u32 sum31, and the links as f32, 18 reals, directions x, y, z, t.
 * Written little endian and in natural order.
 *
 * Versions 1 to 4: i32 59354, X, Y, Z, T, two f32 parameters, links as above. Fermilab: i32 0x71626434, time,
 * 4 bytes a real, 72 reals a site, X, Y, Z, T, order (0: natural), links as above. Neither has sums. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/bytes.h"
#include "common/error.h"
#include "format.h"
#include "payload.h"

#define MAGIC 20103
#define STAMP 64
#define HEAD  (5 * 4 + STAMP + 4)

static uint32_t get32(const unsigned char *p, bool big)
{
    return big ? lat_load_be32(p) : lat_load_le32(p);
}

static bool probe(const unsigned char *b, size_t n, int64_t size)
{
    (void)size;
    return n >= 4 && (get32(b, true) == MAGIC || get32(b, false) == MAGIC);
}

/* Everything up to `order`; fills in f->head. */
static int read_head(lat_input *in, lat_field *f, bool *big, bool *listed)
{
    const char *name = lat_input_name(in);
    unsigned char b[HEAD];
    char stamp[STAMP + 1];
    lat_header *h = &f->head;
    if (lat_input_read(in, b, sizeof b) < 0)
        return -1;
    *big = get32(b, true) == MAGIC;
    if (!*big && get32(b, false) != MAGIC)
        return lat_fail("%s: expected the magic number %d of MILC version 5, found %lu", name,
                        MAGIC, (unsigned long)get32(b, false));
    h->real = LAT_F32;
    for (int i = 0; i < 4; i++) {
        uint32_t extent = get32(b + 4 + 4 * i, *big);
        h->geom.dims[i] = extent > INT32_MAX ? 0 : (int)extent;
    }
    *listed = get32(b + HEAD - 4, *big) != 0;
    memcpy(stamp, b + 20, STAMP);
    stamp[STAMP] = 0;
    if (lat_header_check(h, name) < 0)
        return -1;
    return stamp[0] ? lat_info_set(h, "time_stamp", stamp) : 0;
}

/* The natural index of every site of the file: a permutation. */
static int read_order(lat_input *in, size_t volume, bool big, uint32_t **order)
{
    const char *name = lat_input_name(in);
    uint32_t *list = lat_alloc(volume, sizeof *list, "a list of sites");
    unsigned char *seen = calloc(volume, 1);
    *order = list;
    if (!list || !seen) {
        free(seen);
        return list ? lat_fail("out of memory: a list of %zu sites", volume) : -1;
    }
    int bad = lat_input_read(in, list, volume * sizeof *list);
    for (size_t i = 0; i < volume && !bad; i++) {
        list[i] = get32((unsigned char *)&list[i], big);
        if (list[i] >= volume || seen[list[i]]++)
            bad = lat_fail(
                "%s: expected each of %zu sites once in the list of sites, found %lu at place %zu",
                name, volume, (unsigned long)list[i], i);
    }
    free(seen);
    return bad ? -1 : 0;
}

static int read_links(lat_input *in, lat_field *f, bool big, const uint32_t *order, bool force)
{
    const char *name = lat_input_name(in);
    unsigned char b[8];
    char source[64];
    lat_milc_sum sum = {{0}, {0}};
    uint32_t s29, s31;
    const lat_payload p = {.big = big,
                           .rows = 3,
                           .sites = order,
                           .digest = lat_milc_digest,
                           .sum = &sum};
    if (lat_input_read(in, b, sizeof b) < 0 || lat_field_alloc(f) < 0 ||
        lat_payload_read(in, f, &p) < 0)
        return -1;
    lat_milc_sums(&sum, big, &s29, &s31);
    if ((s29 != get32(b, big) || s31 != get32(b + 4, big)) &&
        lat_dispute(
            force,
            "%s: checksums %08lx %08lx are stated, %08lx %08lx found in the data (damaged copy?)",
            name, (unsigned long)get32(b, big), (unsigned long)get32(b + 4, big),
            (unsigned long)s29, (unsigned long)s31) < 0)
        return -1;
    snprintf(source, sizeof source, "MILC v5 %s endian, checksums %08lx %08lx",
             big ? "big" : "little", (unsigned long)s29, (unsigned long)s31);
    return lat_info_set(&f->head, "source", source);
}

static int read_field(lat_input *in, lat_field *f, lat_reading *r)
{
    uint32_t *order = NULL;
    bool big = false, listed = false;
    *f = (lat_field){0};
    lat_header_init(&f->head);
    int bad = read_head(in, f, &big, &listed);
    if (!bad) {
        const uint64_t sites = listed ? lat_volume(&f->head.geom) : 0;
        bad = lat_expect_bytes(in, 8 + 4 * sites + lat_payload_bytes(f, 3),
                               "a configuration of that size");
    }
    if (!bad && listed)
        bad = read_order(in, lat_volume(&f->head.geom), big, &order);
    if (!bad)
        bad = read_links(in, f, big, order, r->force);
    free(order);
    if (bad)
        lat_field_free(f);
    return bad ? -1 : 1;
}

static int write_field(lat_output *out, lat_field *f, const lat_writing *w)
{
    unsigned char b[HEAD + 8] = {0};
    lat_milc_sum sum = {{0}, {0}};
    uint32_t s29, s31;
    lat_payload p = {.big = false, .rows = 3, .digest = lat_milc_digest, .sum = &sum};
    const char *stamp = lat_info_get(&f->head, "time_stamp");
    (void)w;
    /* No clock: the same input gives the same bytes. */
    if (!stamp || strlen(stamp) >= STAMP)
        stamp = "Thu Jan  1 00:00:00 1970";
    if (lat_payload_write(NULL, f, &p) < 0)
        return -1;
    lat_milc_sums(&sum, false, &s29, &s31);
    lat_store_le32(b, MAGIC);
    for (int i = 0; i < 4; i++)
        lat_store_le32(b + 4 + 4 * i, (uint32_t)f->head.geom.dims[i]);
    memcpy(b + 20, stamp, strlen(stamp));
    lat_store_le32(b + HEAD, s29);
    lat_store_le32(b + HEAD + 4, s31);
    p.digest = NULL;
    return lat_output_write(out, b, sizeof b) < 0 ? -1 : lat_payload_write(out, f, &p);
}

/* ---- without sums ---------------------------------------------------------------------------- */

#define OLD       59354
#define OLD_HEAD  28
#define FNAL      0x71626434
#define FNAL_HEAD 36

static bool begins(const unsigned char *b, size_t n, uint32_t magic)
{
    return n >= 4 && (get32(b, true) == magic || get32(b, false) == magic);
}

static bool probe_old(const unsigned char *b, size_t n, int64_t size)
{
    (void)size;
    return begins(b, n, OLD);
}

static bool probe_fnal(const unsigned char *b, size_t n, int64_t size)
{
    (void)size;
    return begins(b, n, FNAL);
}

/* Whole head in b; `dims`: where the extents are. */
static int read_plain(lat_input *in, lat_field *f, const unsigned char *b, uint32_t magic,
                      size_t dims, const char *what)
{
    char source[64];
    const lat_payload p = {.big = get32(b, true) == magic, .rows = 3};
    if (!begins(b, 4, magic))
        return lat_fail("%s: expected the magic number %lu of %s, found %lu", lat_input_name(in),
                        (unsigned long)magic, what, (unsigned long)get32(b, false));
    f->head.real = LAT_F32;
    lat_dims_load(&f->head.geom, b + dims, p.big, false);
    snprintf(source, sizeof source, "%s %s endian, no checksums", what, p.big ? "big" : "little");
    return lat_payload_take(in, f, &p, source);
}

static int read_old(lat_input *in, lat_field *f, lat_reading *r)
{
    unsigned char b[OLD_HEAD];
    (void)r;
    *f = (lat_field){0};
    lat_header_init(&f->head);
    if (lat_input_read(in, b, sizeof b) < 0 || read_plain(in, f, b, OLD, 4, "MILC v1") < 0) {
        lat_field_free(f);
        return -1;
    }
    return 1;
}

static int read_fnal(lat_input *in, lat_field *f, lat_reading *r)
{
    unsigned char b[FNAL_HEAD];
    (void)r;
    *f = (lat_field){0};
    lat_header_init(&f->head);
    int bad = lat_input_read(in, b, sizeof b);
    if (!bad) {
        const bool big = get32(b, true) == FNAL;
        const uint32_t real = get32(b + 8, big), each = get32(b + 12, big), order = get32(b + 32, big);
        if (begins(b, 4, FNAL) && (real != 4 || each != 72 || order))
            bad = lat_fail("%s: expected 72 reals of 4 bytes a site in order 0, found %lu of %lu in "
                           "order %lu: not a gauge field",
                           lat_input_name(in), (unsigned long)each, (unsigned long)real,
                           (unsigned long)order);
    }
    bad = bad || read_plain(in, f, b, FNAL, 16, "Fermilab") < 0;
    if (bad)
        lat_field_free(f);
    return bad ? -1 : 1;
}

const lat_format lat_format_milcold = {
    .name = "milcold",
    .extension = ".milc",
    .about = "MILC versions 1 to 4, SU(3) in single precision",
    .foreign = true,
    .nd = 4,
    .nc = 3,
    .probe = probe_old,
    .read = read_old,
};

const lat_format lat_format_fnal = {
    .name = "fnal",
    .extension = ".fnal",
    .about = "Fermilab, SU(3) in single precision",
    .foreign = true,
    .nd = 4,
    .nc = 3,
    .probe = probe_fnal,
    .read = read_fnal,
};

const lat_format lat_format_milc = {
    .name = "milc",
    .extension = ".milc",
    .about = "MILC version 5, SU(3) in single precision; written little endian",
    .foreign = true,
    .only = LAT_F32,
    .nd = 4,
    .nc = 3,
    .probe = probe,
    .read = read_field,
    .write = write_field,
};
