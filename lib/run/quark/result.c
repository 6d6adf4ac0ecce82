/* SPDX-License-Identifier: BSD-3-Clause */
/* result.c: solutions as fields of the output. */
#include "inverter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "run/common/tool.h"

const char lat_result_log_head[] = "config\tfield\tmass\ttwist\tcolumn\titerations\tupdates\t"
                                   "residual\tsolver\tseconds\tgflops\tgbytes";

void lat_result_log(const lat_inverter *v, FILE *log, int columns, const int *column)
{
    for (int i = 0; log && i < columns; i++) {
        const int c = column[i];
        const lat_solve_report *p = &v->s.solved[c].report;
        const lat_wilson_cost *t = &v->s.solved[c].cost;
        fprintf(log, "%ld\t%ld\t%.10g\t%.10g\t%d\t%ld\t%ld\t%.4e\t%s\t%.4f\t%.3f\t%.3f\n",
                lat_inverter_config(v), v->s.field, v->fermion.mass, v->fermion.twist, c,
                p->iterations, p->updates, v->s.residual[c], lat_solver_name(p->solver), t->seconds,
                t->seconds > 0 ? t->flops / t->seconds * 1e-9 : 0,
                t->seconds > 0 ? t->bytes / t->seconds * 1e-9 : 0);
        fflush(log);
    }
}

/* ", mg of 24 vectors, 2 rounds", of a column that a multigrid has solved; or "". */
enum { MULTIGRID_TEXT = 160 };
static const char *multigrid_text(const lat_inverter *v, int columns, const int *column,
                                  char to[MULTIGRID_TEXT])
{
    *to = '\0';
    for (int i = 0; i < columns; i++) {
        const lat_solved *s = &v->s.solved[column[i]];
        if (s->vectors) {
            snprintf(to, MULTIGRID_TEXT, ", mg of %d vectors, %d rounds%s%s", s->vectors, s->rounds,
                     *v->subspace ? ", subspace CRC " : "", v->subspace);
            break;
        }
    }
    return to;
}

/* What the header says of a solution, and a line of history. */
static int describe(lat_inverter *v, int form, int columns, const int *column)
{
    lat_header *head = &v->s.x->head;
    double worst = 0;
    char slices[32] = "", said[64] = "", multigrid[MULTIGRID_TEXT];
    if (v->o->how.slices > 0) {
        snprintf(slices, sizeof slices, "%.17g", v->s.slices);
        snprintf(said, sizeof said, " (%.2e of time slices)", v->s.slices);
    }
    lat_header_of_links(head, &v->links.u.head, &v->fermion);
    for (int i = 0; i < columns; i++)
        worst = fmax(worst, v->s.residual[column[i]]);
    return (columns == head->quark.columns && lat_quark_set_residuals(&head->quark, v->s.residual))
           || (*slices && lat_info_set(head, LAT_INFO_RESIDUAL_SLICES, slices))
           || (v->o->smearing && lat_info_set(head, LAT_SMEARED_LINKS, v->o->smearing))
           || (lat_inverter_overlap(v)
               && (lat_info_set(head, LAT_INFO_PROPAGATOR, lat_propagator_text(form))
                   || lat_overlap_describe(head, v->s.overlap.fast, &v->known)))
           || lat_provenance(head, "residual %.2e%s by %s%s%s%s%s%s", worst, said,
                             lat_solver_name(v->s.solved[column[0]].report.solver),
                             multigrid_text(v, columns, column, multigrid),
                             *v->deflation ? ", deflated by " : "", v->deflation,
                             *v->known.text ? ", sign function with " : "", v->known.text);
}

/* One column of x as a field of its own. */
static int write_column(lat_inverter *v, int c)
{
    const lat_field *x = v->s.x;
    const lat_quark *q = &x->head.quark;
    const size_t columns = lat_header_objects(&x->head),
                 bytes = lat_header_full_reals(&x->head) * sizeof(double);
    lat_field one = {.comm = x->comm};
    char *text = lat_text_new("%s%scolumn %d", q->source ? q->source : "", q->source ? ", " : "",
                              c);
    int rc = text && lat_header_copy(&one.head, &x->head) == 0 ? 0 : -1;
    lat_header_make_spinors(&one.head, LAT_SPINOR, 1);
    one.head.quark.fermion = q->fermion;
    memcpy(one.head.quark.links, q->links, sizeof q->links);
    rc = rc || lat_quark_set_source(&one.head.quark, text)
         || lat_quark_set_residuals(&one.head.quark, &v->s.residual[c])
         || lat_field_alloc(&one, x->comm);
    for (size_t i = 0; rc == 0 && i < lat_field_sites(x); i++)
        memcpy((char *)one.data + i * bytes,
               (const char *)x->data + (i * columns + (size_t)c) * bytes, bytes);
    rc = rc || lat_writer_put(&v->s.writer, &one, NULL, false);
    free(text);
    lat_field_free(&one);
    return rc;
}

static int write_all(lat_inverter *v, int columns, const int *column, bool soon)
{
    if (!v->columns)
        return lat_writer_put(&v->s.writer, v->s.x, v->s.where == LAT_X_DEVICE ? v->s.mirror : NULL,
                              soon);
    for (int i = 0; i < columns; i++)
        if (write_column(v, column[i]))
            return -1;
    return 0;
}

int lat_result_write(lat_inverter *v, int form, int columns, const int *column, bool soon)
{
    const bool overlap = lat_inverter_overlap(v);
    lat_header head;
    if (lat_header_copy(&head, &v->s.x->head))
        return -1;
    if (overlap)
        lat_propagator_make(form, false, &v->fermion, v->s.b, columns, column, v->s.x);
    const bool bad = describe(v, form, columns, column) || write_all(v, columns, column, soon);
    if (overlap)
        lat_propagator_make(form, true, &v->fermion, v->s.b, columns, column, v->s.x);
    lat_header_free(&v->s.x->head);
    v->s.x->head = head;
    return bad ? -1 : 0;
}
