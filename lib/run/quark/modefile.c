/* SPDX-License-Identifier: BSD-3-Clause */
/* modefile.c: modes in a stream. */
#include "modefile.h"

#include <stdio.h>
#include <string.h>
#include "base/error.h"
#include "links.h"
#include "smear/smear.h"
#include "stream/stream.h"

static const char *const texts[] = {"gamma5 M", "M^+ M", "gamma5 S", "D^+ D"};

const char *lat_modes_matrix_text(lat_modes_matrix matrix) { return texts[matrix]; }

int lat_modefile_lattice(const char *name, const char *what, const lat_header *head,
                         const lat_header *links)
{
    char a[64], b[64];
    if (lat_header_alike(head, links))
        return 0;
    return lat_fail("%s: expected %s on the lattice of the links, %s and SU(%d), found %s and "
                    "SU(%d)",
                    name, what, lat_dims_text(&links->geom, a), links->nc,
                    lat_dims_text(&head->geom, b), head->nc);
}

int lat_modefile_smearing(const char *name, const char *what, const lat_header *head,
                          const char *smearing)
{
    const char *its = lat_info_get(head, LAT_SMEARED_LINKS);
    if (!strcmp(its ? its : "", smearing ? smearing : ""))
        return 0;
    return lat_fail("%s: expected %s on links with the smearing '%s', found '%s'", name, what,
                    smearing ? smearing : "none", its ? its : "none");
}

/* Are these modes what they are to be? Sentences begin with `name`. */
static int check(const char *name, const lat_header *head, const lat_header *links,
                 const lat_fermion *fermion, const char *smearing, lat_modes_matrix *matrix)
{
    char a[LAT_FERMION_TEXT], b[LAT_FERMION_TEXT];
    const char *of = lat_info_get(head, LAT_INFO_MODES_MATRIX),
               *which = lat_info_get(head, LAT_INFO_MODES_WHICH);
    const lat_fermion *found = &head->quark.fermion;
    if (lat_modefile_lattice(name, "modes", head, links))
        return -1;
    if (!lat_fermion_same(found, fermion))
        return lat_fail("%s: expected modes of the operator %s, found those of %s", name,
                        lat_fermion_text(fermion, a), lat_fermion_text(found, b));
    if (lat_modefile_smearing(name, "modes", head, smearing))
        return -1;
    for (*matrix = 0; *matrix <= LAT_MODES_OF_OVERLAP; ++*matrix)
        if (of && !strcmp(of, texts[*matrix]))
            break;
    if (*matrix > LAT_MODES_OF_OVERLAP)
        return lat_fail("%s: expected modes of gamma5 M, M^+ M, gamma5 S or D^+ D, found '%.80s'",
                        name, of ? of : "none");
    if (!head->quark.eigenvalue || !which || strcmp(which, "lowest"))
        return lat_fail("%s: expected the lowest modes with their values, found '%.80s'", name,
                        which && head->quark.eigenvalue ? which : "none");
    return 0;
}

int lat_modefile_seek(lat_input *in, const lat_field *links, const char *what, lat_header *head)
{
    const char *name = lat_input_name(in);
    lat_same_links same = {.known = false};
    char last[9] = "none";
    int rc;
    while ((rc = lat_stream_head(in, head)) > 0) {
        if (lat_header_need(head, LAT_MODES, name))
            return -1;
        const int fit = lat_links_same(links, head->quark.links, &same);
        if (fit)
            return fit < 0 ? -1 : 0;
        snprintf(last, sizeof last, "%s", *head->quark.links ? head->quark.links : "unknown");
        rc = lat_stream_skip(in, head);
        lat_header_free(head);
        if (rc < 0)
            return -1;
    }
    if (rc < 0)
        return -1;
    return lat_fail("%s: expected %s of the links of CRC %s, in the order of the links, found %s",
                    name, what, links->head.read_crc, last);
}

int lat_modefile_find(lat_input *in, const lat_field *links, const lat_fermion *fermion,
                      const char *smearing, lat_field *modes, lat_modes_matrix *matrix)
{
    *modes = (lat_field){.data = NULL};
    return lat_rc(
        lat_modefile_seek(in, links, "modes", &modes->head)
        || check(lat_input_name(in), &modes->head, &links->head, fermion, smearing, matrix)
        || lat_stream_body(in, modes) < 0 || lat_field_convert(modes, LAT_F64));
}
