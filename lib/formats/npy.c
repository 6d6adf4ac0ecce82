/* SPDX-License-Identifier: BSD-3-Clause */
/* npy.c: the head of a NumPy array. */
#include "npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"

#define MARK '\t'

/* Behind the mark and the version (1 to 3) the length of a dict of Python, of 2 bytes or 4, and the
 * dict. */
size_t lat_npy_text(const unsigned char *b, size_t n, char text[LAT_NPY_MOST])
{
    const size_t head = n > 6 && b[6] == 1 ? 10 : 12;
    if (n < head || memcmp(b, LAT_NPY_MAGIC, 6) != 0 || b[6] < 1 || b[6] > 3 || b[7] != 0)
        return 0;
    const size_t length = head == 10 ? (size_t)b[8] | (size_t)b[9] << 8
                                     : lat_load_u32(b + 8, false);
    if (length >= LAT_NPY_MOST || n < head + length)
        return 0;
    memcpy(text, b + head, length);
    text[length] = '\0';
    for (size_t i = length;
         i > 0 && (text[i - 1] == ' ' || text[i - 1] == MARK || text[i - 1] == '\n'); i--)
        text[i - 1] = '\0';
    return head + length;
}

/* The extents of a tuple, which ends at the character that is returned. */
static const char *take_shape(const char *s, lat_npy *array)
{
    char *end;
    while (array->rank < LAT_NPY_RANK && *s >= '0' && *s <= '9') {
        array->extent[array->rank++] = strtoull(s, &end, 10);
        s = end + strspn(end, ", ");
    }
    return s;
}

size_t lat_npy_parse(const unsigned char *b, size_t n, lat_npy *array)
{
    char text[LAT_NPY_MOST];
    int bytes;
    const size_t head = lat_npy_text(b, n, text);
    const char *descr = head ? strstr(text, "'descr': '") : NULL,
               *shape = head ? strstr(text, "'shape': (") : NULL;
    if (!descr || !shape || sscanf(descr, "'descr': '%1[<>]c%d'", (char[2]){0}, &bytes) != 2
        || (bytes != 8 && bytes != 16))
        return 0;
    *array = (lat_npy){.real = bytes == 16 ? LAT_F64 : LAT_F32,
                       .big = descr[strlen("'descr': '")] == '>',
                       .fortran = strstr(text, "'fortran_order': True") != NULL,
                       .marked = b[head - 2] == MARK};
    return *take_shape(shape + strlen("'shape': ("), array) == ')' ? head : 0;
}

void lat_npy_print(char b[LAT_NPY_HEAD + 1], lat_real real, const char *shape)
{
    const int n = snprintf(b, LAT_NPY_HEAD + 1,
                           "\x93NUMPY%c%c%c%c{'descr': '<c%d', 'fortran_order': False, 'shape': "
                           "(%s), }",
                           1, 0, LAT_NPY_HEAD - 10, 0, 2 * (int)real, shape);
    memset(b + n, ' ', (size_t)(LAT_NPY_HEAD - n));
    b[LAT_NPY_HEAD - 1] = '\n';
}

void lat_npy_mark(char b[LAT_NPY_HEAD + 1]) { b[LAT_NPY_HEAD - 2] = MARK; }
