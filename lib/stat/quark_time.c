/* SPDX-License-Identifier: BSD-3-Clause */
/* quark_time.c: the boundary of quarks in time, from a text. */
#include "quark_time.h"

#include <string.h>

bool lat_quark_time_unlike(const char *operators)
{
    char first = '\0';
    if (!*operators)
        return false; /* a table of before has no such column */
    for (const char *quark = operators; quark; quark = strstr(quark, " | ")) {
        quark += *quark == ' ' ? 3 : 0;
        const char *at = strstr(quark, "boundary "), *end = strstr(quark, " | ");
        if (!at || (end && at > end))
            return true;
        at += strlen("boundary ");
        for (int i = 0; i < 3; i++)
            at += strcspn(at, ", ") + (at[strcspn(at, ", ")] == ',');
        if ((*at != 'p' && *at != 'a') || (first && *at != first))
            return true;
        first = *at;
    }
    return false;
}
