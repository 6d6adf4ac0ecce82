/* SPDX-License-Identifier: BSD-3-Clause */
/* feed.h: quark propagators, read slice by slice.
 *
 *     lat_feed d = {.in = lat_input_open(path, comm)};
 *     while (lat_feed_next(&d) > 0) { look at d.f.head;
 *                                     lat_feed_start(&d);
 *                                     for all own slices t: lat_feed_slice(&d, t), use d.slice
 *                                     lat_feed_end(&d);
 *                                     lat_feed_free(&d) }
 *     lat_feed_free(&d);
 *     lat_input_close(d.in);
 *
 * All ranks call these functions. */
#pragma once

#include "common/io.h"
#include "common/options.h"
#include "lattice/field.h"

/* The option that states the boundary of quarks where the headers of propagators do not; another
 * one than the header's is refused without --force. */
extern const char *lat_feed_boundary;
/* clang-format off */
#define LAT_BOUNDARY_OPTION \
    {LAT_OPT_TEXT, "boundary", 0, "X,Y,Z,T", &lat_feed_boundary, 0, 0, \
     "boundary of the quarks (p, a, d, o or a phase in units of pi), if the header does not say " \
     "it"}
/* clang-format on */

/* A field that is being read: as a whole where ranks share it, where its order goes across slices,
 * and where another program wrote it. */
typedef struct lat_feed {
    lat_input *in;                    /* borrowed */
    bool legs;                        /* takes headers of legs (legs_file.h), too */
    bool whole;                       /* reads f as a whole, whatever its order is */
    lat_field f;                      /* f.data NULL: by slices */
    struct lat_stream_reader *reader; /* by slices */
    struct lat_feed_ahead *ahead;     /* of a pipe: a thread reads while slices are used; or NULL */
    void *raw;
    double *slice; /* [site][column][spin][colour][re, im] */
} lat_feed;

/* The next propagator of the input, in four dimensions: 1, 0 at the end, -1. A source in place of
 * a propagator is refused, or taken with --force. */
int lat_feed_next(lat_feed *d);

/* Of a propagator with this header: no source in its place, or --force with a warning. 0, or -1. */
int lat_need_solution(const lat_header *head, const char *name);

/* After the header: memory, and the whole field if it has to be. 0, or -1. */
int lat_feed_start(lat_feed *d);

/* d->slice gets slice t of this rank, t rising from 0. 0, or -1 on this rank alone. */
int lat_feed_slice(lat_feed *d, int t);

/* After the last slice: checksums. 0, or -1. */
int lat_feed_end(lat_feed *d);

/* Frees all but the input. */
void lat_feed_free(lat_feed *d);
