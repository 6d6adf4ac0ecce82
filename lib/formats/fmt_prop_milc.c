/* SPDX-License-Identifier: BSD-3-Clause */
/* fmt_prop_milc.c: Wilson propagators of MILC (version 5) and of Fermilab (FM), single precision.
 *
 * milc-prop: i32 magic 0x31ed, i32 X, Y, Z, T, char date[64], i32 order, i32 spins, i32 spin[4];
 * then for each source spin and colour i32 spin, colour, u32 sum29, sum31 and a spinor
 * [spin][colour] a site. Either byte order. The sums are those of the 32-bit words of these
 * spinors; before May 2000 MILC summed in another way. The .info file beside it may be of another
 * propagator, and is not read.
 *
 * fermilab-prop: i32 magic 0x71626434, time, bytes of a real (4), reals a site (288), X, Y, Z, T,
 * order; then of each site [source spin][source colour][spin][colour]. No checksums.
 *
 * Both hold M^-1 / (2 kappa); M of MILC has (1 + gamma) in front of the forward hop, which is its
 * basis here. */
#include <string.h>
#include "base/bytes.h"
#include "base/error.h"
#include "quarks.h"

#define MILC 0x31edu
#define MILC_HEAD 108
#define COLUMN_HEAD 16
#define FM 0x71626434u
#define FM_HEAD 36
#define FM_REALS 288
#define COLUMNS 12
#define SITE_BYTES 96 /* of a spinor */

static uint32_t load(const unsigned char *b, int i, bool big)
{
    return lat_load_u32(b + 4 * i, big);
}

/* ---- MILC ------------------------------------------------------------------------------------ */

static bool probe_milc(const unsigned char *b, size_t n, int64_t size)
{
    const bool big = n >= MILC_HEAD && load(b, 0, true) == MILC;
    if (n < MILC_HEAD || load(b, 0, big) != MILC)
        return false;
    const uint64_t volume = lat_probe_volume(b + 4, big);
    return volume
           && lat_probe_size(size, MILC_HEAD + COLUMNS * (COLUMN_HEAD + SITE_BYTES * volume));
}

static int check_sums(const char *name, int column, bool big, const unsigned char *head,
                      const lat_milc_sum *sum, const lat_quark_hints *h)
{
    uint32_t sum29, sum31;
    lat_milc_sums(sum, big, &sum29, &sum31);
    if (h->no_checksum || (sum29 == load(head, 2, big) && sum31 == load(head, 3, big)))
        return 0;
    return lat_mismatch(h->force,
                        "%s: checksums %08x %08x of column %d are stated, %08x %08x found: a "
                        "damaged copy, or MILC's algorithm of before May 2000 (--no-checksum takes "
                        "the file without them)",
                        name, load(head, 2, big), load(head, 3, big), column, sum29, sum31);
}

static int read_milc_column(lat_input *in, lat_field *f, int column, bool big,
                            const lat_quark_hints *h)
{
    unsigned char head[COLUMN_HEAD];
    lat_sum sum = {.milc = {{0}, {0}}};
    const lat_quark_array a = {.axes = "tzyxsci",
                               .big = big,
                               .column = (size_t)column,
                               .digest = lat_milc_digest,
                               .sum = &sum,
                               .unit = SITE_BYTES};
    if (lat_input_read(in, head, sizeof head) < 0)
        return -1;
    if (load(head, 0, big) != (uint32_t)column / 3 || load(head, 1, big) != (uint32_t)column % 3)
        return lat_fail("%s: expected source spin %d, colour %d in column %d, found %u, %u",
                        lat_input_name(in), column / 3, column % 3, column, load(head, 0, big),
                        load(head, 1, big));
    return lat_rc(lat_quark_array_read(in, f, &a) < 0
                  || check_sums(lat_input_name(in), column, big, head, &sum.milc, h));
}

static int read_milc(lat_input *in, lat_field *f, lat_quark_hints *h)
{
    unsigned char b[MILC_HEAD];
    const char *name = lat_input_name(in);
    if (lat_input_read(in, b, sizeof b) < 0)
        return -1;
    const bool big = load(b, 0, true) == MILC;
    if (load(b, 0, big) != MILC)
        return lat_fail("%s: expected a MILC propagator, magic number 0x31ed, found 0x%x", name,
                        load(b, 0, big));
    lat_dims_load(&f->head.geom, b + 4, big, false);
    f->head.real = LAT_F32;
    if (load(b, 21, big) != 0)
        return lat_fail("%s: expected sites in natural order, found order %u, with a list of sites",
                        name, load(b, 21, big));
    if (load(b, 22, big) != 4 || load(b, 23, big) != 0 || load(b, 24, big) != 1
        || load(b, 25, big) != 2 || load(b, 26, big) != 3)
        return lat_fail("%s: expected source spins 0 1 2 3, found %u of them", name,
                        load(b, 22, big));
    if (lat_geometry_check(&f->head.geom, name) < 0
        || lat_quark_alloc(in, f, LAT_PROPAGATOR,
                           COLUMNS * (COLUMN_HEAD + SITE_BYTES * lat_volume(&f->head.geom))))
        return -1;
    for (int column = 0; column < COLUMNS; column++)
        if (read_milc_column(in, f, column, big, h) < 0)
            return -1;
    return lat_set_source(&f->head, "MILC propagator, %.24s%s", (const char *)b + 20,
                          h->no_checksum ? ", checksums not verified" : "");
}

static int write_milc_column(lat_output *out, const lat_field *f, int column)
{
    unsigned char head[COLUMN_HEAD];
    lat_sum sum = {.milc = {{0}, {0}}};
    uint32_t sum29, sum31;
    lat_quark_array a = {.axes = "tzyxsci",
                         .column = (size_t)column,
                         .digest = lat_milc_digest,
                         .sum = &sum,
                         .unit = SITE_BYTES};
    if (lat_quark_array_write(NULL, f, &a) < 0)
        return -1;
    lat_milc_sums(&sum.milc, false, &sum29, &sum31);
    lat_store_le32(head, (uint32_t)column / 3);
    lat_store_le32(head + 4, (uint32_t)column % 3);
    lat_store_le32(head + 8, sum29);
    lat_store_le32(head + 12, sum31);
    a.digest = NULL;
    return lat_output_write(out, head, sizeof head) < 0 ? -1 : lat_quark_array_write(out, f, &a);
}

static int write_milc(lat_output *out, const lat_field *f)
{
    unsigned char b[MILC_HEAD] = {0};
    lat_store_le32(b, MILC);
    lat_dims_store(&f->head.geom, b + 4, false, false);
    memcpy(b + 20, "Thu Jan  1 00:00:00 1970", 24); /* no clock: the same input, the same bytes */
    lat_store_le32(b + 88, 4);
    for (uint32_t spin = 0; spin < 4; spin++)
        lat_store_le32(b + 92 + 4 * spin, spin);
    if (lat_output_write(out, b, sizeof b) < 0)
        return -1;
    for (int column = 0; column < COLUMNS; column++)
        if (write_milc_column(out, f, column) < 0)
            return -1;
    return 0;
}

/* ---- Fermilab -------------------------------------------------------------------------------- */

static bool probe_fm(const unsigned char *b, size_t n, int64_t size)
{
    const bool big = n >= FM_HEAD && load(b, 0, true) == FM;
    if (n < FM_HEAD || load(b, 0, big) != FM || load(b, 3, big) != FM_REALS)
        return false;
    const uint64_t volume = lat_probe_volume(b + 16, big);
    return volume && lat_probe_size(size, FM_HEAD + 4 * FM_REALS * volume);
}

static int read_fm(lat_input *in, lat_field *f, LAT_UNUSED lat_quark_hints *h)
{
    unsigned char b[FM_HEAD];
    const char *name = lat_input_name(in);
    if (lat_input_read(in, b, sizeof b) < 0)
        return -1;
    const bool big = load(b, 0, true) == FM;
    if (load(b, 0, big) != FM || load(b, 2, big) != 4 || load(b, 3, big) != FM_REALS
        || load(b, 8, big) != 0)
        return lat_fail("%s: expected an FM propagator of 288 reals of 4 bytes in natural order, "
                        "found magic number 0x%x, %u reals of %u bytes, order %u",
                        name, load(b, 0, big), load(b, 3, big), load(b, 2, big), load(b, 8, big));
    lat_dims_load(&f->head.geom, b + 16, big, false);
    f->head.real = LAT_F32;
    return lat_quark_read_whole(in, f, LAT_PROPAGATOR,
                                &(lat_quark_array){.axes = "tzyxSCsci", .big = big});
}

static int write_fm(lat_output *out, const lat_field *f)
{
    unsigned char b[FM_HEAD] = {0};
    const lat_quark_array a = {.axes = "tzyxSCsci"};
    lat_store_le32(b, FM);
    lat_store_le32(b + 8, 4);
    lat_store_le32(b + 12, FM_REALS);
    lat_dims_store(&f->head.geom, b + 16, false, false);
    return lat_output_write(out, b, sizeof b) < 0 ? -1 : lat_quark_array_write(out, f, &a);
}

const lat_format lat_format_milc_prop = {
    .name = "milc-prop",
    .extension = ".wprop",
    .about = "propagator of MILC, version 5",
    .only = LAT_F32,
    .probe = probe_milc,
    .quarks = LAT_HOLDS_PROPAGATORS,
    .proven = true,
    .norm = LAT_NORM_KAPPA,
    .basis = "milc",
    .read = read_milc,
    .write = write_milc,
};

const lat_format lat_format_fermilab_prop = {
    .name = "fermilab-prop",
    .extension = ".fmprop",
    .about = "propagator of Fermilab (FM)",
    .source = "Fermilab propagator",
    .only = LAT_F32,
    .probe = probe_fm,
    .quarks = LAT_HOLDS_PROPAGATORS,
    .proven = true,
    .norm = LAT_NORM_KAPPA,
    .basis = "fermilab",
    .read = read_fm,
    .write = write_fm,
};
