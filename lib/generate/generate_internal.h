/* SPDX-License-Identifier: BSD-3-Clause */
/* generate_internal.h: what generate.c asks of a device (generate_cpu.c, generate_gpu.cu). C and
 * C++. */
#pragma once

#include "generate.h"
#include "grid/grid.h"

typedef struct lat_generate_device {
    int groups;                      /* its code is for SU(2) to SU(groups) */
    size_t size;                     /* bytes of its struct, which begins with a lat_generator */
    int (*open)(lat_generator *gen); /* the links are there */
    int (*sweep)(lat_generator *gen, const lat_link_sweep *how, long n);
    /* Re tr U_p of all planes without and with the last direction, added up over the lattice. */
    int (*plaquettes)(lat_generator *gen, double sum[2]);
} lat_generate_device;

extern const lat_generate_device lat_generate_cpu, lat_generate_gpu;

/* A device's own struct begins with it. */
struct lat_generator {
    const lat_generate_device *device;
    lat_device *dev;
    lat_action action;
    int nc;
    lat_real real;
    lat_grid *grid;
    lat_dfield *u; /* the rows that are kept (site/link.h), N - 1 of SU(2) and SU(3) */
    char description[80];
};
