/* SPDX-License-Identifier: BSD-3-Clause */
/* check_stream_fields.c: every field comes back from a stream bit for bit, whoever wrote it, by
 * slices or at once, on one thread and many; which reals are stored. */
#ifdef _OPENMP
#include <omp.h>
#endif
#include "check_stream.h"
#include "lattice/reals.h"
#include "stream/codec.h"
#include "stream/deflate.h"

static bool same_numbers(const double *a, const double *b, int n)
{
    return !a == !b && (!a || memcmp(a, b, (size_t)n * sizeof *a) == 0);
}

static bool same_quark(const lat_quark *p, const lat_quark *q)
{
    return p->columns == q->columns && strcmp(p->basis, q->basis) == 0 && !p->source == !q->source
           && (!p->source || strcmp(p->source, q->source) == 0)
           && lat_fermion_same(&p->fermion, &q->fermion)
           && same_numbers(p->residual, q->residual, p->columns)
           && same_numbers(p->eigenvalue, q->eigenvalue, p->columns)
           && strcmp(p->links, q->links) == 0;
}

/* All that a header can say of spinors; every other field has a part of it. */
static void state_quark(lat_quark *q, bool modes, size_t which)
{
    double numbers[LAT_MAX_COLUMNS];
    for (int i = 0; i < q->columns; i++)
        numbers[i] = 1e-10 / (i + 1);
    if (which % 3 == 2)
        return;
    q->fermion = (lat_fermion){
        .name = "wilson",
        .mass = lat_mass_of_kappa(.1 + .01 * (double)which),
        .csw = 1.769,
        .csw_t = 1. / 3,
        .xi = 2.464,
        .nu = .95,
        .twist = -.01,
        .cf = which % 2 ? 1 : .975,
        .boundary = {{.theta = .1}, {.theta = 0}, {.theta = 1}, {.dirichlet = true, .open = true}}};
    if (which % 3 == 1) {
        q->fermion = (lat_fermion){
            .name = "overlap", .mass = -4, .xi = 1, .nu = 1, .cf = 1, .m0 = 1.4};
        strcpy(q->links, "0123cdef");
    }
    need(lat_quark_set_source(q, "point:0,0,0,0 \xc3\xa9 = x") == 0
             && lat_quark_set_residuals(q, numbers) == 0
             && (!modes || lat_quark_set_eigenvalues(q, numbers) == 0),
         "numbers");
}

static bool same_field(const lat_field *a, const lat_field *b)
{
    const lat_header *p = &a->head, *q = &b->head;
    return p->kind == q->kind && memcmp(&p->geom, &q->geom, sizeof p->geom) == 0 && p->nc == q->nc
           && p->real == q->real && p->reals == q->reals && same_number(p->plaquette, q->plaquette)
           && same_number(p->link_trace, q->link_trace) && strcmp(p->gauge, q->gauge) == 0
           && same_number(p->functional, q->functional) && same_number(p->theta, q->theta)
           && p->sweeps == q->sweeps && same_quark(&p->quark, &q->quark)
           && same_lines(&p->info, &q->info) && same_lines(&p->history, &q->history)
           && memcmp(a->data, b->data, lat_field_reals(a) * (size_t)p->real) == 0;
}

/* The same by slices, in portions of 1, 2, 3, ... of them. */
static bytes written_by_slices(const lat_field *f, int store)
{
    lat_output *out = lat_output_open(path, 0, &lat_comm_self);
    lat_stream_writer *w = out ? lat_stream_open(out, &f->head, store) : NULL;
    const int all = lat_slices(&f->head);
    need(w != NULL, "writing by slices");
    for (int done = 0, n = 1; done < all; done += n, n = n + 1 < all - done ? n + 1 : all - done)
        need(lat_stream_put(w, (char *)f->data + (size_t)done * lat_slice_bytes(&f->head), n) == 0,
             "a portion");
    need(lat_stream_close(w) == 0 && lat_stream_commit(out) == 0, "the end");
    return file_bytes(path);
}

/* A field that is not in memory: bytes that are held lie in places, and are overwritten when they
 * are done. */
typedef struct elsewhere {
    const lat_field *f;
    unsigned char *place;
    size_t places, blocks;
    bool good;
} elsewhere;

static const void *next_bytes(void *with, size_t from, size_t n, size_t done)
{
    elsewhere *e = with;
    unsigned char *to = e->place + from / LAT_STREAM_BLOCK % e->places * LAT_STREAM_BLOCK;
    e->good = e->good && from == e->blocks * LAT_STREAM_BLOCK && n <= LAT_STREAM_BLOCK;
    e->good = e->good && from + LAT_STREAM_BLOCK <= done + e->places * LAT_STREAM_BLOCK;
    e->blocks++;
    memcpy(to, (const char *)e->f->data + from, n);
    return to;
}

static const void *no_bytes(void *with, size_t from, size_t n, size_t done)
{
    (void)with, (void)n, (void)done;
    if (from < 5 * LAT_STREAM_BLOCK)
        return ((const lat_field *)with)->data;
    lat_fail("lost");
    return NULL;
}

static void check_elsewhere(void)
{
    lat_field f = stored_field(LAT_PROPAGATOR, "8 8 8 20", 3, LAT_F64, 24, 17), few = shape(2);
    for (int store = LAT_STORE_RAW; store <= LAT_STORE_ZLIB; store++) {
        bytes b = written(&f, store);
        lat_output *out = lat_output_open(path, 0, &lat_comm_self);
        lat_stream_writer *w = out ? lat_stream_open(out, &f.head, store) : NULL;
        need(w != NULL, "writing");
        elsewhere e = {&f, NULL, lat_stream_held(w) / LAT_STREAM_BLOCK, 0, true};
        e.place = malloc(e.places * LAT_STREAM_BLOCK);
        need(e.place != NULL, "memory");
        CHECK(lat_stream_put_from(w, next_bytes, &e) == 0 && e.good
                  && e.blocks
                         == (lat_header_bytes(&f.head) + LAT_STREAM_BLOCK - 1) / LAT_STREAM_BLOCK,
              "store %d: %s", store, lat_error());
        need(lat_stream_close(w) == 0 && lat_stream_commit(out) == 0, "the end");
        bytes c = file_bytes(path);
        CHECK(b.n == c.n && memcmp(b.at, c.at, b.n) == 0, "store %d", store);
        free(e.place);
        free(b.at);
        free(c.at);

        out = lat_output_open(path, 0, &lat_comm_self);
        w = out ? lat_stream_open(out, &f.head, store) : NULL;
        need(w != NULL, "writing");
        CHECK(lat_stream_put_from(w, no_bytes, &f) < 0 && !strcmp(lat_error(), "lost"), "%s",
              lat_error());
        lat_stream_abort(w);
        lat_output_abort(out);
        lat_error_clear();
    }
    lat_output *out = lat_output_open(path, 0, &lat_comm_self);
    lat_stream_writer *w = out ? lat_stream_open(out, &few.head, LAT_STORE_RAW) : NULL;
    CHECK(w && lat_stream_put_from(w, no_bytes, &few) < 0 && strstr(lat_error(), "all reals"), "%s",
          lat_error());
    lat_stream_abort(w);
    lat_output_abort(out);
    lat_error_clear();
    lat_field_free(&few);
    lat_field_free(&f);
}

static void check_round_trips(void)
{
    for (size_t s = 0; s < SHAPES; s++)
        for (int store = LAT_STORE_RAW; store <= LAT_STORE_ZLIB; store++) {
            lat_field f = shape(s), back;
            need(lat_info_set(&f.head, "lfn", "lfn://somewhere/a = b") == 0
                     && lat_info_set(&f.head, "empty", "") == 0
                     && lat_lines_add(&f.head.history,
                                      "lat-start 0.1.0 | --seed 17 | \xc3\xa9tape %zu", s)
                            == 0
                     && lat_lines_add(&f.head.history, "%s", "") == 0,
                 "lines");
            if (lat_header_spinors(&f.head))
                state_quark(&f.head.quark, f.head.kind == LAT_MODES, s);
            if (s % 2) {
                strcpy(f.head.gauge, "landau");
                f.head.functional = 0.1 + 1. / 3;
                f.head.theta = 4.9406564584124654e-324;
                f.head.sweeps = 1234567890;
            }
            bytes b = written(&f, store);
            if (f.head.kind == LAT_GAUGE) {
                double p, l;
                need(lat_measure_plaquette(&f, &p, &l) == 0, "measuring");
                CHECK(same_number(f.head.plaquette, p) && f.head.link_trace == l,
                      "shape %zu: %g %g", s, p, l);
            }
            if (CHECK(read_bytes(&b, false, &back) == 1, "shape %zu store %d: %s", s, store,
                      lat_error())) {
                CHECK(same_field(&f, &back), "shape %zu store %d", s, store);
                CHECK(strcmp(lat_info_get(&back.head, "lfn"), "lfn://somewhere/a = b") == 0,
                      "shape %zu", s);
                lat_field_free(&back);
            }
            bytes c = written_by_slices(&f, store);
            CHECK(c.n == b.n && memcmp(c.at, b.at, b.n) == 0,
                  "shape %zu store %d: other bytes by slices", s, store);
            free(c.at);
            for (int first = 1; first < 4; first += 2)
                if (CHECK(read_by_slices(&b, first, &back) == 0, "shape %zu store %d by slices: %s",
                          s, store, lat_error())) {
                    CHECK(same_field(&f, &back), "shape %zu store %d by slices", s, store);
                    lat_field_free(&back);
                }
            if (b.n <= 65536
                && CHECK(read_bytes(&b, true, &back) == 1, "shape %zu piped: %s", s, lat_error())) {
                CHECK(same_field(&f, &back), "shape %zu store %d piped", s, store);
                lat_field_free(&back);
            }
            lat_field_free(&f);
            free(b.at);
        }
}

/* Writing what was read changes nothing: dropping rows twice is dropping them once. */
static void check_again(void)
{
    for (size_t s = 0; s < SHAPES; s++) {
        lat_field f = shape(s), back;
        bytes once = written(&f, LAT_STORE_ZLIB);
        need(read_bytes(&once, false, &back) == 1, "reading");
        bytes twice = written(&back, LAT_STORE_ZLIB);
        CHECK(once.n == twice.n && memcmp(once.at, twice.at, once.n) == 0, "shape %zu", s);
        lat_field_free(&f);
        lat_field_free(&back);
        free(once.at);
        free(twice.at);
    }
}

static void check_threads(void)
{
#ifdef _OPENMP
    int usual = omp_get_max_threads();
    for (size_t s = 0; s < SHAPES; s++)
        for (int store = LAT_STORE_RAW; store <= LAT_STORE_ZLIB; store++) {
            bytes with[4];
            for (int t = 0; t < 4; t++) {
                lat_field f = shape(s), back;
                omp_set_num_threads(t + 1);
                with[t] = written(&f, store);
                CHECK(with[t].n == with[0].n && memcmp(with[t].at, with[0].at, with[0].n) == 0,
                      "shape %zu store %d: %d threads and 1", s, store, t + 1);
                if (CHECK(read_bytes(&with[t], false, &back) == 1, "%s", lat_error())) {
                    CHECK(same_field(&f, &back), "shape %zu store %d: %d threads", s, store, t + 1);
                    lat_field_free(&back);
                }
                lat_field_free(&f);
            }
            for (int t = 0; t < 4; t++)
                free(with[t].at);
        }
    omp_set_num_threads(usual);
#endif
}

/* What another program may write: any block size, deflate without filter, the other byte order. */
typedef struct foreign {
    bool big;
    storage how;
    size_t block;
} foreign;

/* The stream of f as `way` says; raw: its reals in our byte order, n bytes, which change with
 * way.big. */
static bytes foreign_stream(const lat_field *f, unsigned char *raw, size_t n, foreign way)
{
    static const char *const sites[] = {"", "x", "y x", "z y x", "t z y x"};
    static const char *const links[] = {"", "x", "x y", "x y z", "x y z t"};
    const size_t real = (size_t)f->head.real;
    const int nd = f->head.geom.nd;
    const bool gauge = f->head.kind == LAT_GAUGE;
    char lines[1024], dims[64], columns[64] = "";
    if (lat_header_order_objects(&f->head) == LAT_ORDER_COLUMNS)
        snprintf(columns, sizeof columns, "columns = %d\n", f->head.quark.columns);
    for (size_t i = 0; way.big && i < n; i += real)
        for (size_t j = 0; j < real / 2; j++) {
            const unsigned char t = raw[i + j];
            raw[i + j] = raw[i + real - 1 - j];
            raw[i + real - 1 - j] = t;
        }
    snprintf(lines, sizeof lines,
             "kind = %s\ngroup = SU(%d)\ndims = %s\nreal = f%d\nreals = %d\n%s%ssites = %s\n%s%s%s"
             "endian = %s\nblock = %zu\ncompression = %s\nfilter = %s\n",
             lat_kind_word(f->head.kind), f->head.nc, lat_dims_text(&f->head.geom, dims),
             (int)real * 8, f->head.reals, columns,
             lat_header_spinors(&f->head) ? "basis = degrand-rossi\n" : "", sites[nd],
             gauge ? "links = " : "", gauge ? links[nd] : "", gauge ? "\n" : "",
             way.big ? "big" : "little", way.block, way.how == PLAIN ? "none" : "zlib",
             way.how == FILTERED ? "rotate-shuffle" : "none");
    bytes b = head_of(lines);
    append_field(&b, raw, n, way.block, way.how, (int)real,
                 way.big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__));
    return b;
}

/* The stream gives f, at once and by slices. */
static void reads_back(const lat_field *f, const bytes *b, foreign way)
{
    const size_t n = lat_field_reals(f) * (size_t)f->head.real;
    char what[128], dims[64];
    lat_field back;
    snprintf(what, sizeof what, "%s SU(%d) f%d %s-endian, stored %d, blocks of %zu",
             lat_dims_text(&f->head.geom, dims), f->head.nc, 8 * (int)f->head.real,
             way.big ? "big" : "little", way.how, way.block);
    if (CHECK(read_bytes(b, false, &back) == 1, "%s: %s", what, lat_error())) {
        CHECK(memcmp(f->data, back.data, n) == 0, "%s", what);
        lat_field_free(&back);
    }
    if (CHECK(read_by_slices(b, 2, &back) == 0, "%s, by slices: %s", what, lat_error()))
        CHECK(memcmp(f->data, back.data, n) == 0, "%s, by slices", what);
    lat_field_free(&back);
}

static void check_foreign(void)
{
    static const size_t blocks[] = {4096, 4104, 10000, 1 << 20};
    for (size_t s = 0; s < SHAPES; s++) {
        lat_field f = shape(s);
        bytes ours = written(&f, LAT_STORE_RAW); /* completes the matrices, measures */
        const size_t n = lat_header_bytes(&f.head);
        unsigned char *raw = malloc(n);
        need(raw != NULL, "memory");
        for (int big = 0; n <= 200000 && big < 2; big++)
            for (storage how = PLAIN; how <= FILTERED; how++)
                for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) {
                    const foreign way = {big, how, blocks[k]};
                    /* the raw bytes are those that our writer stored as one block */
                    need(ours.n > n + 32 && n <= 1 << 20, "one block");
                    memcpy(raw, ours.at + ours.n - 32 - n, n);
                    bytes b = foreign_stream(&f, raw, n, way);
                    reads_back(&f, &b, way);
                    free(b.at);
                }
        free(raw);
        free(ours.at);
        lat_field_free(&f);
    }
}

/* Which reals of a matrix are stored, and in which order. */
static void check_order(void)
{
    const float q[4] = {0.1f, 0.3f, 0.5f, 0.8f}; /* q0 to q3; their squares add to 0.99 */
    const double m[8] = {0.1f, 0.8f, 0.5f, 0.3f, -0.5f, 0.3f, 0.1f, -0.8f};
    lat_field f = stored_field(LAT_TRANSFORM, "3", 2, LAT_F32, 4, 17), back;
    lat_field_put(&f, 1, m);
    bytes b = written(&f, LAT_STORE_RAW);
    CHECK(memcmp(b.at + b.n - 32 - 2 * sizeof q, q, sizeof q) == 0, "not q0, q1, q2, q3");
    if (CHECK(read_bytes(&b, false, &back) == 1, "%s", lat_error())) {
        double n[8];
        lat_field_get(&back, 1, n);
        CHECK(memcmp(m, n, sizeof m) == 0, "another matrix");
        lat_field_free(&back);
    }
    free(b.at);
    lat_field_free(&f);
    f = stored_field(LAT_TRANSFORM, "3", 3, LAT_F64, 12, 17);
    b = written(&f, LAT_STORE_RAW);
    for (size_t i = 0; i < 3; i++)
        CHECK(memcmp(b.at + b.n - 32 - (3 - i) * 96, (double *)f.data + 18 * i, 96) == 0,
              "not two rows");
    free(b.at);
    lat_field_free(&f);
}

static void check_skip(void)
{
    lat_field f = shape(SHAPES - 1);
    bytes b = written(&f, LAT_STORE_ZLIB), two = {0};
    append(&two, b.at, b.n);
    append(&two, b.at, b.n);
    write_bytes(&two);
    lat_input *in = lat_input_open(path, &lat_comm_self);
    need(in != NULL, path);
    unsigned crc = 0;
    for (int i = 0; i < 2; i++) {
        lat_header head;
        if (!CHECK(lat_stream_head(in, &head) == 1, "%s", lat_error()))
            break;
        lat_field g = {.head = head};
        CHECK((i ? lat_stream_body(in, &g) : lat_stream_skip(in, &head)) == 1, "%s", lat_error());
        const lat_stream_form *form = lat_stream_last(in);
        CHECK(form->compressed && form->block == 1 << 20 && form->blocks == 3, "%zu %u",
              form->block, form->blocks);
        CHECK(form->stored == b.n - 16, "%llu of %zu", form->stored,
              b.n); /* the end mark is no field's */
        CHECK(i == 0 || form->crc == crc, "%08x and %08x", form->crc, crc);
        crc = form->crc;
        lat_field_free(&g);
    }
    lat_header head;
    CHECK(lat_stream_head(in, &head) == 0, "%s", lat_error());
    lat_input_close(in);
    free(two.at);
    free(b.at);
    lat_field_free(&f);
}

int main(void)
{
    stream_begin();
    check_case("every field and header comes back, bit for bit");
    check_round_trips();
    check_case("what was read is written again to the same bytes");
    check_again();
    check_case("one thread and many write and read the same bytes");
    check_threads();
    check_case("a field that is not in memory is written from bytes that are given back");
    check_elsewhere();
    check_case("big-endian, unfiltered and otherwise blocked streams are read");
    check_foreign();
    check_case("the reals that are stored are those of docs/format.md");
    check_order();
    check_case("a field can be skipped, and says how it was stored");
    check_skip();
    return stream_done();
}
