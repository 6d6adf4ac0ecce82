/* SPDX-License-Identifier: BSD-3-Clause */
/* sources.h: the first stage of a solve: sources, and the links that each of them is for. They come
 * with the input, or are made on the links of the input. */
#pragma once

#include "inverter.h"
#include "quark/source.h"
#include "smearer.h"

/* Set `in` and `text`, all else zero. */
typedef struct lat_sources {
    lat_input *in;       /* of sources, or of links; borrowed */
    const char *text;    /* says which sources are made on links; NULL: they come with the input */
    lat_source *source;  /* makes them; */
    lat_smearer smearer; /* its steps */
    int next, fields;    /* of `source`, on the present links */
} lat_sources;

/* The next source, to be freed by the caller; v has its links. 1, 0 at the end of the input; or -1
 * with lat_error set, also where the run was asked to stop. */
int lat_sources_next(lat_sources *s, lat_inverter *v, lat_field *b);

/* For lat_solution.meanwhile, with the inverter: the next links are read beside a solve, where a
 * GPU leaves the processors of its host to that. */
void lat_sources_ahead(void *inverter);

/* Is the next source there, or are its links? */
bool lat_sources_soon(const lat_sources *s, const lat_inverter *v);

/* Ends it; the device of v must still be open. */
void lat_sources_end(lat_sources *s);
