/* SPDX-License-Identifier: BSD-3-Clause */
/* groups.h: the N of SU(N): for fields, and for sweeps, which are compiled for each. The Makefile
 * reads the numbers here; every table of N is expanded from the lists. */
#pragma once

#define LAT_MAX_COLOURS 16 /* fields: SU(2) to SU(16) */
#define LAT_FIX_MOST 8     /* gauge fixing */
#define LAT_LINKS_MOST 16  /* updates of links */
#define LAT_FLOW_MOST 8    /* gradient flow */
#define LAT_ABELIAN_MOST 3 /* gauges whose local problem is LAT_ABELIAN (update.h) */

/* What was built of them: GPU code by make GPU_GROUPS=16, the CPU's by make CPU_GROUPS=4. Gauge
 * fixing and the flow are for the same N, and links for all. */
#ifndef LAT_GPU_GROUPS
#define LAT_GPU_GROUPS LAT_MAX_COLOURS
#endif
#ifndef LAT_CPU_GROUPS
#define LAT_CPU_GROUPS LAT_MAX_COLOURS
#endif
#define LAT_GPU_LINKS_MOST LAT_GPU_GROUPS
#define LAT_GPU_LOOPS_MOST LAT_GPU_GROUPS
#define LAT_CPU_LINKS_MOST LAT_CPU_GROUPS
#if LAT_GPU_GROUPS < LAT_FIX_MOST
#define LAT_GPU_FIX_MOST LAT_GPU_GROUPS
#else
#define LAT_GPU_FIX_MOST LAT_FIX_MOST
#endif
#if LAT_CPU_GROUPS < LAT_FIX_MOST
#define LAT_CPU_FIX_MOST LAT_CPU_GROUPS
#else
#define LAT_CPU_FIX_MOST LAT_FIX_MOST
#endif
#define LAT_GPU_FLOW_MOST LAT_GPU_FIX_MOST
#define LAT_CPU_FLOW_MOST LAT_CPU_FIX_MOST

/* X(2, of) X(3, of) .. X(most, of) */
#define LAT_EACH_GROUP(most, X, of) LAT_EACH_GROUP_(most, X, of)
#define LAT_EACH_GROUP_(most, X, of) LAT_GROUPS_##most(X, of)
#define LAT_GROUPS_2(X, of) X(2, of)
#define LAT_GROUPS_3(X, of) LAT_GROUPS_2(X, of) X(3, of)
#define LAT_GROUPS_4(X, of) LAT_GROUPS_3(X, of) X(4, of)
#define LAT_GROUPS_5(X, of) LAT_GROUPS_4(X, of) X(5, of)
#define LAT_GROUPS_6(X, of) LAT_GROUPS_5(X, of) X(6, of)
#define LAT_GROUPS_7(X, of) LAT_GROUPS_6(X, of) X(7, of)
#define LAT_GROUPS_8(X, of) LAT_GROUPS_7(X, of) X(8, of)
#define LAT_GROUPS_9(X, of) LAT_GROUPS_8(X, of) X(9, of)
#define LAT_GROUPS_10(X, of) LAT_GROUPS_9(X, of) X(10, of)
#define LAT_GROUPS_11(X, of) LAT_GROUPS_10(X, of) X(11, of)
#define LAT_GROUPS_12(X, of) LAT_GROUPS_11(X, of) X(12, of)
#define LAT_GROUPS_13(X, of) LAT_GROUPS_12(X, of) X(13, of)
#define LAT_GROUPS_14(X, of) LAT_GROUPS_13(X, of) X(14, of)
#define LAT_GROUPS_15(X, of) LAT_GROUPS_14(X, of) X(15, of)
#define LAT_GROUPS_16(X, of) LAT_GROUPS_15(X, of) X(16, of)
