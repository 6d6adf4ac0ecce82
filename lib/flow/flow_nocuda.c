/* SPDX-License-Identifier: BSD-3-Clause */
/* flow_nocuda.c: stands in for flow_gpu.cu where CUDA was not built; no GPU can be opened there. */
#include "flow_internal.h"

const lat_flow_device lat_flow_gpu = {.open = NULL};
