/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_reduced_internal.h: matrices of which the stream has fewer reals than memory.
 *
 * In memory a matrix always has 2 N N reals (and a spinor 8 N, in the stream, too). The stream may
 * have the first two rows of SU(3) (12 reals), or the quaternion q0, q1, q2, q3 of SU(2) (4 reals),
 * whose order in memory is q0, q3, q2, q1. The others follow from det U = 1 and U U^+ = 1. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include "lattice/header.h"

static inline bool lat_reduced(const lat_header *head)
{
    return (size_t)head->reals != lat_header_full_reals(head);
}

/* Computes the reals that the stream does not have from those that it has, in `count` matrices.
 *
 * Returns the index of the first matrix with a real that was further than `near` from what it has
 * become, or SIZE_MAX. *changed, unless the pointer is NULL: has any real become another one? A
 * reader, whose matrices had nothing there, ignores both. */
size_t lat_complete_all(const lat_header *head, void *matrices, size_t count, double near,
                        bool *changed);
