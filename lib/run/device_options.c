/* SPDX-License-Identifier: BSD-3-Clause */
/* device_options.c: the CPU in place of a GPU. */
#include "device_options.h"

#include "base/error.h"

lat_device *lat_device_or_cpu(lat_device *opened, const lat_device_options *o, bool can,
                              lat_device **cpu)
{
    if (!opened->gpu || can || o->choice != LAT_DEVICE_AUTO)
        return opened;
    if (!*cpu) {
        lat_device_options other = *o;
        other.choice = LAT_DEVICE_CPU;
        *cpu = lat_device_open(&other, opened->comm);
    }
    return *cpu;
}

lat_device *lat_device_or_cpu_said(lat_device *opened, const lat_device_options *o, int refused,
                                   lat_device **cpu)
{
    if (refused && !*cpu && opened->gpu && o->choice == LAT_DEVICE_AUTO && !o->gpus)
        lat_warn("%s; it runs on the CPU", lat_error());
    if (refused)
        lat_error_clear();
    return lat_device_or_cpu(opened, o, !refused || o->gpus, cpu);
}
