/* SPDX-License-Identifier: BSD-3-Clause */
/* npy.c: the head of a NumPy array. */
#include "npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Bytes 8 and 9 are the length of a dict of Python. */
size_t lat_npy_parse(const unsigned char *b, size_t n, lat_npy *array)
{
    char text[LAT_NPY_MOST], *shape;
    int bytes, used = 0;
    if (n < 10 || memcmp(b, "\x93NUMPY\x01\x00", 8) != 0)
        return 0;
    const size_t length = (size_t)b[8] | (size_t)b[9] << 8;
    if (length >= sizeof text || n < 10 + length)
        return 0;
    memcpy(text, b + 10, length);
    text[length] = '\0';
    const char *descr = strstr(text, "'descr': '");
    if (!descr || sscanf(descr, "'descr': '%1[<>]c%d'", (char[2]){0}, &bytes) != 2
        || (bytes != 8 && bytes != 16) || !(shape = strstr(text, "'shape': (")))
        return 0;
    *array = (lat_npy){.real = bytes == 16 ? LAT_F64 : LAT_F32,
                       .big = descr[strlen("'descr': '")] == '>',
                       .fortran = strstr(text, "'fortran_order': True") != NULL};
    shape += strlen("'shape': (");
    while (array->rank < LAT_NPY_RANK
           && sscanf(shape, "%5" SCNu64 "%n", &array->extent[array->rank], &used) == 1) {
        array->rank++;
        shape += used + strspn(shape + used, ", ");
    }
    return *shape == ')' ? 10 + length : 0;
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
