/* SPDX-License-Identifier: BSD-3-Clause */
/* measure_text.c: Polyakov loops as text. */
#include "measure_text.h"

#include <math.h>
#include "common/text.h"

void lat_polyakov_text(FILE *to, const lat_geometry *geom, const double loop[][2])
{
    for (int mu = 0; mu < geom->nd; mu++)
        fprintf(to, "Polyakov %c     %.15g %+.15gi\n", "xyzt"[mu], loop[mu][0], loop[mu][1]);
}

void lat_polyakov_tsv(FILE *to, const lat_geometry *geom, const double loop[][2])
{
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        for (int i = 0; i < 2; i++)
            fprintf(to, "\t%.17g", mu < geom->nd ? loop[mu][i] : NAN);
}

void lat_polyakov_json(FILE *to, const lat_geometry *geom, const double loop[][2])
{
    lat_json_key(to, false, "polyakov");
    for (int mu = 0; mu < geom->nd; mu++) {
        fputs(mu ? ", " : "[", to);
        lat_json_complex(to, loop[mu]);
    }
    fputc(']', to);
}
