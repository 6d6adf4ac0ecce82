/* SPDX-License-Identifier: BSD-3-Clause */
/* device_options.c: the CPU in place of a GPU. */
#include "device_options.h"

#include "base/error.h"
#include "base/threads.h"

lat_device *lat_device_or_cpu(lat_device *opened, bool can)
{
    lat_device_options other = opened->options;
    if (!opened->gpu || can || other.choice != LAT_DEVICE_AUTO)
        return opened;
    other.choice = LAT_DEVICE_CPU;
    other.tune = false;
    if (!opened->cpu)
        opened->cpu = lat_device_open(&other, opened->comm);
    return opened->cpu;
}

lat_device *lat_device_or_cpu_said(lat_device *opened, int refused)
{
    const lat_device_options *o = &opened->options;
    if (refused && !opened->cpu && opened->gpu && o->choice == LAT_DEVICE_AUTO && !o->gpus)
        lat_warn("%s; it runs on the CPU", lat_error());
    if (refused)
        lat_error_clear();
    return lat_device_or_cpu(opened, !refused || o->gpus);
}

/* A hop takes some 100 ns a spinor, and there are a dozen barriers in the application of an
 * operator and the linear algebra beside it, of 1 us each, or 50 us where a thread has fallen
 * asleep. 4^3 8, one column, beside a busy process: two threads take 20 times as long as one. */
#define SPINORS_A_THREAD 2048

void lat_device_threads(const lat_device *on, const lat_field *u, int columns)
{
    if (!on->gpu)
        lat_threads_share((double)lat_field_sites(u) * columns, SPINORS_A_THREAD);
}
