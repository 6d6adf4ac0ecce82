/* SPDX-License-Identifier: BSD-3-Clause */
/* build.h: how these tools were built. The Makefile defines it for build.c alone, so that no other
 * file is compiled again when the machine has got another library. */
#pragma once

extern const char lat_built_with[]; /* the compiler, OpenMP, sanitizers */
/* The reason why it was left out; "" if it was not. */
extern const char lat_no_cuda[], lat_no_cufft[], lat_no_mpi[];
