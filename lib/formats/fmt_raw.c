/* SPDX-License-Identifier: BSD-3-Clause */
/* fmt_raw.c: links without a header, or with one that says nothing to us.
 *
 *   raw         any: --dims, and --order, --group, --type, --endian where they are not as below
 *   headeronly  cuLGT's HEADERONLY and plain: some header, then the links, to the end of the file;
 *               sites with t slowest and z fastest, directions t, x, y, z
 *   bridge      Bridge++ binary, JLQCD: big endian doubles in the order of ILDG
 *
 * N, precision and byte order, where no option gives them, are those in which the first matrices
 * are unitary.
 */
#include <stdlib.h>
#include "base/error.h"
#include "base/memory.h"
#include "format.h"

/* The options, and for the rest what the format is known for. */
static lat_hints merged(const lat_hints *hints, const lat_hints *known)
{
    lat_hints t = *hints;
    t.nc = t.nc ? t.nc : known->nc;
    t.real = t.real ? t.real : known->real;
    t.big = t.big >= 0 ? t.big : known->big;
    if (!t.ordered)
        t.order = known->order;
    return t;
}

/* One way to read the file, and the fraction of its first matrices that are unitary then. */
typedef struct guess {
    int nc, real, big;
    uint64_t skip; /* bytes before the links */
    double fit;
} guess;

typedef struct search {
    lat_input *in;
    lat_hints hints;
    uint64_t volume;
    bool header; /* there may be one */
    unsigned char *ahead;
    size_t n;
    int guesses;
    guess best;
} search;

static void consider(search *s, guess g)
{
    const uint64_t bytes = s->volume * 8 * (uint64_t)(g.nc * g.nc * g.real);
    const int64_t size = lat_input_size(s->in);
    const lat_payload p = {.big = g.big, .rows = g.nc};
    if (size >= 0 && ((uint64_t)size < bytes || (!s->header && (uint64_t)size != bytes)))
        return;
    g.skip = size >= 0 ? (uint64_t)size - bytes : 0;
    if (g.skip < s->n)
        g.fit = lat_payload_fit(&p, g.nc, (lat_real)g.real, s->ahead + g.skip,
                                s->n - g.skip < bytes ? s->n - g.skip : (size_t)bytes);
    if (!s->guesses++ || g.fit > s->best.fit)
        s->best = g;
}

/* Tries all that the options leave open. */
static void try_all(search *s)
{
    const bool any = lat_input_size(s->in) >= 0 && !s->header;
    const int first = s->hints.nc ? s->hints.nc : any ? 2 : 3;
    const int last = s->hints.nc ? s->hints.nc : any ? LAT_MAX_COLOURS : 3;
    for (int nc = first; nc <= last; nc++)
        for (int real = LAT_F32; real <= LAT_F64; real += LAT_F64 - LAT_F32)
            for (int big = 0; big < 2; big++)
                if ((!s->hints.real || s->hints.real == real)
                    && (s->hints.big < 0 || s->hints.big == big))
                    consider(s, (guess){.nc = nc, .real = real, .big = big});
}

static int decide(search *s)
{
    const char *name = lat_input_name(s->in);
    const guess *g = &s->best;
    try_all(s);
    if (!s->guesses)
        return lat_fail(
            "%s: has %lld bytes, which are not four links of any SU(N) that is meant on "
            "each of %llu sites",
            name, (long long)lat_input_size(s->in), (unsigned long long)s->volume);
    if (s->guesses == 1)
        return 0;
    if (g->fit < 0.5)
        return lat_fail("%s: neither byte order nor precision make its first matrices unitary: "
                        "expected a gauge field of the extents of --dims (or give --group, --type "
                        "and --endian)",
                        name);
    lat_warn("%s: is read as SU(%d), f%d, %s endian: then its first matrices are unitary", name,
             g->nc, 8 * g->real, g->big ? "big" : "little");
    return 0;
}

static int take(lat_input *in, lat_header *head, lat_payload *p, search *s)
{
    const guess *g = &s->best;
    if (lat_geometry_check(&head->geom, lat_input_name(in)) < 0)
        return -1;
    s->volume = lat_volume(&head->geom);
    const ssize_t n = lat_input_peek(in, s->ahead, LAT_PEEK);
    s->n = n < 0 ? 0 : (size_t)n;
    if (n < 0 || decide(s) < 0 || lat_input_skip(in, g->skip) < 0)
        return -1;
    head->nc = g->nc;
    head->real = (lat_real)g->real;
    head->reals = 2 * g->nc * g->nc;
    *p = (lat_payload){.big = g->big, .rows = g->nc, .order = s->hints.order};
    return lat_set_source(head, "raw SU(%d) f%d, %s endian, after %llu bytes", g->nc, 8 * g->real,
                          g->big ? "big" : "little", (unsigned long long)g->skip);
}

static int begin(lat_input *in, lat_header *head, lat_payload *p, lat_read_context *r)
{
    search s = {
        .in = in, .hints = merged(&r->hints, &r->format->known), .header = r->format->after_head};
    if (lat_take_dims(in, &head->geom, &r->dims) < 0 || (s.header && lat_need_size(in) < 0)
        || !(s.ahead = lat_alloc(LAT_PEEK, 1, "the first bytes of a file")))
        return -1;
    const int rc = take(in, head, p, &s);
    free(s.ahead);
    return rc;
}

static void layout(LAT_UNUSED const lat_header *head, const lat_hints *hints, lat_payload *p)
{
    p->big = hints->big == 1;
    p->order = hints->order;
}

const lat_format lat_format_raw = {
    .name = "raw",
    .unvouched = true,
    .about = "only links: --dims, --order, --group, --type, --endian",
    .takes = LAT_TAKES_ALL,
    .known = {.big = -1},
    .begin = begin,
    .layout = layout,
};

const lat_format lat_format_headeronly = {
    .name = "headeronly",
    .unvouched = true,
    .extension = ".dat",
    .about = "cuLGT HEADERONLY and plain: any header, then links; --dims",
    .takes = LAT_TAKES_ALL,
    .known = {.big = -1, .order = {.sites = "txyz", .links = "txyz"}},
    .after_head = true,
    .begin = begin,
};

const lat_format lat_format_bridge = {
    .name = "bridge",
    .unvouched = true,
    .extension = ".bin",
    .about = "Bridge++ binary, JLQCD: big endian, ILDG order; --dims",
    .takes = LAT_TAKES_ALL,
    .known = {.big = 1, .real = LAT_F64},
    .begin = begin,
};
