/* SPDX-License-Identifier: BSD-3-Clause */
/* check_stream_header.c: headers in memory; hostile and endless headers are refused by a sentence
 * that says why; the longest lines come back. */
#include "check_stream.h"
#include "measure/measure.h"

/* Lines are made fit: control characters, broken UTF-8, too many bytes. */
static void check_lines(lat_header *a)
{
    char *longest = malloc(200001);
    need(longest != NULL, "memory");
    for (int i = 0; i < 200000; i += 2)
        memcpy(longest + i, "\xc3\xa9", 2);
    longest[200000] = 0;
    need(lat_lines_add(&a->history, "%s", "a\nb\tc\x7f\x01") == 0
             && lat_lines_add(
                    &a->history, "%s",
                    "\xc3\xa9 \xff \xc3 \xed\xa0\x80 \xe2\x82\xac \xf0\x9f\x98\x80 \xf8 \xc0\xaf")
                    == 0
             && lat_lines_add(&a->history, "%s", longest) == 0,
         "lines");
    CHECK(strcmp(a->history.line[0], "a b c  ") == 0, "'%s'", a->history.line[0]);
    CHECK(strcmp(a->history.line[1], "\xc3\xa9 ? ? ??? \xe2\x82\xac \xf0\x9f\x98\x80 ? ??") == 0,
          "'%s'", a->history.line[1]);
    /* Whole characters and three dots: of two bytes each and three, all fit into 65525. */
    const size_t length = strlen(a->history.line[2]);
    CHECK(length == LAT_MAX_LINE && strcmp(a->history.line[2] + length - 5, "\xc3\xa9...") == 0,
          "%zu", length);
    longest[LAT_MAX_LINE + 1] = 0;
    need(lat_lines_add(&a->history, "x%s", longest + 2) == 0
             && lat_lines_add(&a->history, "x%s", longest) == 0,
         "lines");
    CHECK(strlen(a->history.line[3]) == LAT_MAX_LINE
              && strcmp(a->history.line[3] + 1, longest + 2) == 0,
          "the longest line, %zu", strlen(a->history.line[3]));
    CHECK(strlen(a->history.line[4]) == LAT_MAX_LINE - 1
              && strcmp(a->history.line[4] + LAT_MAX_LINE - 6, "\xc3\xa9...") == 0,
          "cut inside a character, %zu", strlen(a->history.line[4]));
    free(longest);
}

static void check_keys(lat_header *a)
{
    CHECK(lat_info_set(a, "ensemble_id", "x") == 0 && lat_info_set(a, "ensemble_label", "y") == 0
              && lat_info_set(a, "ensemble_id", "z") == 0,
          "%s", lat_error());
    CHECK(a->info.count == 2 && strcmp(lat_info_get(a, "ensemble_id"), "z") == 0
              && strcmp(lat_info_get(a, "ensemble_label"), "y") == 0
              && !lat_info_get(a, "ensemble"),
          "info lines");
    CHECK(lat_info_set(a, "Upper", "x") < 0 && lat_info_set(a, "", "x") < 0
              && lat_info_set(a, "a b", "x") < 0 && lat_info_set(a, "a=b", "x") < 0,
          "keys");
}

/* A copy has its own lines; numbers that are not finite, negative sweeps and too many lines are
 * refused. */
static void check_copy(lat_header *a)
{
    lat_header b;
    strcpy(a->gauge, "landau");
    a->theta = 1e-14;
    a->sweeps = 7;
    CHECK(lat_header_copy(&b, a) == 0 && same_lines(&a->info, &b.info)
              && same_lines(&a->history, &b.history) && b.info.line != a->info.line
              && b.sweeps == 7,
          "copy");
    CHECK(lat_header_check(&b, "b") == 0, "%s", lat_error());
    lat_error_clear();
    b.plaquette = INFINITY;
    CHECK(lat_header_check(&b, "b") < 0 && strstr(lat_error(), "finite"), "%s", lat_error());
    lat_error_clear();
    b.plaquette = NAN;
    b.sweeps = -1;
    CHECK(lat_header_check(&b, "b") < 0 && strstr(lat_error(), "negative"), "%s", lat_error());
    lat_error_clear();
    for (int i = b.info.count; i < LAT_MAX_INFO; i++) {
        char key[32];
        snprintf(key, sizeof key, "key.%d", i);
        need(lat_info_set(&b, key, "x") == 0, key);
    }
    CHECK(lat_info_set(&b, "one_more", "x") < 0 && lat_info_set(&b, "key.7", "y") == 0,
          "too many lines");
    lat_error_clear();
    lat_header_ungauge(&b);
    CHECK(strcmp(b.gauge, "none") == 0 && isnan(b.theta) && b.sweeps == 0
              && lat_header_check(&b, "b") == 0,
          "ungauge");
    lat_header_free(&b);
    CHECK(b.info.count == 0 && b.history.count == 0 && b.nc == 3, "freed");
    lat_header_free(&b);
    lat_error_clear();
}

static void check_headers(void)
{
    lat_header head;
    lat_header_init(&head);
    check_lines(&head);
    check_keys(&head);
    check_copy(&head);
    lat_header_free(&head);
}

/* Lines of a header, and a word that the sentence must have. */
static const struct {
    const char *lines, *word;
} hostile[] = {
    {"", "kind"},
    {GOOD_GROUP GOOD_DIMS GOOD_REAL GOOD_ORDER GOOD_STORE, "kind"},
    {"kind = gauge|transform\n" GOOD_GROUP GOOD_DIMS GOOD_REAL GOOD_ORDER GOOD_STORE, "kind"},
    {"kind = \n" GOOD_GROUP GOOD_DIMS GOOD_REAL GOOD_ORDER GOOD_STORE, "kind"},
    {"kind = gaug\n" GOOD_GROUP GOOD_DIMS GOOD_REAL GOOD_ORDER GOOD_STORE, "kind"},
    {GOOD_KIND GOOD_DIMS GOOD_REAL GOOD_ORDER GOOD_STORE, "group"},
    {GOOD_KIND "group = U(1)\n" GOOD_DIMS GOOD_REAL GOOD_ORDER GOOD_STORE, "group"},
    {GOOD_KIND "group = SU(1)\n" GOOD_DIMS GOOD_REAL GOOD_ORDER GOOD_STORE, "group"},
    {GOOD_KIND "group = SU(17)\n" GOOD_DIMS GOOD_REAL GOOD_ORDER GOOD_STORE, "group"},
    {GOOD_KIND "group = SU(-3)\n" GOOD_DIMS GOOD_REAL GOOD_ORDER GOOD_STORE, "group"},
    {GOOD_KIND "group = SU(3))\n" GOOD_DIMS GOOD_REAL GOOD_ORDER GOOD_STORE, "group"},
    {GOOD_KIND "group = SU(4294967299)\n" GOOD_DIMS GOOD_REAL GOOD_ORDER GOOD_STORE, "group"},
    {GOOD_KIND "group = SU(4)\n" GOOD_DIMS GOOD_REAL GOOD_ORDER GOOD_STORE, "reals"},
    {GOOD_KIND GOOD_GROUP GOOD_REAL GOOD_ORDER GOOD_STORE, "dims"},
    {WITH_DIMS(""), "dims"},
    {WITH_DIMS("0 2 2 2"), "dims"},
    {WITH_DIMS("2 2 2 -2"), "dims"},
    {WITH_DIMS("2 2 2 +2"), "dims"},
    {WITH_DIMS("2 2 2 02"), "dims"},
    {WITH_DIMS("2 2 2 0x2"), "dims"},
    {WITH_DIMS("2  2 2 2"), "dims"},
    {WITH_DIMS("2 2 2 2 "), "dims"},
    {WITH_DIMS(" 2 2 2 2"), "dims"},
    {WITH_DIMS("2 2 2 2 2"), "dims"},
    {WITH_DIMS("2,2,2,2"), "dims"},
    {WITH_DIMS("2 2 2 65536"), "dims"},
    {WITH_DIMS("2 2 2 4294967298"), "dims"},
    {WITH_DIMS("2 2 2 18446744073709551618"), "dims"},
    {WITH_DIMS("2 2 2 99999999999999999999999999"), "dims"},
    {WITH_DIMS("65535 65535 65535 65535"), "sites"},
    {WITH_DIMS("65535 65535 65535 2"), "blocks"},
    {WITH_DIMS("2 2 2"), "sites"},
    {GOOD_KIND GOOD_GROUP GOOD_DIMS "real = f16\nreals = 18\n" GOOD_ORDER GOOD_STORE, "real"},
    {GOOD_KIND GOOD_GROUP GOOD_DIMS "reals = 18\n" GOOD_ORDER GOOD_STORE, "real"},
    {GOOD_KIND GOOD_GROUP GOOD_DIMS "real = f32\n" GOOD_ORDER GOOD_STORE, "reals"},
    {GOOD_KIND GOOD_GROUP GOOD_DIMS "real = f32\nreals = 0\n" GOOD_ORDER GOOD_STORE, "reals"},
    {GOOD_KIND GOOD_GROUP GOOD_DIMS "real = f32\nreals = 8\n" GOOD_ORDER GOOD_STORE, "reals"},
    {GOOD_KIND GOOD_GROUP GOOD_DIMS "real = f32\nreals = 4\n" GOOD_ORDER GOOD_STORE, "reals"},
    {GOOD_KIND GOOD_GROUP GOOD_DIMS "real = f32\nreals = -18\n" GOOD_ORDER GOOD_STORE, "reals"},
    {GOOD_KIND GOOD_GROUP GOOD_DIMS GOOD_REAL "links = x y z t\nendian = little\n" GOOD_STORE,
     "order"},
    {GOOD_KIND GOOD_GROUP GOOD_DIMS GOOD_REAL
     "sites = x y z z\nlinks = x y z t\nendian = little\n" GOOD_STORE,
     "such as 't z y x'"},
    {GOOD_KIND GOOD_GROUP GOOD_DIMS GOOD_REAL
     "sites = t z y x\nlinks = t x y x\nendian = little\n" GOOD_STORE,
     "such as 'x y z t'"},
    {"kind = transform\n" GOOD_GROUP GOOD_DIMS GOOD_REAL
     "sites = links t z y x\nendian = little\n" GOOD_STORE,
     "order of the sites"},
    {GOOD_KIND GOOD_GROUP GOOD_DIMS GOOD_REAL "sites = t z y x\nendian = little\n" GOOD_STORE,
     "links"},
    {"kind = transform\n" GOOD_GROUP GOOD_DIMS GOOD_REAL GOOD_ORDER GOOD_STORE, "links"},
    {GOOD_KIND GOOD_GROUP GOOD_DIMS GOOD_REAL
     "sites = t z y x\nlinks = x y z t\nendian = middle\n" GOOD_STORE,
     "endian"},
    {GOOD_KIND GOOD_GROUP GOOD_DIMS GOOD_REAL "sites = t z y x\nlinks = x y z t\n" GOOD_STORE,
     "endian"},
    {WITH_BLOCK("0"), "block"},
    {WITH_BLOCK("4088"), "block"},
    {WITH_BLOCK("4097"), "block"},
    {WITH_BLOCK("67108872"), "block"},
    {WITH_BLOCK("18446744073709555712"), "block"},
    {WITH_BLOCK("-4096"), "block"},
    {GOOD_KIND GOOD_GROUP GOOD_DIMS GOOD_REAL GOOD_ORDER
     "block = 4096\ncompression = zstd\nfilter = none\n",
     "compression"},
    {GOOD_KIND GOOD_GROUP GOOD_DIMS GOOD_REAL GOOD_ORDER
     "block = 4096\ncompression = none\nfilter = rotate-shuffle\n",
     "filter"},
    {GOOD_KIND GOOD_GROUP GOOD_DIMS GOOD_REAL GOOD_ORDER
     "block = 4096\ncompression = zlib\nfilter = shuffle\n",
     "filter"},
    {GOOD_KIND GOOD_GROUP GOOD_DIMS GOOD_REAL GOOD_ORDER "block = 4096\ncompression = zlib\n",
     "filter"},
    {GOOD GOOD_DIMS, "twice"},
    {GOOD GOOD_KIND, "twice"},
    {GOOD "info.a = 1\ninfo.a = 1\n", "twice"},
    {GOOD "info. = 1\n", "info"},
    {GOOD "info.A = 1\n", "info"},
    {GOOD "info.a b = 1\n", "info"},
    {GOOD "colour = red\n", "newer"},
    {GOOD "Plaquette = 0.5\n", "newer"},
    {GOOD "plaquette 0.5\n", "key = value"},
    {GOOD "\n", "key = value"},
    {GOOD "plaquette = nan\n", "finite"},
    {GOOD "plaquette = inf\n", "finite"},
    {GOOD "plaquette = \n", "finite"},
    {GOOD "plaquette = 0x1p-1\n", "finite"},
    {GOOD "plaquette = 1e999\n", "finite"},
    {GOOD "plaquette = 0.5.\n", "finite"},
    {GOOD "theta = 1e-14\n", "gauge"},
    {GOOD "gauge = none\nsweeps = 3\n", "gauge"},
    {GOOD "gauge = a b\n", "gauge"},
    {GOOD "gauge = \n", "gauge"},
    {GOOD "gauge = landaulandaulandau\n", "gauge"},
    {GOOD "gauge = landau\nsweeps = -1\n", "sweeps"},
    {GOOD "gauge = landau\nsweeps = 9999999999999999999999\n", "sweeps"},
    {GOOD "gauge = landau\ntheta = -inf\n", "theta"},
    {GOOD "history = bell \a\n", "byte 07"},
    {GOOD "history = \xe9tape\n", "UTF-8"},
    {GOOD "info.author = Andr\xe9\n", "UTF-8"},
    {GOOD "weights = 2 1 1 1\n", "weights"},
    {GOOD "gauge = coulomb\nweights = 2 1 1 1\n", "weights"},
    {GOOD "gauge = landau\nweights = 0 0 0 0\n", "weights"},
    {GOOD "history = tab \t\n", "byte 09"},
    {GOOD "history = carriage return \r\n", "byte 0d"},
    {"kind = transform\n" GOOD_GROUP GOOD_DIMS GOOD_REAL
     "sites = t z y x\nendian = little\n" GOOD_STORE "plaquette = 0.5\n",
     "plaquette"},
    {GOOD_KIND GOOD_GROUP "dims = 2\n" GOOD_REAL
                          "sites = x\nlinks = x\nendian = little\n" GOOD_STORE "plaquette = 0.5\n",
     "plaquette"},
};

static void check_hostile(void)
{
    bytes good = head_of(GOOD);
    CHECK(read_bytes(&good, true, NULL) < 0 && strstr(lat_error(), "truncated"), "%s", lat_error());
    free(good.at);
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        bytes b = head_of(hostile[i].lines);
        lat_header head;
        lat_error_clear();
        lat_input *in = open_bytes(&b, true);
        CHECK(in && lat_stream_head(in, &head) < 0, "header %zu (%s) was accepted", i,
              hostile[i].word);
        CHECK(strstr(lat_error(), hostile[i].word) != NULL, "header %zu: no '%s' in: %s", i,
              hostile[i].word, lat_error());
        lat_input_close(in);
        free(b.at);
    }
}

/* A header with one line of `n` bytes, newline and all, that begins so; and the field of GOOD. */
static bytes long_line(const char *begin, size_t n)
{
    unsigned char raw[16 * 4 * 72] = {0};
    char *lines = malloc(strlen(GOOD) + n + 1);
    need(lines != NULL, "memory");
    strcpy(lines, GOOD);
    char *line = lines + strlen(GOOD);
    memset(line, 'x', n);
    memcpy(line, begin, strlen(begin));
    memcpy(line + n - 4, "end\n", 5);
    bytes b = head_of(lines);
    append_field(&b, raw, sizeof raw, 4096, PLAIN, 4, false);
    free(lines);
    return b;
}

/* The longest lines that can be read are written again as they were, and copied; one more byte is
 * refused. */
static void check_longest(void)
{
    static const char *const begin[] = {
        "history = ", "info.k = ", "info.a.longer-key_2 = \xc3\xa9 = "};
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++) {
        bytes b = long_line(begin[i], 65536);
        lat_field f, again;
        lat_header copy;
        if (!CHECK(read_bytes(&b, false, &f) == 1, "%s: %s", begin[i], lat_error())) {
            free(b.at);
            continue;
        }
        const char *line = (i ? f.head.info : f.head.history).line[0];
        const size_t key = strlen(i ? "info." : "history = ");
        const unsigned char *was = b.at + strlen(LAT_STREAM_MAGIC GOOD) + key;
        CHECK(strlen(line) == 65535 - key && memcmp(line, was, 65535 - key) == 0, "%s: %zu bytes",
              begin[i], strlen(line));
        bytes c = written(&f, LAT_STORE_RAW);
        CHECK(memmem(c.at, c.n, was - key, 65536) != NULL, "%s: another line is written", begin[i]);
        if (CHECK(read_bytes(&c, false, &again) == 1, "%s: %s", begin[i], lat_error())) {
            CHECK(same_lines(&f.head.info, &again.head.info)
                      && same_lines(&f.head.history, &again.head.history),
                  "%s: read again", begin[i]);
            lat_field_free(&again);
        }
        CHECK(lat_header_copy(&copy, &f.head) == 0 && same_lines(&f.head.info, &copy.info)
                  && same_lines(&f.head.history, &copy.history),
              "%s: copied", begin[i]);
        lat_header_free(&copy);
        lat_field_free(&f);
        free(b.at);
        free(c.at);
        b = long_line(begin[i], 65537);
        refused(&b, "a line longer than the longest", 65537);
        free(b.at);
    }
    char *value = malloc(LAT_MAX_INFO_LINE);
    lat_header head;
    need(value != NULL, "memory");
    lat_header_init(&head);
    memset(value, 'x', LAT_MAX_INFO_LINE - 4);
    value[LAT_MAX_INFO_LINE - 4] = 0;
    CHECK(lat_info_set(&head, "k", value) == 0 && strcmp(lat_info_get(&head, "k"), value) == 0,
          "%s", lat_error());
    strcat(value, "x");
    lat_error_clear();
    CHECK(lat_info_set(&head, "k", value) < 0 && strstr(lat_error(), "info line k"), "%s",
          lat_error());
    CHECK(head.info.count == 1 && strlen(lat_info_get(&head, "k")) == LAT_MAX_INFO_LINE - 4,
          "the old one is gone");
    lat_error_clear();
    lat_header_free(&head);
    free(value);
}

/* Headers of more than a header may have, and a NUL in one. */
static void check_endless(void)
{
    char *line = malloc(70001), *much = malloc(1200001);
    need(line && much, "memory");
    memset(line, 'x', 70000);
    memcpy(line, "history = ", 10);
    line[69999] = '\n';
    line[70000] = 0;
    bytes b = head_of(line);
    CHECK(read_bytes(&b, false, NULL) < 0 && strstr(lat_error(), "lines of at most"), "%s",
          lat_error());
    free(b.at);
    for (int i = 0; i < 1200000; i += 100) {
        memset(much + i, 'x', 99);
        memcpy(much + i, "history = ", 10);
        much[i + 99] = '\n';
    }
    much[1200000] = 0;
    b = head_of(much);
    CHECK(read_bytes(&b, false, NULL) < 0 && strstr(lat_error(), "header of at most"), "%s",
          lat_error());
    free(b.at);
    b = head_of(GOOD "history = a0b\n");
    *(unsigned char *)memchr(b.at + b.n - 20, '0', 20) = 0;
    refused(&b, "a NUL in line", 1);
    free(b.at);
    b = head_of(GOOD);
    b.at[b.n - 1] = 'x';
    append(&b, "\n", 1);
    CHECK(read_bytes(&b, true, NULL) < 0 && strstr(lat_error(), "checksum of the header"), "%s",
          lat_error());
    free(b.at);
    lat_field f = stored_field(LAT_GAUGE, "2", 2, LAT_F32, 4, 17);
    for (int i = 0; i < 17; i++)
        need(lat_lines_add(&f.head.history, "%.65000s", line) == 0, "a line");
    CHECK(write_fails(&f) && strstr(lat_error(), "header of at most"), "%s", lat_error());
    lat_field_free(&f);
    free(line);
    free(much);
}

int main(void)
{
    lat_accept_any_links = true; /* numbers here are no links */
    stream_begin();
    check_case("lines, keys and copies of headers");
    check_headers();
    check_case("hostile headers are refused by a sentence that says why");
    check_hostile();
    check_case("the longest lines are written as they were read");
    check_longest();
    check_case("endless headers are refused");
    check_endless();
    return stream_done();
}
