/* SPDX-License-Identifier: BSD-3-Clause */
/* modefile.h: modes in a stream: of which matrix they are; those of some links and an operator. */
#pragma once

#include "common/io.h"
#include "lattice/field.h"

/* Matrices of modes: options' words, and as the info line modes.matrix has them. S is the
 * asymmetric Schur complement on odd sites (dirac/dirac.h). */
typedef enum {
    LAT_MODES_OF_G5M,
    LAT_MODES_OF_NORMAL,
    LAT_MODES_OF_G5S,
    LAT_MODES_OF_OVERLAP /* D^+ D of the overlap operator without mass */
} lat_modes_matrix;
#define LAT_MODES_MATRICES "g5M|MdagM|g5S"
const char *lat_modes_matrix_text(lat_modes_matrix matrix); /* "gamma5 M" .. */

#define LAT_INFO_MODES_MATRIX "modes.matrix"
#define LAT_INFO_MODES_WHICH "modes.which"
#define LAT_INFO_MODES_REST "modes.rest"

/* Reads on in a stream to the header of modes of these links (lat_links_same); `what`, "modes" or
 * so, is for the sentence where there are none. The header is to be freed in any case. */
int lat_modefile_seek(lat_input *in, const lat_field *links, const char *what, lat_header *head);

/* Are they on the lattice of the links, on links with this smearing (NULL: none)? 0, or -1 with a
 * sentence that begins with `name`. */
int lat_modefile_lattice(const char *name, const char *what, const lat_header *head,
                         const lat_header *links);
int lat_modefile_smearing(const char *name, const char *what, const lat_header *head,
                          const char *smearing);

/* Reads on in a stream to the modes of these links (lat_links_same), which are to be the lowest
 * ones of this operator with this smearing of links (NULL: none), on the lattice of `links`. 0 and
 * a field to be freed, in double, and its matrix; or -1 with a sentence. All ranks call it. */
int lat_modefile_find(lat_input *in, const lat_field *links, const lat_fermion *fermion,
                      const char *smearing, lat_field *modes, lat_modes_matrix *matrix);
