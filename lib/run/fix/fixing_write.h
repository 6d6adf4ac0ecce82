/* SPDX-License-Identifier: BSD-3-Clause */
/* fixing_write.h: what a run of gauge fixing writes of a configuration. */
#pragma once

#include "fixing.h"

/* The links of the best copy, and its transformation to g_out, if that is not NULL; of all copies
 * (f->all) the links as they were read, with the transformation of each behind them. 0 or -1. */
int lat_fixing_write(lat_fixing *f, lat_output *out, lat_output *g_out);
