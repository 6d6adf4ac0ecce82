/* SPDX-License-Identifier: BSD-3-Clause */
/* samples.c: units that merge, bins, and means of them. */
#include "samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "site/random.h"

static void level_free(lat_sums *l) { LAT_FREE(l->count, l->total); }

void lat_samples_free(lat_samples *s)
{
    if (s->bins.total != s->units.total)
        level_free(&s->bins);
    if (s->units.total == s->sum)
        s->units.total = NULL;
    level_free(&s->units);
    LAT_FREE(s->square, s->sources, s->sum, s->all);
    *s = (lat_samples){0};
}

/* Space for n units, and zeros behind those that are there. */
static int reserve(lat_samples *s, long n)
{
    if (n <= s->capacity)
        return 0;
    const long capacity = s->capacity ? 2 * s->capacity : 16;
    const size_t row = (size_t)s->numbers * sizeof(double);
    double *sum = realloc(s->sum, (size_t)capacity * row);
    if (!sum)
        return lat_fail("out of memory: %ld configurations of %ld numbers (--most)", capacity,
                        s->numbers);
    memset((char *)sum + (size_t)s->capacity * row, 0, (size_t)(capacity - s->capacity) * row);
    s->sum = sum;
    s->capacity = capacity;
    return 0;
}

/* How many units become one: 2, or the smallest prime factor of what is left to a bin; 1: none. */
static long factor(const lat_samples *s)
{
    const long rest = s->bin / s->unit;
    if (s->bin == 0)
        return 2;
    for (long p = 2; p * p <= rest; p++)
        if (rest % p == 0)
            return p;
    return rest;
}

static void merge(lat_samples *s, long by)
{
    const long used = (s->configs + s->unit - 1) / s->unit, n = s->numbers;
    for (long u = 0; u < used; u++) {
        const double *from = s->sum + u * n;
        double *to = s->sum + u / by * n;
        for (long i = 0; i < n; i++)
            to[i] = u % by ? to[i] + from[i] : from[i];
    }
    const long left = (used + by - 1) / by;
    memset(s->sum + left * n, 0, (size_t)((used - left) * n) * sizeof(double));
    s->unit *= by;
}

/* The number after the last one. */
static int next_config(lat_samples *s)
{
    if (!s->square && !(s->square = lat_alloc_zero((size_t)s->numbers, sizeof(double), "squares")))
        return -1;
    if (lat_grow(&s->sources, s->configs, sizeof *s->sources, "configurations"))
        return -1;
    s->unit = s->unit ? s->unit : 1;
    if (s->most == 0) {
        const long fit = LAT_SAMPLES_BYTES / (s->numbers * (long)sizeof(double));
        s->most = fit < 256 ? 256 : fit;
    }
    if (s->configs / s->unit >= s->most && factor(s) > 1)
        merge(s, factor(s));
    s->configs++;
    return reserve(s, (s->configs - 1) / s->unit + 1);
}

int lat_samples_add(lat_samples *s, long config, const double *mean, uint32_t sources)
{
    if (config == s->configs && next_config(s))
        return -1;
    double *sum = s->sum + config / s->unit * s->numbers;
    s->split = s->split || s->sources[config];
    s->sources[config] += sources;
    for (long i = 0; i < s->numbers; i++) {
        sum[i] += sources * mean[i];
        s->square[i] += mean[i] * mean[i];
    }
    return 0;
}

/* Sums over sources become sums over configurations, of their means. */
static int divide(lat_samples *s)
{
    bool unequal = false;
    for (long k = 0; k < s->configs; k++)
        unequal = unequal || s->sources[k] != s->sources[0];
    if (unequal && s->unit > 1)
        return lat_fail("expected as many sources on each configuration, where %ld of them are "
                        "merged (a larger --most keeps them apart)",
                        s->unit);
    for (long u = 0; u * s->unit < s->configs; u++)
        for (long i = 0; i < s->numbers; i++)
            s->sum[u * s->numbers + i] /= s->sources[u * s->unit];
    return 0;
}

static int make_bins(lat_samples *s, long size)
{
    const long full = s->configs / size, n = s->numbers;
    lat_sums *b = &s->bins;
    *b = (lat_sums){.n = full ? full : 1};
    b->count = lat_alloc_zero((size_t)b->n, sizeof *b->count, "bins");
    b->total = lat_alloc_zero((size_t)(b->n * n), sizeof(double), "bins");
    if (!b->count || !b->total)
        return -1;
    for (long u = 0; u < s->units.n; u++) {
        long to = u * s->unit / size;
        to = to < b->n ? to : b->n - 1;
        b->count[to] += s->units.count[u];
        for (long i = 0; i < n; i++)
            b->total[to * n + i] += s->units.total[u * n + i];
    }
    return 0;
}

int lat_samples_end(lat_samples *s)
{
    const long n = (s->configs + s->unit - 1) / s->unit;
    if (divide(s))
        return -1;
    s->units = (lat_sums){.n = n, .total = s->sum};
    s->units.count = lat_alloc((size_t)n, sizeof(long), "units");
    s->all = lat_alloc_zero((size_t)s->numbers, sizeof(double), "sums");
    if (!s->units.count || !s->all)
        return -1;
    for (long u = 0; u < n; u++) {
        const long left = s->configs - u * s->unit;
        s->units.count[u] = left < s->unit ? left : s->unit;
        for (long i = 0; i < s->numbers; i++)
            s->all[i] += s->sum[u * s->numbers + i];
    }
    const long size = s->bin ? s->bin : s->unit;
    if (size > 1)
        return make_bins(s, size);
    s->bins = s->units;
    return 0;
}

double lat_samples_variance(const lat_samples *s, long i)
{
    const double n = (double)s->configs, mean = s->all[i] / n;
    double sum = 0;
    if (s->unit > 1)
        return s->split ? NAN : fmax(s->square[i] / n - mean * mean, 0);
    for (long k = 0; k < s->configs; k++)
        sum += pow(s->sum[k * s->numbers + i] - mean, 2);
    return sum / n;
}

/* ---- means ----------------------------------------------------------------------------------- */

lat_means lat_jackknife(const lat_samples *s, const lat_sums *level)
{
    return (lat_means){.s = s, .level = level, .n = level->n};
}

/* One of n, of the random stream of lat-stat. */
static long drawn(uint64_t seed, long sample, long draw, long n)
{
    uint32_t word[4];
    lat_random(seed, (uint64_t)draw, 0, LAT_FOR_BOOTSTRAP, (uint32_t)sample, word);
    return (long)(lat_uniform(word[0], word[1]) * (double)n);
}

int lat_bootstrap(const lat_samples *s, long n, uint64_t seed, lat_means *m)
{
    const lat_sums *b = &s->bins;
    const long numbers = s->numbers;
    *m = (lat_means){.s = s, .level = b, .n = n};
    if (!(m->boot = lat_alloc_zero((size_t)(n * numbers), sizeof(double), "bootstrap samples")))
        return -1;
#pragma omp parallel for schedule(static)
    for (long k = 0; k < n; k++) {
        double *mean = m->boot + k * numbers, count = 0;
        for (long d = 0; d < b->n; d++) {
            const long bin = drawn(seed, k, d, b->n);
            count += (double)b->count[bin];
            for (long i = 0; i < numbers; i++)
                mean[i] += b->total[bin * numbers + i];
        }
        for (long i = 0; i < numbers; i++)
            mean[i] /= count;
    }
    return 0;
}

double lat_mean(const lat_means *m, long sample, long i)
{
    const lat_samples *s = m->s;
    if (sample < 0)
        return s->all[i] / (double)s->configs;
    if (m->boot)
        return m->boot[sample * s->numbers + i];
    return (s->all[i] - m->level->total[sample * s->numbers + i])
           / (double)(s->configs - m->level->count[sample]);
}

double lat_samples_covariance(long samples, bool bootstrap, long stride, const double *a,
                              const double *b)
{
    const double n = (double)samples;
    double mean_a = 0, mean_b = 0, sum = 0;
    for (long k = 0; k < samples; k++) {
        mean_a += a[k * stride] / n;
        mean_b += b[k * stride] / n;
    }
    for (long k = 0; k < samples; k++)
        sum += (a[k * stride] - mean_a) * (b[k * stride] - mean_b);
    return bootstrap ? sum / (n - 1) : sum * (n - 1) / n;
}

double lat_means_error(const lat_means *m, const double *value)
{
    return m->n < 2 || m->level->n < 2
               ? NAN
               : sqrt(lat_samples_covariance(m->n, m->boot, 1, value, value));
}
