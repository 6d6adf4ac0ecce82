/* SPDX-License-Identifier: BSD-3-Clause */
/* sources.c: sources of the input, or on links of the input. */
#include "sources.h"

#include <math.h>
#include "base/error.h"
#include "common/options.h"
#include "common/stop.h"
#include "formats/fields.h"

static int next_links(lat_sources *s, lat_inverter *v)
{
    const int rc = lat_sections_asked(&v->s.kept) ? -1 : lat_links_next(&v->links);
    if (rc <= 0)
        return rc;
    if (lat_inverter_take_links(v))
        return -1;
    if (!s->source
        && (!(s->source = lat_source_new(s->text, &v->links.u.head))
            || lat_source_check_steps(s->source)
            || lat_smearer_serve(&s->smearer, s->source, v->links.u.head.nc, v->device)))
        return -1;
    s->next = 0;
    s->fields = v->fields = lat_source_fields(s->source);
    if (lat_source_begin(s->source, &v->links.u, lat_inverter_config(v)) == 0)
        return 1;
    return lat_error_name(lat_input_name(s->in), NULL);
}

/* On the present links, or on the next ones. */
static int make_next(lat_sources *s, lat_inverter *v, lat_field *b)
{
    const int rc = s->next < s->fields ? 1 : next_links(s, v);
    return rc <= 0 ? rc : lat_source_field(s->source, s->next++, b) ? -1 : 1;
}

/* A source of another program has the numbers that its file has. */
static int read_next(lat_sources *s, lat_inverter *v, lat_field *b)
{
    const lat_quark_hints h = {.kappa = NAN, .norm = LAT_NORM_MASS, .force = lat_opts.force};
    const char *name = lat_input_name(s->in);
    if (lat_sections_asked(&v->s.kept))
        return -1;
    lat_stop_hold(lat_opts.comm->size > 1);
    const int rc = lat_fields_read_as(s->in, b, &h);
    lat_stop_hold(false);
    if (rc <= 0)
        return rc;
    if (!lat_header_spinors(&b->head))
        return lat_fail("%s: expected sources, found %s (--source makes them on links)", name,
                        lat_kind_text(b->head.kind));
    if (lat_fermion_known(&b->head.quark.fermion))
        return lat_fail("%s: field %ld: expected a source, found a solution", name, v->s.field);
    return lat_links_find(&v->links, &b->head, false, name, v->s.field)
                   || lat_inverter_take_links(v)
               ? -1
               : 1;
}

int lat_sources_next(lat_sources *s, lat_inverter *v, lat_field *b)
{
    *b = (lat_field){.data = NULL};
    return s->text ? make_next(s, v, b) : read_next(s, v, b);
}

void lat_sources_ahead(void *inverter)
{
    lat_inverter *v = inverter;
    if (v->device->gpu)
        lat_links_ahead(&v->links);
}

bool lat_sources_soon(const lat_sources *s, const lat_inverter *v)
{
    return s->next < s->fields || lat_links_ready(&v->links);
}

void lat_sources_end(lat_sources *s)
{
    lat_source_free(s->source);
    lat_smearer_end(&s->smearer);
}
