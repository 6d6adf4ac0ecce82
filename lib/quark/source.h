/* SPDX-License-Identifier: BSD-3-Clause */
/* source.h: sources of quark propagators, from their text (docs/sources.md).
 *
 * A text is a source, then steps with "/" before each:
 *
 *   point:x,y,z,t                     1 at a site
 *   wall:t[,nx,ny,nz]                 exp(ipx) on slice t, p = 2 pi n / L
 *   momentum:nx,ny,nz,nt              exp(ipx) everywhere; n may be half integers, or any number
 *   box:x,y,z,t,lx,ly,lz              1 on lx by ly by lz sites of slice t from (x,y,z) on
 *   ball:r,x,y,z,t                    exp(-d^2/r^2) on slice t, d the distance on the torus
 *   gauss:w,n,x,y,z,t                 point:x,y,z,t/gauss:w,n
 *   noise:z2|z4[,t=T][,seed=S][,dilute=D][,config=N]   random numbers of modulus 1 on slice T, or
 *                                     everywhere; D of spin, colour, time, evenodd with "-"
 *                                     between; of configuration N, or lat_source_begin's
 *   /gauss:w,n                        Gaussian smearing (gauss.h)
 *   /ape:.. /stout:.. /hyp:..         smears the links that later steps use (smear/smear.h)
 *
 * so "wall:0/ape:0.5,20,spatial/gauss:4,50". A source of a propagator has 4 N columns, source spin
 * slow, source colour fast; column (s, c) is the above at spin s and colour c. Noise is one column,
 * with a number for each site, spin and colour. Dilution makes a field each of all slices, both
 * parities, 4 spins or N colours, in this order, the first slowest. Numbers are the same for spins
 * and colours that are diluted. Diluted in both spin and colour it has 4 N columns. */
#pragma once

#include "lattice/field.h"

typedef struct lat_source lat_source;

/* What a text means on the lattice of `head`: NULL with a sentence about usage if it is none, or
 * has coordinates that the lattice does not have. lat_source_free takes NULL, too. */
lat_source *lat_source_new(const char *text, const lat_header *head);
void lat_source_free(lat_source *s);

/* Does each step do something, and is Gaussian smearing one? Links that no step uses are not
 * smeared in silence. With a = w^2/4n a step has eigenvalues from 1 - 12 a to 1, since six
 * hops have a norm of at most 6. From n < 3 w^2/2 on (a > 1/6) those below are beyond -1: noise
 * grows from step to step, and hides the Gaussian. 0, or -1 with a sentence about usage; with
 * lat_opts.force 0 and a warning. For texts of a user: texts of headers say what was done. */
int lat_source_check_steps(const lat_source *s);

int lat_source_columns(const lat_source *s);     /* of a field: 4 N, or 1 */
int lat_source_fields(const lat_source *s);      /* 1, or more of diluted noise */
int lat_source_gauss_steps(const lat_source *s); /* of all its gauss:w,n together */
bool lat_source_counts(const lat_source *s);     /* it depends on the number of lat_source_begin */

/* fn(with, ..) does Gaussian steps, in place of lat_gauss_slice (gauss.h), which it is like. */
typedef int lat_gauss_fn(void *with, const lat_field *u, int t, double width, int steps,
                         int columns, double *psi);
void lat_source_smear_by(lat_source *s, lat_gauss_fn *fn, void *with);

/* Before the columns of each configuration, with its number in the stream, which random numbers
 * depend on: the links, or any field of the lattice on its ranks if links are not used. The ghosts
 * must be up to date. `u` is borrowed until the next call. All ranks call it: 0, or -1. */
int lat_source_begin(lat_source *s, const lat_field *u, long config);

/* Column number `column` of field number `field` at all own sites: psi has lat_field_sites(u)
 * spinors [spin][colour][re, im]. 0, or -1 without memory. */
int lat_source_make(const lat_source *s, int field, int column, double *psi);

/* The whole field as a stream has it: a spinor or a propagator, in double, whose header has the
 * text, and of links their CRC and gauge; *b is to be freed. Slices on which the source is zero
 * take no memory (base/pages.h), and b->zeros says which they are. 0, or -1. */
int lat_source_field(const lat_source *s, int field, lat_field *b);

/* The source that the text of a header names, its field, and its column where ", column 7" follows,
 * from lat-solve --columns; else -1: it has all columns. NULL like lat_source_new. */
lat_source *lat_source_named(const char *text, const lat_header *head, int *field, int *column);

/* The site from which distances and phases count, of the text of a header; 0 where a source has no
 * place along an axis, and for text that is none of ours. Returns the axes along which it has one,
 * 1 << mu each. */
unsigned lat_source_place(const char *text, int x[LAT_MAX_DIMS]);

/* The four numbers of a text of this kind, "point" or "momentum"; false for another source, and
 * where steps follow. */
bool lat_source_numbers(const char *text, const char *kind, double v[4]);

/* Reads steps, "ape:0.5,20/gauss:4,50", without "/" at the beginning. */
lat_source *lat_sink_new(const char *text, const lat_header *head);

/* Smears `columns` spinors a site of own slice t (counted from this rank's first), after
 * lat_source_begin. psi is the slice, [site][column][spin][colour][re, im]. 0, or -1. */
int lat_sink_smear(const lat_source *s, int t, int columns, double *psi);
