/* SPDX-License-Identifier: BSD-3-Clause */
/* twists.h: a source for several twisted masses, columns of all of them in one Krylov space. */
#pragma once

#include "inverter.h"

/* v->of_twist[j], fields like v->s.x, get the columns for v->twist[j]: what the checkpoint has, the
 * rest batch by batch. Reports and costs, which twists share, are those of v->s; v->s.x is one of
 * these fields then. Residuals are for the caller to certify; v->s has no operator then. 0, or -1
 * with lat_error set. lat_twists_free, in either case, frees the fields. */
int lat_twists_solve(lat_inverter *v);
void lat_twists_free(lat_inverter *v);
