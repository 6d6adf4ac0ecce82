/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_nocuda.c: stands in for fix_gpu.cu where CUDA was not built; no GPU can be opened there. */
#include "fix.h"

const lat_fix_ops lat_fix_gpu = {.open = NULL};
