/* SPDX-License-Identifier: BSD-3-Clause */
/* numbered.c: a number in the place of %d. */
#include "common/numbered.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

int lat_numbers_in(const char *name)
{
    int n = 0;
    for (const char *p = name ? strchr(name, '%') : NULL; p; p = strchr(p, '%'), n++) {
        p += 1 + strspn(p + 1, "0123456789");
        if (*p != 'd')
            return -1;
    }
    return n;
}

char *lat_numbered(const char *name, long number)
{
    const char *p = strchr(name, '%');
    const bool zeros = p[1] == '0';
    const long given = strtol(p + 1, NULL, 10);
    const int before = (int)(p - name), width = given > 20 ? 20 : (int)given;
    return lat_text_new(zeros ? "%.*s%0*ld%s" : "%.*s%*ld%s", before, name, width, number,
                        strchr(p, 'd') + 1);
}
