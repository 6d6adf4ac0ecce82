/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5_file.c: the bytes of an HDF5 file, and its superblock. */
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "hdf5_bytes.h"

#define number lat_hdf5_number
#define damaged lat_hdf5_damaged

bool lat_hdf5_bytes(lat_hdf5 *h, uint64_t address, uint64_t n, void *to)
{
    if (n > h->size || address > h->size - n)
        return false;
    if (!h->image)
        return lat_input_pread(h->in, address, to, (size_t)n);
    memcpy(to, h->image + address, (size_t)n);
    return true;
}

bool lat_hdf5_description(lat_hdf5 *h, uint64_t address, uint64_t n, void *to)
{
    if (n > h->left)
        return false;
    h->left -= n;
    return lat_hdf5_bytes(h, address, n, to);
}

int lat_hdf5_damaged(const lat_hdf5 *h)
{
    return lat_fail("%s: expected an HDF5 file, found a damaged or truncated one", h->name);
}

/* All bytes that come through a pipe. */
static int read_image(lat_hdf5 *h)
{
    size_t capacity = 0;
    for (;;) {
        if (h->size == capacity) {
            capacity += capacity / 2 + (1 << 16);
            unsigned char *more = realloc(h->image, capacity);
            if (!more)
                return lat_fail("%s: out of memory after %llu bytes", h->name,
                                (unsigned long long)h->size);
            h->image = more;
        }
        const ssize_t got = lat_input_read_some(h->in, h->image + h->size, capacity - h->size);
        if (got <= 0)
            return (int)got;
        h->size += (uint64_t)got;
    }
}

/* Where the root group is: superblocks 0 and 1, 2 and 3. */
static int take_superblock(lat_hdf5 *h)
{
    unsigned char b[104];
    if (!lat_hdf5_bytes(h, 0, 48, b) || memcmp(b, LAT_HDF5_MAGIC, 8) != 0 || b[8] > 3)
        return damaged(h);
    const bool old = b[8] < 2;
    const int at = b[8] == 1 ? 28 : 24; /* four addresses */
    if (b[old ? 13 : 9] != 8 || b[old ? 14 : 10] != 8)
        return lat_fail("%s: expected addresses of 8 bytes in an HDF5 file, found %d", h->name,
                        b[old ? 13 : 9]);
    if (old && !lat_hdf5_bytes(h, 0, 96, b))
        return damaged(h);
    if (!old && !lat_hdf5_sum_right(b, 48))
        return damaged(h);
    uint64_t end = number(old ? b + at + 16 : b + 28, 8);
    h->root = number(old ? b + at + 40 : b + 36, 8);
    if (number(old ? b + at : b + 12, 8) != 0)
        return lat_fail("%s: expected an HDF5 file from its first byte on, found a base address",
                        h->name);
    if (end > h->size)
        return damaged(h);
    h->size = end;
    return 0;
}

int lat_hdf5_open(lat_hdf5 *h, lat_input *in)
{
    const int64_t size = lat_input_size(in);
    *h = (lat_hdf5){.in = in, .name = lat_input_name(in), .size = size < 0 ? 0 : (uint64_t)size};
    if ((size < 0 ? read_image(h) : 0) == 0 && take_superblock(h) == 0)
        return 0;
    free(h->image);
    h->image = NULL;
    return -1;
}

int lat_hdf5_close(lat_hdf5 *h)
{
    const int64_t size = lat_input_size(h->in);
    free(h->image);
    h->image = NULL;
    return size < 0 ? 0 : lat_input_skip(h->in, (uint64_t)size - lat_input_offset(h->in));
}
