/* SPDX-License-Identifier: BSD-3-Clause */
/* device_options.h: options that choose a device, for the tables of tools that run on one. */
#pragma once

#include "common/options.h"
#include "grid/device.h"
#include "lattice/field.h"

/* `opened`; or, where it is a GPU that was chosen by itself and that cannot (`can`) do what is
 * asked for, the CPU, which is opened when it is first needed. NULL with lat_error set. All ranks
 * call it. */
lat_device *lat_device_or_cpu(lat_device *opened, bool can);

/* The same where `refused` is what a check has said (-1 with its sentence in lat_error, which is
 * warned of when the CPU is taken, and cleared); a GPU named by --gpus was not chosen by itself. */
lat_device *lat_device_or_cpu_said(lat_device *opened, int refused);

/* Threads for what runs on `columns` spinors at each own site of u: of a small lattice fewer than
 * --threads, from here on until the next call. On a GPU it does nothing. */
void lat_device_threads(const lat_device *on, const lat_field *u, int columns);

/* clang-format off */
#define LAT_DEVICE_OPTIONS(o) /* o: a lat_device_options with static storage */ \
    {LAT_OPT_CHOICE | LAT_OPT_LIMIT, "device", 0, LAT_DEVICES, &(o).choice, 0, 0, \
     "device that computes; auto: the fastest one"}, \
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "gpus", 'g', "LIST", &(o).gpus, 0, 0, \
     "GPUs that the ranks of a host use in turn, such as 0,2,3 (default: all)"}, \
    {LAT_OPT_CHOICE | LAT_OPT_LOCAL, "transport", 0, LAT_TRANSPORTS, &(o).transport, 0, 0, \
     "path of data from GPU to GPU; auto: directly in one host, between hosts by NCCL"}

/* Accepted for one version. */
#define LAT_TUNE_OPTION(o) \
    {LAT_OPT_FLAG | LAT_OPT_LOCAL, "tune", 0, NULL, &(o).tune, 0, 0, \
     "does nothing any more: the lattice alone decides the order of sites on a GPU"}
/* clang-format on */
