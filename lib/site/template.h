/* SPDX-License-Identifier: BSD-3-Clause */
/* template.h: all site functions (template): once more for the LAT_T, LAT_N and LAT_() in force,
 * which real.h explains. It is included once for each instance; link.h comes after it where links
 * are updated. scalar.h is the instance for one site in double. */
#include "real.h"
#include "matrix.h"
#include "hit.h"
#include "landau.h"
#include "mag.h"
#include "elementary.h"
#include "rng.h"
#include "heat.h"
#include "stochastic.h"
