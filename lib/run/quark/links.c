/* SPDX-License-Identifier: BSD-3-Clause */
/* links.c: the links that quark fields were made on. */
#include "links.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/async.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "common/options.h"
#include "common/stop.h"
#include "formats/fields.h"
#include "smear/smear.h"

int lat_links_same(const lat_field *u, const char *crc, lat_same_links *same)
{
    if (!*crc)
        return 0;
    if (!strcmp(crc, u->head.read_crc) || !strcmp(crc, lat_header_links_crc(&u->head)))
        return 1;
    if (!same->known && lat_stream_same_crcs(u, same->crc))
        return -1;
    same->known = true;
    for (int i = 0; i < LAT_STREAM_SAME; i++)
        if (!strcmp(crc, same->crc[i]))
            return 1;
    return 0;
}

struct lat_links_reader {
    lat_async async;
    lat_input *in;
    lat_field u;
};

static int read_links(void *with)
{
    lat_links_reader *r = with;
    return lat_fields_read_links(r->in, &r->u);
}

void lat_links_ahead(lat_links *l)
{
    lat_links_reader *r;
    if (l->reader || lat_opts.comm->size > 1 || !(r = calloc(1, sizeof *r)))
        return;
    r->in = l->in;
    if (lat_async_start(&r->async, lat_threads_beside(), read_links, r) == 0)
        l->reader = r;
    else
        free(r);
}

bool lat_links_ready(const lat_links *l)
{
    return l->reader && lat_async_over(&l->reader->async) && l->reader->async.rc > 0;
}

/* Waits for what was read ahead. */
static int take_ahead(lat_links *l)
{
    lat_links_reader *r = l->reader;
    const int rc = lat_async_wait(&r->async);
    l->u = r->u;
    l->reader = NULL;
    free(r);
    return rc;
}

/* A run that has failed does not wait for links that may be long in coming: the thread goes on,
 * with the input, until the process ends. */
static void leave_ahead(lat_links *l)
{
    if (lat_async_over(&l->reader->async)) {
        take_ahead(l);
        return;
    }
    lat_async_leave(&l->reader->async);
    l->reader = NULL;
    l->in = NULL;
}

int lat_links_next(lat_links *l)
{
    lat_field_free(&l->u);
    lat_stop_hold(lat_opts.comm->size > 1); /* ranks cannot stop in the middle of a field */
    const int rc = l->reader ? take_ahead(l) : lat_fields_read_links(l->in, &l->u);
    lat_stop_hold(false);
    if (rc <= 0)
        return rc;
    l->number++;
    l->same.known = false;
    return lat_header_need(&l->u.head, LAT_GAUGE, lat_input_name(l->in))
                   || lat_field_exchange(&l->u)
               ? -1
               : 1;
}

/* Are the present links those of this CRC? A field without one takes any. */
static int fits(lat_links *l, const char *wanted)
{
    return *wanted ? lat_links_same(&l->u, wanted, &l->same) : 1;
}

/* The file has no links of that CRC. */
static int missing(const lat_links *l, const char *wanted, const char *last, const char *name,
                   long field)
{
    const bool others = *wanted && *last;
    return lat_fail("%s: field %ld: expected its links, of CRC %s, in %s, found %s%s%s%s", name,
                    field, *wanted ? wanted : "unknown", lat_input_name(l->in),
                    others || (*wanted && l->number) ? "others"
                    : l->number                      ? "no more links"
                                                     : "none",
                    others ? ", of CRC " : "", others ? last : "",
                    others ? " (the same ones rounded are others, too; --force takes them)" : "");
}

/* The next links until they fit; with --force those that come first. */
static int search(lat_links *l, const char *wanted, const char *name, long field)
{
    char last[sizeof l->u.head.read_crc];
    int fit = 0;
    do {
        snprintf(last, sizeof last, "%s", l->number ? l->u.head.read_crc : "");
        const int more = l->number && lat_opts.force ? lat_fields_more(l->in) : 1;
        const int rc = more > 0 ? lat_links_next(l) : more;
        if (rc < 0)
            return -1;
        if (rc == 0 && !lat_opts.force)
            return missing(l, wanted, last, name, field);
        fit = rc > 0 && !lat_opts.force ? fits(l, wanted) : 1;
    } while (fit == 0);
    return fit < 0 ? -1 : 0;
}

/* A field that does not name its links, and several to choose from? */
static int one_of_many(const lat_links *l, const char *name, long field)
{
    const int more = l->number > 1 ? 1 : lat_fields_more(l->in);
    return more <= 0 ? more
                     : lat_mismatch(lat_opts.force,
                                    "%s: field %ld: expected one configuration in %s, as the field "
                                    "does not say of which links it is, found more (--force takes "
                                    "%s)",
                                    name, field, lat_input_name(l->in),
                                    l->number > 1 ? "the last one" : "the first one");
}

int lat_links_find(lat_links *l, const lat_header *head, bool each, const char *name, long field)
{
    const char *wanted = head->quark.links;
    const int there = !l->number ? 0 : *wanted ? fits(l, wanted) : !each;
    char x[64], y[64];
    if (there < 0 || (there == 0 && search(l, wanted, name, field))
        || (!each && !*wanted && one_of_many(l, name, field)))
        return -1;
    if (!lat_header_alike(head, &l->u.head))
        return lat_fail("%s: field %ld: expected the lattice of the links in %s, %s and SU(%d), "
                        "found %s and SU(%d)",
                        name, field, lat_input_name(l->in), lat_dims_text(&l->u.head.geom, x),
                        l->u.head.nc, lat_dims_text(&head->geom, y), head->nc);
    static bool warned;
    if (each && !*wanted && !warned) {
        lat_warn("%s: is taken as of the links in %s: it does not say of which links it is", name,
                 lat_input_name(l->in));
        warned = true;
    }
    const int fit = fits(l, wanted);
    if (fit < 0)
        return -1;
    if (fit == 0)
        lat_warn("%s: field %ld: is of links of CRC %s, and gets those of %s, of CRC %s (--force)",
                 name, field, wanted, lat_input_name(l->in), l->u.head.read_crc);
    return 0;
}

int lat_links_pair(lat_links *l, const lat_header *first, const lat_header *second,
                   const char *name)
{
    static bool warned;
    const char *a = first->quark.links, *b = second->quark.links;
    if (*a && !strcmp(a, b))
        return 0;
    if (!*a && !*b) {
        if (!warned)
            lat_warn("%s: taken as of the configuration of the first propagator: neither says of "
                     "which links it is",
                     name);
        warned = true;
        return 0;
    }
    int same = l->in && *a ? fits(l, a) : 0;
    if (same > 0)
        same = lat_links_same(&l->u, b, &l->same);
    if (same)
        return same < 0 ? -1 : 0;
    return lat_mismatch(lat_opts.force,
                        "%s: expected a propagator of the configuration of the first, of CRC %s, "
                        "found one of CRC %s (%s--force takes it)",
                        name, *a ? a : "unknown", *b ? b : "unknown",
                        l->in ? "" : "--gauge-file knows links that were stored otherwise; ");
}

const lat_field *lat_links_smeared(lat_links *l, const char *text)
{
    lat_smear s;
    if (!text)
        return &l->u;
    if (l->smeared_by && !strcmp(text, l->smeared_by) && l->smeared_of == l->number)
        return &l->smeared;
    lat_field_free(&l->smeared);
    free(l->smeared_by);
    l->smeared_of = l->number;
    l->smeared_by = lat_text_new("%s", text);
    if (!l->smeared_by || lat_smear_parse(text, &s) || lat_smear_links(&l->u, &s, &l->smeared)) {
        free(l->smeared_by);
        l->smeared_by = NULL;
        return NULL;
    }
    return &l->smeared;
}

void lat_links_free(lat_links *l)
{
    if (l->reader)
        leave_ahead(l);
    lat_field_free(&l->u);
    lat_field_free(&l->smeared);
    free(l->smeared_by);
    l->smeared_by = NULL;
    lat_input_close(l->in);
    l->in = NULL;
    l->number = 0;
    l->same.known = false;
}
