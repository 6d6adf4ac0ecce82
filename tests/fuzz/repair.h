/* SPDX-License-Identifier: BSD-3-Clause */
/* repair.h: the right checksums into a stream that was changed, as far as it is one still. */
#pragma once

#include <stddef.h>

void repair(unsigned char *bytes, size_t n);
