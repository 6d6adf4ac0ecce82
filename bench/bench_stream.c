/* SPDX-License-Identifier: BSD-3-Clause */
/* bench_stream: how fast and how small the stream makes a gauge field, `make bench-stream`.
 *
 * The field is a stream file, or links as random as thermal ones: near 1, hidden by a random gauge
 * transformation. Each way of packing first gives back every bit, then is timed, in blocks of 1 MiB
 * on one core: ours, and zlib's levels 1 and 6 on the same raw bytes, beside what memcpy and CRC-32
 * take. Then whole streams go through a named pipe from one thread to another, with all there is
 * to it (checksums, plaquette), beside bare bytes through the same pipe. Before that, each side
 * alone.
 *
 *     bench_stream [EXTENT | FILE]      default 16 */
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include "bench.h"
#include "../tests/check/fields.h"
#include "common/options.h"
#include "stream/codec.h"
#include "stream/deflate.h"
#include "base/error.h"
#include "base/threads.h"
#include "base/memory.h"
#include "measure/measure.h"
#include "stream/stream.h"

#define BLOCK ((size_t)1 << 20)
#define PASSES 5

/* ---- the field ---------------------------------------------------------------------------------
 */

/* Links near one, by a random gauge transformation. With this width the plaquette is near 0.6. */
static lat_field make_field(int extent)
{
    const lat_geometry geom = {4, {extent, extent, extent, extent}};
    lat_field f = field_new(LAT_GAUGE, geom, 3, LAT_F64);
    fill_near_one(&f, 0.43, 1);
    lat_field g = haar_transform(&f, 2);
    need(lat_transform_apply(&f, &g) == 0, "a gauge transformation");
    lat_field_free(&g);
    return f;
}

static lat_field load_field(const char *path)
{
    lat_field f = {.data = NULL};
    lat_input *in = lat_input_open(path, &lat_comm_self);
    need(in && lat_stream_read(in, &f) > 0, path);
    lat_input_close(in);
    return f;
}

/* The first `reals` reals of each matrix, as `real`: what a stream of that kind holds. */
static void *raw_of(const lat_field *f, lat_real real, size_t reals, size_t *n)
{
    size_t matrices = lat_field_matrices(f);
    *n = matrices * reals * (size_t)real;
    char *raw = lat_alloc(*n, 1, "raw bytes");
    need(raw != NULL, "memory");
    for (size_t i = 0; i < matrices; i++) {
        double m[LAT_SUN_REALS];
        float s[LAT_SUN_REALS];
        lat_field_get(f, i, m);
        for (size_t k = 0; k < reals; k++)
            s[k] = (float)m[k];
        memcpy(raw + i * reals * (size_t)real, real == LAT_F64 ? (void *)m : (void *)s,
               reals * (size_t)real);
    }
    return raw;
}

/* ---- packing -----------------------------------------------------------------------------------
 */

/* One way of packing: ours for level 0, zlib's level else. */
typedef struct way {
    const char *name;
    int level, passes;
} way;

static size_t pack(const way *w, const char *raw, size_t n, lat_real real, void *work, void *packed,
                   size_t room)
{
    uLongf size = (uLongf)room;
    if (w->level == 0)
        return lat_codec_pack(raw, n, (int)real, work, packed);
    return compress2(packed, &size, (const Bytef *)raw, (uLong)n, w->level) == Z_OK ? (size_t)size
                                                                                    : 0;
}

static bool unpack(const way *w, const void *packed, size_t size, lat_real real, void *work,
                   void *raw, size_t n)
{
    uLongf got = (uLongf)n;
    if (w->level == 0)
        return lat_codec_unpack(packed, size, (int)real, work, raw, n) == 0;
    return uncompress(raw, &got, packed, (uLong)size) == Z_OK && got == n;
}

/* One pass over all blocks: CPU seconds to pack and to unpack; returns the packed bytes. */
static size_t pass(const way *w, const char *raw, size_t n, lat_real real, double *in, double *out)
{
    static char work[BLOCK], packed[2 * BLOCK], back[BLOCK];
    size_t total = 0;
    *in = *out = 0;
    for (size_t at = 0; at < n; at += BLOCK) {
        size_t m = n - at < BLOCK ? n - at : BLOCK;
        double t0 = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
        size_t size = pack(w, raw + at, m, real, work, packed, sizeof packed);
        double t1 = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
        need(size > 0 && unpack(w, packed, size, real, work, back, m), w->name);
        double t2 = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
        if (memcmp(raw + at, back, m) != 0)
            need(false, "what was unpacked is not what was packed");
        *in += t1 - t0;
        *out += t2 - t1;
        total += size;
    }
    return total;
}

static void row(const way *w, const char *raw, size_t n, lat_real real, size_t reals, size_t full,
                double copy)
{
    double in[PASSES], out[PASSES];
    size_t size = 0;
    pass(w, raw, n < BLOCK ? n : BLOCK, real, in, out); /* warms up */
    for (int p = 0; p < w->passes; p++)
        size = pass(w, raw, n, real, &in[p], &out[p]);
    double tin = bench_median(in, w->passes), tout = bench_median(out, w->passes);
    printf("f%d %3zu  %-8s %9.0f %11.0f %7.3f %9.3f %9.3f %11.3f\n", 8 * (int)real, reals, w->name,
           (double)n / tin / 1e6, (double)n / tout / 1e6, (double)n / (double)size,
           (double)n / (double)reals * (double)full / (double)size, (double)n / tin / copy,
           (double)n / tout / copy);
    fflush(stdout);
}

/* Bytes a second that memcpy moves from one place to the other, and that CRC-32 reads. */
static double copy_speed(const char *raw, size_t n)
{
    double t[PASSES];
    char *to = lat_alloc(n, 1, "a copy");
    need(to != NULL, "memory");
    memset(to, 1, n);
    for (int p = 0; p < PASSES; p++) {
        double t0 = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
        memcpy(to, raw, n);
        t[p] = bench_seconds(CLOCK_THREAD_CPUTIME_ID) - t0;
        need(to[n / 2] == raw[n / 2], "memcpy");
    }
    free(to);
    return (double)n / bench_median(t, PASSES);
}

static double crc_speed(const char *raw, size_t n)
{
    double t[PASSES];
    uint32_t crc[PASSES];
    for (int p = 0; p < PASSES; p++) {
        double t0 = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
        crc[p] = lat_crc(0, raw, n);
        t[p] = bench_seconds(CLOCK_THREAD_CPUTIME_ID) - t0;
        need(crc[p] == crc[0], "CRC-32");
    }
    return (double)n / bench_median(t, PASSES);
}

static void packing(const lat_field *f)
{
    static const way ways[] = {{"ours", 0, PASSES}, {"zlib 1", 1, 1}, {"zlib 6", 6, 1}};
    size_t n, full = 2 * (size_t)f->head.nc * (size_t)f->head.nc;
    char *raw = raw_of(f, LAT_F64, full, &n);
    double copy = copy_speed(raw, n);
    printf("memcpy %.0f MB/s, CRC-32 %.0f MB/s of %zu bytes; times are CPU seconds of one "
           "thread\n\n",
           copy / 1e6, crc_speed(raw, n) / 1e6, n);
    free(raw);
    printf("reals    codec    pack MB/s unpack MB/s   ratio   to full   pack of unpack of\n");
    printf("                                                   reals    memcpy      memcpy\n");
    for (lat_real real = LAT_F32; real <= LAT_F64; real += LAT_F64 - LAT_F32)
        for (size_t fewer = 0; fewer < (f->head.nc == 3 ? 2 : 1); fewer++) {
            size_t reals = fewer ? 12 : full;
            raw = raw_of(f, real, reals, &n);
            for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
                row(&ways[w], raw, n, real, reals, full, copy);
            free(raw);
        }
}

/* ---- through a pipe ----------------------------------------------------------------------------
 */

typedef struct sender {
    lat_field *f;
    const char *path;
    int store, times, threads;
    bool bare; /* bytes alone */
} sender;

static void *send_bare(const sender *s)
{
    size_t n = lat_field_reals(s->f) * (size_t)s->f->head.real;
    int fd = open(s->path, O_WRONLY | O_CLOEXEC);
    need(fd >= 0, s->path);
    for (int i = 0; i < s->times; i++)
        for (size_t at = 0; at < n;) {
            size_t m = n - at < BLOCK ? n - at : BLOCK;
            ssize_t put = write(fd, (const char *)s->f->data + at, m);
            need(put > 0, s->path);
            at += (size_t)put;
        }
    close(fd);
    return NULL;
}

static void *send_stream(void *arg)
{
    const sender *s = arg;
    bench_threads(s->threads);
    if (s->bare)
        return send_bare(s);
    lat_output *out = lat_output_open(s->path, 0, &lat_comm_self);
    need(out != NULL, s->path);
    for (int i = 0; i < s->times; i++)
        need(lat_stream_write(out, s->f, s->store) == 0, "writing");
    need(lat_stream_commit(out) == 0, "writing");
    return NULL;
}

static void receive(const sender *s, size_t n)
{
    lat_field g;
    int count = 0, rc = 0;
    lat_input *in = lat_input_open(s->path, &lat_comm_self);
    need(in != NULL, s->path);
    if (s->bare) {
        char *to = lat_alloc(n, 1, "a field");
        need(to != NULL, "memory");
        for (; count < s->times; count++)
            need(lat_input_read(in, to, n) == 0 && memcmp(to, s->f->data, n) == 0, "bare bytes");
        free(to);
    } else
        for (; (rc = lat_stream_read(in, &g)) > 0; count++) {
            need(memcmp(g.data, s->f->data, n) == 0, "a field came back changed");
            lat_field_free(&g);
        }
    need(rc == 0 && count == s->times, "the number of fields");
    lat_input_close(in);
}

/* MB/s of raw bytes from one thread of this program, and its OpenMP threads, to another. */
static double through(lat_field *f, int store, int threads, bool bare, const char *path)
{
    size_t n = lat_field_reals(f) * (size_t)f->head.real;
    sender s = {.f = f, .path = path, .store = store, .times = 5, .threads = threads, .bare = bare};
    pthread_t thread;
    double t = bench_seconds(CLOCK_MONOTONIC);
    bench_threads(threads);
    need(pthread_create(&thread, NULL, send_stream, &s) == 0, "a thread");
    receive(&s, n);
    need(pthread_join(thread, NULL) == 0, "a thread");
    return s.times * (double)n / (bench_seconds(CLOCK_MONOTONIC) - t) / 1e6;
}

/* CPU seconds a GB, of both sides, with one thread each: the least of a few passes. */
static double effort(lat_field *f, const char *path)
{
    const double gigabytes = 5e-9
                             * (double)(lat_field_reals(f)
                                        * (size_t)f->head.real); /* `through` sends it five times */
    double least = INFINITY;
    for (int p = 0; p < PASSES; p++) {
        const double t = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
        through(f, LAT_STORE_RAW, 1, false, path);
        least = fmin(least, (bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - t) / gigabytes);
    }
    return least;
}

/* Through the pipe in another order and back into the natural one. */
static void ordering(lat_field *f, const char *path)
{
    static const struct {
        const char *sites, *links;
    } orders[] = {{"natural", "x,y,z,t"},   {"natural", "t,x,y,z"},
                  {"standard", "x,y,z,t"},  {"reversed", "x,y,z,t"},
                  {"parity", "x,y,z,t"},    {"parity,t,z,y,x", "x,y,z,t"},
                  {"timeslice", "x,y,z,t"}, {"timeslice-parity", "x,y,z,t"}};
    printf("\nf64 stored in another order: CPU seconds a GB, both sides, the plaquette included\n");
    for (size_t i = 0; f->head.geom.nd == 4 && i < sizeof orders / sizeof *orders; i++) {
        need(lat_order_parse_sites(&f->head.order, orders[i].sites, 4, LAT_ORDER_LINKS) == 0
                 && lat_order_parse_links(&f->head.order, orders[i].links, 4) == 0,
             orders[i].sites);
        printf("%-18s %-8s %7.2f\n", orders[i].sites, orders[i].links, effort(f, path));
        fflush(stdout);
    }
    f->head.order = (lat_order){.sites = ""};
}

static void piping(lat_field *f)
{
    char folder[] = "/tmp/lat-bench-stream.XXXXXX", path[64];
    const int most = bench_most_threads();
    need(mkdtemp(folder) != NULL, folder);
    snprintf(path, sizeof path, "%s/pipe", folder);
    need(mkfifo(path, 0600) == 0, path);
    f->head.reals = 2 * f->head.nc * f->head.nc;
    printf("\nThrough a pipe, MB/s of wall time; bare bytes, read and compared: %.0f\n",
           through(f, 0, 1, true, path));
    printf("    threads       stored   compressed    (threads of either side; the plaquette is "
           "verified)\n");
    for (lat_real real = LAT_F64; real >= LAT_F32; real -= LAT_F64 - LAT_F32) {
        need(lat_field_convert(f, real) == 0, "conversion");
        for (int t = 1; t <= most; t = t < most && 2 * t > most ? most : 2 * t)
            printf("f%d %7d %12.0f %12.0f\n", 8 * (int)real, t,
                   through(f, LAT_STORE_RAW, t, false, path),
                   through(f, LAT_STORE_ZLIB, t, false, path));
    }
    need(lat_field_convert(f, LAT_F64) == 0, "conversion");
    ordering(f, path);
    unlink(path);
    rmdir(folder);
}

/* ---- one side alone ----------------------------------------------------------------------------
 */

static double write_alone(lat_field *f, const char *path, int store)
{
    const double t = bench_seconds(CLOCK_MONOTONIC);
    lat_output *out = lat_output_open(path, 0, &lat_comm_self);
    need(out && lat_stream_write(out, f, store) == 0 && lat_stream_commit(out) == 0, path);
    return bench_seconds(CLOCK_MONOTONIC) - t;
}

static double read_alone(const char *path)
{
    const double t = bench_seconds(CLOCK_MONOTONIC);
    lat_field f = load_field(path);
    const double seconds = bench_seconds(CLOCK_MONOTONIC) - t;
    lat_field_free(&f);
    return seconds;
}

/* MB/s, the best of a few. */
static void alone_with(lat_field *f, const char *path, int store)
{
    const double megabytes = 1e-6 * (double)lat_field_reals(f) * (double)f->head.real;
    double least[3] = {INFINITY, INFINITY, INFINITY};
    for (int p = 0; p < 3; p++) {
        least[0] = fmin(least[0], write_alone(f, "/dev/null", store));
        least[1] = fmin(least[1], write_alone(f, path, store));
        least[2] = fmin(least[2], read_alone(path));
    }
    printf(" %10.0f %8.0f %8.0f ", megabytes / least[0], megabytes / least[1],
           megabytes / least[2]);
}

static void alone(lat_field *f)
{
    char folder[] = "/dev/shm/lat-bench-stream.XXXXXX", path[64];
    const int most = bench_most_threads();
    need(mkdtemp(folder) != NULL, folder);
    snprintf(path, sizeof path, "%s/field", folder);
    printf("\nOne side alone, MB/s of wall time; the file is in memory\n"
           "             stored                         compressed\n"
           "    threads  /dev/null     file     read    /dev/null     file     read\n");
    for (lat_real real = LAT_F64; real >= LAT_F32; real -= LAT_F64 - LAT_F32) {
        need(lat_field_convert(f, real) == 0, "conversion");
        need(lat_measure_plaquette(f, &f->head.plaquette, &f->head.link_trace) == 0,
             "the plaquette");
        for (int t = 1; t <= most; t = t < most && 2 * t > most ? most : 2 * t) {
            bench_threads(t);
            printf("f%d %7d ", 8 * (int)real, t);
            alone_with(f, path, LAT_STORE_RAW);
            alone_with(f, path, LAT_STORE_ZLIB);
            printf("\n");
            fflush(stdout);
        }
    }
    need(lat_field_convert(f, LAT_F64) == 0, "conversion");
    unlink(path);
    rmdir(folder);
}

int main(int argc, char **argv)
{
    lat_threads_limit_spinning(argv);
    const char *arg = argc > 1 ? argv[1] : "16";
    char *end, dims[64];
    long extent = strtol(arg, &end, 10);
    lat_field f = *end || extent < 1 || extent > 256 ? load_field(arg) : make_field((int)extent);
    printf("%s %s SU(%d), every pass checked bit for bit\n", *end ? arg : "thermal-like field",
           lat_dims_text(&f.head.geom, dims), f.head.nc);
    packing(&f);
    f.head.reals = 2 * f.head.nc * f.head.nc;
    alone(&f);
    piping(&f);
    lat_field_free(&f);
    return 0;
}
