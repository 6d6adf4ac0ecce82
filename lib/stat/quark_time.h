/* SPDX-License-Identifier: BSD-3-Clause */
/* quark_time.h: what the text of column `operator` says of the boundary of quarks in time. */
#pragma once

#include <stdbool.h>

/* Is C(T - t) of a meson no image of C(t)? With Dirichlet or open time, or two quarks of two
 * boundaries in time, whose mesons get a phase; and where the boundary is not known. False for an
 * empty text. */
bool lat_quark_time_unlike(const char *operators);
