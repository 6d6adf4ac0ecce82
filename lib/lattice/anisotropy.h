/* SPDX-License-Identifier: BSD-3-Clause */
/* anisotropy.h: the anisotropy that a configuration was made with, in two info lines of the header.
 * xi is its bare value, and xi_axis the direction whose planes have the weight xi (without xi_axis
 * the last one). */
#pragma once

#include "header.h"

/* *xi of the last direction, 1 where the header does not state it: 0, or -1 where it is no number
 * above 0, or belongs to another direction. */
int lat_anisotropy(const lat_header *head, double *xi);

/* The direction that xi is of; -1 where the header names none of the lattice. */
int lat_anisotropy_axis(const lat_header *head);

/* 0 of an isotropic lattice; or -1 with a sentence that begins with `name`, of which lat_opts.force
 * makes a warning and 0. */
int lat_anisotropy_none(const lat_header *head, const char *name);

/* After a permutation, axis i was axis axes[i]: adapts xi_axis. 0 or -1. */
int lat_anisotropy_permute(lat_header *head, const int axes[LAT_MAX_DIMS]);
