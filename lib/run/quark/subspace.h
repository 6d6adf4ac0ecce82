/* SPDX-License-Identifier: BSD-3-Clause */
/* subspace.h: test vectors of a multigrid (multigrid/multigrid.h) in a stream: near-null vectors of
 * M on some links, a field of kind modes, in single precision. The coarse operators are not stored:
 * they follow from the vectors, in less time than reading them would take.
 *
 * Info lines: subspace.blocks, .rounds, .rate, .columns (to come, for which rounds were made),
 * .applications (of S, a vector), .lowest (singular value of M, about), .orthonormal and .product
 * (the certificate). All ranks call these functions: 0, or -1 with lat_error set. */
#pragma once

#include "certify/plain.h"
#include "common/io.h"
#include "multigrid/multigrid.h"
#include "wilson/wilson.h"

typedef struct lat_subspace {
    lat_field vectors;
    lat_multigrid_state state;
} lat_subspace;

/* Reads on in a stream to the subspace of these links. Of its operator mass and twist may be
 * others; action, clover term, anisotropy, boundary and smearing (NULL: none) are to be the same,
 * and so are blocks. To be freed in any case. */
int lat_subspace_find(lat_input *in, const lat_field *links, const lat_fermion *fermion,
                      const char *smearing, lat_subspace *s);

/* The first subspace of a stream, of whichever links of this lattice: to begin with. */
int lat_subspace_first(lat_input *in, const lat_field *links, lat_subspace *s);

void lat_subspace_free(lat_subspace *s);

/* A Wilson operator opened with *o has its multigrid, which is borrowed until make has made it.
 * make also certifies and judges it; name: of the file. */
void lat_subspace_serve(const lat_subspace *s, lat_wilson_options *o);
int lat_subspace_make(lat_wilson *w, lat_plain *plain, const lat_field *links, const char *name);

/* |(P^+ P - 1) z|/|z| and |(P^+ M P - M_c) z|/|M_c z|, about, of random z. M is lib/certify's in
 * double, and P^+ is this code's: from eight vectors z_i it compares <P z_i, M P z_j> with <z_i,
 * M_c z_j>. An error that is not along z_i shows there with 1/sqrt(dimension) of its size, so that
 * their root mean square times the root of the dimension estimates it to a sixth. */
typedef struct lat_subspace_certificate {
    double orthonormal, product;
} lat_subspace_certificate;
int lat_subspace_certify(lat_multigrid *m, lat_plain *plain, const lat_field *links,
                         lat_subspace_certificate *c);

/* Is it what single precision allows? Else -1, with a sentence. */
int lat_subspace_judge(const lat_subspace_certificate *c);

/* What the header of a file says: the info lines. */
int lat_subspace_describe(lat_header *head, const lat_multigrid *m, double columns,
                          const lat_subspace_certificate *c);
