/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5_write.c: descriptions of an HDF5 file. */
#include "hdf5_write.h"

#include <string.h>

#define put lat_hdf5_put_number
#define put_text lat_hdf5_put_text
#define put_message lat_hdf5_put_message

void lat_hdf5_put_number(lat_hdf5_writer *w, size_t bytes, uint64_t v)
{
    for (size_t i = 0; i < bytes; i++, v >>= 8)
        w->b[w->at++] = (unsigned char)v;
}

void lat_hdf5_put_text(lat_hdf5_writer *w, size_t bytes, const char *text)
{
    memcpy(w->b + w->at, text, strlen(text));
    w->at += bytes;
}

void lat_hdf5_put_message(lat_hdf5_writer *w, unsigned type, size_t size, unsigned flags)
{
    put(w, 2, type);
    put(w, 2, size);
    put(w, 4, flags);
}

static void put_member(lat_hdf5_writer *w, const char *name, size_t offset, lat_real real)
{
    const bool f64 = real == LAT_F64;
    put_text(w, 8, name);
    put(w, 4, offset);
    w->at += 28;                              /* no array */
    put(w, 4, f64 ? 0x003f2011 : 0x001f2011); /* IEEE, little endian, its sign at this bit */
    put(w, 4, real);                          /* bytes */
    put(w, 4, f64 ? 64 << 16 : 32 << 16);     /* bits, from bit 0 on */
    put(w, 4, f64 ? 0x34000b34 : 0x17000817); /* places and sizes of exponent and mantissa */
    put(w, 4, f64 ? 1023 : 127);              /* bias */
}

void lat_hdf5_put_complex(lat_hdf5_writer *w, lat_real real)
{
    put(w, 4, 0x216); /* version 1, a compound of two */
    put(w, 4, 2 * (size_t)real);
    put_member(w, "r", 0, real);
    put_member(w, "i", (size_t)real, real);
}

static size_t to8(size_t n) { return (n + 7) / 8 * 8; }

size_t lat_hdf5_text_bytes(const char *name, const char *text)
{
    return 8 + 8 + to8(strlen(name) + 1) + 16 + to8(strlen(text));
}

void lat_hdf5_put_attribute(lat_hdf5_writer *w, const char *name, const char *text)
{
    put_message(w, 12, lat_hdf5_text_bytes(name, text) - 8, 0);
    put(w, 2, 1); /* version 1; sizes of name, type and extents */
    put(w, 2, strlen(name) + 1);
    put(w, 2, 8);
    put(w, 2, 8);
    put_text(w, to8(strlen(name) + 1), name);
    put(w, 4, 0x13); /* a text, with zeros after it */
    put(w, 4, strlen(text));
    put(w, 8, 1); /* one of it */
    put_text(w, to8(strlen(text)), text);
}

void lat_hdf5_put_place(lat_hdf5_writer *w, uint64_t address, uint64_t bytes, const char *xml)
{
    put_message(w, 5, 8, 1);
    put(w, 8, 0x01020202); /* no value before it is written */
    put_message(w, 8, 24, 0);
    put(w, 2, 0x0103); /* version 3, in one piece */
    put(w, 8, address);
    put(w, 8, bytes);
    w->at += 6;
    if (xml)
        lat_hdf5_put_attribute(w, "record_xml", xml);
}

void lat_hdf5_put_superblock(lat_hdf5_writer *w, uint64_t end, uint64_t tree, uint64_t heap)
{
    put_text(w, 8, LAT_HDF5_MAGIC);
    put(w, 8, 0x0008080000000000); /* version 0, addresses of 8 bytes */
    put(w, 8, 0x00100004);         /* sizes of groups */
    put(w, 8, 0);
    put(w, 8, UINT64_MAX);
    put(w, 8, end);
    put(w, 8, UINT64_MAX);
    put(w, 8, 0);
    put(w, 8, LAT_HDF5_ROOT);
    put(w, 8, 1);
    put(w, 8, tree);
    put(w, 8, heap);
    put(w, 8, 0x0000000100010001); /* an object of one message */
    put(w, 8, 24);
    put_message(w, 17, 16, 0);
    put(w, 8, tree);
    put(w, 8, heap);
}

void lat_hdf5_put_group(lat_hdf5_writer *w, int count, const char *const *name,
                        const uint64_t *header, size_t symbols)
{
    const size_t heap = w->at + LAT_HDF5_TREE;
    if (symbols == 0)
        symbols = heap + LAT_HDF5_HEAP;
    size_t place[4], end = 8;
    for (int i = 0; i < count; i++) {
        place[i] = end;
        end += to8(strlen(name[i]) + 1);
    }
    put_text(w, 6, "TREE");
    put(w, 2, 1);
    put(w, 8, UINT64_MAX);
    put(w, 8, UINT64_MAX);
    put(w, 8, 0);
    put(w, 8, symbols);
    put(w, 8, place[count - 1]);
    w->at = heap;
    put_text(w, 8, "HEAP");
    put(w, 8, LAT_HDF5_HEAP - 32);
    put(w, 8, end);
    put(w, 8, heap + 32);
    for (int i = 0; i < count; i++) {
        w->at = heap + 32 + place[i];
        put_text(w, 0, name[i]);
    }
    w->at = heap + 32 + end; /* what is free */
    put(w, 8, 1);
    put(w, 8, LAT_HDF5_HEAP - 32 - end);
    w->at = symbols;
    put_text(w, 4, "SNOD");
    put(w, 2, 1);
    put(w, 2, (uint64_t)count);
    for (int i = 0; i < count; i++) {
        put(w, 8, place[i]);
        put(w, 8, header[i]);
        w->at += 24;
    }
    w->at = symbols + LAT_HDF5_SYMBOLS;
}
