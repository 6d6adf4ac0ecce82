/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_algebra.cuh: spinor algebra of lib/site for a thread: lat_algebra<real>::project and others,
 * in float and in double. */
#pragma once

#include "grid/cuda_ptx.cuh"

#define LAT_N 3
#define LAT_(name) name
#define LAT_HOST_DEVICE DEVICE
#define LAT_UNROLL _Pragma("unroll")

template <class real> struct lat_algebra;

#define LAT_T float
#define LAT_SIZE 4
template <> struct lat_algebra<float> {
#include "site/spinor.h"
#include "site/wilson.h"
};
#undef LAT_T
#undef LAT_SIZE

#define LAT_T double
#define LAT_SIZE 8
template <> struct lat_algebra<double> {
#include "site/spinor.h"
#include "site/wilson.h"
};
#undef LAT_T
#undef LAT_SIZE

#undef LAT_N
#undef LAT_
#undef LAT_HOST_DEVICE
#undef LAT_UNROLL
