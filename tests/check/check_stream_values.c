/* SPDX-License-Identifier: BSD-3-Clause */
/* check_stream_values.c: plaquettes, link traces, NaN and matrices out of SU(3) are judged when a
 * stream is written and read; precisions. */
#include <float.h>
#include "check_stream.h"

/* Precision in memory. */
static void check_convert(void)
{
    lat_field f = stored_field(LAT_GAUGE, "3 3 3 2", 3, LAT_F64, 18, 17);
    size_t n = lat_field_reals(&f);
    double *was = malloc(n * sizeof *was), m[18];
    need(was != NULL, "memory");
    memcpy(was, f.data, n * sizeof *was);
    need(lat_field_convert(&f, LAT_F32) == 0, "f32");
    for (size_t i = 0; i < n; i++)
        CHECK(((float *)f.data)[i] == (float)was[i], "real %zu", i);
    lat_field_get(&f, 5, m);
    CHECK(m[7] == (double)(float)was[5 * 18 + 7], "matrix 5");
    f.head.plaquette = 0.5;
    need(lat_field_convert(&f, LAT_F64) == 0, "f64");
    for (size_t i = 0; i < n; i++)
        CHECK(((double *)f.data)[i] == (double)(float)was[i], "real %zu", i);
    CHECK(f.head.plaquette == 0.5, "an exact conversion forgets the plaquette");
    lat_field_free(&f);
    CHECK(f.data == NULL, "freed");
    free(was);
}

/* The stream of f with another plaquette or trace, all checksums right. */
static int read_with(const lat_field *f, double plaquette, double link_trace)
{
    lat_field g = {.data = f->data};
    need(lat_header_copy(&g.head, &f->head) == 0, "copy");
    g.head.plaquette = plaquette;
    g.head.link_trace = link_trace;
    bytes b = written(&g, LAT_STORE_RAW);
    int rc = read_bytes(&b, false, NULL);
    free(b.at);
    lat_header_free(&g.head);
    return rc;
}

static void check_physics(void)
{
    const lat_real reals[] = {LAT_F32, LAT_F64};
    for (int i = 0; i < 2; i++) {
        lat_field f = stored_field(LAT_GAUGE, "4 4 4 4", 3, reals[i], 18, 17);
        double p, l;
        need(lat_measure_plaquette(&f, &p, &l) == 0, "measuring");
        /* Accepted: what rounding of the links may do, stream_read.c's tolerance() shows why;
         * refused: a few times that. u bounds the rounding of a real relative to it, 1024 links. */
        double u = reals[i] == LAT_F32 ? 0x1p-24 : 0x1p-53;
        double bound = 4 * u + (64 + 4 * 32) * DBL_EPSILON;
        CHECK(read_with(&f, p + 0.99 * bound, l) == 1, "f%d: %s", 8 * reals[i], lat_error());
        CHECK(read_with(&f, p - 0.99 * bound, l) == 1, "f%d: %s", 8 * reals[i], lat_error());
        CHECK(read_with(&f, p, l + 0.99 * bound) == 1, "f%d: %s", 8 * reals[i], lat_error());
        const double off[] = {2 * bound, -2 * bound, 1e-3, 1, -2, 1e300};
        for (size_t k = 0; k < sizeof off / sizeof *off; k++) {
            CHECK(read_with(&f, p + off[k], l) < 0, "f%d plaquette off by %g", 8 * reals[i],
                  off[k]);
            CHECK(strstr(lat_error(), "plaquette") != NULL, "%s", lat_error());
            CHECK(read_with(&f, p, l + off[k]) < 0, "f%d link trace off by %g", 8 * reals[i],
                  off[k]);
            CHECK(strstr(lat_error(), "link trace") != NULL, "%s", lat_error());
        }
        lat_field_free(&f);
    }
}

/* A plaquette measured in double precision, before links were rounded and rows dropped, is near
 * enough to what is measured after it. */
static void check_rounding(void)
{
    lat_field f = stored_field(LAT_GAUGE, "4 4 4 4", 3, LAT_F64, 18, 17);
    double p, l;
    need(lat_measure_plaquette(&f, &p, &l) == 0, "measuring");
    f.head.plaquette = p;
    need(lat_field_convert(&f, LAT_F32) == 0, "rounding");
    CHECK(isnan(f.head.plaquette), "a rounded field keeps its plaquette");
    CHECK(read_with(&f, p, l) == 1, "18 reals: %s", lat_error());
    lat_field_free(&f);
}

static void check_not_finite(void)
{
    const double bad[] = {NAN, -NAN, INFINITY, -INFINITY};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        for (size_t at = 0; at < 3; at++) {
            size_t matrix = at == 0 ? 0 : at == 1 ? 777 : 2047;
            char where[32];
            snprintf(where, sizeof where, "matrix %zu", matrix);
            lat_field f = stored_field(LAT_TRANSFORM, "8 8 8 4", 3, LAT_F64, 18, 17);
            ((double *)f.data)[18 * matrix + 5 * at] = bad[k];
            CHECK(write_fails(&f) && strstr(lat_error(), where), "%s: %s", where, lat_error());
            bytes b = head_of(
                "kind = transform\ngroup = SU(3)\ndims = 8 8 8 4\nreal = f64\nreals = 18\nsites "
                "= t z y x\n"
                "endian = little\nblock = 16384\ncompression = zlib\nfilter = rotate-shuffle\n");
            append_field(&b, f.data, lat_header_bytes(&f.head), 16384, FILTERED, 8, false);
            CHECK(read_bytes(&b, false, NULL) < 0 && strstr(lat_error(), where), "%s: %s", where,
                  lat_error());
            free(b.at);
            lat_field_free(&f);
        }
}

/* Two rows are enough only of SU(3) matrices. */
static void check_not_unitary(void)
{
    lat_field f = stored_field(LAT_GAUGE, "4 4 4 4", 3, LAT_F64, 12, 17);
    double *m = (double *)f.data + 18 * 1000, was[18];
    memcpy(was, m, sizeof was);
    for (int k = 12; k < 18; k++)
        m[k] = -m[k]; /* det = -1, as where a boundary sign was folded in */
    CHECK(write_fails(&f) && strstr(lat_error(), "number 1000"), "%s", lat_error());
    for (int k = 12; k < 18; k++)
        m[k] = was[k] + 1e-9;
    bytes b = written(&f, LAT_STORE_RAW);
    CHECK(read_bytes(&b, false, NULL) == 1, "%s", lat_error());
    free(b.at);
    lat_field_free(&f);
}

int main(void)
{
    stream_begin();
    check_case("conversion between f32 and f64 rounds, and back is exact");
    check_convert();
    check_case("a wrong plaquette or link trace is refused though all checksums are right");
    check_physics();
    check_case("a plaquette measured before rounding is accepted");
    check_rounding();
    check_case("NaN and infinity are refused, written or read");
    check_not_finite();
    check_case("two rows of matrices that are not SU(3) are not written");
    check_not_unitary();
    return stream_done();
}
