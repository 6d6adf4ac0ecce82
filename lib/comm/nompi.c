/* SPDX-License-Identifier: BSD-3-Clause */
/* nompi.c: takes the place of comm_mpi.c in a build without MPI. */
#include "comm_internal.h"

#include "base/build.h"
#include "base/error.h"

const char *const lat_comm_mpi_options[] = {NULL};

const lat_comm *lat_comm_mpi(void)
{
    lat_fail("several ranks were launched, but this lat was built without MPI (%s)", lat_no_mpi);
    return NULL;
}
