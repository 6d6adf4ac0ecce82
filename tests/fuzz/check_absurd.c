/* SPDX-License-Identifier: BSD-3-Clause */
/* check_absurd.c: absurd numbers in the headers of every format: extents of nothing, below nothing
 * and beyond all bounds, products that overflow, NaN and infinity. All are refused, and before
 * memory is taken: feed.c allows for 16 times the bytes there are and 8 MiB, where these claim
 * gigabytes.
 *
 * The samples are those of tests/fuzz/corpus, or of the folder that is the argument. (Headers of
 * our own stream: check_stream_header.c.) */
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../check/check.h"
#include "base/bytes.h"
#include "feed.h"

#define MOST 65536

typedef struct sample {
    size_t n;
    unsigned char bytes[MOST];
} sample;

static const char *corpus = "tests/fuzz/corpus";

static bool load(const char *format, const char *name, sample *s)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s/%s", corpus, format, name);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? -1 : read(fd, s->bytes, sizeof s->bytes);
    if (fd >= 0)
        close(fd);
    s->n = n > 0 ? (size_t)n : 0;
    return CHECK(n > 0, "%s cannot be read", path);
}

static void refused(const char *format, const sample *s, const char *what, long which)
{
    fflush(stdout);
    const int became = feed_child(format, s->bytes, s->n);
    CHECK(became == FEED_REFUSED, "%s: %s %ld: %s", format, what, which,
          became == FEED_TAKEN ? "taken" : "broken");
}

/* ---- binary headers ----------------------------------------------------------------------------
 */

enum what { EXTENTS, NUMBER, REAL }; /* four extents one after the other; one number; one f64 */

static const struct field {
    const char *format, *name;
    enum what what;
    size_t at, width;
    bool big;
} fields[] = {
    {"openqcd", "taken-plain", EXTENTS, 0, 4, false},
    {"openqcd", "taken-plain", REAL, 16, 8, false},
    {"ddalphaamg", "taken-plain", EXTENTS, 0, 4, false},
    {"ddalphaamg", "taken-plain", REAL, 16, 8, false},
    {"hirep", "taken-plain", EXTENTS, 4, 4, true},
    {"hirep", "taken-plain", NUMBER, 0, 4, true},
    {"hirep", "taken-plain", REAL, 20, 8, true},
    {"hirep", "taken-quaternions", EXTENTS, 4, 4, true},
    {"vogt", "taken-plain", EXTENTS, 4, 2, false},
    {"vogt", "taken-plain", NUMBER, 0, 2, false},
    {"vogt", "taken-plain", NUMBER, 2, 2, false},
    {"vogt", "taken-plain", NUMBER, 12, 2, false},
    {"mdp", "taken-plain", EXTENTS, 188, 4, false},
    {"mdp", "taken-plain", NUMBER, 184, 4, false},
    {"mdp", "taken-plain", NUMBER, 228, 4, false},
    {"mdp", "taken-plain", NUMBER, 232, 4, false},
    {"mdp", "taken-big", EXTENTS, 188, 4, true},
    {"milc", "taken-little", EXTENTS, 4, 4, false},
    {"milc", "taken-list", EXTENTS, 4, 4, true},
    {"milc", "taken-list", NUMBER, 88, 4, true},
    {"milcold", "taken-plain", EXTENTS, 4, 4, false},
    {"fnal", "taken-plain", EXTENTS, 16, 4, false},
    {"fnal", "taken-plain", NUMBER, 8, 4, false},
    {"fnal", "taken-plain", NUMBER, 12, 4, false},
    {"szin", "taken-version1", EXTENTS, 76, 4, true},
    {"szin", "taken-version1", NUMBER, 48, 4, true},
    {"szin", "taken-version1", NUMBER, 52, 4, true},
    {"fortran", "taken-plain", NUMBER, 0, 4, false},
    {"fortran", "taken-big", NUMBER, 0, 4, true},
    {"ildg", "taken-qio", NUMBER, 8, 8, true},
    {"scidac", "taken-plain", NUMBER, 8, 8, true},
};

/* Cut to the width of the field. */
static const uint64_t absurd[] = {0,
                                  UINT64_MAX,
                                  65535,
                                  65536,
                                  1 << 24,
                                  0x7fffffff,
                                  0x80000000,
                                  0x7fffffffffffffff,
                                  0x8000000000000000};
static const double unreal[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, 1e300, -7};
#define ABSURD (sizeof absurd / sizeof *absurd)
#define UNREAL (sizeof unreal / sizeof *unreal)

static void store(unsigned char *to, uint64_t v, size_t width, bool big)
{
    for (size_t i = 0; i < width; i++)
        to[big ? width - 1 - i : i] = (unsigned char)(v >> 8 * i);
}

/* True if this is another value than that of the field. */
static bool put(sample *s, const struct field *f, size_t at, uint64_t v)
{
    unsigned char was[8];
    memcpy(was, s->bytes + at, f->width);
    store(s->bytes + at, v, f->width, f->big);
    return memcmp(was, s->bytes + at, f->width) != 0;
}

static void check_extents(const sample *good, const struct field *f)
{
    for (size_t v = 0; v < ABSURD; v++)
        for (int which = 0; which <= 4; which++) { /* one of them, or all */
            sample s = *good;
            bool other = false;
            for (int i = 0; i < 4; i++)
                if (i == which || which == 4)
                    other |= put(&s, f, f->at + (size_t)i * f->width, absurd[v]);
            if (other)
                refused(f->format, &s,
                        which == 4 ? "all extents are absurd number" : "an extent is absurd number",
                        (long)v);
        }
}

static void check_field(const struct field *f)
{
    static sample good;
    if (!load(f->format, f->name, &good) || f->what == EXTENTS) {
        if (good.n)
            check_extents(&good, f);
        return;
    }
    for (size_t v = 0; v < (f->what == REAL ? UNREAL : ABSURD); v++) {
        sample s = good;
        uint64_t bits = 0;
        if (f->what == REAL)
            memcpy(&bits, &unreal[v], sizeof bits);
        if (put(&s, f, f->at, f->what == REAL ? bits : absurd[v]))
            refused(f->format, &s, "a field with absurd number", (long)v);
    }
}

/* ---- headers of text ---------------------------------------------------------------------------
 */

static const struct text {
    const char *format, *name, *was, *is;
} texts[] = {
    {"nersc", "taken-rows", "DIMENSION_1 = 2", "DIMENSION_1 = 0"},
    {"nersc", "taken-rows", "DIMENSION_1 = 2", "DIMENSION_1 = -2"},
    {"nersc", "taken-rows", "DIMENSION_1 = 2", "DIMENSION_1 = 65536"},
    {"nersc", "taken-rows", "DIMENSION_1 = 2", "DIMENSION_1 = 4294967298"},
    {"nersc", "taken-rows", "DIMENSION_1 = 2", "DIMENSION_1 = 18446744073709551618"},
    {"nersc", "taken-rows", "DIMENSION_1 = 2", "DIMENSION_1 = nan"},
    {"nersc", "taken-rows", "DIMENSION_1 = 2", "DIMENSION_1 = 0x2"},
    {"nersc", "taken-rows", "DIMENSION_1 = 2", "DIMENSION_1 = 2.5"},
    {"nersc", "taken-rows", "DIMENSION_1 = 2\nDIMENSION_2 = 2\nDIMENSION_3 = 2\nDIMENSION_4 = 2",
     "DIMENSION_1 = 65535\nDIMENSION_2 = 65535\nDIMENSION_3 = 65535\nDIMENSION_4 = 65535"},
    {"nersc", "taken-rows", "DIMENSION_1 = 2\nDIMENSION_2 = 2\nDIMENSION_3 = 2\nDIMENSION_4 = 2",
     "DIMENSION_1 = 8192\nDIMENSION_2 = 8192\nDIMENSION_3 = 8192\nDIMENSION_4 = 8192"},
    {"nersc", "taken-rows", "PLAQUETTE = 0", "PLAQUETTE = nan"},
    {"nersc", "taken-rows", "PLAQUETTE = 0", "PLAQUETTE = inf"},
    {"nersc", "taken-rows", "PLAQUETTE = 0", "PLAQUETTE = 9e99"},
    {"nersc", "taken-rows", "LINK_TRACE = 0", "LINK_TRACE = nan"},
    {"ildg", "taken-qio", "<lx>2</lx>", "<lx>0</lx>"},
    {"ildg", "taken-qio", "<lx>2</lx>", "<lx>-2</lx>"},
    {"ildg", "taken-qio", "<lx>2</lx>", "<lx>65536</lx>"},
    {"ildg", "taken-qio", "<lx>2</lx>", "<lx>18446744073709551618</lx>"},
    {"ildg", "taken-qio", "<lx>2</lx>", "<lx>nan</lx>"},
    {"ildg", "taken-qio", "<lx>2</lx>", "<lx></lx>"},
    {"ildg", "taken-qio", "<lx>2</lx><ly>2</ly><lz>2</lz><lt>2</lt>",
     "<lx>65535</lx><ly>65535</ly><lz>65535</lz><lt>65535</lt>"},
    {"ildg", "taken-qio", "<precision>32</precision>", "<precision>0</precision>"},
    {"ildg", "taken-qio", "<precision>32</precision>", "<precision>-32</precision>"},
    {"ildg", "taken-qio", "<field>su3gauge</field>", "<field>su99gauge</field>"},
    {"ildg", "taken-qio", "<field>su3gauge</field>", "<field>su0gauge</field>"},
    {"scidac", "taken-plain", "<dims>2 2 2 2", "<dims>0 2 2 2"},
    {"scidac", "taken-plain", "<dims>2 2 2 2", "<dims>-2 2 2 2"},
    {"scidac", "taken-plain", "<dims>2 2 2 2", "<dims>2 2 2"},
    {"scidac", "taken-plain", "<dims>2 2 2 2", "<dims>65535 65535 65535 65535"},
    {"scidac", "taken-plain", "<dims>2 2 2 2", "<dims>4294967298 2 2 2"},
    {"scidac", "taken-plain", "<dims>2 2 2 2", "<dims>nan 2 2 2"},
    {"scidac", "taken-plain", "<typesize>", "<typesize>9999999999"},
    {"scidac", "taken-plain", "<datacount>", "<datacount>-"},
    {"cppacs", "taken-plain", " 2", "-2"},
    {"bridgetext", "taken-plain", "0.", "nan "},
    {"bridgetext", "taken-plain", "0.", "inf "},
    {"bridgetext", "taken-plain", "0.", "1e999 0."},
};

/* Bytes n of a file that has `is` for `was`, which is there. */
static bool replace(sample *s, const char *was, const char *is)
{
    const size_t n = strlen(was), m = strlen(is);
    unsigned char *at = memmem(s->bytes, s->n, was, n);
    if (!at || s->n + m > sizeof s->bytes + n)
        return false;
    memmove(at + m, at + n, s->n - (size_t)(at - s->bytes) - n);
    memcpy(at, is, m);
    s->n = s->n + m - n;
    return true;
}

/* The same in a LIME file: its record has another length then, and other padding. */
static bool replace_in_record(sample *s, const char *was, const char *is)
{
    const unsigned char *there = memmem(s->bytes, s->n, was, strlen(was));
    for (size_t at = 0, next; there && at + 144 <= s->n; at = next) {
        const size_t length = (size_t)lat_load_be64(s->bytes + at + 8),
                     longer = length + strlen(is) - strlen(was);
        next = at + 144 + (length + 7) / 8 * 8;
        if ((size_t)(there - s->bytes) > next || next > s->n)
            continue;
        sample to = {.n = at + 144 + (longer + 7) / 8 * 8 + s->n - next}, text = {.n = length};
        memcpy(text.bytes, s->bytes + at + 144, length);
        if (to.n > sizeof to.bytes || !replace(&text, was, is))
            return false;
        memcpy(to.bytes, s->bytes, at + 144);
        lat_store_be64(to.bytes + at + 8, longer);
        memcpy(to.bytes + at + 144, text.bytes, longer);
        memcpy(to.bytes + to.n - (s->n - next), s->bytes + next, s->n - next);
        *s = to;
        return true;
    }
    return false;
}

static void check_text(size_t i)
{
    const struct text *t = &texts[i];
    const bool lime = strcmp(t->format, "ildg") == 0 || strcmp(t->format, "scidac") == 0;
    static sample s;
    if (!load(t->format, t->name, &s))
        return;
    /* The record is put together well: the same text unchanged is taken. */
    if (lime && CHECK(replace_in_record(&s, t->was, t->was), "%s: no '%s'", t->format, t->was))
        CHECK(feed_child(t->format, s.bytes, s.n) == FEED_TAKEN,
              "%s: the record is not put together well", t->format);
    if (CHECK(lime ? replace_in_record(&s, t->was, t->is) : replace(&s, t->was, t->is),
              "%s: no '%s'", t->format, t->was))
        refused(t->format, &s, t->is, (long)i);
}

/* ---- numbers that are none ---------------------------------------------------------------------
 */

static void check_links(const char *format, const char *name)
{
    static sample s;
    if (!load(format, name, &s))
        return;
    memset(s.bytes + s.n - 64, 0xff,
           8); /* a NaN in single and in double precision, in any byte order */
    refused(format, &s, "a link that is not a number", 0);
}

/* On a pipe, where nobody knows how long it is: a header that claims gigabytes, and half a megabyte
 * after it. */
static void check_pipe(const char *format, const char *name, size_t at, size_t width, bool big)
{
    static const uint64_t claims[][4] = {
        {64, 64, 64, 128}, {1024, 2, 2, 1024}, {2, 1024, 1024, 2}, {1000, 1000, 1000, 1000}};
    static unsigned char bytes[512 << 10];
    static sample s;
    if (!load(format, name, &s))
        return;
    memset(bytes, 0x3f, sizeof bytes); /* numbers of moderate size */
    memcpy(bytes, s.bytes, s.n);
    for (size_t c = 0; c < sizeof claims / sizeof *claims; c++) {
        for (size_t i = 0; i < 4; i++)
            store(bytes + at + i * width, claims[c][i], width, big);
        fflush(stdout);
        const int became = feed_child(format, bytes, sizeof bytes);
        CHECK(became == FEED_REFUSED, "%s: claim %zu: %s", format, c,
              became == FEED_TAKEN ? "taken" : "broken");
    }
}

/* The same of our stream, in an order where the next matrix may belong anywhere, and of headers of
 * text. */
static void check_pipe_text(const char *format, const char *name, const char *was, const char *is)
{
    static unsigned char bytes[512 << 10];
    static sample s;
    if (!load(format, name, &s) || !CHECK(replace(&s, was, is), "%s: no '%s'", format, was))
        return;
    memset(bytes, 0x3f, sizeof bytes);
    memcpy(bytes, s.bytes, s.n);
    fflush(stdout);
    const int became = feed_child(format, bytes, sizeof bytes);
    CHECK(became == FEED_REFUSED, "%s: %s", format, became == FEED_TAKEN ? "taken" : "broken");
}

/* A file that is still being written, or copied: what is written of it must be what was verified.
 */
static void check_changing(const char *format, const char *name)
{
    static sample s;
    if (load(format, name, &s))
        CHECK(!feed_changing(format, s.bytes, s.n), "%s: taken", format);
}

int main(int argc, char **argv)
{
    static const char *const plain[] = {"openqcd", "ddalphaamg", "hirep", "vogt",
                                        "mdp",     "milcold",    "fnal",  "szin",
                                        "cppacs",  "fortran",    "raw",   "bridge"};
    corpus = argc > 1 ? argv[1] : corpus;
    check_case("numbers in binary headers: absurd ones are refused before memory is taken");
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        check_field(&fields[i]);
    check_case("numbers in headers of text: absurd ones are refused before memory is taken");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_text(i);
    check_case("on a pipe memory is taken as bytes arrive, whatever extents are claimed");
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].what == EXTENTS && strcmp(fields[i].format, "szin") != 0)
            check_pipe(fields[i].format, fields[i].name, fields[i].at, fields[i].width,
                       fields[i].big);
    check_pipe_text("nersc", "taken-rows",
                    "DIMENSION_1 = 2\nDIMENSION_2 = 2\nDIMENSION_3 = 2\nDIMENSION_4 = 2",
                    "DIMENSION_1 = 64\nDIMENSION_2 = 64\nDIMENSION_3 = 64\nDIMENSION_4 = 128");
    check_pipe_text("bmw", "taken-plain", "2 2 2 2", "999 9 9 999");
    check_case("links that are not numbers are refused");
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        check_links(plain[i], "taken-plain");
    check_links("milc", "taken-little");
    check_links("nersc", "taken-rows");
    check_case("a file that changes while it is read is refused");
    check_changing("nersc", "taken-rows");
    check_changing("ildg", "taken-qio");
    check_changing("milc", "taken-little");
    check_changing("vogt", "taken-plain");
    return check_done();
}
