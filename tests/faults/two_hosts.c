/* SPDX-License-Identifier: BSD-3-Clause */
/* two_hosts.c: a library to be preloaded: MPI tells ranks that they are on two hosts, the first
 * half of them on one. */
#include <mpi.h>

int MPI_Comm_split_type(MPI_Comm all, int type, int key, MPI_Info info, MPI_Comm *host)
{
    int rank = 0, size = 1;
    (void)type, (void)info;
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    return MPI_Comm_split(all, 2 * rank / size, key, host);
}
