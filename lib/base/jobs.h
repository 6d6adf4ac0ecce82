/* SPDX-License-Identifier: BSD-3-Clause */
/* jobs.h: one thread of a team hands out jobs, and all of the team do them.
 *
 *     lat_jobs jobs = LAT_JOBS;
 *     #pragma omp parallel
 *     if (lat_jobs_enter(&jobs)) {         // the first thread; the others do jobs
 *         lat_jobs_give(&jobs, &b->job, encode, p, b);
 *         ...                              // what only this thread may do
 *         lat_jobs_wait(&jobs, &b->job);
 *         lat_jobs_end(&jobs);             // and they leave
 *     }
 *
 * Not by tasks of OpenMP that depend on each other: LLVM's runtime, up to version 18 (its issue
 * 85963), counts the tasks that run at once (if(0), taskwait depend) on a stack that has been left:
 * it aborts, or changes what is there now, once in some thousand fields. Nothing is allocated: a
 * job lies in what it is about. */
#pragma once

#include <pthread.h>
#include <stdbool.h>

typedef void lat_job_fn(void *with, void *on);

/* Zeros, before it is given for the first time; once it is over it may be given again. */
typedef struct lat_job {
    lat_job_fn *fn;
    void *with, *on;
    struct lat_job *next;
    bool given; /* and not over */
} lat_job;

typedef struct lat_jobs {
    pthread_mutex_t lock;
    pthread_cond_t more, fewer; /* a job was given, or no more will be; one is over */
    lat_job *first;             /* of those that nobody has begun, the oldest */
    int given;                  /* and not over */
    bool alone, ended;
} lat_jobs;

#define LAT_JOBS \
    { \
        .lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER, \
        .fewer = PTHREAD_COND_INITIALIZER \
    }

/* By each thread of a team. True, at once, for the first one, which alone calls the functions
 * below; false for the others, when all jobs are over. */
bool lat_jobs_enter(lat_jobs *j);

/* fn(with, on), by some thread; at once where there is no other one. */
void lat_jobs_give(lat_jobs *j, lat_job *job, lat_job_fn *fn, void *with, void *on);

/* Returns when the job is over, at once if it was never given. Does it, if nobody has begun it;
 * if somebody has, others meanwhile. */
void lat_jobs_wait(lat_jobs *j, lat_job *job);

/* Returns when all are over. */
void lat_jobs_end(lat_jobs *j);
