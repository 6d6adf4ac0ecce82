/* SPDX-License-Identifier: BSD-3-Clause */
/* devices.h: the devices on which checks and benchmarks run, opened when first asked for: the CPU,
 * the checking device (every grid has a halo, ghosts that are not up to date are NaN), and the GPU,
 * NULL where there is none. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "base/error.h"
#include "comm/comm.h"
#include "grid/device.h"

/* A transport (grid/device.h) by its name; -1: none has it. */
static inline int transport_named(const char *name)
{
    static const char *const names[] = {"auto", "peer", "staged", "cuda-aware", "nccl"};
    int k = LAT_TRANSPORT_NCCL;
    while (k >= 0 && strcmp(name, names[k]))
        k--;
    return k;
}

static lat_device *opened_devices[3];

/* "GPU: WHAT", "checking device: WHAT": the name of a case of that device; good for two calls. */
static inline const char *device_says(const lat_device *dev, const char *what)
{
    static char name[2][160];
    static int n;
    n = 1 - n;
    snprintf(name[n], sizeof name[n], "%s: %s",
             dev->gpu             ? "GPU"
             : dev->options.check ? "checking device"
                                  : "CPU",
             what);
    return name[n];
}

/* Begins such a case; a case that cannot run. For programs with check.h. */
#define device_case(dev, what) check_case(device_says(dev, what))
static inline const char *skipped_says(const char *what, const char *why)
{
    static char name[300];
    snprintf(name, sizeof name, "%s # skip %.200s", what, why);
    return name;
}
#define check_skipped(what, why) check_case(skipped_says(what, why))

static inline lat_device *opened_device(int i, lat_device_options options)
{
    if (!opened_devices[i])
        opened_devices[i] = lat_device_open(&options, &lat_comm_self);
    return opened_devices[i];
}

/* A GPU of tests/emulator, which takes a thousand times as long: fewer and smaller cases do. */
static inline bool emulated(const lat_device *dev) { return dev && strstr(dev->name, "emulator"); }

static inline lat_device *cpu_device(void)
{
    return opened_device(0, (lat_device_options){.choice = LAT_DEVICE_CPU});
}

static inline lat_device *checking_device(void)
{
    return opened_device(1, (lat_device_options){.choice = LAT_DEVICE_CPU, .check = true});
}

static inline lat_device *gpu_device(void)
{
    return opened_device(2, (lat_device_options){.choice = LAT_DEVICE_GPU});
}
