/* SPDX-License-Identifier: BSD-3-Clause */
/* dirac_nocuda.c: stands in for spinor_gpu.cu and dirac_gpu.cu where CUDA was not built; no GPU can
 * be opened there. */
#include "dirac.h"

const lat_spinor_ops lat_spinor_gpu = {.open = NULL};
const lat_dirac_ops lat_dirac_gpu = {.open = NULL};
