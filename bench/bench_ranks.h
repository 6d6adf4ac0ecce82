/* SPDX-License-Identifier: BSD-3-Clause */
/* bench_ranks.h: device and links of the benches that are started on several ranks. */
#pragma once

#include <string.h>
#include "bench.h"
#include "grid/device.h"
#include "../tests/check/devices.h"
#include "../tests/check/fields.h"

static inline void bench_stop(void) { exit(lat_report(LAT_FAILED)); }

/* The device of a rank; TRANSPORT and GRID in the environment: as --transport and --grid. */
static inline lat_device *bench_device(bool cpu, const lat_comm *comm)
{
    lat_device_options options = {.choice = cpu ? LAT_DEVICE_CPU : LAT_DEVICE_GPU};
    if (getenv("TRANSPORT") && (options.transport = transport_named(getenv("TRANSPORT"))) < 0)
        exit(LAT_USAGE);
    lat_geometry grid;
    if (getenv("GRID") && lat_dims_parse(getenv("GRID"), &grid))
        bench_stop();
    for (int mu = 0; getenv("GRID") && mu < grid.nd; mu++)
        lat_comm_grid[mu] = grid.dims[mu];
    lat_device *device = lat_device_open(&options, comm);
    if (!device)
        bench_stop();
    return device;
}

/* Rough links of these extents in u, the same on any number of ranks; those of `made` stay if they
 * have them already. */
static inline void bench_links(lat_field *u, const char **made, const char *dims, lat_real real,
                               const lat_comm *comm)
{
    if (*made && !strcmp(*made, dims))
        return;
    lat_field_free(u);
    *u = field_of_ranks(LAT_GAUGE, geometry_of(*made = dims), 3, real, comm);
    fill_near_one_fast(u, ROUGH, 1);
    if (lat_field_exchange(u))
        bench_stop();
}
