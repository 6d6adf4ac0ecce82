/* SPDX-License-Identifier: BSD-3-Clause */
/* mirror.h: the bytes of a host field of spinors, on a GPU: [site][object][spin][colour][re, im] in
 * double, natural order, basis and gauge of the host. Solutions are gathered there, batch after
 * batch, certified (certify/plain_gpu.h), and go to the host piece by piece when they are written.
 * On one rank, of SU(3). Functions return 0 or a pointer, or -1 or NULL with lat_error set. C and
 * C++. */
#pragma once

#include "base/async.h"
#include "lattice/field.h"
#include "vector/space.h"

typedef struct lat_mirror lat_mirror;

/* Can a field with this header be there? It takes as many bytes as on the host. */
bool lat_mirror_takes(const lat_device *dev, const lat_header *head);

/* Of a field with this header; its numbers are undefined. Is it that of fields with another one? */
lat_mirror *lat_mirror_open(lat_device *dev, const lat_header *head);
void lat_mirror_close(lat_mirror *m); /* NULL is allowed */
bool lat_mirror_fits(const lat_mirror *m, const lat_header *head);

/* Columns of x, in double, become objects, as by `get` of space.h. */
int lat_mirror_take(lat_mirror *m, lat_space *s, const lat_part *p, const lat_dfield *x,
                    const int *object);

/* `reader` will read it: from here on lat_mirror_take waits for that, and fails where it has. */
int lat_mirror_lend(lat_mirror *m, lat_async *reader);

/* To the host, in order, as lat_stream_put_from wants it: after lat_mirror_begin each call has the
 * n bytes from `from` on, none of which is across a multiple of LAT_MIRROR_PIECE. They stay until a
 * call says that all below `done` are not read any more; `held` is the most that are, at a time.
 * What follows is on its way meanwhile. For one thread, whichever, once the mirror is lent. */
#define LAT_MIRROR_PIECE ((size_t)16 << 20)
int lat_mirror_begin(lat_mirror *m, size_t held);
const void *lat_mirror_bytes(void *mirror, size_t from, size_t n, size_t done);

/* All of it, into a host field with that header. */
int lat_mirror_get(lat_mirror *m, lat_field *host);

/* Where it is on the device. */
const double *lat_mirror_data(const lat_mirror *m);
