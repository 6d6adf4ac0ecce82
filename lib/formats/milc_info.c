/* SPDX-License-Identifier: BSD-3-Clause */
/* milc_info.c: the .info beside a file of MILC. */
#include "milc_info.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "comm/comm.h"
#include "common/io.h"

#define MOST 65536 /* bytes of one */

/* "keyword value", "keyword = value", "keyword[4] a b c d"; quotes around a value are left out.
 * The keyword becomes a key of an info line, *value what follows; false: the line is empty. */
static bool split(char *line, char **value)
{
    char *end = line + strcspn(line, " \t=["), *v = end;
    if (*v == '[')
        v += strcspn(v, "]") + 1;
    v += strspn(v, " \t=");
    const size_t n = strlen(v);
    if (n > 1 && *v == '"' && v[n - 1] == '"') {
        v[n - 1] = '\0';
        v++;
    }
    *end = '\0';
    for (char *c = line; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    *value = v;
    return *line != '\0';
}

/* What the file says itself: the time stamp, and of links both checksums. */
static bool stamp_fits(const lat_header *head, const char *stamp)
{
    const char *own = lat_info_get(head, "time_stamp"), *source = lat_info_get(head, "source");
    return own ? !strcmp(own, stamp) : source && *stamp && strstr(source, stamp);
}

static bool sums_fit(const lat_header *head, const char *sums)
{
    const char *source = lat_info_get(head, "source"),
               *own = source ? strstr(source, "checksums ") : NULL;
    unsigned long a[2], b[2];
    return !own || sscanf(own, "checksums %lx %lx", &a[0], &a[1]) != 2
           || (sscanf(sums, "%lx %lx", &b[0], &b[1]) == 2 && a[0] == b[0] && a[1] == b[1]);
}

/* One that says which file it belongs to: 1; -1 where it is another one; 0: none of these. */
static int check(const char *path, const char *name, const lat_header *head, const char *key,
                 const char *value)
{
    static const char *const extents[] = {"nx", "ny", "nz", "nt"};
    const bool stamp = !strcmp(key, "time_stamp"), sums = !strcmp(key, "checksums");
    bool fits = stamp  ? stamp_fits(head, value)
                : sums ? sums_fit(head, value)
                       : true,
         known = stamp || sums || !strcmp(key, "magic_number");
    for (int mu = 0; mu < 4; mu++)
        if (!strcmp(key, extents[mu])) {
            known = true;
            fits = atoi(value) == head->geom.dims[mu];
        }
    if (!fits)
        return lat_fail("%s: expected the .info of %s, found another one: %s is '%.60s'", path,
                        name, key, value);
    return known ? stamp ? 2 : 1 : 0;
}

static int take_lines(const char *path, const char *name, char *text, lat_header *head)
{
    char *rest = NULL, *value, key[128];
    bool stamped = false;
    for (char *line = strtok_r(text, "\r\n", &rest); line; line = strtok_r(NULL, "\r\n", &rest)) {
        if (!split(line, &value))
            continue;
        const int own = check(path, name, head, line, value);
        stamped = stamped || own == 2;
        snprintf(key, sizeof key, "milc.%.110s", line);
        if (own < 0 || (own == 0 && *value && lat_info_set(head, key, value)))
            return -1;
    }
    return stamped
               ? 0
               : lat_fail("%s: expected the .info of a MILC file, with a time_stamp, found none",
                          path);
}

int lat_milc_info_take(const char *path, const char *name, lat_header *head)
{
    lat_input *in = lat_input_open(path, &lat_comm_self);
    char *text = in ? lat_alloc_zero(MOST + 1, 1, "an .info") : NULL;
    size_t n = 0;
    ssize_t got = text ? 1 : -1;
    while (got > 0 && n < MOST)
        if ((got = lat_input_read_some(in, text + n, MOST - n)) > 0)
            n += (size_t)got;
    int rc = got < 0 ? -1 : 0;
    if (rc == 0 && (n == MOST || memchr(text, '\0', n)))
        rc = lat_fail("%s: expected the .info of a MILC file, found %s", path,
                      n == MOST ? "more than 64 KiB" : "bytes that are no text");
    rc = rc || take_lines(path, name, text, head);
    lat_input_close(in);
    free(text);
    return rc ? -1 : 0;
}
