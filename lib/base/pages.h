/* SPDX-License-Identifier: BSD-3-Clause */
/* pages.h: pages of memory that are there before they are written to, or only then. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Populates the pages of `bytes` bytes from `at` on, the start of a page, which can be written
 * without a fault then. False if the kernel cannot. What they hold is not touched. */
bool lat_pages_populate(void *at, size_t bytes);

/* The `bytes` bytes at `data`, which are of lat_alloc, become zero. Whole pages among them are
 * given back to the kernel: they take no memory until something is written to them. Pages of zeros
 * that are read are all one, which stays in the cache. */
void lat_pages_zero(void *data, size_t bytes);
