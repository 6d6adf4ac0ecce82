/* SPDX-License-Identifier: BSD-3-Clause */
/* convert_quarks.c: lat-convert of spinors and propagators. */
#include "convert_quarks.h"

#include <string.h>
#include "base/error.h"
#include "common/options.h"
#include "formats/milc_info.h"
#include "smear/smear.h"
#include "stream/stream.h"
#include "run/common/conversion.h"
#include "run/common/tool.h"

/* 1, 0 where there is none any more, -1. */
static int read_field(const lat_convert_quarks *c, lat_input *in, lat_field *f,
                      const lat_format *format, long index)
{
    const char *name = lat_input_name(in);
    int rc = 1;
    if (format->stream)
        rc = lat_stream_read(in, f);
    else if (!format->quarks)
        return lat_fail("%s: is in format %s, which holds gauge fields, and spinors are expected",
                        name, format->name);
    else if (index > 0)
        return 0;
    else if (lat_quarks_read(in, f, format, &c->hints, c->real) < 0)
        return -1;
    else if (c->milc_info && lat_milc_info_take(c->milc_info, name, &f->head)) {
        lat_field_free(f);
        return -1;
    }
    if (rc <= 0 || !lat_header_spinors(&f->head) || lat_quarks_state(name, f, &c->hints) == 0)
        return rc;
    lat_field_free(f);
    return -1;
}

/* Says what the header states and the file does not. */
static int say_lost(const char *name, const lat_header *head, const lat_format *to)
{
    const lat_quark *q = &head->quark;
    char lost[100] = "";
    lat_header kept;
    lat_header_init(&kept);
    const int rc = to->keeps ? to->keeps(head, &kept) : 0;
    const lat_quark *k = &kept.quark;
    const char *smeared = lat_info_get(head, LAT_SMEARED_LINKS),
               *still = lat_info_get(&kept, LAT_SMEARED_LINKS);
    if (lat_fermion_bounded(&q->fermion) && !lat_fermion_same(&q->fermion, &k->fermion))
        strcat(lost, !lat_fermion_known(&q->fermion)    ? ", the boundary"
                     : lat_fermion_bounded(&k->fermion) ? ", the operator"
                                                        : ", the operator with its boundary");
    if (q->source && (!k->source || strcmp(q->source, k->source)))
        strcat(lost, ", the source");
    if (*q->links && strcmp(q->links, k->links))
        strcat(lost, ", the CRC of the links");
    if (smeared && (!still || strcmp(smeared, still)))
        strcat(lost, ", the smearing");
    if (rc == 0 && *lost)
        lat_warn("%s: %s files do not hold %s, which its header states: keep that too", name,
                 to->name, lost + 2);
    lat_header_free(&kept);
    return rc;
}

static int write_field(const lat_convert_quarks *c, const char *name, lat_output *out, lat_field *f,
                       const lat_format *format)
{
    const lat_format *target = c->target;
    const char *what = format->stream ? "stream" : lat_info_get(&f->head, "source");
    if (lat_provenance(&f->head, "from %s to %s", what ? what : format->name, target->name) < 0)
        return -1;
    if (target->quarks)
        return lat_quarks_write(name, out, f, target, &c->hints, c->real) < 0
                   ? -1
                   : say_lost(name, &f->head, target);
    return target->stream ? lat_stream_write(out, f, lat_opts.store)
                          : lat_fail("%s: holds %s, and %s files hold gauge fields", name,
                                     lat_kind_text(f->head.kind), target->name);
}

/* The basis whose unit vectors the sources of joined spinors are: in memory the sinks are in ours,
 * and nothing in a spinor's file says of which propagator's column it is. */
static int find_sources(lat_convert_quarks *c, const char *name, const lat_format *format)
{
    const lat_basis *b = format->stream   ? lat_basis_find(LAT_BASIS)
                         : c->hints.basis ? c->hints.basis
                         : !format->quarks
                             ? NULL
                             : lat_basis_find(format->basis ? format->basis : LAT_BASIS);
    if (c->sources || !b)
        return b ? 0 : -1;
    if (c->joined.count > 0 && c->basis != b)
        return lat_fail("%s: --join: expected all spinors in the basis of the first one, %s, found "
                        "%s (--source-basis says which basis the sources are of)",
                        name, c->basis->name, b->name);
    if (c->joined.count == 0 && strcmp(b->name, LAT_BASIS))
        lat_warn("%s: --join: the sources are taken as the unit vectors of the basis of the file, "
                 "%s (--source-basis says another one)",
                 name, b->name);
    c->basis = b;
    return 0;
}

static int join_field(lat_convert_quarks *c, const char *name, lat_output *out, const lat_field *f,
                      const lat_format *format)
{
    lat_join *j = &c->joined;
    int rc = find_sources(c, name, format) ? -1 : lat_join_add(j, name, f);
    if (rc > 0) {
        if (j->whole.head.nc == 3)
            lat_quarks_source_basis(&j->whole, c->sources ? c->sources : c->basis);
        rc = c->written++ > 0 && !c->target->stream
                 ? lat_fail("%s: belongs to a second propagator, and a file in format %s holds one",
                            name, c->target->name)
                 : write_field(c, name, out, &j->whole, format);
        lat_join_free(j);
    }
    return rc;
}

/* Do the options fit the field? */
static int check_options(const lat_convert_quarks *c, const char *name, const lat_header *head)
{
    const lat_quark_hints *h = &c->hints;
    if (c->of_links && lat_header_spinors(head))
        return lat_fail("%s: %s is for matrices, and this is %s", name, c->of_links,
                        lat_kind_text(head->kind));
    if ((h->boundary || h->source || h->spread) && !lat_header_spinors(head))
        return lat_fail("%s: --boundary, --source and --spread are for spinors, and this is %s",
                        name, lat_kind_text(head->kind));
    return lat_expect_dims(&h->dims, name, head);
}

int lat_convert_quarks_file(lat_convert_quarks *c, lat_input *in, lat_output *out,
                            const lat_format *format)
{
    const char *name = lat_input_name(in);
    lat_field f;
    int rc;
    for (long index = 0; (rc = read_field(c, in, &f, format, index)) > 0; index++) {
        const int bad = check_options(c, name, &f.head) ? -1
                        : c->join                       ? join_field(c, name, out, &f, format)
                        : index > 0 && !c->target->stream
                            ? lat_fail("%s: holds more than one field, and a file in format %s "
                                       "holds one: convert them one by one",
                                       name, c->target->name)
                            : write_field(c, name, out, &f, format);
        lat_field_free(&f);
        if (bad)
            return -1;
    }
    return rc;
}
