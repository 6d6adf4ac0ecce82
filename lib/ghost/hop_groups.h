/* SPDX-License-Identifier: BSD-3-Clause */
/* hop_groups.h: hop.h for SU(2), SU(3), SU(4) and any N, for the vectors V of WIDTH doubles
 * (template; kernels.c expands it). */
#define UNROLL UNROLL_FEW
#define SIZE 2
#define NAME(x) NAME_(x, 2)
#include "hop.h"
#undef SIZE
#undef NAME
#define SIZE 3
#define NAME(x) NAME_(x, 3)
#include "hop.h"
#undef SIZE
#undef NAME
#define SIZE 4
#define NAME(x) NAME_(x, 4)
#include "hop.h"
#undef UNROLL
#undef SIZE
#undef NAME
#define UNROLL
#define SIZE LAT_MAX_COLOURS
#define NAME(x) NAME_(x, any)
#include "hop.h"
#undef UNROLL
#undef SIZE
#undef NAME
#undef V
#undef WIDTH
#undef NAME_
