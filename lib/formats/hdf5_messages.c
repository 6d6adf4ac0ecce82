/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5_messages.c: what the messages in an object header of an HDF5 file say. */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "hdf5_bytes.h"

#define number lat_hdf5_number
#define DEPTH 16 /* most types in each other */

uint64_t lat_hdf5_number(const unsigned char *b, int bytes)
{
    uint64_t v = 0;
    for (int i = bytes - 1; i >= 0; i--)
        v = v << 8 | b[i];
    return v;
}

const unsigned char *lat_hdf5_take(lat_hdf5_reader *r, size_t n)
{
    const unsigned char *b = r->b;
    if (n > r->left)
        return NULL;
    r->b += n;
    r->left -= n;
    return b;
}

void lat_hdf5_refuse(lat_hdf5_set *s, const char *why)
{
    s->numbers = false;
    s->bad = s->bad ? s->bad : why;
}

#define take lat_hdf5_take
#define refuse lat_hdf5_refuse

/* ---- types of numbers ------------------------------------------------------------------------ */

enum { FLOATS = 1, TEXT = 3, COMPOUND = 6, VARIABLE = 9, ARRAY = 10 };

/* IEEE numbers: no other ones have these sizes of exponent and mantissa. */
static void take_float(lat_hdf5_set *s, const unsigned char *head, lat_hdf5_reader *r)
{
    static const unsigned char single[12] = {0, 0, 32, 0, 23, 8, 0, 23, 127},
                               real[12] = {0, 0, 64, 0, 52, 11, 0, 52, 0xff, 3};
    const unsigned char *b = take(r, 12);
    const uint64_t size = number(head + 4, 4);
    s->numbers = b && !(head[1] & 0x40)
                 && ((size == 4 && !memcmp(b, single, 12)) || (size == 8 && !memcmp(b, real, 12)));
    s->real = size == 4 ? LAT_F32 : LAT_F64;
    s->big = head[1] & 1;
}

static uint64_t take_type(lat_hdf5_set *s, lat_hdf5_reader *r, int depth);

/* The names that programs give to the real part (0) and the imaginary part (1). */
static bool is_part(int which, const char *name)
{
    static const char *const names[2][3] = {{"r", "re", "real"}, {"i", "im", "imag"}};
    for (int i = 0; i < 3; i++)
        if (strcasecmp(name, names[which][i]) == 0)
            return true;
    return false;
}

/* re and im, side by side: two members of one real each. */
static void take_complex(lat_hdf5_set *s, const unsigned char *head, lat_hdf5_reader *r, int depth)
{
    const int version = head[0] >> 4;
    const uint64_t size = number(head + 4, 4);
    const size_t offset_bytes = version < 3 ? 4 : size < 256 ? 1 : size < 65536 ? 2 : 4;
    if (number(head + 1, 2) != 2)
        return;
    lat_hdf5_set part[2] = {{.rank = 0}, {.rank = 0}};
    for (int i = 0; i < 2; i++) {
        const size_t name = strnlen((const char *)r->b, r->left) + 1;
        const unsigned char *b = NULL;
        const bool known = name <= r->left && is_part(i, (const char *)r->b);
        if (take(r, version < 3 ? (name + 7) / 8 * 8 : name) && (b = take(r, offset_bytes))
            && (version > 1 || take(r, 28))) {
            const uint64_t at = number(b, (int)offset_bytes),
                           bytes = take_type(&part[i], r, depth + 1);
            if (bytes > size || at > size - bytes)
                refuse(s, "a member of its complex numbers is outside of them");
            else if (at != (uint64_t)i * bytes || 2 * bytes != size)
                refuse(s, "its complex numbers are not two numbers side by side");
            else if (!known)
                refuse(s, "its complex numbers have not the members r and i, re and im, or real "
                          "and imag, in this order");
        }
        if (!b || !part[i].numbers || part[i].axes || part[i].complex)
            return;
    }
    s->numbers = !s->bad && part[0].real == part[1].real && part[0].big == part[1].big;
    s->complex = true;
    s->real = part[0].real;
    s->big = part[0].big;
}

static void take_array(lat_hdf5_set *s, const unsigned char *head, lat_hdf5_reader *r, int depth)
{
    const bool old = head[0] >> 4 < 3;
    const unsigned char *b = take(r, old ? 4 : 1);
    const int rank = b ? b[0] : 0;
    uint64_t n = 1;
    if (rank < 1 || rank > LAT_HDF5_RANK - s->axes || !(b = take(r, 4 * (size_t)rank))
        || (old && !take(r, 4 * (size_t)rank)))
        return;
    for (int i = 0; i < rank; i++) {
        s->extent[s->axes + i] = number(b + 4 * i, 4);
        n = s->extent[s->axes + i] > UINT32_MAX / n ? 0 : n * s->extent[s->axes + i];
        if (n == 0)
            return;
    }
    s->axes += rank;
    const uint64_t each = take_type(s, r, depth + 1);
    if (s->numbers && n * each != number(head + 4, 4))
        refuse(s, "its arrays have not the size of their elements");
}

/* s->numbers: they are IEEE numbers. Returns the bytes of an element. */
static uint64_t take_type(lat_hdf5_set *s, lat_hdf5_reader *r, int depth)
{
    const unsigned char *head = take(r, 8);
    s->numbers = false;
    if (!head || depth > DEPTH)
        return 0;
    if ((head[0] & 15) == FLOATS)
        take_float(s, head, r);
    else if ((head[0] & 15) == COMPOUND)
        take_complex(s, head, r, depth);
    else if ((head[0] & 15) == ARRAY)
        take_array(s, head, r, depth);
    return number(head + 4, 4);
}

void lat_hdf5_type(lat_hdf5_set *s, lat_hdf5_reader *r)
{
    s->axes = s->rank;
    s->element = (size_t)take_type(s, r, 0);
    s->numbers = s->numbers && !s->bad;
}

const char *lat_hdf5_set_text(const lat_hdf5_set *s, char text[LAT_HDF5_TEXT])
{
    int n = snprintf(text, LAT_HDF5_TEXT, "%s of shape",
                     !s->numbers  ? "neither real nor complex IEEE numbers, but elements"
                     : s->complex ? "complex numbers"
                                  : "real numbers");
    for (int k = 0; k < (s->numbers ? s->axes : s->rank); k++)
        n += snprintf(text + n, (size_t)(LAT_HDF5_TEXT - n), " %.12g", (double)s->extent[k]);
    return text;
}

/* ---- other messages -------------------------------------------------------------------------- */

void lat_hdf5_space(lat_hdf5_set *s, lat_hdf5_reader *r)
{
    const unsigned char *b = take(r, 4);
    const int rank = b ? b[1] : 0;
    const bool limits = b && b[2] & 1;
    if (rank > 8) {
        refuse(s, "it has more than 8 axes");
        return;
    }
    if (!b || b[0] < 1 || b[0] > 2 || (b[0] == 1 && !take(r, 4))) {
        refuse(s, "its extents are not described as expected");
        return;
    }
    s->rank = rank;
    for (int i = 0; i < rank && (b = take(r, 8)); i++)
        s->extent[i] = number(b, 8);
    s->first_grows = limits;
    for (int i = 0; i < rank && limits && b && (b = take(r, 8)); i++)
        s->first_grows = s->first_grows && number(b, 8) == (i ? s->extent[i] : UINT64_MAX);
    if (!b)
        refuse(s, "its extents are not described as expected");
}

static void take_chunks(lat_hdf5_set *s, lat_hdf5_reader *r)
{
    const unsigned char *b = take(r, 9);
    const int rank = b ? b[0] - 1 : 0;
    s->address = b ? number(b + 1, 8) : 0;
    s->chunk_rank = rank;
    for (int i = 0; i < rank && i < 8 && (b = take(r, 4)); i++)
        s->chunk[i] = number(b, 4);
    s->chunk_element = b && (b = take(r, 4)) ? number(b, 4) : 0;
    if (!b || rank < 1 || rank > 8)
        refuse(s, "its chunks are not described as expected");
}

/* Of layouts of version 4 and 5: there is a choice of indices. */
static void take_indexed_chunks(lat_hdf5_set *s, lat_hdf5_reader *r)
{
    static const int parameters[6] = {0, 0, 0, 1, 5, 6}; /* bytes of each index */
    const unsigned char *b = take(r, 3);
    const unsigned flags = b ? b[0] : 0;
    const int rank = b ? b[1] - 1 : 0, width = b ? b[2] : 0;
    s->chunk_rank = rank;
    s->whole_edges = flags & 1;
    for (int i = 0; b && i <= rank && i <= 8 && (b = width <= 8 ? take(r, (size_t)width) : NULL);
         i++)
        *(i < rank && i < 8 ? &s->chunk[i] : &s->chunk_element) = number(b, width);
    if (!b || rank < 1 || rank > 8 || width < 1 || !(b = take(r, 1)) || b[0] < 1 || b[0] > 5) {
        refuse(s, "its chunks are not described as expected");
        return;
    }
    const int index = b[0];
    if (index == LAT_HDF5_SINGLE && flags & 2 && (b = take(r, 12))) {
        s->stored = number(b, 8);
        s->skipped = (unsigned)number(b + 8, 4);
    }
    take(r, (size_t)parameters[index]);
    s->address = (b = take(r, 8)) ? number(b, 8) : LAT_HDF5_NOWHERE;
    s->index = index;
}

void lat_hdf5_layout(lat_hdf5_set *s, lat_hdf5_reader *r)
{
    const unsigned char *b = take(r, 2);
    const int version = b ? b[0] : 0, class = b ? b[1] : 0;
    if (version < 3 || version > 5 || class > 3) {
        refuse(s, "its layout is of a version that is not read");
    } else if (class == 3) {
        refuse(s, "it is virtual: its numbers are in other files");
    } else if (class == 2) {
        s->layout = LAT_HDF5_CHUNKS;
        if (version == 3)
            take_chunks(s, r);
        else
            take_indexed_chunks(s, r);
    } else if ((b = take(r, class ? 16 : 2))) {
        s->layout = class ? LAT_HDF5_PIECE : LAT_HDF5_INSIDE;
        s->address = class ? number(b, 8) : 0;
        s->stored = class ? number(b + 8, 8) : number(b, 2);
    }
}

void lat_hdf5_filters(lat_hdf5_set *s, lat_hdf5_reader *r)
{
    const unsigned char *b = take(r, 2);
    const int version = b ? b[0] : 0, n = b ? b[1] : 0;
    if (version < 1 || version > 2 || n > 4 || (version == 1 && !take(r, 6))) {
        refuse(s, "its filters are not described as expected");
        return;
    }
    for (int i = 0; i < n; i++) {
        const uint64_t id = (b = take(r, 2)) ? number(b, 2) : 0;
        const bool named = version == 1 || id >= 256;
        const size_t name = named && (b = take(r, 2)) ? number(b, 2) : 0;
        if (!b || !(b = take(r, 4)) || id < LAT_HDF5_DEFLATE || id > LAT_HDF5_FLETCHER) {
            refuse(s, "it went through a filter that is none of deflate, shuffle and fletcher32");
            return;
        }
        if (i && s->filter[i - 1] == LAT_HDF5_FLETCHER) {
            refuse(s, "it was summed by fletcher32 before it went through another filter");
            return;
        }
        const size_t values = number(b + 2, 2);
        take(r, version == 1 ? (name + 7) / 8 * 8 : name);
        take(r, 4 * (values + (version == 1 && values % 2)));
        s->filter[s->filters++] = (int)id;
    }
}

/* A text of variable length: object `index` of a heap that texts share. */
static void heap_text(lat_hdf5 *h, uint64_t heap, uint64_t index, char *text, uint64_t length)
{
    unsigned char b[16];
    uint64_t at = heap + 16;
    if (!lat_hdf5_description(h, heap, 16, b) || memcmp(b, "GCOL", 4) != 0)
        return;
    const uint64_t size = number(b + 8, 8);
    while (at - heap < size && lat_hdf5_description(h, at, 16, b) && number(b, 2) != 0) {
        const uint64_t n = number(b + 8, 8);
        if (number(b, 2) == index) {
            if (n < length || !lat_hdf5_description(h, at + 16, length, text))
                length = 0;
            text[length] = '\0';
            return;
        }
        if (n > h->size)
            return;
        at += 16 + (n + 7) / 8 * 8;
    }
}

size_t lat_hdf5_attribute(lat_hdf5 *h, lat_hdf5_reader r, const char *name, char *text, size_t size)
{
    const unsigned char *b = take(&r, 8);
    const int version = b ? b[0] : 0;
    const size_t pad = version == 1 ? 7 : 0;
    if (version < 1 || version > 3 || (version == 3 && !take(&r, 1)))
        return 0;
    const size_t of_name = (number(b + 2, 2) + pad) & ~pad,
                 of_type = (number(b + 4, 2) + pad) & ~pad,
                 of_space = (number(b + 6, 2) + pad) & ~pad;
    const unsigned char *at = take(&r, of_name), *type = take(&r, of_type);
    if (!at || !type || of_type < 8 || !take(&r, of_space)
        || strnlen((const char *)at, of_name) == of_name || strcmp((const char *)at, name) != 0)
        return 0;
    const uint64_t n = number(type + 4, 4);
    if ((type[0] & 15) == TEXT && n <= r.left) {
        if (n < size) {
            memcpy(text, r.b, (size_t)n);
            text[n] = '\0';
        }
        return (size_t)n;
    }
    if ((type[0] & 15) != VARIABLE || n != 16 || r.left < 16)
        return 0;
    if (number(r.b, 4) < size)
        heap_text(h, number(r.b + 4, 8), number(r.b + 12, 4), text, number(r.b, 4));
    return (size_t)number(r.b, 4);
}
