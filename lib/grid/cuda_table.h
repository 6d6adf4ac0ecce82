/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_table.h: tables of kernels that are compiled for each N and precision (lib/cuda.mk).
 *
 * lat_NAME is a struct of functions; NAME_kernels.cu exports LAT_(lat_NAME) (cuda_real.cuh). The
 * file that chooses has LAT_CUDA_TABLE(lat_NAME, MOST), and finds them in lat_NAME_table[N], single
 * and double; or LAT_CUDA_DOUBLES where there are those in double alone. */
#pragma once

#include "site/groups.h"

#define LAT_CUDA_DECLARE(n, of) extern "C" const of of##_f##n, of##_d##n;
#define LAT_CUDA_ENTRY(n, of) {&of##_f##n, &of##_d##n},
#define LAT_CUDA_TABLE(of, most) \
    LAT_EACH_GROUP(most, LAT_CUDA_DECLARE, of) \
    static const of *const of##_table[][2] = {{}, {}, LAT_EACH_GROUP(most, LAT_CUDA_ENTRY, of)}

#define LAT_CUDA_DECLARE_DOUBLE(n, of) extern "C" const of of##_d##n;
#define LAT_CUDA_DOUBLE(n, of) &of##_d##n,
#define LAT_CUDA_DOUBLES(of, most) \
    LAT_EACH_GROUP(most, LAT_CUDA_DECLARE_DOUBLE, of) \
    static const of *const of##_table[] = {NULL, NULL, LAT_EACH_GROUP(most, LAT_CUDA_DOUBLE, of)}
