/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_internal.h: what fix.c asks of a device (fix_cpu.c, fix_gpu.cu). C and C++. */
#pragma once

#include "balance.h"
#include "fix.h"

typedef struct lat_fix_device {
    int groups;  /* its code is for SU(2) to SU(groups) */
    size_t size; /* bytes of its struct, which begins with a lat_fixer */
    /* f->u with the links in it, f->g, f->balance; the grid is there. */
    int (*open)(lat_fixer *f, const lat_field *u, lat_real real);
    /* May be NULL, as may be the next two: g of all copies is 1; frees what only this device has;
     * other units than before are swept, those of f->balance. */
    int (*ready)(lat_fixer *f);
    void (*close)(lat_fixer *f);
    int (*listed)(lat_fixer *f);
    int (*sweep)(lat_fixer *f, const lat_sweep *how, long n);
    /* total[copies][slices][3]: of each independent slice the sites' shares of the functional added
     * up, their theta added up, and the largest theta (grid/reduce.h). */
    int (*sums)(lat_fixer *f, double *total);
} lat_fix_device;

extern const lat_fix_device lat_fix_cpu, lat_fix_gpu;

/* A device's own struct begins with it. */
struct lat_fixer {
    const lat_fix_device *device;
    lat_device *dev;
    lat_condition condition;
    int nc, copies;
    lat_grid *grid;
    lat_dfield *u, *g;     /* a member a copy */
    lat_balance balance;   /* which slices are swept here */
    double *theta, *total; /* [copies][slices], and the sums that they are from */
    char description[80];
};
