/* SPDX-License-Identifier: BSD-3-Clause */
/* generate_nocuda.c: stands in for generate_gpu.cu where CUDA was not built; no GPU can be opened
 * there. */
#include "generate.h"

const lat_generate_ops lat_generate_gpu = {.open = NULL};
