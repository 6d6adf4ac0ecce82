/* SPDX-License-Identifier: BSD-3-Clause */
/* table_cpu.c: the CPU's table. */
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "multigrid/cpu/multigrid_cpu.h"

static void *alloc(LAT_UNUSED const lat_device *dev, size_t count, size_t size, const char *what)
{
    return lat_alloc_zero(count, size, what);
}

static int copy(LAT_UNUSED const lat_device *dev, void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return 0;
}

static int run(lat_level *l, lat_mg_steps *steps, int k) { return steps(l, k); }

const lat_mg_ops lat_multigrid_cpu = {.alloc = alloc,
                                      .free = free,
                                      .send = copy,
                                      .fetch = copy,
                                      .coarse_open = lat_mg_cpu_coarse_open,
                                      .coarse_close = lat_mg_cpu_coarse_close,
                                      .finish = lat_mg_cpu_finish,
                                      .hop = lat_mg_cpu_hop,
                                      .inverse = lat_mg_cpu_inverse,
                                      .diagonal = lat_mg_cpu_diagonal,
                                      .dense = lat_mg_cpu_dense,
                                      .apply = lat_mg_cpu_apply,
                                      .gather = lat_mg_cpu_gather,
                                      .dots = lat_mg_cpu_dots,
                                      .adds = lat_mg_cpu_adds,
                                      .look = lat_mg_cpu_look,
                                      .found = lat_mg_cpu_found,
                                      .run = run,
                                      .transfer_open = lat_mg_cpu_transfer_open,
                                      .transfer_close = lat_mg_cpu_transfer_close,
                                      .make = lat_mg_cpu_make,
                                      .restrict_to = lat_mg_cpu_restrict,
                                      .prolong = lat_mg_cpu_prolong,
                                      .take = lat_mg_cpu_take,
                                      .give = lat_mg_cpu_give,
                                      .galerkin = lat_mg_cpu_galerkin,
                                      .fine_open = lat_mg_cpu_fine_open,
                                      .fine_close = lat_mg_cpu_fine_close,
                                      .fine_restrict = lat_mg_cpu_fine_restrict,
                                      .fine_prolong = lat_mg_cpu_fine_prolong,
                                      .fine_take = lat_mg_cpu_fine_take,
                                      .fine_give = lat_mg_cpu_fine_give,
                                      .fine_random = lat_mg_cpu_fine_random,
                                      .fine_round = lat_mg_cpu_fine_round,
                                      .fine_galerkin = lat_mg_cpu_fine_galerkin};
