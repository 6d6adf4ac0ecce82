/* SPDX-License-Identifier: BSD-3-Clause */
/* samples.h: the numbers of the configurations of a chain, merged as they come, and their means
 * over all, over all but one bin (jackknife), and over bins drawn at random (bootstrap).
 *
 * Configurations are kept one by one until there are `most` of them. Then neighbours are merged
 * into units: of two configurations, of four and so on; or, where the size of a bin is asked for,
 * of its divisors up to that size. So memory stays what it is, however long the chain. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define LAT_SAMPLES_BYTES (INT64_C(1) << 28)

/* Sums over consecutive configurations. */
typedef struct lat_sums {
    long n;
    long *count;   /* [n] configurations */
    double *total; /* [n][numbers] */
} lat_sums;

typedef struct lat_samples {
    long numbers; /* of each configuration */
    long most;    /* units that are kept, at least 2; 0: by LAT_SAMPLES_BYTES, 256 at least */
    long bin;     /* configurations of a bin; 0: of a unit */
    long configs;
    long unit;         /* configurations of a unit */
    bool split;        /* a configuration came in several parts */
    double *square;    /* [numbers] sums of squares */
    uint32_t *sources; /* [configs] */
    double *sum;       /* [capacity][numbers] */
    long capacity;
    /* lat_samples_end */
    lat_sums units, bins;
    double *all; /* [numbers] sums */
} lat_samples;

/* An empty one is {.numbers, .most, .bin}. */
void lat_samples_free(lat_samples *s);

/* Adds the means over `sources` sources of a configuration, number `config`: the next one, or one
 * from before. 0, or -1 with lat_error set. */
int lat_samples_add(lat_samples *s, long config, const double *mean, uint32_t sources);

/* Makes units and bins; what is left behind the last full bin is in the last bin. Without a bin
 * asked for a unit is one. -1 with lat_error set: without memory, or if configurations that were
 * merged have unequal numbers of sources. */
int lat_samples_end(lat_samples *s);

/* The variance of number i of single configurations; NaN where it is not known. */
double lat_samples_variance(const lat_samples *s, long i);

/* ---- means ----------------------------------------------------------------------------------- */

/* Means over configurations: number -1 of all, 0 to n - 1 by the jackknife or the bootstrap. */
typedef struct lat_means {
    const lat_samples *s;
    const lat_sums *level; /* of the jackknife */
    double *boot;          /* [n][numbers], or NULL: jackknife */
    long n;
} lat_means;

lat_means lat_jackknife(const lat_samples *s, const lat_sums *level);

/* n means, each over as many bins as there are, drawn by Philox from the seed. 0, or -1 without
 * memory; boot is the caller's to free. */
int lat_bootstrap(const lat_samples *s, long n, uint64_t seed, lat_means *m);

double lat_mean(const lat_means *m, long sample, long i);

/* The covariance of two means from their values in each sample, a[k * stride] and b[k * stride]: of
 * the bootstrap, or else of the jackknife. */
double lat_samples_covariance(long samples, bool bootstrap, long stride, const double *a,
                              const double *b);

/* The standard error from the values of all samples. NaN where there is one sample, one bin, or a
 * NaN. */
double lat_means_error(const lat_means *m, const double *value);
