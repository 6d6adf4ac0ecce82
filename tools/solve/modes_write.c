/* SPDX-License-Identifier: BSD-3-Clause */
/* modes_write.c: modes as a field, as columns and as JSON. */
#include "modes_run.h"

#include <math.h>
#include <stdio.h>
#include "base/error.h"
#include "common/options.h"
#include "run/quark/fermion_options.h"
#include "run/common/print.h"
#include "run/common/tool.h"
#include "stream/stream.h"

static void print_table(const lat_modes_tool_run *r, FILE *to)
{
    lat_printer links = {.to = to, .form = LAT_FORM_TSV};
    for (int k = 0; k < r->modes.count; k++) {
        fprintf(to, "%ld\t%d\t%.15g\t%.4e\t%.6g\t%.10g", lat_modes_tool_config(r), k,
                r->modes.value[k], r->residual[k], r->gap[k], r->chirality[k]);
        lat_print_ensemble(&links, &r->links.u.head);
        fputc('\n', to);
    }
}

static double kappa_of(const lat_modes_tool_run *r, int sign)
{
    return lat_modes_kappa(r->modes.count, r->modes.value, r->residual, r->gap, sign);
}

/* "kappa_plus": 1e-9, or null where it is infinite. */
static void print_number(FILE *to, const char *name, double value)
{
    fprintf(to, isfinite(value) ? ", \"%s\": %.6g" : ", \"%s\": null", name, value);
}

static void print_json(const lat_modes_tool_run *r, FILE *to)
{
    fprintf(to, "{\"configuration\": %ld, \"matrix\": \"%s\", \"largest\": %s",
            lat_modes_tool_config(r), lat_modes_matrix_text((lat_modes_matrix)r->o.matrix),
            r->o.largest ? "true" : "false");
    print_number(to, "rest", r->modes.rest);
    for (int sign = 1; sign >= -1; sign -= 2) {
        const double kappa = kappa_of(r, sign);
        print_number(to, sign > 0 ? "kappa_plus" : "kappa_minus", kappa);
        print_number(to, sign > 0 ? "bound_plus" : "bound_minus", lat_modes_bound(kappa));
    }
    fprintf(to, ", \"modes\": [");
    for (int k = 0; k < r->modes.count; k++)
        fprintf(to,
                "%s{\"mode\": %d, \"value\": %.15g, \"residual\": %.4e, \"gap\": %.6g, "
                "\"chirality\": %.10g}",
                k ? ", " : "", k, r->modes.value[k], r->residual[k], r->gap[k], r->chirality[k]);
    fprintf(to, "]}\n");
}

static int describe(lat_modes_tool_run *r)
{
    lat_header *head = &r->v.head;
    char number[40];
    double worst = 0;
    for (int k = 0; k < r->modes.count; k++)
        worst = fmax(worst, r->residual[k]);
    lat_header_of_links(head, &r->links.u.head, &r->fermion);
    snprintf(number, sizeof number, "%.17g", r->modes.rest);
    return lat_rc(lat_quark_set_residuals(&head->quark, r->residual)
                  || lat_quark_set_eigenvalues(&head->quark, r->modes.value)
                  || lat_info_set(head, LAT_INFO_MODES_MATRIX,
                                  lat_modes_matrix_text((lat_modes_matrix)r->o.matrix))
                  || lat_info_set(head, LAT_INFO_MODES_WHICH, r->o.largest ? "largest" : "lowest")
                  || lat_info_set(head, LAT_INFO_MODES_REST, number)
                  || (r->o.smear_text && lat_info_set(head, LAT_SMEARED_LINKS, r->o.smear_text))
                  || lat_provenance(head, "%d modes, residual %.2e, projectors to %.2e and %.2e",
                                    r->modes.count, worst, lat_modes_bound(kappa_of(r, 1)),
                                    lat_modes_bound(kappa_of(r, -1))));
}

int lat_modes_tool_write_modes(lat_modes_tool_run *r)
{
    if (r->log) {
        print_table(r, r->log);
        fflush(r->log);
    }
    if (r->o.json)
        print_json(r, r->text);
    else if (r->o.tsv)
        print_table(r, r->text);
    else if (describe(r) || lat_stream_write(r->out, &r->v, lat_opts.store))
        return LAT_FAILED;
    return LAT_DONE;
}
