/* SPDX-License-Identifier: BSD-3-Clause */
/* device.c: the choice of a device. */
#include "device.h"

#include <math.h>
#include "base/error.h"
#include "grid_internal.h"

/* Who names GPUs wants one of them. */
static int wanted(const lat_device_options *o)
{
    return o->choice == LAT_DEVICE_AUTO && o->gpus ? LAT_DEVICE_GPU : o->choice;
}

int lat_device_begin(const lat_device_options *o, const lat_comm *comm)
{
    if (o->choice == LAT_DEVICE_CPU && o->gpus)
        return lat_fail_usage("--gpus %s and --device cpu contradict each other", o->gpus);
    if (o->choice == LAT_DEVICE_CPU && o->transport != LAT_TRANSPORT_AUTO)
        return lat_fail_usage("--transport is for GPUs, and contradicts --device cpu");
    if (o->choice == LAT_DEVICE_CPU || lat_cuda_begin(o, comm) || wanted(o) == LAT_DEVICE_AUTO)
        return 0;
    return lat_cuda_available(o, comm) ? 0 : -1;
}

static lat_device *open_wanted(const lat_device_options *o, const lat_comm *comm)
{
    if (wanted(o) == LAT_DEVICE_CPU || o->check)
        return lat_device_cpu(o, comm);
    double missing = !lat_cuda_available(o, comm);
    if (wanted(o) == LAT_DEVICE_GPU)
        return missing ? NULL : lat_device_gpu(o, comm);
    if (missing)
        lat_error_clear(); /* the CPU will do */
    /* Ranks on different devices would not understand each other. */
    if (comm->max(comm, &missing, 1))
        return NULL;
    return missing ? lat_device_cpu(o, comm) : lat_device_gpu(o, comm);
}

lat_device *lat_device_open(const lat_device_options *o, const lat_comm *comm)
{
    lat_device *dev = open_wanted(o, comm);
    if (dev && o->tune)
        lat_warn("--tune does nothing any more: the lattice alone decides the order of sites");
    if (dev && lat_comm_name_device(comm, dev->place)) {
        lat_device_close(dev);
        return NULL;
    }
    if (dev && !dev->gpu && o->transport != LAT_TRANSPORT_AUTO)
        lat_warn("--transport is for GPUs; it runs on the CPU");
    return dev;
}

lat_device *lat_device_open_for(const lat_device_options *o, const lat_comm *comm, int nc,
                                int groups)
{
    lat_device *dev = lat_device_open(o, comm);
    if (!dev || !dev->gpu || wanted(o) != LAT_DEVICE_AUTO || nc <= groups)
        return dev;
    lat_device_check_group(true, nc, groups);
    lat_warn("%s; it runs on the CPU", lat_error());
    lat_error_clear();
    lat_device_close(dev);
    return lat_device_cpu(o, comm);
}

int lat_device_check_group(bool gpu, int nc, int groups)
{
    if (nc <= groups)
        return 0;
    if (gpu)
        return lat_fail("SU(%d): this program was built with GPU code for SU(2) to SU(%d); "
                        "'make GPU_GROUPS=%d' builds it with more",
                        nc, groups, nc);
    return lat_fail(
        "SU(%d): this program was built for SU(2) to SU(%d), as 'make quickstart' does; "
        "'make' builds it for all groups",
        nc, groups);
}

double lat_device_free_bytes(const lat_device *dev)
{
    double less = dev->gpu ? -lat_gpu_free_bytes() : -INFINITY;
    if (dev->comm->max(dev->comm, &less, 1))
        return -1;
    return -less;
}

int lat_device_check_memory(const lat_device *dev, double bytes, const char *what)
{
    return dev->gpu ? lat_gpu_check_memory(bytes, what) : 0;
}

void lat_device_close(lat_device *dev)
{
    if (!dev)
        return;
    lat_device_close(dev->cpu);
    dev->grid->close(dev);
}

void lat_device_end(void) { lat_cuda_end(); }
