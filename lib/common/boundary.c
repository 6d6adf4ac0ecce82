/* SPDX-License-Identifier: BSD-3-Clause */
/* boundary.c: what a header says of the boundaries of the lattice. */
#include <string.h>
#include "boundary.h"
#include "error.h"

#define KEY   "boundary_1"
#define DIGIT (sizeof KEY - 2)

static void name_axis(char key[sizeof KEY], int mu)
{
    strcpy(key, KEY);
    key[DIGIT] = (char)('1' + mu);
}

const char *lat_boundary(const lat_header *head, int mu)
{
    char key[sizeof KEY];
    name_axis(key, mu);
    const char *word = lat_info_get(head, key);
    return word ? word : "PERIODIC";
}

bool lat_boundary_is(const lat_header *head, int mu, const char *word)
{
    return strcmp(lat_boundary(head, mu), word) == 0;
}

int lat_boundary_set(lat_header *head, int mu, const char *word)
{
    char key[sizeof KEY];
    name_axis(key, mu);
    return lat_info_set(head, key, word);
}

/* The axis that a line speaks of, -1: none. */
static int axis_of(const char *line, int nd)
{
    const int mu = strncmp(line, KEY, DIGIT) == 0 && strncmp(line + DIGIT + 1, " = ", 3) == 0 ? line[DIGIT] - '1' : -1;
    return mu >= 0 && mu < nd ? mu : -1;
}

void lat_boundary_permute(lat_header *head, const int axes[LAT_MAX_DIMS])
{
    int to[LAT_MAX_DIMS];
    for (int i = 0; i < head->geom.nd; i++)
        to[axes[i]] = i;
    for (int k = 0; k < head->info.count; k++) {
        const int mu = axis_of(head->info.line[k], head->geom.nd);
        if (mu >= 0)
            head->info.line[k][DIGIT] = (char)('1' + to[mu]);
    }
}

int lat_boundary_open(const lat_header *head)
{
    for (int mu = 0; mu < head->geom.nd; mu++)
        if (lat_boundary_is(head, mu, LAT_OPEN))
            return mu;
    return -1;
}

int lat_boundary_closed(const lat_header *head, const char *name, const char *who, const char *instead)
{
    const int mu = lat_boundary_open(head);
    if (mu < 0)
        return 0;
    return lat_fail("%s: the %c axis has open boundaries (boundary_%d = OPEN), and %s all links%s%s", name, "xyzt"[mu], mu + 1, who,
                    instead ? ": " : "", instead ? instead : "");
}
