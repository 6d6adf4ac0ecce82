/* SPDX-License-Identifier: BSD-3-Clause */
/* anisotropy.c: the anisotropy of a configuration in its header. */
#include "anisotropy.h"

#include <stdio.h>
#include <string.h>
#include "base/error.h"
#include "common/options.h"

static const char letters[] = "xyzt";

int lat_anisotropy_axis(const lat_header *head)
{
    const char *axis = lat_info_get(head, "xi_axis");
    if (!axis)
        return head->geom.nd - 1;
    const char *letter = axis[0] && !axis[1] ? strchr(letters, axis[0]) : NULL;
    return letter && letter - letters < head->geom.nd ? (int)(letter - letters) : -1;
}

static int read_xi(const lat_header *head, double *xi)
{
    const char *text = lat_info_get(head, "xi");
    char rest;
    *xi = 1;
    if (text && (sscanf(text, "%lf%c", xi, &rest) != 1 || !(*xi > 0 && *xi <= 1e6)))
        return lat_fail("info.xi: expected a number above 0, found '%.80s'", text);
    return 0;
}

int lat_anisotropy(const lat_header *head, double *xi)
{
    if (read_xi(head, xi))
        return -1;
    if (*xi != 1 && lat_anisotropy_axis(head) != head->geom.nd - 1)
        return lat_fail("expected xi of the last direction, found xi of %.80s "
                        "(info.xi_axis): lat-reorder --axes makes it the last",
                        lat_info_get(head, "xi_axis"));
    return 0;
}

int lat_anisotropy_none(const lat_header *head, const char *name)
{
    double xi;
    if (read_xi(head, &xi))
        return -1;
    if (xi == 1)
        return 0;
    if (!lat_opts.force)
        return lat_fail("%s: expected links of an isotropic lattice, found anisotropy %g (--force "
                        "takes them as isotropic)",
                        name, xi);
    lat_warn("%s: links of anisotropy %g are taken as isotropic (--force)", name, xi);
    return 0;
}

int lat_anisotropy_permute(lat_header *head, const int axes[LAT_MAX_DIMS])
{
    const int old = lat_anisotropy_axis(head), last = head->geom.nd - 1;
    const char *text = lat_info_get(head, "xi");
    if (!text || old < 0 || (axes[last] == last && old == last))
        return 0;
    for (int i = 0; i < head->geom.nd; i++)
        if (axes[i] == old)
            return lat_info_set(head, "xi_axis", (char[]){letters[i], '\0'});
    return 0;
}
