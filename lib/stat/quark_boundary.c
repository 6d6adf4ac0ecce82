/* SPDX-License-Identifier: BSD-3-Clause */
/* quark_boundary.c: boundaries of quarks, from a text such as "kappa 0.12 (mass 0.1666666667),
 * boundary p,p,p,a | kappa 0.11 (mass 0.5454545455), boundary p,p,p,-1". */
#include "quark_boundary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One word, which ends with a comma, a blank or the text. */
static char boundary(const char *word)
{
    char *end;
    if (*word == 'p' || *word == 'a')
        return strchr(", ", word[1]) ? *word : '\0';
    const double phase = strtod(word, &end), rest = fabs(fmod(phase, 2));
    return end == word || (rest != 0 && rest != 1) ? '\0' : rest == 0 ? 'p' : 'a';
}

char lat_quark_boundary(const char *operators, int axis)
{
    char of = '\0';
    int quarks = 1, said = 0;
    for (const char *at = operators; (at = strstr(at, " | ")); at += 3)
        quarks++;
    for (const char *at = operators; (at = strstr(at, "boundary ")); said++) {
        at += strlen("boundary ");
        for (int i = 0; i < axis; i++)
            at += strcspn(at, ", ") + (at[strcspn(at, ", ")] == ',');
        const char one = boundary(at);
        if (!one || (of && of != one))
            return '\0';
        of = one;
    }
    return said == quarks ? of : '\0';
}
