/* SPDX-License-Identifier: BSD-3-Clause */
/* orelax_report.c: logs of convergence tests, and progress. */
#include "orelax.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/error.h"

/* For the line of progress: the rate of sweeps of each copy. The time left is that until `theta` at
 * the present slope of log theta, or until --max-sweeps. */
static struct {
    lat_rate sweeps, log_theta;
    long config, last_sweep;
} rates[LAT_MAX_COPIES];

static void print_progress(const lat_fixing *f, const lat_copy *c, double w,
                           const lat_gauge_state *s)
{
    const size_t k = (size_t)c->number % LAT_MAX_COPIES;
    char copy[40] = "", left[LAT_LEFT], speed[LAT_LEFT];
    if (rates[k].config != f->config || c->sweeps < rates[k].last_sweep)
        memset(&rates[k], 0, sizeof rates[k]);
    rates[k].config = f->config;
    rates[k].last_sweep = c->sweeps;
    const double rate = lat_rate_sample(&rates[k].sweeps, (double)c->sweeps),
                 slope = lat_rate_sample(&rates[k].log_theta, log(s->theta_slice));
    if (!f->single)
        snprintf(copy, sizeof copy, "copy %ld of %d  ", c->number + 1, f->copies);
    const double goal = f->algorithm->theta,
                 most = (double)(lat_orelax_opts.max_sweeps - c->sweeps)
                        / rate, /* seconds to --max-sweeps */
        to_theta = slope < 0 && goal > 0 ? log(goal / s->theta_slice) / slope : NAN;
    lat_progress("theta %.3e  sweep %ld  %s  %s  F %.10f  omega %.3f  %s%s", s->theta, c->sweeps,
                 lat_rate_text(rate, "sweep", speed),
                 lat_left_text(rate > 0 ? fmin(most, to_theta) : NAN, left), s->functional, w, copy,
                 f->name);
}

void lat_orelax_report(const lat_fixing *f, const lat_copy *c, double w, const lat_gauge_state *s,
                       const double *slices)
{
    const lat_orelax_logs *l = f->own;
    const double seconds = lat_seconds() - f->start;
    if (l->log)
        fprintf(l->log, "%s\t%ld\t%.6e\t%.15f\t%.3f\t%ld\t%.4f\n", f->name, c->sweeps, s->theta,
                s->functional, seconds, c->number, w);
    for (int i = 0; l->slices && i < f->slices; i++)
        fprintf(l->slices, "%s\t%ld\t%d\t%.6e\t%ld\n", f->name, c->sweeps, i, slices[i], c->number);
    print_progress(f, c, w, s);
}
