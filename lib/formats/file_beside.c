/* SPDX-License-Identifier: BSD-3-Clause */
/* file_beside.c: ranks read a foreign file of links side by side. */
#include "file_beside.h"

#include <string.h>
#include "base/error.h"
#include "common/options.h"
#include "fields.h"
#include "stream/stream.h"

/* Does this rank find in the file what rank 0 does? */
static int same_head(const lat_comm *comm, const lat_file_reader *s, bool opened, bool *same)
{
    lat_header head = {.kind = LAT_GAUGE};
    uint64_t at = s->at;
    if (comm->rank == 0)
        head = s->f.head; /* borrowed */
    if (comm->broadcast(comm, &at, sizeof at, 0) || lat_stream_share_head(comm, &head))
        return -1;
    *same = opened && at == s->at && lat_header_alike(&head, &s->f.head)
            && head.real == s->f.head.real;
    if (comm->rank > 0)
        lat_header_free(&head);
    return 0;
}

int lat_file_everywhere(lat_file_reader *s, lat_input *in, const lat_format *format, bool *all)
{
    const lat_comm *comm = lat_input_comm(in);
    const lat_read_context r = lat_fields_context();
    bool same;
    *all = comm->rank == 0 && lat_payload_placed(&s->p, &s->f.head);
    if (lat_input_everywhere(in, all))
        return -1;
    if (!*all)
        return 0;
    const bool opened = comm->rank == 0 || lat_file_reader_open(s, in, format, &r, false) > 0;
    if (same_head(comm, s, opened, &same) || lat_agree_all(comm, same, all))
        return -1;
    if (*all)
        lat_verbose("%s: each rank reads its slices", lat_input_name(in));
    else if (comm->rank > 0)
        lat_error_clear();
    return 0;
}

/* Own slices, as the header says; and the sums over all. */
static int read_own(const lat_comm *comm, lat_file_reader *s, lat_field *f, lat_slice_sums *sums)
{
    *f = (lat_field){.data = NULL};
    if (lat_agree(comm, lat_header_copy(&f->head, &s->f.head) || lat_field_alloc(f, comm) ? -1 : 0))
        return -1;
    const lat_slab slab = lat_field_slab(f);
    if (lat_agree_on_first(comm, lat_file_reader_pick(s, f->data, slab.first, slab.count))
        || (s->p.digest && lat_sum_of_ranks(comm, s->p.digest, &s->p.sum)) || lat_field_exchange(f))
        return -1;
    return lat_agree(comm, lat_measure_sums(f, true, sums));
}

/* What rank 0 has found: as lat_file_reader_verify returns it, and what that has changed. */
typedef struct verdict {
    int rc;
    bool validated;
    int signs[LAT_MAX_DIMS];
} verdict;

/* The same on all ranks. */
static int verify(const lat_comm *comm, lat_file_reader *s, const lat_slice_sums *sums)
{
    int rc = s->validated ? 0 : lat_input_skip(s->in, lat_payload_bytes(&s->f.head, s->p.rows));
    if (rc == 0)
        rc = comm->rank == 0 ? lat_file_reader_verify(s, sums) : lat_file_reader_end(s, sums);
    verdict v = {.rc = rc, .validated = s->validated};
    memcpy(v.signs, s->signs, sizeof v.signs);
    if (comm->broadcast(comm, &v, sizeof v, 0))
        return -1;
    const bool again = v.rc == 1 && !v.validated; /* for the format */
    if (comm->rank > 0 && rc >= 0 && v.rc >= 0 && again != (rc == 1))
        rc = lat_fail("%s: has other bytes on another host", s->name);
    if (lat_agree_on_first(comm, rc < 0 ? -1 : 0))
        return -1;
    s->validated = v.validated;
    memcpy(s->signs, v.signs, sizeof v.signs);
    return v.rc;
}

int lat_file_read_beside(lat_file_reader *s, lat_field *f)
{
    const lat_comm *comm = lat_input_comm(s->in);
    lat_slice_sums sums;
    int rc;
    while ((rc = read_own(comm, s, f, &sums)) == 0 && (rc = verify(comm, s, &sums)) == 1)
        lat_field_free(f);
    if (rc)
        return -1; /* the caller frees the field */
    lat_header_free(&f->head);
    if (comm->rank == 0)
        rc = lat_header_copy(&f->head, &s->f.head);
    return lat_agree(comm, rc) ? -1 : lat_agree(comm, lat_stream_share_head(comm, &f->head));
}
