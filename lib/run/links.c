/* SPDX-License-Identifier: BSD-3-Clause */
/* links.c: the links that quark fields were made on. */
#include "links.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "common/options.h"
#include "common/stop.h"
#include "formats/fields.h"
#include "smear/smear.h"

int lat_links_next(lat_links *l)
{
    lat_field_free(&l->u);
    lat_stop_hold(lat_opts.comm->size > 1); /* ranks cannot stop in the middle of a field */
    const int rc = lat_fields_read(l->in, &l->u);
    lat_stop_hold(false);
    if (rc <= 0)
        return rc;
    l->number++;
    return lat_header_need(&l->u.head, LAT_GAUGE, lat_input_name(l->in))
                   || lat_field_exchange(&l->u)
               ? -1
               : 1;
}

static bool fits(const lat_links *l, const char *wanted)
{
    return !*wanted || !strcmp(wanted, l->u.head.read_crc);
}

/* The file has no links of that CRC. */
static int missing(const lat_links *l, const char *wanted, const char *last, const char *name,
                   long field)
{
    return lat_fail("%s: field %ld: expected its links, of CRC %s, in %s, found %s%s%s", name,
                    field, *wanted ? wanted : "unknown", lat_input_name(l->in),
                    *wanted && l->number ? "others"
                    : l->number          ? "no more links"
                                         : "none",
                    *last && *wanted ? ", of CRC " : "", *last && *wanted ? last : "");
}

/* The next links until they fit; with --force those that come first. */
static int search(lat_links *l, const char *wanted, const char *name, long field)
{
    char last[sizeof l->u.head.read_crc];
    do {
        snprintf(last, sizeof last, "%s", l->number ? l->u.head.read_crc : "");
        const int more = l->number && lat_opts.force ? lat_fields_more(l->in) : 1;
        const int rc = more > 0 ? lat_links_next(l) : more;
        if (rc < 0)
            return -1;
        if (rc == 0 && !lat_opts.force)
            return missing(l, wanted, last, name, field);
    } while (!fits(l, wanted) && !lat_opts.force);
    return 0;
}

int lat_links_find(lat_links *l, const lat_header *head, bool each, const char *name, long field)
{
    const char *wanted = head->quark.links;
    const bool there = l->number && (*wanted ? fits(l, wanted) : !each);
    char x[64], y[64];
    if (!there && search(l, wanted, name, field))
        return -1;
    if (!lat_header_alike(head, &l->u.head))
        return lat_fail("%s: field %ld: expected the lattice of the links in %s, %s and SU(%d), "
                        "found %s and SU(%d)",
                        name, field, lat_input_name(l->in), lat_dims_text(&l->u.head.geom, x),
                        l->u.head.nc, lat_dims_text(&head->geom, y), head->nc);
    if (!fits(l, wanted))
        lat_warn("%s: field %ld: is of links of CRC %s, and gets those of %s, of CRC %s (--force)",
                 name, field, wanted, lat_input_name(l->in), l->u.head.read_crc);
    return 0;
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
    if (!(l->smeared_by = strdup(text)))
        lat_fail("out of memory: the text of smeared links");
    if (!l->smeared_by || lat_smear_parse(text, &s) || lat_smear_links(&l->u, &s, &l->smeared)) {
        free(l->smeared_by);
        l->smeared_by = NULL;
        return NULL;
    }
    return &l->smeared;
}

void lat_links_free(lat_links *l)
{
    lat_field_free(&l->u);
    lat_field_free(&l->smeared);
    free(l->smeared_by);
    l->smeared_by = NULL;
    lat_input_close(l->in);
    l->in = NULL;
    l->number = 0;
}
