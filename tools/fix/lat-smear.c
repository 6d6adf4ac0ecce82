/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-smear: APE, stout and HYP smearing of links (docs/flow.md, "Smeared links"). */
#include <stdio.h>
#include <string.h>
#include "base/error.h"
#include "common/options.h"
#include "lattice/anisotropy.h"
#include "measure/measure.h"
#include "run/common/tool.h"
#include "smear/smear.h"

static int precision = -1;

static const lat_option options[] = {{LAT_OPT_CHOICE, "precision", 'p', "single|double", &precision,
                                      0, 0, "precision of the output (default: as in the input)"},
                                     {0}};

static const lat_tool tool = {
    .name = "lat-smear",
    .args = "SMEARING [FILE]",
    .summary = "Smears links: APE, stout and HYP.",
    .example = "lat-smear stout:0.1,10 cfg.lat | lat-plaq\n"
               "lat-smear hyp:0.75,0.6,0.3,1 cfg.lat -o hyp.lat\n"
               "lat-smear ape:0.5,20,spatial cfg.lat -o ape.lat",
    .options = options,
    .min_files = 1,
    .max_files = 2,
    .common = LAT_HAS_OUTPUT | LAT_HAS_THREADS,
    .start = lat_comm_start,
};

typedef struct smearing {
    const char *text;
    lat_smear smear;
} smearing;

static int each(lat_field *u, LAT_UNUSED long index, void *with)
{
    const smearing *s = with;
    const lat_real wanted = precision < 0 ? u->head.real : precision ? LAT_F64 : LAT_F32;
    const char *before = lat_info_get(&u->head, LAT_INFO_SMEARING);
    char all[LAT_MAX_INFO_LINE];
    lat_field v = {.data = NULL};
    double xi;
    if (lat_header_need(&u->head, LAT_GAUGE, lat_filter_name())
        || (s->smear.spatial ? lat_anisotropy(&u->head, &xi)
                             : lat_anisotropy_none(&u->head, lat_filter_name()))
        || lat_smear_links(u, &s->smear, &v)) {
        lat_error_name(lat_filter_name(), NULL);
        return LAT_FAILED;
    }
    snprintf(all, sizeof all, "%s%s%s", before ? before : "", before ? " " : "", s->text);
    lat_field_free(u);
    *u = v;
    if (s->smear.kind != LAT_SMEAR_STOUT && !s->smear.spatial) /* all are projected */
        lat_info_remove(&u->head, LAT_INFO_NOT_IN_GROUP);
    return lat_field_convert(u, wanted) || lat_info_set(&u->head, LAT_INFO_SMEARING, all)
                   || lat_provenance(&u->head, "%s", s->text)
               ? LAT_FAILED
               : LAT_DONE;
}

int main(int argc, char **argv)
{
    smearing s;
    lat_options_parse(&tool, argc, argv);
    s.text = lat_opts.files[0];
    if (lat_smear_parse(s.text, &s.smear))
        lat_usage("%s", lat_error());
    const char *file = lat_opts.nfiles > 1 ? lat_opts.files[1] : NULL;
    lat_opts.input = file && strcmp(file, "-") ? file : NULL;
    return lat_filter_run(each, NULL, &s);
}
