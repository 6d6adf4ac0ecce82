/* SPDX-License-Identifier: BSD-3-Clause */
/* check_jobs.c: jobs of a team are done once each, and are over when that is said, on one thread
 * and on many. */
#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include "base/jobs.h"
#include "check.h"

enum { RING = 6, MANY = 20000, TEAMS = 4 };
static const int threads[TEAMS] = {1, 2, 3, 8};

/* What a job is about: plain members, which only the order of the jobs protects. */
typedef struct piece {
    lat_job job;
    int number, steps, length;
    volatile int work;
} piece;

/* Takes longer for some pieces than for others, so that they overtake each other. */
static void first_step(void *with, void *on)
{
    piece *b = on;
    (void)with;
    for (int i = 0; i < b->length; i++)
        b->work++;
    b->steps = 10 * b->steps + 1;
}

static void second_step(void *with, void *on)
{
    piece *b = on;
    (void)with;
    b->steps = 10 * b->steps + 2;
}

/* As streams are written: piece i begins, an older one goes on. Returns how many were not as they
 * ought to be. */
static int run(lat_jobs *jobs, piece *ring, int many, int delay)
{
    int bad = 0;
    for (int i = 0; i < many + delay; i++) {
        if (i < many) {
            piece *b = &ring[i % RING];
            lat_jobs_wait(jobs, &b->job);
            bad += i >= RING && b->steps != 12;
            b->number = i;
            b->steps = 0;
            b->length = i % 7 == 0 ? 2000 : i % 11;
            lat_jobs_give(jobs, &b->job, first_step, NULL, b);
        }
        if (i >= delay) {
            piece *b = &ring[(i - delay) % RING];
            lat_jobs_wait(jobs, &b->job);
            bad += b->number != i - delay || b->steps != 1;
            lat_jobs_give(jobs, &b->job, second_step, NULL, b);
        }
    }
    lat_jobs_end(jobs);
    for (int i = 0; i < RING && i < many; i++)
        bad += ring[i].steps != 12;
    return bad;
}

static void check_order(void)
{
    for (int t = 0; t < TEAMS; t++)
        for (int delay = 0; delay < RING; delay++) {
            lat_jobs jobs = LAT_JOBS;
            piece ring[RING] = {0};
            int bad = 0, left = 0;
#pragma omp parallel num_threads(threads[t]) reduction(+ : left)
            if (lat_jobs_enter(&jobs))
                bad = run(&jobs, ring, MANY, delay);
            else
                left++;
            CHECK(bad == 0, "%d threads, delay %d: %d of %d", threads[t], delay, bad, MANY);
#ifdef _OPENMP
            CHECK(left == threads[t] - 1, "%d of %d threads", left, threads[t]);
#endif
        }
}

/* Teams of which nobody has anything to do, one job, or fewer jobs than threads. */
static void check_few(void)
{
    int bad = 0;
    for (int n = 0; n < 4; n++)
        for (int again = 0; again < 500; again++) {
            lat_jobs jobs = LAT_JOBS;
            piece ring[RING] = {0};
#pragma omp parallel num_threads(threads[again % TEAMS])
            if (lat_jobs_enter(&jobs))
                bad += run(&jobs, ring, n, n ? again % n : 0);
        }
    CHECK(bad == 0, "%d", bad);
}

static void count_one(void *with, void *on)
{
    (void)with;
    ++*(int *)on;
}

/* Nobody waits for the jobs but the end. */
static void check_end(void)
{
    for (int t = 0; t < TEAMS; t++) {
        lat_jobs jobs = LAT_JOBS;
        lat_job *job = calloc(1000, sizeof *job);
        int *done = calloc(1000, sizeof *done), bad = 0;
        if (!CHECK(job && done, "memory"))
            return;
#pragma omp parallel num_threads(threads[t])
        if (lat_jobs_enter(&jobs)) {
            for (int i = 0; i < 1000; i++)
                lat_jobs_give(&jobs, &job[i], count_one, NULL, &done[i]);
            lat_jobs_end(&jobs);
            for (int i = 0; i < 1000; i++)
                bad += done[i] != 1;
        }
        CHECK(bad == 0, "%d threads: %d", threads[t], bad);
        free(job);
        free(done);
    }
}

int main(void)
{
    check_case("a job is over when it was waited for, whoever did it");
    check_order();
    check_case("teams with little to do end");
    check_few();
    check_case("all jobs are over at the end, once each");
    check_end();
    return check_done();
}
