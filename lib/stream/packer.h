/* SPDX-License-Identifier: BSD-3-Clause */
/* packer.h: blocks of a field of doubles that lies on a GPU, packed there to the bytes that
 * lat_codec_pack makes, and sent to the host: for lat_stream_put_packed. C and C++. */
#ifndef LAT_STREAM_PACKER_H
#define LAT_STREAM_PACKER_H

#include "stream.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lat_packer lat_packer;

/* For blocks of which up to `held` bytes, raw, are in use at a time. It takes lat_packer_bytes of
 * the GPU that this process has opened. NULL with lat_error set if there is no memory, or if it
 * packs a block of its own to other bytes than the CPU, which is said in a warning. */
lat_packer *lat_packer_open(size_t held);
double lat_packer_bytes(void);
void lat_packer_close(lat_packer *p); /* NULL is allowed */

/* Begins with the `bytes` bytes at `data` on the device, which stay as they are until all have been
 * asked for. By the thread that asks. */
int lat_packer_begin(lat_packer *p, const void *data, size_t bytes);

/* lat_stream_packed and lat_stream_bytes of stream.h; `packer` is a lat_packer. */
int lat_packer_block(void *packer, size_t i, size_t done, lat_packed *block);
const void *lat_packer_rest(void *packer, size_t from, size_t n, size_t done);

/* `bytes` bytes of the host, to the device; NULL with lat_error set. Freed by a call with NULL and
 * what it returned. */
void *lat_packer_copy(const void *host, size_t bytes, void *old);

#ifdef __cplusplus
}
#endif
#endif
