/* SPDX-License-Identifier: BSD-3-Clause */
/* team.c: threads. */
#include "team.h"

#include <limits.h>
#include <unistd.h>
#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#else
#include <sched.h>
#endif
#ifdef _OPENMP
#include <omp.h>
#endif

#ifdef _OPENMP
int lat_team_threads(void) { return omp_get_num_threads(); }
int lat_thread_id(void) { return omp_get_thread_num(); }
#else
int lat_team_threads(void) { return 1; }
int lat_thread_id(void) { return 0; }
#endif

void lat_thread_range(int64_t n, int64_t *from, int64_t *to)
{
    const int team = lat_team_threads(), me = lat_thread_id();
    *from = n * me / team;
    *to = n * (me + 1) / team;
}

/* A moment's rest of a spinning core. */
static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Sleeps until `wake`, unless *word has changed before. */
#if defined(__linux__)
static void doze(atomic_uint *word, unsigned seen)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void wake(atomic_uint *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}
#else
static void doze(atomic_uint *word, unsigned seen)
{
    (void)word, (void)seen;
    sched_yield();
}

static void wake(atomic_uint *word) { (void)word; }
#endif

#define SPINS 2000

void lat_barrier_wait(lat_barrier *m, int team)
{
    const unsigned round = atomic_load(&m->round);
    if (atomic_fetch_add(&m->there, 1) + 1 == team) {
        atomic_store(&m->there, 0);
        atomic_fetch_add(&m->round, 1);
        if (atomic_load(&m->asleep))
            wake(&m->round);
        return;
    }
    for (int spins = 0; spins < SPINS; spins++) {
        if (atomic_load_explicit(&m->round, memory_order_acquire) != round)
            return;
        relax();
    }
    atomic_fetch_add(&m->asleep, 1);
    while (atomic_load(&m->round) == round)
        doze(&m->round, round);
    atomic_fetch_sub(&m->asleep, 1);
}
