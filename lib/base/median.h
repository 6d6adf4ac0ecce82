/* SPDX-License-Identifier: BSD-3-Clause */
/* median.h: the middle of some numbers. */
#pragma once

enum { LAT_MEDIAN_MOST = 128 };

/* Number n/2 of list[0 .. n-1] in ascending order, n <= LAT_MEDIAN_MOST; list stays as it is. */
double lat_median(int n, const double *list);
