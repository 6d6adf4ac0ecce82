/* SPDX-License-Identifier: BSD-3-Clause */
/* check_order.c: the order of matrices in a stream is that of docs/format.md: sorted by the words
 * of the list. */
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "fields.h"
#include "base/error.h"
#include "common/options.h"
#include "lattice/order.h"
#include "stream/stream.h"
#include "site/sun.h"

#define MOST 4096
#define COLUMNS 5 /* an odd number of them */

/* ---- the definition -------------------------------------------------------------------------- */

/* A matrix, and what the list of its order says of it. */
typedef struct entry {
    int key[8], n;
    size_t number;
} entry;

static int by_key(const void *p, const void *q)
{
    const entry *a = p, *b = q;
    for (int k = 0; k < a->n; k++)
        if (a->key[k] != b->key[k])
            return a->key[k] - b->key[k];
    return 0;
}

static entry entry_of(const char *sites, const char *links, const lat_geometry *geom, int each,
                      size_t number)
{
    entry e = {.number = number};
    int x[LAT_MAX_DIMS], sum = 0, mu = (int)(number % (size_t)each);
    lat_coordinates(geom, number / (size_t)each, x);
    for (const char *p = sites + strlen(sites); p-- > sites;)
        if (strchr("xyzt", *p))
            sum += x[strchr("xyzt", *p) - "xyzt"];
        else if (*p == 'p')
            break;
    const int place = each > 1 && *links ? (int)(strchr(links, "xyzt"[mu]) - links) : mu;
    for (const char *p = sites; *p; p++)
        e.key[e.n++] = *p == 'p'                ? sum % 2
                       : *p == 'l' || *p == 'c' ? place
                                                : x[strchr("xyzt", *p) - "xyzt"];
    if (!strchr(sites, 'l') && !strchr(sites, 'c'))
        e.key[e.n++] = place;
    return e;
}

/* Natural numbers of the matrices as they are stored: how many. */
static size_t sorted(const char *sites, const char *links, const lat_geometry *geom, int each,
                     size_t *numbers)
{
    static entry all[MOST];
    const size_t n = lat_volume(geom) * (size_t)each;
    need(n <= MOST, "memory");
    for (size_t i = 0; i < n; i++)
        all[i] = entry_of(sites, links, geom, each, i);
    qsort(all, n, sizeof *all, by_key);
    for (size_t i = 0; i < n; i++)
        numbers[i] = all[i].number;
    return n;
}

/* ---- every order ----------------------------------------------------------------------------- */

/* Calls `use` for every string of `n` different letters of `from` that begins with `letters`. */
static void strings(const char *from, int n, char *letters,
                    void (*use)(const char *letters, void *), void *context)
{
    const size_t length = strlen(letters);
    if (n == 0) {
        use(letters, context);
        return;
    }
    for (const char *p = from; *p; p++)
        if (!strchr(letters, *p)) {
            letters[length] = *p;
            letters[length + 1] = '\0';
            strings(from, n - 1, letters, use, context);
            letters[length] = '\0';
        }
}

static const char *spelled(const char *letters, char *text)
{
    *text = '\0';
    for (const char *p = letters; *p; p++)
        sprintf(text + strlen(text), "%s%s", p > letters ? " " : "",
                *p == 'p'   ? "parity"
                : *p == 'l' ? "links"
                : *p == 'c' ? "columns"
                            : (char[]){*p, '\0'});
    return text;
}

typedef struct cases {
    lat_geometry geom;
    const char *links;
    lat_order_objects objects;
    int good, bad;
} cases;

/* The walk, from its beginning and begun anywhere, is the sorted list. */
static void check_walk(const lat_order *o, const char *sites, const cases *c)
{
    static size_t numbers[MOST];
    const int each = c->objects == LAT_ORDER_LINKS     ? c->geom.nd
                     : c->objects == LAT_ORDER_COLUMNS ? COLUMNS
                                                       : 1;
    const size_t n = sorted(sites, c->links, &c->geom, each, numbers);
    lat_order_iterator w, v;
    lat_order_start(&w, o, &c->geom, each, 0);
    for (size_t i = 0; i < n; i++) {
        lat_order_start(&v, o, &c->geom, each, i);
        if (!CHECK(w.matrix == numbers[i] && v.matrix == numbers[i],
                   "%s %s: matrix %zu is %zu, walking %zu, "
                   "starting %zu",
                   sites, c->links, i, numbers[i], w.matrix, v.matrix))
            return;
        lat_order_next(&w);
    }
}

static void one_order(const char *letters, void *context)
{
    cases *c = context;
    char text[LAT_ORDER_TEXT], again[LAT_ORDER_TEXT], word[LAT_ORDER_TEXT];
    lat_order o = {.sites = ""};
    const int nd = c->geom.nd;
    if (lat_order_read_sites(&o, spelled(letters, text), nd, c->objects)) {
        c->bad++;
        return;
    }
    c->good++;
    CHECK(strcmp(lat_order_sites_text(&o, nd, again), text) == 0, "%s became %s", text, again);
    if (c->objects == LAT_ORDER_LINKS)
        CHECK(lat_order_read_links(&o, spelled(c->links, word), nd) == 0
                  && strcmp(lat_order_links_text(&o, nd, again), word) == 0,
              "%s became %s", word, again);
    check_walk(&o, letters, c);
}

/* Of nd axes there are (nd + 2)! - nd! orders with and without parity and links (or columns);
 * without these, for transformations, (nd + 1)!. */
static void check_orders(void)
{
    static const int factorial[] = {1, 1, 2, 6, 24, 120, 720};
    static const struct {
        lat_geometry geom;
        const char *links;
    } shapes[] = {
        {{4, {3, 2, 3, 4}}, "xyzt"}, {{4, {3, 5, 3, 1}}, "txyz"}, {{4, {2, 2, 4, 3}}, "zytx"},
        {{3, {5, 3, 7, 1}}, "zxy"},  {{3, {4, 1, 6, 1}}, "xyz"},  {{2, {5, 7, 1, 1}}, "yx"},
        {{2, {6, 5, 1, 1}}, "xy"},   {{2, {1, 1, 1, 1}}, "yx"},   {{1, {9, 1, 1, 1}}, "x"},
        {{1, {8, 1, 1, 1}}, "x"},    {{1, {1, 1, 1, 1}}, "x"},
    };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int objects = 0; objects <= LAT_ORDER_COLUMNS; objects++) {
            cases c = {.geom = shapes[s].geom,
                       .links = objects == LAT_ORDER_LINKS ? shapes[s].links : "",
                       .objects = (lat_order_objects)objects};
            const int nd = c.geom.nd;
            char from[8], letters[8] = "";
            snprintf(from, sizeof from, "%.*sp%c", nd, "xyzt",
                     objects == LAT_ORDER_COLUMNS ? 'c' : 'l');
            for (int n = 1; n <= nd + 2; n++)
                strings(from, n, letters, one_order, &c);
            CHECK(c.good == (objects ? factorial[nd + 2] - factorial[nd] : factorial[nd + 1]),
                  "shape %zu: %d orders, %d none", s, c.good, c.bad);
        }
}

/* ---- names ----------------------------------------------------------------------------------- */

static void check_names(void)
{
    static const struct {
        const char *option, *four, *three, *one, *transform;
    } names[] = {
        {"natural", "t z y x", "z y x", "x", "t z y x"},
        {"standard", "t x y z", "z x y", "x", "t x y z"},
        {"reversed", "x y z t", "x y z", "x", "x y z t"},
        {"parity", "parity links t z y x", "parity links z y x", "parity links x",
         "parity t z y x"},
        {"timeslice", "t links z y x", "z links y x", "x", "t z y x"},
        {"timeslice-parity", "t parity links z y x", "z parity links y x", "x", "t parity z y x"},
        {"t,links,z,y,x", "t links z y x", NULL, NULL, "t z y x"},
        {"y parity,x", NULL, NULL, NULL, NULL},
        {"z,y,x,links", NULL, "z y x", NULL, NULL},
        {"parity,x", NULL, NULL, "parity x", NULL},
        {"natural ", NULL, NULL, NULL, NULL},
        {"x,y,z,t,parity,links,x", NULL, NULL, NULL, NULL},
        {"links", NULL, NULL, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *const expected[] = {names[i].four, names[i].three, names[i].one,
                                        names[i].transform};
        const int nd[] = {4, 3, 1, 4};
        for (int k = 0; k < 4; k++) {
            char text[LAT_ORDER_TEXT];
            lat_order o = {.sites = ""};
            const int rc = lat_order_parse_sites(&o, names[i].option, nd[k],
                                                 k < 3 ? LAT_ORDER_LINKS : LAT_ORDER_ONE);
            CHECK(rc == (expected[k] ? 0 : -1), "%s in %d dimensions: %d", names[i].option, nd[k],
                  rc);
            if (rc == 0 && expected[k])
                CHECK(strcmp(lat_order_sites_text(&o, nd[k], text), expected[k]) == 0, "%s: %s",
                      names[i].option, text);
        }
    }
    lat_order o = {.sites = ""};
    char text[LAT_ORDER_TEXT];
    CHECK(lat_order_parse_sites(&o, "timeslice-parity", 4, LAT_ORDER_COLUMNS) == 0
              && !strcmp(lat_order_sites_text(&o, 4, text), "t parity columns z y x"),
          "%s of columns", text);
    CHECK(lat_order_parse_sites(&o, "columns,t,links,z,y,x", 4, LAT_ORDER_COLUMNS) == 0
              && !strcmp(lat_order_sites_text(&o, 4, text), "columns t z y x"),
          "%s of columns", text);
    CHECK(lat_order_parse_sites(&o, "t,z,y,x", 4, LAT_ORDER_LINKS) == 0
              && lat_order_parse_links(&o, "xyzt", 4) == 0 && lat_order_natural(&o),
          "natural is natural, however it is said");
    CHECK(lat_order_parse_links(&o, "t,x,yz", 4) == 0 && !strcmp(o.links, "txyz"), "%s", o.links);
    CHECK(lat_order_parse_links(&o, "t,x,y", 4) < 0 && lat_order_parse_links(&o, "t,x,y,t", 4) < 0
              && lat_order_parse_links(&o, "t,x,y,z,", 4) < 0
              && lat_order_parse_links(&o, ",t,x,y,z", 4) < 0
              && lat_order_parse_links(&o, "xyzw", 4) < 0 && lat_order_parse_links(&o, "", 1) < 0,
          "links");
}

/* ---- in a stream ----------------------------------------------------------------------------- */

static char path[] = "/tmp/lat-check-order.XXXXXX";

static lat_field back(void)
{
    lat_field f = {.data = NULL};
    lat_input *in = lat_input_open(path, &lat_comm_self);
    need(in && lat_stream_read(in, &f) == 1 && lat_stream_more(in) == 0, "reading");
    lat_input_close(in);
    return f;
}

static void store(lat_field *f, int how)
{
    lat_output *out = lat_output_open(path, 0, &lat_comm_self);
    need(out && lat_stream_write(out, f, how) == 0 && lat_stream_commit(out) == 0, "writing");
}

/* The bytes of the one block of a file as it is: all between the header and the last 32. */
static void stored_bytes(void *bytes, size_t n)
{
    FILE *f = fopen(path, "rb");
    need(f && fseek(f, -(long)(n + 32), SEEK_END) == 0 && fread(bytes, 1, n, f) == n
             && fclose(f) == 0,
         path);
}

/* Whole matrices in the stream are those of memory, in the order of the definition. */
static void check_bytes(const lat_field *f, const char *sites, const char *links)
{
    static size_t numbers[MOST];
    const size_t size = lat_header_full_reals(&f->head) * (size_t)f->head.real,
                 bytes = lat_header_bytes(&f->head);
    const int each = (int)lat_header_objects(&f->head);
    const size_t n = sorted(sites, links, &f->head.geom, each, numbers);
    char *there = malloc(bytes);
    need(there && n * size == bytes, "memory");
    stored_bytes(there, bytes);
    for (size_t i = 0; i < n; i++)
        if (!CHECK(memcmp(there + i * size, (char *)f->data + numbers[i] * size, size) == 0,
                   "%s: matrix %zu", sites, i))
            break;
    free(there);
}

static void check_streams(void)
{
    static const struct {
        lat_kind kind;
        const char *dims;
        int nc;
        lat_real real;
        int reals;
        const char *sites, *links;
    } shapes[] = {
        {LAT_GAUGE, "3 5 2 4", 3, LAT_F64, 18, "plzytx", "txyz"},
        {LAT_GAUGE, "3 5 2 4", 3, LAT_F32, 12, "tplzyx", "zyxt"},
        {LAT_GAUGE, "3 3 3 3", 2, LAT_F64, 4, "xyzt", "txyz"},
        {LAT_GAUGE, "3 3 3 3", 2, LAT_F32, 8, "tpxyz", "xyzt"},
        {LAT_GAUGE, "5 7 3", 5, LAT_F32, 50, "zlxpy", "zxy"},
        {LAT_TRANSFORM, "3 5 7 2", 3, LAT_F32, 12, "ptzyx", ""},
        {LAT_TRANSFORM, "9", 2, LAT_F64, 8, "px", ""},
        {LAT_SPINOR, "3 5 2 4", 3, LAT_F64, 24, "ptzyx", ""},
        {LAT_PROPAGATOR, "3 5 2 3", 3, LAT_F64, 24, "ctzyx", ""},
        {LAT_PROPAGATOR, "3 2 2 3", 2, LAT_F32, 16, "tpczyx", ""},
        {LAT_MODES, "3 5 2 4", 3, LAT_F32, 24, "xczpyt", ""},
        {LAT_GAUGE, "8 8 8 8", 3, LAT_F64, 18, "plxyzt", "ytxz"},
        {LAT_GAUGE, "8 9 8 7", 3, LAT_F32, 12, "tlzyx", "ytxz"},
        {LAT_GAUGE, "9 8 8 9", 2, LAT_F64, 4, "pxyzt", "xyzt"},
    };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        lat_field f = stored_field(shapes[s].kind, shapes[s].dims, shapes[s].nc, shapes[s].real,
                                   shapes[s].reals, 17);
        strcpy(f.head.order.sites, shapes[s].sites);
        strcpy(f.head.order.links, strcmp(shapes[s].links, "xyzt") ? shapes[s].links : "");
        for (int how = LAT_STORE_RAW; how <= LAT_STORE_ZLIB; how++) {
            store(&f, how);
            lat_field g = back();
            CHECK(memcmp(f.data, g.data, lat_field_reals(&f) * (size_t)f.head.real) == 0
                      && lat_order_natural(&g.head.order),
                  "shape %zu, stored %d", s, how);
            lat_field_free(&g);
            if (how == LAT_STORE_RAW && (size_t)f.head.reals == lat_header_full_reals(&f.head)
                && lat_header_bytes(&f.head) <= 1 << 20)
                check_bytes(&f, shapes[s].sites, shapes[s].links);
        }
        lat_field_free(&f);
    }
}

/* An order that does not fit the field is refused before anything is written. */
static void check_refused(void)
{
    static const struct {
        lat_kind kind;
        const char *dims;
        lat_order order;
    } wrong[] = {
        {LAT_GAUGE, "2 2 2", {"tzyx", ""}},
        {LAT_GAUGE, "2 2 2 2", {"zyx", ""}},
        {LAT_GAUGE, "2 2 2 2", {"tzyxl", ""}},
        {LAT_GAUGE, "2 2 2 2", {"", "xyz"}},
        {LAT_TRANSFORM, "2 2", {"", "yx"}},
        {LAT_TRANSFORM, "2 2", {"lyx", ""}},
        {LAT_GAUGE, "2 2 2 2", {"ctzyx", ""}},
        {LAT_SPINOR, "2 2 2 2", {"ctzyx", ""}},
        {LAT_PROPAGATOR, "2 2 2 2", {"ltzyx", ""}},
        {LAT_PROPAGATOR, "2 2 2 2", {"tzyxc", ""}},
        {LAT_MODES, "2 2 2 2", {"", "xyzt"}},
        {LAT_GAUGE, "2 2 2 2", {"tzypx", "q"}},
        {LAT_GAUGE, "2 2", {"yxp", ""}},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        lat_field f = stored_field(wrong[i].kind, wrong[i].dims, 2, LAT_F64,
                                   wrong[i].kind >= LAT_SPINOR ? 16 : 8, 17);
        f.head.order = wrong[i].order;
        lat_error_clear();
        lat_output *out = lat_output_open(path, 0, &lat_comm_self);
        need(out != NULL, path);
        CHECK(lat_stream_write(out, &f, LAT_STORE_RAW) < 0 && strstr(lat_error(), "order"),
              "%zu: %s", i, lat_error());
        lat_output_abort(out);
        lat_field_free(&f);
    }
}

int main(void)
{
    const int fd = mkstemp(path);
    need(fd >= 0, path);
    check_case(
        "every order of 1 to 4 axes is the sorted list of docs/format.md, walked from anywhere");
    check_orders();
    check_case("orders by name and as options");
    check_names();
    check_case("a stream has its matrices in the order of its header, a field in natural order");
    check_streams();
    check_case("an order that does not fit the field is refused");
    check_refused();
    remove(path);
    return check_done();
}
