/* SPDX-License-Identifier: BSD-3-Clause */
/* check_formats.c: what the foreign formats share (lib/formats/payload.c): checksums, byte order,
 * missing rows, chunks. Each is compared with a plain definition. */
#include "../../lib/formats/payload.c"
#include "check.h"
#include "fields.h"
#include "common/io.h"
#include <unistd.h>
#include <zlib.h>

static uint32_t state = 1;

/* Numerical Recipes' quick generator: any bits will do. */
static uint32_t bits(void)
{
    state = state * 1664525u + 1013904223u;
    return state ^ state >> 15;
}

/* ---- sums ------------------------------------------------------------------------------------ */

static uint32_t word_at(const unsigned char *p, bool big)
{
    return big ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]
               : (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static uint32_t rotated(uint32_t v, unsigned by)
{
    for (; by; by--)
        v = v << 1 | v >> 31;
    return v;
}

enum { SITES = 1031, BYTES = 288 }; /* a prime number of sites: no piece ends with a chunk */

/* The same bytes, `step` sites at a time. */
static void feed(lat_digest *digest, void *sum, const unsigned char *b, size_t step)
{
    for (size_t at = 0; at < SITES; at += step)
        digest(sum, b + at * BYTES, SITES - at < step ? SITES - at : step, BYTES, at);
}

static void check_sums(const unsigned char *b)
{
    static const size_t steps[] = {1, 7, 250, SITES};
    uint32_t big = 0, little = 0, s29[2] = {0}, s31[2] = {0}, a = 0, c = 0;
    for (size_t i = 0; i < SITES * BYTES / 4; i++) {
        big += word_at(b + 4 * i, true);
        little += word_at(b + 4 * i, false);
        for (int e = 0; e < 2; e++) {
            s29[e] ^= rotated(word_at(b + 4 * i, e), i % 29);
            s31[e] ^= rotated(word_at(b + 4 * i, e), i % 31);
        }
    }
    for (size_t i = 0; i < SITES; i++) {
        a ^= rotated((uint32_t)crc32(0, b + i * BYTES, BYTES), i % 29);
        c ^= rotated((uint32_t)crc32(0, b + i * BYTES, BYTES), i % 31);
    }
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
        lat_nersc_sum n = {0, 0};
        lat_milc_sum m = {{0}, {0}};
        lat_scidac_sum s = {0, 0};
        feed(lat_nersc_digest, &n, b, steps[k]);
        feed(lat_milc_digest, &m, b, steps[k]);
        feed(lat_scidac_digest, &s, b, steps[k]);
        CHECK(n.big == big && n.little == little, "NERSC %x %x, expected %x %x, by %zu", n.big,
              n.little, big, little, steps[k]);
        CHECK(s.a == a && s.b == c, "SciDAC %x %x, expected %x %x, by %zu", s.a, s.b, a, c,
              steps[k]);
        for (int e = 0; e < 2; e++) {
            uint32_t x, y;
            lat_milc_sums(&m, e, &x, &y);
            CHECK(x == s29[e] && y == s31[e], "MILC %x %x, expected %x %x, by %zu", x, y, s29[e],
                  s31[e], steps[k]);
        }
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* U is unitary with det U = 1 to a few eps; its cofactors, sums of products of N - 1 elements by
 * elimination, are then good to N^2 eps or so. */
static void check_rows(int nc)
{
    lat_field f = field_new(LAT_GAUGE, (lat_geometry){.nd = 4, .dims = {2, 3, 1, 2}}, nc, LAT_F64);
    fill_haar(&f, 5);
    const double bound = 8.0 * nc * nc * DBL_EPSILON,
                 off = lat_rows_error(&f.head, f.data, lat_field_matrices(&f));
    CHECK(off <= bound, "SU(%d): the last row is %g off, bound %g", nc, off, bound);
    lat_rows_complete(&f.head, f.data, lat_field_matrices(&f));
    CHECK(lat_rows_error(&f.head, f.data, lat_field_matrices(&f)) == 0, "SU(%d): completing twice",
          nc);
    for (size_t i = 0; i < lat_field_matrices(&f); i++) {
        double m[LAT_SUN_REALS], det[2];
        lat_field_get(&f, i, m);
        lat_sun_det(nc, m, det);
        CHECK(lat_sun_unitarity(nc, m) <= bound && hypot(det[0] - 1, det[1]) <= bound,
              "SU(%d): unitarity %g, det %g %g", nc, lat_sun_unitarity(nc, m), det[0], det[1]);
    }
    lat_field_free(&f);
}

/* ---- chunks ---------------------------------------------------------------------------------- */

/* A payload of more than one chunk. */
static lat_field new_field(int nc, lat_real real)
{
    const lat_geometry geom = {.nd = 4, .dims = {9, 7, 11, real == LAT_F32 ? 33 : 17}};
    return field_new(LAT_GAUGE, geom, nc, real);
}

static void fill(lat_field *f)
{
    const size_t n = lat_field_reals(f) * (size_t)f->head.real / 4;
    for (size_t i = 0; i < n; i++)
        ((uint32_t *)f->data)[i] = bits() & 0xff7fff7fu; /* any finite number, either order */
    lat_rows_complete(&f->head, f->data, lat_field_matrices(f));
}

/* In portions of `n` slices. */
static int pass_slices(lat_input *in, lat_output *out, lat_field *f, lat_payload *p, int n)
{
    const int all = lat_slices(&f->head);
    for (int t = 0; t < all; t += n) {
        char *at = (char *)f->data + (size_t)t * lat_slice_bytes(&f->head);
        const int count = all - t < n ? all - t : n;
        if ((in ? lat_payload_read(in, &f->head, p, at, t, count)
                : lat_payload_write(out, &f->head, p, at, t, count))
            < 0)
            return -1;
    }
    return 0;
}

static int write_file(const char *path, lat_field *f, lat_payload *p, int n)
{
    lat_output *out = lat_output_open(path, 0, &lat_comm_self);
    if (!out || pass_slices(NULL, out, f, p, n) < 0) {
        lat_output_abort(out);
        return -1;
    }
    return lat_output_commit(out);
}

static int read_file(const char *path, lat_field *f, lat_payload *p, int n)
{
    lat_input *in = lat_input_open(path, &lat_comm_self);
    int bad = !in || pass_slices(in, NULL, f, p, n) < 0;
    lat_input_close(in);
    return bad ? -1 : 0;
}

static void check_chunks(const char *path, int nc, lat_real real, bool big, int rows)
{
    lat_field f = new_field(nc, real), g = new_field(nc, real);
    const lat_payload plain = {.big = big, .rows = rows, .digest = lat_nersc_digest};
    lat_payload wrote = plain, read = plain, only = plain;
    fill(&f);
    CHECK(lat_payload_bytes(&f.head, rows) > SERIAL_CHUNK, "one chunk only");
    CHECK(write_file(path, &f, &wrote, 3) == 0, "%s", lat_error());
    CHECK(pass_slices(NULL, NULL, &f, &only, lat_slices(&f.head)) == 0, "%s", lat_error());
    CHECK(read_file(path, &g, &read, 5) == 0, "%s", lat_error());
    CHECK(wrote.sum.nersc.big == read.sum.nersc.big && wrote.sum.nersc.big == only.sum.nersc.big,
          "sums %x %x %x", wrote.sum.nersc.big, read.sum.nersc.big, only.sum.nersc.big);
    CHECK(memcmp(f.data, g.data, lat_field_reals(&f) * (size_t)real) == 0,
          "SU(%d) %d bytes %s endian %d rows: not the same field", nc, (int)real,
          big ? "big" : "little", rows);
    lat_field_swap(&g);
    lat_field_swap(&g);
    CHECK(memcmp(f.data, g.data, lat_field_reals(&f) * (size_t)real) == 0, "turned twice");
    lat_field_free(&f);
    lat_field_free(&g);
}

/* Sites of the file in another order. */
static void check_order(const char *path)
{
    lat_field f = new_field(3, LAT_F32), g = new_field(3, LAT_F32);
    lat_payload p = {.big = true, .rows = 3};
    fill(&f);
    const size_t v = lat_volume(&f.head.geom), site = 4 * 18;
    uint32_t *order = malloc(v * sizeof *order);
    if (!CHECK(order != NULL, "out of memory"))
        return;
    for (size_t i = 0; i < v; i++)
        order[i] = (uint32_t)((i * 5077) % v); /* a permutation: 5077 is prime to v */
    CHECK(write_file(path, &f, &p, 1) == 0, "%s", lat_error());
    p.sites = order;
    CHECK(read_file(path, &g, &p, lat_slices(&g.head)) == 0, "%s", lat_error());
    size_t wrong = 0;
    for (size_t i = 0; i < v; i++)
        wrong += memcmp((float *)f.data + i * site, (float *)g.data + order[i] * site,
                        site * sizeof(float))
                 != 0;
    CHECK(wrong == 0, "%zu sites of %zu", wrong, v);
    free(order);
    lat_field_free(&f);
    lat_field_free(&g);
}

/* ---- slices at their places ------------------------------------------------------------------ */

/* Backward links of odd sites are kept with these, as openQCD does it: the part of slice t has its
 * own links along x to z, and the t-links of the slice before. */
static void map_before(const lat_geometry *geom, size_t first, size_t n, size_t *to)
{
    const size_t all = 4 * lat_volume(geom), slice = all / (size_t)geom->dims[3];
    for (size_t i = 0; i < n; i++)
        to[i] = (first + i) % 4 == 3 ? (first + i + all - slice) % all : first + i;
}

/* Any slices, read alone, are those of the whole; their checksums add up. */
static void check_picks(const char *path, const lat_payload *how, lat_geometry geom)
{
    lat_field f = field_new(LAT_GAUGE, geom, 3, LAT_F64),
              g = field_new(LAT_GAUGE, geom, 3, LAT_F64);
    lat_payload wrote = *how, read = *how;
    const size_t slice = lat_slice_bytes(&f.head);
    const int all = lat_slices(&f.head);
    fill(&f);
    CHECK(lat_payload_placed(how, &f.head), "%s: no places", how->order.sites);
    CHECK(write_file(path, &f, &wrote, all) == 0, "%s", lat_error());
    lat_input *in = lat_input_open(path, &lat_comm_self);
    for (int first = 0; first < all && in; first++)
        for (int count = 1; count <= all - first; count++) {
            lat_payload p = *how;
            memset(g.data, 0, slice * (size_t)all);
            CHECK(lat_payload_pick(in, 0, &f.head, &p, g.data, first, count) == 0, "%s",
                  lat_error());
            CHECK(memcmp(g.data, (char *)f.data + (size_t)first * slice, (size_t)count * slice)
                      == 0,
                  "order '%s': %d slices from %d on", how->order.sites, count, first);
            CHECK(count == all || ((char *)g.data)[(size_t)count * slice] == 0, "one more");
            CHECK(lat_input_offset(in) == 0, "moved");
            if (count == 1 && how->digest)
                lat_sum_add(how->digest, &read.sum, &p.sum);
        }
    CHECK(in && memcmp(&wrote.sum, &read.sum, sizeof read.sum) == 0, "other checksums");
    lat_input_close(in);
    lat_field_free(&f);
    lat_field_free(&g);
}

static void check_places(const char *path)
{
    static const char *const orders[] = {"", "tzyx", "txyz", "ltzyx", "lptzyx", "ptzlyx"};
    static lat_digest *const digests[] = {lat_nersc_digest, lat_milc_digest, lat_glu_digest_big,
                                          lat_glu_digest_little, lat_scidac_digest};
    const lat_geometry geom = {.nd = 4, .dims = {3, 2, 5, 7}},
                       odd = {.nd = 4, .dims = {3, 1, 5, 7}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        lat_payload p = {.big = true, .rows = 2};
        snprintf(p.order.sites, sizeof p.order.sites, "%s", orders[i]);
        check_picks(path, &p, geom);
        const lat_header head = {.geom = odd, .nc = 3, .real = LAT_F64};
        if (strchr(orders[i], 'p'))
            CHECK(!lat_payload_placed(&p, &head), "parities of odd slices are not equal");
        else
            check_picks(path, &p, odd);
    }
    for (size_t i = 0; i < sizeof digests / sizeof *digests; i++)
        check_picks(path, &(lat_payload){.rows = 3, .digest = digests[i]}, geom);
    check_picks(path, &(lat_payload){.rows = 3, .map = map_before, .map_ahead = true}, geom);
    const lat_header head = {.geom = geom, .nc = 3, .real = LAT_F64};
    const lat_payload across = {.rows = 3, .order = {.sites = "ztyx"}},
                      summed = {.rows = 3, .order = {.sites = "ltzyx"}, .digest = lat_milc_digest};
    CHECK(!lat_payload_placed(&across, &head) && !lat_payload_placed(&summed, &head), "places");
}

int main(void)
{
    static unsigned char b[SITES * BYTES];
    char path[] = "/tmp/check_formats.XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0)
        return perror(path), 1;
    close(fd);
    for (size_t i = 0; i < sizeof b; i++)
        b[i] = (unsigned char)(bits() >> 8);

    check_case("sums do not depend on chunks and are those of the definitions");
    check_sums(b);
    check_case("the last row of SU(N) follows from the others");
    for (int nc = 2; nc <= 8; nc++)
        check_rows(nc);
    check_case("payloads of several chunks come back bit for bit");
    for (int real = 4; real <= 8; real += 4)
        for (int big = 0; big < 2; big++) {
            check_chunks(path, 3, (lat_real)real, big, 3);
            check_chunks(path, 3, (lat_real)real, big, 2);
        }
    check_chunks(path, 4, LAT_F32, true, 4);
    check_case("a list of sites puts each site where it says");
    check_order(path);
    check_case("slices are read at their places");
    check_places(path);
    unlink(path);
    return check_done();
}
