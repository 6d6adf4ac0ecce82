/* SPDX-License-Identifier: BSD-3-Clause */
/* template.h: every site function once more, for the LAT_T, LAT_N and LAT_() in force.
 * Included many times by a backend; see real.h for what it needs. */
#include "real.h"
#include "matrix.h"
#include "hit.h"
#include "landau.h"
#include "mag.h"
#include "elementary.h"
#include "rng.h"
#include "heat.h"
#include "stochastic.h"
