/* SPDX-License-Identifier: BSD-3-Clause */
/* start.c: decides whether this process runs alone, joins ranks or starts them. */
#include "comm_internal.h"

#include <stdlib.h>
#include "base/build.h"
#include "base/error.h"

/* A number in the environment, or -1. */
static long number(const char *name)
{
    const char *text = getenv(name);
    return text && *text ? strtol(text, NULL, 10) : -1;
}

/* Number of ranks that a launcher has started; 1 without a launcher. Launchers put it into the
 * environment: OpenMPI; MPICH, Intel MPI and srun --mpi=pmi2. Under PMIx only MPI is told, and
 * Slurm's own variable has it. */
static long ranks_of_launcher(void)
{
    long n = number("OMPI_COMM_WORLD_SIZE");
    if (n < 0)
        n = number("PMI_SIZE");
    if (n < 0 && (getenv("PMIX_RANK") || getenv("PMI_RANK"))
        && (n = number("SLURM_STEP_NUM_TASKS")) < 0)
        n = number("SLURM_NTASKS");
    return n < 1 ? 1 : n;
}

/* -n asks for `ranks`, the launcher has started `there`: do they agree? Tasks of srun that MPI
 * knows nothing of would all do the same. */
static int check(int ranks, long there)
{
    const long tasks = number("SLURM_STEP_NUM_TASKS");
    if (there == 1 && ranks < 1 && tasks > 1)
        return lat_fail_usage("srun has started %ld tasks without MPI, and each would do the whole "
                              "work: give srun --mpi=pmix, or -n 1 here if each is to work alone",
                              tasks);
    if (there > 1)
        return ranks > 0 && ranks != there ? lat_fail_usage(
                   "-n %d: expected %ld, the ranks that were launched, or no -n", ranks, there)
                                           : 0;
    if (ranks > 1 && *lat_no_mpi)
        return lat_fail("%d ranks asked for, but this lat was built without MPI (%s)", ranks,
                        lat_no_mpi);
    if (ranks > 1 && lat_launched())
        return lat_fail("expected %d ranks, found one (does the launcher belong to another MPI?)",
                        ranks);
    return 0;
}

const lat_comm *lat_comm_start(int ranks, char **argv)
{
    const long there = ranks_of_launcher();
    if (check(ranks, there))
        return NULL;
    if (there == 1 && ranks > 1)
        lat_launch(ranks, argv);
    if (there == 1)
        return &lat_comm_self;
    if (lat_launched())
        lat_launch_reserve(argv);
    lat_comm_external = !lat_launched();
    return lat_comm_mpi();
}
