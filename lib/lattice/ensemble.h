/* SPDX-License-Identifier: BSD-3-Clause */
/* ensemble.h: which ensemble of links a field is of. */
#pragma once

#include "header.h"

/* What the info lines say of the links beside their lattice, so that a mean over configurations of
 * two kinds is seen: "beta 6, xi 2, smearing stout:0.1,3", as one cell of a table; "unknown" where
 * they say nothing. Spinors have the info lines of their links. Returns text. */
#define LAT_ENSEMBLE_TEXT 256
#define LAT_ENSEMBLE_COLUMN "ensemble"
const char *lat_ensemble_text(const lat_header *head, char text[LAT_ENSEMBLE_TEXT]);

/* Of a mean: `of` is its ensemble, which the first header sets ("" until then). Another one is
 * refused, with "name: option" before the sentence, or with --force a warning: 0 or -1. */
int lat_ensemble_differs(const lat_header *head, char of[LAT_ENSEMBLE_TEXT], const char *option,
                         const char *name);
