/* SPDX-License-Identifier: BSD-3-Clause */
/* feed.c: bytes into the readers, from a file and through a pipe (feed.h). */
#include "feed.h"
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "formats/file_reader.h"
#include "formats/quarks.h"
#include "formats/xml.h"
#include "common/options.h"
#include "lattice/condition.h"
#include "base/error.h"
#include "lattice/order.h"
#include "lattice/slices.h"
#include "run/common/sections.h"
#include "stream/stream.h"

/* Memory: 16 times the input, and what there is whatever the input: a megabyte of buffer each for
 * input and output, chunks of links, tables. A stream may be compressed 1032 to 1 (what deflate can
 * do at most), and 64 MiB of a field and 512 MiB of blocks are allocated, though not touched,
 * before bytes arrive (stream_read.c, stream_blocks.c). */
#define TIMES 16
#define ALWAYS ((size_t)8 << 20)
#define STREAM ((size_t)600 << 20)

/* Written and read again are fields that a pipe holds. */
#define SMALL ((size_t)48 << 10)

static const char *fed = "";

void feed_broken(const char *format, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, format);
    const int n = vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    dprintf(STDERR_FILENO, "feed %s: %.*s\n", fed, n, text);
    abort();
}

/* Sentences that are printed in passing are none of ours. */
void __wrap_lat_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void __wrap_lat_warn(const char *format, ...)
{
    char text[8192];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
}

/* ---- inputs ---------------------------------------------------------------------------------- */

typedef struct source {
    int fd;
    char path[40];
} source;

static source source_new(int fd)
{
    source s = {.fd = fd};
    snprintf(s.path, sizeof s.path, "/proc/self/fd/%d", fd);
    return s;
}

static source as_file(const unsigned char *bytes, size_t n)
{
    const int fd = memfd_create("sample", MFD_CLOEXEC);
    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
        feed_broken("no file in memory");
    return source_new(fd);
}

/* All of it has to fit into the pipe, which may have to be made wider: nobody else is there to fill
 * it. */
static source as_pipe(const unsigned char *bytes, size_t n)
{
    int fd[2];
    if (pipe2(fd, O_CLOEXEC) < 0)
        feed_broken("no pipe");
    if ((long)n > fcntl(fd[1], F_GETPIPE_SZ))
        (void)fcntl(fd[1], F_SETPIPE_SZ, (int)n);
    if ((long)n > fcntl(fd[1], F_GETPIPE_SZ) || write(fd[1], bytes, n) != (ssize_t)n)
        feed_broken("a pipe does not hold %zu bytes", n);
    close(fd[1]);
    return source_new(fd[0]);
}

static void sentence(bool taken, const char *name)
{
    const char *s = lat_error();
    if (taken && *s)
        feed_broken("taken, but: %s", s);
    if (!taken && (!*s || strchr(s, '\n')))
        feed_broken("refused without a sentence");
    if (!taken && name && strncmp(s, name, strlen(name)) != 0
        && strncmp(s, "out of memory", 13) != 0)
        feed_broken("does not begin with the name: %s", s);
}

/* ---- streams --------------------------------------------------------------------------------- */

static bool same_lines(const lat_lines *a, const lat_lines *b)
{
    bool same = a->count == b->count;
    for (int i = 0; same && i < a->count; i++)
        same = strcmp(a->line[i], b->line[i]) == 0;
    return same;
}

static bool same_number(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

/* What docs/format.md promises: everything that was read goes on as it was. */
static void compare(const lat_field *a, const lat_field *b)
{
    const lat_header *h = &a->head, *k = &b->head;
    if (h->kind != k->kind || h->nc != k->nc || memcmp(&h->geom, &k->geom, sizeof h->geom) != 0
        || h->real != k->real || h->reals != k->reals || strcmp(h->gauge, k->gauge) != 0
        || h->sweeps != k->sweeps || h->copies != k->copies
        || memcmp(h->weight, k->weight, sizeof h->weight) != 0
        || !same_number(h->functional, k->functional) || !same_number(h->theta, k->theta))
        feed_broken("the header is another one when read again");
    if (!same_lines(&h->info, &k->info) || !same_lines(&h->history, &k->history))
        feed_broken("lines are other ones when read again");
    if (h->reals == 2 * h->nc * h->nc
        && memcmp(a->data, b->data, lat_field_reals(a) * (size_t)h->real) != 0)
        feed_broken("links are other ones when read again");
}

/* Rows that are not those of a group element cannot be left out again: that is refused with a
 * sentence. */
static bool write_to(const char *path, lat_field *f)
{
    lat_output *out = lat_output_open(path, LAT_OUTPUT_FORCE, &lat_comm_self);
    if (!out)
        feed_broken("no output: %s", lat_error());
    if (lat_stream_write(out, f, f->head.history.count % 2 ? LAT_STORE_ZLIB : LAT_STORE_RAW) < 0) {
        lat_output_abort(out);
        if (f->head.reals == 2 * f->head.nc * f->head.nc)
            feed_broken("read, but not written: %s", lat_error());
        lat_error_clear();
        return false;
    }
    if (lat_stream_commit(out) < 0)
        feed_broken("not written: %s", lat_error());
    return true;
}

static void write_and_read(lat_field *f)
{
    size_t n = lat_field_reals(f) * (size_t)f->head.real;
    int fd[2];
    lat_field back;
    for (int i = 0; i < f->head.history.count; i++)
        n += strlen(f->head.history.line[i]) + 16;
    for (int i = 0; i < f->head.info.count; i++)
        n += strlen(f->head.info.line[i]) + 16;
    if (n > SMALL)
        return;
    if (pipe2(fd, O_CLOEXEC) < 0)
        feed_broken("no pipe");
    source to = source_new(fd[1]), from = source_new(fd[0]);
    lat_input *in = lat_input_open(from.path, &lat_comm_self);
    const bool written = write_to(to.path, f);
    close(fd[1]);
    close(fd[0]);
    if (!in)
        feed_broken("%s", lat_error());
    if (written && (lat_stream_read(in, &back) != 1 || lat_stream_more(in) != 0))
        feed_broken("written, but not read: %s", lat_error());
    lat_input_close(in);
    if (written) {
        compare(f, &back);
        lat_field_free(&back);
    }
}

static bool read_stream(source s, bool again)
{
    lat_field f;
    int rc = -1;
    lat_error_clear();
    lat_input *in = lat_input_open(s.path, &lat_comm_self);
    while (in && (rc = lat_stream_read(in, &f)) > 0) {
        if (again)
            write_and_read(&f);
        lat_field_free(&f);
    }
    sentence(rc == 0, s.path);
    lat_input_close(in);
    close(s.fd);
    return rc == 0;
}

/* lat-info without --check: frames alone. What is taken whole is taken so, too. */
static bool skip_stream(source s)
{
    lat_header head;
    int rc = -1, ok = 1;
    lat_error_clear();
    lat_input *in = lat_input_open(s.path, &lat_comm_self);
    while (in && ok > 0 && (rc = lat_stream_head(in, &head)) > 0) {
        ok = lat_stream_skip(in, &head);
        lat_header_free(&head);
    }
    const bool taken = ok > 0 && rc == 0;
    sentence(taken, s.path);
    lat_input_close(in);
    close(s.fd);
    return taken;
}

/* By slices, one or two at a time; false without a sentence where one would take memory out of
 * proportion. */
static bool read_slices(source s, size_t most)
{
    lat_header head;
    bool good = true;
    int rc = -1;
    lat_error_clear();
    lat_input *in = lat_input_open(s.path, &lat_comm_self);
    while (in && good && (rc = lat_stream_head(in, &head)) > 0) {
        const int all = lat_slices(&head), some = all % 2 ? 1 : 2;
        const size_t size = (size_t)some * lat_slice_bytes(&head);
        void *slices = size <= most ? malloc(size) : NULL;
        lat_stream_reader *r = slices ? lat_stream_begin(in, &head) : NULL;
        good = r != NULL;
        for (int i = 0; good && i < all; i += some)
            good = lat_stream_get(r, slices, some) == 0;
        good = lat_stream_end(r, good ? &head : NULL) == 0 && good;
        free(slices);
        lat_header_free(&head);
    }
    lat_input_close(in);
    close(s.fd);
    return good && rc == 0;
}

static bool feed_stream(const unsigned char *bytes, size_t n)
{
    const bool file = read_stream(as_file(bytes, n), true),
               piped = read_stream(as_pipe(bytes, n), false);
    if (file != piped)
        feed_broken("%s from a file, %s from a pipe: %s", file ? "taken" : "refused",
                    piped ? "taken" : "refused", lat_error());
    if (!skip_stream(as_file(bytes, n)) && file)
        feed_broken("read, but not skipped: %s", lat_error());
    if (!read_slices(as_pipe(bytes, n), TIMES * n) && file && *lat_error()
        && !strstr(lat_error(), "across slices"))
        feed_broken("read, but not by slices: %s", lat_error());
    return file;
}

/* A checkpoint of columns, of a run without options. */
static bool feed_checkpoint(const unsigned char *bytes, size_t n)
{
    static const lat_section_kind kind = {"checkpoint.column", "columns", "others", LAT_MODES,
                                          NULL};
    const source s = as_file(bytes, n);
    lat_sections k = {.count = 0};
    lat_error_clear();
    lat_tool_name = "lat-fed";
    const bool good = lat_sections_open(&k, &kind, NULL, s.path, &lat_comm_self) == 0;
    sentence(good, s.path);
    if (good && k.output.done < 0)
        feed_broken("%ld inputs are written", k.output.done);
    lat_sections_free(&k);
    close(s.fd);
    return good;
}

/* ---- formats --------------------------------------------------------------------------------- */

static const lat_format *format_named(const char *name)
{
    for (const lat_format *const *f = lat_formats; *f; f++)
        if (strcmp((*f)->name, name) == 0)
            return *f;
    return NULL;
}

typedef struct passed {
    int next;  /* slice that has to come */
    int spoil; /* a file that is to change on the way, or -1 */
} passed;

static int pass(void *context, const lat_header *head, const void *slices, int first, int count)
{
    passed *p = context;
    const struct timespec tick = {.tv_nsec = 20000000}; /* of the clock that files have */
    (void)slices;
    if (first != p->next || count < 1 || first + count > lat_slices(head))
        feed_broken("slices %d to %d after %d of %d", first, first + count, p->next,
                    lat_slices(head));
    p->next = first + count;
    if (p->spoil >= 0 && (nanosleep(&tick, NULL) < 0 || pwrite(p->spoil, "x", 1, 0) != 1))
        feed_broken("the file cannot be changed");
    p->spoil = -1;
    return 0;
}

/* The payload that the first pass read, once more. */
static void read_again(lat_file_reader *field)
{
    passed p = {.spoil = -1};
    if (lat_file_reader_each(field, false, pass, &p) < 0 || p.next != lat_slices(&field->f.head))
        feed_broken("read once, but not twice: %s", lat_error());
}

bool feed_changing(const char *name, const unsigned char *bytes, size_t n)
{
    const source s = as_file(bytes, n);
    const lat_read_context r = {.hints = {.big = -1},
                                .dims = {.nd = 4, .dims = {2, 2, 2, 2}},
                                .plaquette = NAN,
                                .link_trace = NAN};
    lat_file_reader field;
    passed p = {.spoil = s.fd};
    lat_error_clear();
    lat_input *in = lat_input_open(s.path, &lat_comm_self);
    fed = name;
    if (!in || lat_file_reader_open(&field, in, format_named(name), &r, false) <= 0
        || lat_file_reader_first(&field, false, NULL, NULL, NULL))
        feed_broken("refused: %s", lat_error());
    const bool taken = field.whole || lat_file_reader_each(&field, false, pass, &p) == 0;
    sentence(taken, s.path);
    lat_file_reader_close(&field);
    lat_input_close(in);
    close(s.fd);
    lat_error_clear();
    return taken;
}

static bool read_quarks(lat_input *in, const lat_format *format, bool force)
{
    const lat_quark_hints h = {.force = force,
                               .no_checksum = force,
                               .kappa = .125,
                               .dims = {.nd = 4, .dims = {2, 2, 2, 2}}};
    lat_field f;
    if (lat_quarks_read(in, &f, format, &h, 0) < 0)
        return false;
    lat_field_free(&f);
    return true;
}

/* As lat-convert does it. Files that do not say their extents have 2, 2, 2, 2 as the samples of the
 * corpus. */
static bool read_format(source s, const lat_format *format, bool force)
{
    lat_read_context r = {
        .force = force, .hints = {.big = -1}, .plaquette = NAN, .link_trace = NAN};
    lat_file_reader field;
    bool good = false;
    lat_error_clear();
    lat_input *in = lat_input_open(s.path, &lat_comm_self);
    if (in && !format)
        format = lat_format_of(in);
    if (format
        && (format->takes == LAT_TAKES_ALL
            || !(format->probe || *format->begins || *format->magic || *format->lime)))
        r.dims = (lat_geometry){.nd = 4, .dims = {2, 2, 2, 2}};
    if (in && format && format->quarks)
        good = read_quarks(in, format, force);
    else if (in && format && lat_file_reader_open(&field, in, format, &r, false) > 0) {
        good = lat_file_reader_first(&field, false, NULL, NULL, NULL) == 0;
        if (good && !format->stream)
            read_again(&field);
        lat_file_reader_close(&field);
    }
    sentence(good, s.path);
    lat_input_close(in);
    close(s.fd);
    return good;
}

/* Force lets wrong checksums pass, which are the end of nearly all that a fuzzer makes. */
static bool feed_format(const lat_format *format, const unsigned char *bytes, size_t n)
{
    const bool good = read_format(as_file(bytes, n), format, false);
    if (!read_format(as_file(bytes, n), format, true) && good)
        feed_broken("taken, but not by force: %s", lat_error());
    read_format(as_pipe(bytes, n), format, true);
    return good;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Memory beyond the document is the sanitizer's to watch. */
static void feed_attributes(const unsigned char *bytes, size_t n)
{
    char *document = strndup((const char *)bytes, n);
    if (document)
        lat_xml_drop_attributes(document);
    free(document);
}

static bool feed_xml(const unsigned char *bytes, size_t n)
{
    static const char *const tags[] = {"lx", "dims", "suma", "precision"};
    char text[128];
    bool good = true;
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        memset(text, 'x', sizeof text);
        good = lat_xml_text((const char *)bytes, n, tags[i], text, 64) >= 0 && good;
        for (size_t k = 64; k < sizeof text; k++)
            if (text[k] != 'x')
                feed_broken("text beyond its buffer");
        if (text[0] != 'x' && !memchr(text, 0, 64))
            feed_broken("text without an end");
    }
    feed_attributes(bytes, n);
    return good;
}

/* Values of options and of lines in headers. */
static bool feed_words(const unsigned char *bytes, size_t n)
{
    char *s = strndup((const char *)bytes, n), dims[64], order[LAT_ORDER_TEXT];
    lat_geometry geom = {.nd = 0}, again;
    bool good = false;
    if (!s)
        feed_broken("no memory");
    lat_error_clear();
    if (lat_dims_parse(s, &geom) == 0) {
        good = true;
        if (lat_dims_parse(lat_dims_text(&geom, dims), &again) < 0
            || memcmp(&geom, &again, sizeof geom) != 0)
            feed_broken("extents are others when read again: %s", dims);
    }
    for (int nd = 1; nd <= 4; nd++) {
        lat_order o = {.sites = ""}, back = {.sites = ""};
        lat_condition c;
        const lat_geometry box = {.nd = nd, .dims = {2, 2, 2, 2}};
        if (lat_order_parse_sites(&o, s, nd, LAT_ORDER_LINKS) == 0) {
            good = true;
            if (lat_order_read_sites(&back, lat_order_sites_text(&o, nd, order), nd,
                                     LAT_ORDER_LINKS))
                feed_broken("an order is refused when read again: %s", order);
        }
        good = lat_order_parse_links(&o, s, nd) == 0 || good;
        good = lat_order_read_sites(&o, s, nd, LAT_ORDER_ONE) == 0 || good;
        good = lat_order_read_links(&o, s, nd) == 0 || good;
        good = lat_condition_make(LAT_LANDAU, -1, s, &box, &c) == 0 || good;
    }
    lat_error_clear();
    free(s);
    return good;
}

/* ---- all ------------------------------------------------------------------------------------- */

static const char *const others[] = {"stream", "checkpoint", "any", "xml", "words", "options"};
#define OTHERS (sizeof others / sizeof *others)

const char *feed_name(size_t i)
{
    return i < OTHERS ? others[i] : lat_formats[i - OTHERS] ? lat_formats[i - OTHERS]->name : NULL;
}

static bool feed_named(const char *name, const unsigned char *bytes, size_t n)
{
    const lat_format *format = format_named(name);
    if (strcmp(name, "stream") == 0)
        return feed_stream(bytes, n);
    if (strcmp(name, "checkpoint") == 0)
        return feed_checkpoint(bytes, n);
    if (strcmp(name, "xml") == 0)
        return feed_xml(bytes, n);
    if (strcmp(name, "words") == 0)
        return feed_words(bytes, n);
    if (strcmp(name, "options") == 0)
        return feed_options(bytes, n);
    if (!format && strcmp(name, "any") != 0)
        feed_broken("there is no such reader");
    return feed_format(format, bytes, n);
}

bool feed(const char *name, const unsigned char *bytes, size_t n)
{
    fed = name;
    feed_memory(TIMES * n + ALWAYS
                + (!strcmp(name, "stream") || !strcmp(name, "any") || !strcmp(name, "checkpoint")
                       ? STREAM
                       : 0));
    const bool taken = feed_named(name, bytes, n);
    feed_memory(0);
    lat_error_clear();
    return taken;
}
