/* SPDX-License-Identifier: BSD-3-Clause */
/* quark_boundary.h: what the text of column `operator` says of the boundaries of quarks. */
#pragma once

#include <stdbool.h>

/* The boundary of all quarks along an axis: 'p', or a phase of 0 or 2 pi; 'a', or a phase of pi or
 * -pi. '\0' where it is another one, where quarks differ, and where it is not known. */
char lat_quark_boundary(const char *operators, int axis);

/* Is C(T - t) of a meson an image of C(t)? Also for an empty text: a table of before has no such
 * column. */
static inline bool lat_quarks_fold(const char *operators)
{
    return !*operators || lat_quark_boundary(operators, 3);
}
