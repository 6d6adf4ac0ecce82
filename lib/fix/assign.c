/* SPDX-License-Identifier: BSD-3-Clause */
/* assign.c: from the rank that has most to do to the one that has least, slice by slice. */
#include "assign.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

typedef struct table {
    int ranks;
    int *load, *capacity; /* [ranks] */
    int *at;              /* [slices] */
} table;

static int most(const table *t)
{
    int r = 0;
    for (int i = 1; i < t->ranks; i++)
        r = t->load[i] > t->load[r] ? i : r;
    return r;
}

/* Among those that have capacity; -1 if none has. */
static int least(const table *t)
{
    int r = -1;
    for (int i = 0; i < t->ranks; i++)
        if (t->capacity[i] > 0 && (r < 0 || t->load[i] < t->load[r]))
            r = i;
    return r;
}

/* Of the slices of rank `from`, the one that is to go: it leaves both ranks with gain than `from`
 * has. The largest such piece of work, and of these the one that will take longest. -1 if there is
 * none. */
static int choose(const table *t, int slices, int from, int to, const int *work,
                  const double *theta)
{
    int best = -1;
    for (int s = 0; s < slices; s++) {
        if (t->at[s] != from || work[s] == 0 || t->load[to] + work[s] >= t->load[from])
            continue;
        if (best < 0 || work[s] > work[best] || (work[s] == work[best] && theta[s] > theta[best]))
            best = s;
    }
    return best;
}

static int plan(table *t, int slices, const int *work, const double *theta, lat_migration *list,
                int *gain)
{
    const int before = t->load[most(t)];
    int n = 0;
    while (n < slices) {
        const int from = most(t), to = least(t),
                  s = to < 0 ? -1 : choose(t, slices, from, to, work, theta);
        if (s < 0)
            break;
        list[n++] = (lat_migration){s, from, to};
        t->at[s] = to;
        t->capacity[to]--;
        t->load[from] -= work[s];
        t->load[to] += work[s];
    }
    *gain = before - t->load[most(t)];
    return *gain > 0 ? n : 0;
}

int lat_assign_slices(const lat_comm *comm, int slices, const int *at, const int *work,
                      const double *theta, const int *capacity, lat_migration *list, int *gain)
{
    const size_t ranks = (size_t)comm->size, all = (size_t)slices;
    int *memory = lat_alloc(2 * ranks + all, sizeof *memory, "which rank has what");
    if (!memory)
        return -1;
    table t = {comm->size, memory, memory + ranks, memory + 2 * ranks};
    memset(t.load, 0, ranks * sizeof *t.load);
    memcpy(t.capacity, capacity, ranks * sizeof *t.capacity);
    memcpy(t.at, at, all * sizeof *t.at);
    for (int s = 0; s < slices; s++)
        t.load[at[s]] += work[s];
    const int n = plan(&t, slices, work, theta, list, gain);
    free(memory);
    return n;
}
