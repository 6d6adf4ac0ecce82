/* SPDX-License-Identifier: BSD-3-Clause */
/* jobs.c: one thread of a team hands out jobs, and all of the team do them. */
#include "jobs.h"

#ifdef _OPENMP
#include <omp.h>
#endif

/* ---- with the lock --------------------------------------------------------------------------- */

/* Takes a job out of those that nobody has begun; false if it is none of them. */
static bool take(lat_jobs *j, const lat_job *job)
{
    lat_job **at = &j->first;
    while (*at && *at != job)
        at = &(*at)->next;
    if (!*at)
        return false;
    *at = job->next;
    return true;
}

/* Does a job that was taken; without the lock meanwhile. */
static void do_taken(lat_jobs *j, lat_job *job)
{
    pthread_mutex_unlock(&j->lock);
    job->fn(job->with, job->on);
    pthread_mutex_lock(&j->lock);
    job->given = false;
    j->given--;
    pthread_cond_signal(&j->fewer);
}

/* Does the oldest job, or waits until the condition is signalled. */
static void do_or_wait(lat_jobs *j, pthread_cond_t *condition)
{
    lat_job *job = j->first;
    if (take(j, job))
        do_taken(j, job);
    else
        pthread_cond_wait(condition, &j->lock);
}

/* ---- what others call ------------------------------------------------------------------------ */

bool lat_jobs_enter(lat_jobs *j)
{
#ifdef _OPENMP
    if (omp_get_thread_num() == 0) {
        j->alone = omp_get_num_threads() == 1;
        return true;
    }
    pthread_mutex_lock(&j->lock);
    while (!j->ended)
        do_or_wait(j, &j->more);
    pthread_mutex_unlock(&j->lock);
    return false;
#else
    j->alone = true;
    return true;
#endif
}

void lat_jobs_give(lat_jobs *j, lat_job *job, lat_job_fn *fn, void *with, void *on)
{
    if (j->alone) {
        fn(with, on);
        return;
    }
    *job = (lat_job){.fn = fn, .with = with, .on = on, .given = true};
    pthread_mutex_lock(&j->lock);
    lat_job **end = &j->first;
    while (*end)
        end = &(*end)->next;
    *end = job;
    j->given++;
    pthread_cond_signal(&j->more);
    pthread_mutex_unlock(&j->lock);
}

void lat_jobs_wait(lat_jobs *j, lat_job *job)
{
    pthread_mutex_lock(&j->lock);
    if (take(j, job))
        do_taken(j, job);
    while (job->given)
        do_or_wait(j, &j->fewer);
    pthread_mutex_unlock(&j->lock);
}

void lat_jobs_end(lat_jobs *j)
{
    pthread_mutex_lock(&j->lock);
    while (j->given)
        do_or_wait(j, &j->fewer);
    j->ended = true;
    pthread_cond_broadcast(&j->more);
    pthread_mutex_unlock(&j->lock);
}
