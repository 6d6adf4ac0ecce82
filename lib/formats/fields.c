/* SPDX-License-Identifier: BSD-3-Clause */
/* fields.c: fields of an input in whatever format it is. */
#include "fields.h"

#include <math.h>
#include "base/error.h"
#include "base/threads.h"
#include "common/options.h"
#include "file_beside.h"
#include "file_reader.h"
#include "quarks.h"
#include "stream/stream.h"

extern const lat_format lat_format_lat;

/* What is known of an input. */
typedef struct known {
    enum { NOTHING, STREAM, LINKS, QUARKS } kind; /* the last two: foreign; the same on all ranks */
    bool read;                                    /* the one field of a foreign file */
    const lat_format *format;
} known;

lat_read_context lat_fields_context(void)
{
    return (lat_read_context){
        .force = lat_opts.force, .hints = {.big = -1}, .plaquette = NAN, .link_trace = NAN};
}

const lat_format *lat_fields_format(lat_input *in)
{
    unsigned char begin[sizeof "lat-stream " - 1]; /* no more: a pipe may be slow */
    const ssize_t n = lat_input_peek(in, begin, sizeof begin);
    /* An empty input: the reader of streams has the sentence. */
    if (n == 0 || (n > 0 && lat_format_fits(&lat_format_lat, begin, (size_t)n, -1)))
        return &lat_format_lat;
    return n < 0 ? NULL : lat_format_of(in);
}

/* NULL with lat_error set. */
static known *recognise(lat_input *in)
{
    const lat_comm *comm = lat_input_comm(in);
    known *k = lat_input_attach(in, LAT_ATTACH_FORMAT, sizeof *k);
    int n = 0;
    if (!k || k->kind != NOTHING)
        return k;
    const lat_format *format = comm->rank == 0 ? lat_fields_format(in) : NULL;
    while (lat_formats[n] && lat_formats[n] != format)
        n++;
    if (comm->broadcast(comm, &n, sizeof n, 0) || !(k->format = lat_formats[n]))
        return NULL;
    k->kind = k->format->quarks ? QUARKS : k->format->stream ? STREAM : LINKS;
    return k;
}

/* Reads and verifies it once, as a whole. */
static int read_alone(lat_input *in, const lat_format *format, lat_field *f)
{
    const lat_read_context r = lat_fields_context();
    lat_file_reader s;
    if (lat_file_reader_open(&s, in, format, &r, true) <= 0)
        return -1;
    const int rc = lat_file_reader_first(&s, false, NULL, NULL, NULL);
    if (rc == 0) {
        *f = s.f;
        s.f = (lat_field){.data = NULL};
    }
    lat_file_reader_close(&s);
    return rc;
}

typedef struct position {
    lat_file_reader *s;
    int next;
} position;

static int next_slices(void *context, void *slices, int count)
{
    position *p = context;
    const int first = p->next;
    p->next += count;
    return lat_file_reader_get(p->s, slices, first, count);
}

/* The field of rank 0, which has all slices, to all ranks. rc: of rank 0. */
static int share(const lat_comm *comm, lat_field *f, int rc, lat_file_reader *s)
{
    rc = lat_agree(comm, rc);
    if (rc == 0 && (rc = lat_stream_share_head(comm, &f->head)) == 0)
        rc = lat_field_alloc(f, comm);
    return rc == 0 ? lat_stream_share_slices(f, next_slices, &(position){.s = s}) : -1;
}

/* Rank 0 reads for all. */
static int read_for_all(lat_file_reader *s, const lat_comm *comm, lat_field *f)
{
    int rc = comm->rank == 0 ? lat_file_reader_first(s, false, NULL, NULL, NULL) : 0;
    if (lat_agree(comm, rc))
        return -1;
    if (comm->rank == 0)
        rc = lat_header_copy(&f->head, &s->f.head);
    return share(comm, f, rc, s);
}

static int read_shared(lat_input *in, const lat_format *format, lat_field *f)
{
    const lat_comm *comm = lat_input_comm(in);
    const lat_read_context r = lat_fields_context();
    lat_file_reader s = {.in = in};
    bool beside;
    int rc = comm->rank == 0 && lat_file_reader_open(&s, in, format, &r, false) <= 0 ? -1 : 0;
    if (lat_agree(comm, rc))
        return -1;
    rc = lat_file_everywhere(&s, in, format, &beside);
    if (rc == 0)
        rc = beside ? lat_file_read_beside(&s, f) : read_for_all(&s, comm, f);
    lat_file_reader_close(&s);
    return rc;
}

/* ---- spinors and propagators ----------------------------------------------------------------- */

static int read_quarks(lat_input *in, const lat_format *format, lat_field *f,
                       const lat_quark_hints *hints)
{
    const lat_comm *comm = lat_input_comm(in);
    lat_quark_hints h = hints ? *hints : (lat_quark_hints){.kappa = NAN, .force = lat_opts.force};
    bool all = comm->size > 1;
    if (lat_input_everywhere(in, &all))
        return -1;
    if (all) {
        lat_verbose("%s: each rank reads its slices", lat_input_name(in));
        h.comm = comm;
    }
    if (all || comm->size == 1)
        return lat_quarks_read(in, f, format, &h, 0);
    lat_file_reader s = {.whole = true};
    int rc = comm->rank == 0 ? lat_quarks_read(in, &s.f, format, &h, 0) : 0;
    if (rc == 0 && comm->rank == 0 && lat_header_copy(&f->head, &s.f.head))
        rc = -1;
    rc = share(comm, f, rc, &s);
    lat_field_free(&s.f);
    return rc;
}

/* ---- any ------------------------------------------------------------------------------------- */

int lat_fields_read(lat_input *in, lat_field *f) { return lat_fields_read_as(in, f, NULL); }

int lat_fields_head(lat_input *in, lat_field *f)
{
    const known *k = recognise(in);
    *f = (lat_field){.data = NULL};
    if (!k || k->kind != STREAM)
        return k ? !k->read : -1;
    const int rc = lat_stream_head(in, &f->head);
    if (rc <= 0)
        lat_field_free(f);
    return rc;
}

int lat_fields_body(lat_input *in, lat_field *f)
{
    const known *k = recognise(in);
    if (!k || k->kind != STREAM)
        return k ? lat_fields_read(in, f) : -1;
    const int rc = lat_stream_body(in, f);
    if (rc <= 0)
        lat_field_free(f);
    return rc;
}

int lat_fields_read_as(lat_input *in, lat_field *f, const lat_quark_hints *hints)
{
    known *k = recognise(in);
    *f = (lat_field){.data = NULL};
    if (!k)
        return -1;
    if (k->kind == STREAM)
        return lat_stream_read(in, f);
    if (k->read)
        return 0;
    k->read = true;
    int rc = k->kind == QUARKS              ? read_quarks(in, k->format, f, hints)
             : lat_input_comm(in)->size > 1 ? read_shared(in, k->format, f)
                                            : read_alone(in, k->format, f);
    rc = rc || lat_stream_crc(f);
    if (rc)
        lat_field_free(f);
    return rc ? -1 : 1;
}

int lat_fields_read_links(lat_input *in, lat_field *f)
{
    const int rc = lat_fields_read(in, f);
    if (rc <= 0 || f->head.kind == LAT_GAUGE)
        return rc;
    lat_fail("%s: expected a gauge field, found %s", lat_input_name(in),
             lat_kind_text(f->head.kind));
    lat_field_free(f);
    return -1;
}

int lat_fields_more(lat_input *in)
{
    const known *k = recognise(in);
    return !k ? -1 : k->kind == STREAM ? lat_stream_more(in) : !k->read;
}

int lat_fields_foreign(lat_input *in)
{
    const known *k = recognise(in);
    return k ? k->kind != STREAM : -1;
}

bool lat_fields_last(const lat_input *in)
{
    const known *k = lat_input_attach((lat_input *)in, LAT_ATTACH_FORMAT, sizeof *k);
    return k && k->kind > STREAM ? k->read : lat_stream_last_field(in);
}
